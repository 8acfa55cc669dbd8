"""Runs of a CPU kernel at positions that its loops do not move along, in the words of `opgen_cpu_line.h`.

In go the statements that run lane by lane and the scope that they are printed in; out come declarations of `Line`s,
which hold what the run reads, checked ahead of the lanes, and what adds the values of a run to shared places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from opgen.code.cpp_access import Access
from opgen.code.cpp_layout import block, named
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import NamedRow
from opgen.code.long_values import hoisted
from opgen.code.native_scope import stored_type
from opgen.ir.program import Axis, Kind
from opgen.ir.scalar import TRUE, ZERO, Batch, Index, Position, Read, Scalar, is_placed, mentions, reads
from opgen.kernel.model import Atomic, Body, conjuncts, ranged
from opgen.kernel.wanted import always, bends, condition_of, opened, piece


@dataclass
class Lines:
    """The lines of one run. `body` runs at its lanes; `at` is where it stands, `step` what knows how far it moves."""

    scope: CpuScope
    body: Body
    at: str
    step: str
    loops: str  # the loops that run along the lanes
    numbers: dict[str, int]  # the numbered indices that may move from lane to lane
    last: bool  # whether the only one that does is that of the last loop
    arrays: frozenset[str]  # locals that have a value for every lane
    unknown: frozenset[str]  # locals that are known only lane by lane
    pieces: dict[str, Scalar]  # by loops: where their runs end
    span: str = ""  # what tells which lanes there are, where these are not all
    hold: Callable[[Access], str] | None = None  # declares what runs hold that follow one another
    asking: Callable[[Access], str] | None = None  # what asks for rows ahead that elements of an access name
    asked: frozenset[str] = frozenset()  # tensors that positions and conditions of the body read
    resting: list[str] = field(default_factory=list)  # reads that do not move with the last loop
    named: dict[int, NamedRow] = field(default_factory=dict)  # rows that a position names, by access
    out: list[str] = field(default_factory=list)
    functions: dict[tuple[str, ...], str] = field(default_factory=dict)  # by what is in them
    fixed: dict[Scalar, str] = field(default_factory=dict)  # positions that are the same at all lanes
    begun: set[tuple[int, Scalar | None]] = field(default_factory=set)  # by access and fill: what was to be read

    def read(self, r: Read) -> bool:
        """Declare what a run reads that is not plain; False if that cannot be done ahead of the lanes."""
        scope = self.scope
        access = scope.find(r.tensor, r.at)
        if access is None:  # it stands in no statement as it is here, with what locals stand for in it
            return False
        key = access.number, r.fill
        if scope.plain(access) or key in scope.lines:
            return True
        if key in self.begun:  # what tells whether it is wanted asks for itself
            return False
        self.begun.add(key)
        at = self._opened(r.at)
        certain = r in always(self.body)
        doubt = [self._doubtful(r, k, p, certain=certain) for k, p in enumerate(r.at)]
        fill = ZERO if r.fill is None else opened(r.fill, self.body)
        if not all(map(self._known, (fill, *_scalars(at)))) or self._moves(fill):
            return False
        needed = "" if certain or r.fill is not None or not any(doubt) else self._needed(r)
        if needed is None:
            return False
        name = scope.fresh(access.name) if access.name in scope.declared else access.name
        scope.declared.add(name)
        still = not access.moves_with(scope.lanes) and not any(map(self._moves, _scalars(at)))
        if certain and still and at == r.at:
            self.out.append(f"const auto {name} = {scope.load(r).text};")
            scope.lines[key] = name, False
            return True
        type_ = stored_type(scope.formal.slots[r.tensor])
        scope.widens |= type_ == "scalar_t"
        held = "" if needed or self.hold is None or not self._may_stand(access, at) else self.hold(access)
        rests, stretch = bool(held) and self._rests(access, at), self._stretch(access, at)
        places: list[str] = []
        for k, p in enumerate(at):
            quiet = r.fill is not None or not doubt[k]
            places += self._place(r.tensor, k, r.at[k], p, doubt=doubt[k] or not certain, quiet=quiet, rests=rests)
        if not needed and r.fill is None:
            self._ask_ahead(access, at)
        ends = [held, scope.tensor(r.tensor), stretch, scope.print(fill), needed, *places]
        kind = f"rt::RestingLine<{type_}>" if rests else f"const rt::Line<{type_}>"
        self.out.append(f"{kind} {name}(host, {', '.join(filter(None, ends))});")
        self.resting += [name] if rests else []
        scope.lines[key] = name, True
        return True

    def add(self, a: Atomic, condition: Scalar | None, fold: str) -> tuple[str, str] | None:
        """What stands before and behind the lanes where a run adds its values when it has them all."""
        scope = self.scope
        access = _found(scope, a.slot, a.at, write=True)
        shape = scope.formal.slots[a.slot].shape
        pairs = [] if condition is None else [ranged(e) for e in conjuncts(condition)]
        ours = {(p, size) for p, size in zip(a.at, shape, strict=True) if not isinstance(p, Batch | Index)}
        at = self._opened(a.at)
        if not set(pairs) <= ours or not all(map(self._known, _scalars(at))):
            return None
        places: list[str] = []
        for k, p in enumerate(at):
            doubt = not isinstance(p, Batch) and scope.doubtful(a.slot, k, a.at[k])
            quiet = (a.at[k], shape[k]) in pairs
            places += self._place(a.slot, k, a.at[k], p, doubt=doubt or quiet, quiet=quiet)
        if not places:
            return None
        if condition is None:
            self._ask_ahead(access, at)
        type_ = stored_type(scope.formal.slots[a.slot])
        ends = [scope.tensor(a.slot), self._stretch(access, at), access.name, *places]
        return f"rt::Values<{type_}> {access.name};", f"rt::accumulate<rt::{fold}>(host, {', '.join(ends)});"

    def _ask_ahead(self, access: Access, at: tuple[Position, ...]) -> None:
        """Ask for the row that a loop comes to in a while, where one position is what was read from data."""
        scope = self.scope
        named = [k for k, p in enumerate(at) if isinstance(p, Read) and p.at]
        plain = [k for k, p in enumerate(at) if isinstance(p, Batch | Index) and scope.is_plain(access.buffer, k, p)]
        if self.asking is None or self.span or len(named) != 1 or len(plain) < len(at) - 1:
            return
        position = at[named[0]]
        assert isinstance(position, Read)
        source = scope.find(position.tensor, position.at)
        if source is None or position.fill is not None or not scope.plain(source):
            return
        now, n = f"{self.at}.at[{source.number}]", access.number
        run = f"{self.at}.at[{n}], {self.step}.step[{n}], {self.step}.size"
        asking = self.asking(source)
        self.named[n] = NamedRow(named[0], source, asking)
        ask = f"{asking}.row({scope.tensor(access.buffer)}, {named[0]}, {run}, {now});"
        self.out.append(f"if ({source.name}.same) {ask}" if source.moves_with(scope.lanes) else ask)

    # --- positions ---------------------------------------------------------------------------------------------------

    def _opened(self, at: tuple[Position, ...]) -> tuple[Position, ...]:
        return tuple(p if isinstance(p, Batch) else opened(p, self.body) for p in at)

    def _doubtful(self, r: Read, k: int, p: Position, *, certain: bool) -> bool:
        """Whether a position may leave its tensor where it is wanted; if not, others are left out without a word.

        What a host compares is where a read without padding stands: one with padding may leave at the same position.
        """
        told = (r.tensor, k, p) in self.scope.formal.told and r.fill is None and not (certain and isinstance(p, Index))
        return not isinstance(p, Batch) and not told and self.scope.doubtful(r.tensor, k, p)

    def _place(
        self, buffer: str, k: int, was: Position, p: Position, *, doubt: bool, quiet: bool, rests: bool = False
    ) -> Iterator[str]:
        """A position that is computed or checked; the loops move along those that are indices."""
        scope = self.scope
        along = isinstance(was, Index) and not scope.takes_turns(was)
        if isinstance(p, Batch) or (along and not (doubt and scope.doubtful(buffer, k, was))):
            return
        stride = "0" if along else scope.stride(buffer, k)
        at = self.position(p, f"{scope.tensor(buffer)}_{k}", rests=rests)
        if not doubt:
            yield f"rt::sure({stride}, {at})"
            return
        axis = f"{scope.tensor(buffer)}, {k}, {stride}"
        yield f"rt::clipped({axis}, {at})" if quiet else f"rt::checked({axis}, {scope.formal.number(buffer)}, {at})"

    def _stretch(self, access: Access, at: tuple[Position, ...]) -> str:
        if self.span:
            return f"rt::stretch({', '.join(dict.fromkeys((self.at, self.step)))}, {access.number}, {self.span})"
        conditions = dict.fromkeys(text for p in _scalars(at) for text in self._straight(p))
        period = f"{self.loops}.period"
        rest = [text for text in conditions if text != period]
        even = "0" if "false" in rest else " && ".join(rest)
        if period in conditions and even != "0":
            even = f"{even} ? {period} : 0" if even else period
        return f"rt::stretch({', '.join(dict.fromkeys((self.at, self.step)))}, {access.number}, {even or '1'})"

    def _may_stand(self, access: Access, at: tuple[Position, ...]) -> bool:
        """Whether an access may be the same at all lanes: a loop moves none of its positions, or only by quotients."""
        moving = frozenset[str]().union(*(mentions(p)[0] for p in _scalars(at)))
        names = {a.name for a in self.scope.lanes if isinstance(a, Axis)}
        still = any(not access.axes_of(a) and (isinstance(a, Batch) or a.name not in moving) for a in self.scope.lanes)
        return still or any(mentions(part)[0] & names for p in _scalars(at) for part in bends(p, self.numbers))

    def _rests(self, access: Access, at: tuple[Position, ...]) -> bool:
        """Whether an access at computed positions stands still along a run of the last loop, for lanes alone."""
        last = self.scope.lanes[-1]
        moved = isinstance(last, Axis) and any(last.name in mentions(p)[0] for p in _scalars(at))
        still = not moved and not any(is_placed(p) or reads(p) for p in _scalars(at))
        return still and rests(self.scope, access, self.asked)

    def _straight(self, p: Scalar) -> Iterator[str]:
        """The conditions under which a position moves evenly along a run, and how far apart the points are that do."""
        for r in reads(p):
            if not r.at:
                if r.tensor in self.arrays:
                    yield "false"
            elif self._moves(r):
                yield f"{self._run(r)[0]}.same"
        if is_placed(p) and self.scope.places().moves_with(self.scope.lanes):
            yield "false"
        for part in bends(p, self.numbers):
            if isinstance(part, Read):
                continue
            names = mentions(part)[0] & self.numbers.keys()
            size = piece(part, next(iter(names))) if self.last and len(names) == 1 else None
            if size is not None and self.pieces.setdefault(self.loops, size) == size:
                yield f"{self.loops}.period"
            elif self.last:
                yield "false"
            else:
                yield from self._still(part)

    def _still(self, p: Scalar) -> Iterator[str]:
        """The conditions under which no loop moves a position along a run."""
        return (f"{self.loops}.still({self.numbers[n]})" for n in sorted(mentions(p)[0] & self.numbers.keys()))

    def _run(self, r: Read) -> tuple[str, bool]:
        """What a run reads is called, and whether it may differ from lane to lane."""
        access = _found(self.scope, r.tensor, r.at)
        plain = access.name, access.moves_with(self.scope.lanes)
        return self.scope.lines.get((access.number, r.fill), plain)

    def _known(self, e: Scalar) -> bool:
        """Whether a value can be computed ahead of the lanes; what it reads is declared."""
        own = reads(e)
        if any(not r.at and r.tensor in self.unknown for r in own):
            return False
        return all(self.read(r) for r in own if r.at)

    def _moves(self, e: Scalar) -> bool:
        """Whether a value may differ from lane to lane."""
        if not mentions(e)[0].isdisjoint(self.numbers):
            return True
        if is_placed(e) and self.scope.places().moves_with(self.scope.lanes):
            return True
        return any(self._run(r)[1] if r.at else r.tensor in self.arrays for r in reads(e))

    def _needed(self, r: Read) -> str | None:
        """A function that tells at which lanes a read is wanted."""
        condition = condition_of(self.body, r)
        if condition is None or not self._known(condition := opened(condition, self.body)):
            return None
        if condition == TRUE:
            return ""
        return f"rt::wanted({self.function(condition, f'{self.scope.tensor(r.tensor)}_wanted')})"

    def position(self, p: Scalar, wish: str, *, rests: bool = False) -> str:
        """A position as a function of the lane; one that is the same at all of them is computed once.

        `rests`: it does not move with the last loop.
        """
        if self._moves(p):
            if rests:
                return self.function(p, wish, ("Standing", " && ".join(self._still(p))))
            return self.function(p, wish, ("Even", f"{self.step}.size") if self.span else None)
        if p not in self.fixed:
            parts, value = hoisted(self.scope, p, len("const rt::Fixed ();") + len(wish))
            name = self.fixed[p] = self.scope.fresh(wish)
            self.out += [*parts, f"const rt::Fixed {name}({value.text});"]
        return self.fixed[p]

    def function(self, e: Scalar, wish: str, ahead: tuple[str, str] | None = None) -> str:
        """A function of the lane, by name; `ahead`: what computes it ahead of the lanes, and is told what else."""
        scope = self.scope
        parts, value = hoisted(scope, e, len("return ;"))
        body = (*parts, f"return {value.text};")
        if body not in self.functions:
            name = self.functions[body] = scope.fresh(f"{wish}_at" if ahead else wish)
            self.out += block(f"const auto {name} = [&](int64_t{named('i', body)}) {{", body, "};")
            if ahead:
                of_lane, name = name, scope.fresh(wish)
                self.functions[body] = name
                self.out.append(f"const rt::{ahead[0]} {name}({ahead[1]}, {of_lane});")
        return self.functions[body]


def rests(scope: CpuScope, access: Access, asked: Collection[str]) -> bool:
    """Whether an access stands still along a run of the last loop, and nothing asks for its tensor ahead of lanes."""
    floats = scope.formal.slots[access.buffer].kind is Kind.FLOAT
    return floats and access.buffer not in asked and not access.axes_of(scope.lanes[-1])


def _found(scope: CpuScope, buffer: str, at: tuple[Position, ...], *, write: bool = False) -> Access:
    access = scope.find(buffer, at, write=write)
    assert access is not None
    return access


def _scalars(at: Iterable[Position]) -> Iterator[Scalar]:
    return (p for p in at if not isinstance(p, Batch))
