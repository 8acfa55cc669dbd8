"""Names and leaves of one CPU kernel: how its accesses, sizes, numbers, indices and locals are spelled.

In goes a kernel; a `CpuScope` hands out C++ names (never a keyword, never twice), collects the accesses
of the nest, which the runtime moves along its loops, and prints scalars through the shared printer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from opgen.code.cpp_access import Access, at_every_lane, evens, meets
from opgen.code.cpp_dialect import CPU
from opgen.code.invariants import Known
from opgen.code.names import CPU_KERNELS
from opgen.code.native_scope import Spot, layout, mentions, outside, stored_type, wish
from opgen.code.printer import NATIVE, Leaf, Printer, Text
from opgen.ir.names import Names
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import BATCH, ONE, PLACE, ZERO, Batch, Dim, Index, Lit, Param, Position, Read, Scalar, reads, walk
from opgen.kernel.formal import Formal
from opgen.kernel.model import Atomic, Body, Store
from opgen.kernel.walk import bound, inside, of_size, straight, values
from opgen.plan.model import Storage

_ATOM = NATIVE.atom
_CONSTANT = {
    Kind.FLOAT: "auto {name} = static_cast<opmath_t>({number})",
    Kind.INT: "int64_t {name} = {number}",
    Kind.BOOL: "bool {name} = {number} != 0",
}
_LONG = 100

_PLACES = "..."  # the buffer of the places in the batch, without memory: where it is read is what it would hold

# How an access is read at a point: from a run (by i), from where it stands (a number per run), or through its strides.
Place = str


@dataclass(slots=True)
class CpuScope:
    """The names of one kernel."""

    formal: Formal
    names: dict[str, str] = field(default_factory=dict)  # buffers
    constants: dict[Scalar, str] = field(default_factory=dict)  # numbers of the call
    accesses: list[Access] = field(default_factory=list)
    at_every_lane: frozenset[tuple[str, tuple[Position, ...]]] = frozenset()
    locals: dict[str, tuple[str, Kind]] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)  # C++ constants from the call, in order
    asked: set[str] = field(default_factory=set)  # the locals that were printed
    indices: dict[str, str] = field(default_factory=dict)  # index name -> C++ text
    current: str = "run"  # where the accesses stand now
    stepper: str = "run"  # what knows how far they move per lane
    lanes: tuple[Loop, ...] = ()  # loops of the run
    lines: dict[tuple[int, Scalar | None], tuple[str, bool]] = field(default_factory=dict)  # by access and fill: what
    # was read ahead of the lanes, and whether it has a value for each of them
    declared: set[str] = field(default_factory=set)  # what is called a line in the block at hand
    ahead: dict[Scalar, Text] = field(default_factory=dict)  # what is computed ahead of the lanes
    asked_ahead: set[str] = field(default_factory=set)  # what of that was printed
    placed: dict[Scalar | Spot, str] = field(default_factory=dict)  # positions and spots that have a local
    widens: bool = False  # whether runs read what calls may have stored in fewer bits
    depth: int = 0  # columns that plain loops and guards around a statement take
    runs: tuple[Loop, ...] | None = None  # the loops that `Loops` go through, where these are not all
    turns: frozenset[str] = frozenset()  # the indices of loops that go on from what they stored: the same at every lane
    fresh_names: Names = field(default_factory=lambda: Names(CPU_KERNELS))

    def fresh(self, wish: str) -> str:
        """A name of the kernel's own."""
        return self.fresh_names.fresh(wish)

    @property
    def printer(self) -> Printer:
        known = Known(self.ahead, self.asked_ahead) if self.ahead else None
        dialect = replace(CPU, special={**CPU.special, "where": self._where}) if self.has_rows else CPU
        return Printer(dialect, self.leaf, self.cast, known)

    @property
    def has_rows(self) -> bool:
        """Whether a run is part of a row at one place of what goes on from place to place."""
        return bool(self.turns and self.lanes) and self.runs is None

    def print(self, e: Scalar) -> str:
        return self.printer(e)

    def stand(self, lanes: tuple[Loop, ...], current: str, stepper: str = "", declared: set[str] | None = None) -> None:
        """Say where the code that is printed next runs; `declared` are the lines that its block has already."""
        self.declared = set() if declared is None else declared
        self.lanes, self.current, self.stepper = lanes, current, stepper or current
        self.lines.clear()
        self.ahead.clear()
        self.asked_ahead.clear()

    def tensor(self, buffer: str) -> str:
        """The C++ name of a buffer."""
        if buffer not in self.names:
            self.names[buffer] = self.fresh("places" if buffer == _PLACES else buffer)
        return self.names[buffer]

    def collect(self, body: Body) -> None:
        """Find every access of a part of a kernel, reads in order of appearance, then stores."""
        own = bound(body)
        self.at_every_lane = at_every_lane(body)
        for group in straight(body):
            for e in values(group):
                for r in walk(e):
                    if isinstance(r, Read) and r.tensor not in own:
                        self.access(r.tensor, r.at, write=False)
                    elif r is PLACE:
                        self.access(_PLACES, (BATCH,), write=False)
        for node in inside(body):
            if isinstance(node, Store | Atomic) and node.slot not in own:
                self.access(node.slot, node.at, write=True, steady=isinstance(node, Store))

    def access(self, buffer: str, at: tuple[Position, ...], *, write: bool, steady: bool = False) -> Access:
        """The access, a new one where it is; `steady`: a store, which stands in its slot wherever it is."""
        found = self.find(buffer, at, write=write)
        if found is not None:
            return found
        tensor = self.tensor(buffer)
        certain = not write and (buffer, at) in self.at_every_lane
        even = evens(self.formal, buffer, at, self.turns) if certain or steady else None
        moved = {e.axis for e in even or ()}
        told = self.formal.told if certain else frozenset()
        sure = all(
            k in moved or self.is_plain(buffer, k, p) or (isinstance(p, Index) and (buffer, k, p) in told)
            for k, p in enumerate(at)
        )
        name = self.fresh(f"{tensor}_{'out' if write else 'at'}")
        access = Access(len(self.accesses), buffer, at, name, write, sure, (even or ()) if sure else ())
        self.accesses.append(access)
        return access

    def find(self, buffer: str, at: tuple[Position, ...], *, write: bool = False) -> Access | None:
        """The access of this name; of even ones, also one that is written in other words."""
        same = [a for a in self.accesses if a.buffer == buffer and a.write == write]
        exact = next((a for a in same if a.at == at), None)
        return exact or next((a for a in same if a.even and meets(a, at)), None)

    def doubtful(self, buffer: str, k: int, p: Position) -> bool:
        """Whether a position may leave its tensor, as far as anybody knows before the run."""
        return (buffer, k, p) in self.formal.unsure

    def is_plain(self, buffer: str, k: int, p: Position) -> bool:
        """Whether a position is where loops are, or at a literal, and in range whoever asks for it."""
        if isinstance(p, Lit):
            size = self.formal.slots[buffer].shape[k]
            return isinstance(size, Lit) and 0 <= p.value < size.value
        return isinstance(p, Batch | Index) and not self.doubtful(buffer, k, p)

    def plain(self, access: Access) -> bool:
        """Whether runs move along an access."""
        return access.sure and self.runs is None

    def places(self) -> Access:
        """Where in the batch the loops are, as an access to memory that nobody needs."""
        access = self.find(_PLACES, (BATCH,))
        assert access is not None, f"{self.formal.kernel.name}: no place in the batch was collected"
        return access

    def settled(self, r: Read) -> bool:
        """Whether a read does no harm where nobody wants it."""
        access = self.find(r.tensor, r.at) if r.at else None
        if access is None:
            return self.formal.plain(r)
        return self.plain(access) or self.formal.plain(r) or (access.number, r.fill) in self.lines

    def _where(self, p: Printer, args: tuple[Scalar, ...]) -> Text:
        """A choice between values that do no harm is a mask, which keeps a loop in vectors whatever it is made by."""
        whole = NATIVE.special["where"](p, args)
        condition, *branches = args
        if whole.kind is Kind.BOOL or not all(self.settled(r) for e in branches for r in reads(e) if r.at):
            return whole
        texts = [p.text(e) for e in branches]
        convert = NATIVE.as_float if whole.kind is Kind.FLOAT else NATIVE.as_int
        values = (t.text if t.kind is whole.kind and not t.number else convert(t).text for t in texts)
        return Text(f"rt::blend({', '.join((p(condition), *values))})", _ATOM, whole.kind)

    # --- leaves ------------------------------------------------------------------------------------------------------

    def leaf(self, e: Leaf) -> Text:
        match e:
            case Read(tensor, ()) if tensor in self.locals:
                return self._local(tensor)
            case Read():
                return self.load(e)
            case Index("..."):
                return self._place()
            case Index(name):
                return Text(self.indices[name], _ATOM, Kind.INT)
            case Dim() | Param():
                return self.number(e)
            case _:
                assert_never(e)

    def _local(self, name: str) -> Text:
        self.asked.add(name)
        text, kind = self.locals[name]
        return Text(text, _ATOM, kind)

    def _place(self) -> Text:
        """Where in the batch the point of a lane is."""
        access = self.places()
        apart = access.moves_with(self.lanes) and self.stepper != self.current  # then it is a sum
        return Text(self.offset(access), NATIVE.infix["add"].level if apart else _ATOM, Kind.INT)

    def size(self, e: Scalar | Batch, axis: str = "") -> str:
        """The size of a loop or of what is accessed."""
        assert not isinstance(e, Batch)
        given = e in self.formal.ints or e == Dim("...")
        return self.number(e, axis).text if given else self.sized(e)

    def sized(self, e: Scalar) -> str:
        """An expression in which sizes are numbers of the call, whatever they are computed from there."""
        whole = [part for part in walk(e) if part in self.formal.ints]
        known: dict[Scalar, Text] = {part: self.number(part, of_size(self.formal.kernel, part)) for part in whole}
        return replace(self.printer, known=known)(e)

    def extent(self, a: Axis) -> str:
        """How many points a loop has."""
        return self.size(a.extent, a.name)

    def number(self, e: Scalar, axis: str = "") -> Text:
        """A number of the call as a constant of the kernel."""
        kind = self.formal.kind(e)
        if e not in self.constants:
            name = self.constants[e] = self.fresh(wish(e, axis))
            self.numbers[name] = f"const {_CONSTANT[kind].format(name=name, number=self._number(e, kind))};"
        return Text(self.constants[e], _ATOM, kind)

    def _number(self, e: Scalar, kind: Kind) -> str:
        if e == Dim("..."):
            return "rt::batch_count(call)"
        name, numbers = ("reals", self.formal.reals) if kind is Kind.FLOAT else ("ints", self.formal.ints)
        return f"call.{name}[{numbers.index(e)}]"

    def held(self, lines: Sequence[str]) -> str:
        """What a lane loop captures: numbers of the call by value, lest stores to memory be taken to change them."""
        numbers = (name for e, name in self.constants.items() if self.formal.kind(e) is Kind.FLOAT)
        return f"[{', '.join(('&', *(n for n in numbers if mentions(n, lines))))}]"

    def load(self, r: Read) -> Text:
        """One access as a value."""
        access = self.find(r.tensor, r.at)
        if access is None:  # what passes along a row hand on
            return self._local(r.tensor)
        kind = self.formal.slots[r.tensor].kind
        ahead = self.lines.get((access.number, r.fill))
        if ahead is not None:
            return Text(f"{ahead[0]}[i]" if ahead[1] else ahead[0], _ATOM, kind)
        plain = self.plain(access)
        if plain and not self.lanes:
            return Text(f"rt::load({self.tensor(r.tensor)}, {self.at(access, self.current)})", _ATOM, kind)
        if plain:
            return Text(f"{access.name}[i]" if access.moves_with(self.lanes) else access.name, _ATOM, kind)
        guarded = self.guarded(r)
        if guarded is not None:
            condition, value, fill = guarded
            return Text(f"{condition} ? {value.text} : {fill.at(0)}", 0, kind)
        offset, computed = self.offset(access), self.computed(r.at)
        if r.fill is None and len(computed) == 1 and list(computed) == self._unsure(r):
            return self._pick(r, next(iter(computed)), offset)
        return self._loaded(r, access)

    def guarded(self, r: Read) -> tuple[str, Text, Text] | None:
        """The condition under which a read is in range, what it is then, and what it is otherwise; None for others."""
        access, unsure = self.find(r.tensor, r.at), self._unsure(r)
        picked = r.fill is None and len(unsure) == 1 and list(self.computed(r.at)) == unsure
        if access is None or not unsure or picked or self.plain(access) or (access.number, r.fill) in self.lines:
            return None
        kind = self.formal.slots[r.tensor].kind
        guards = [self._guard(r, k, p) for k, p in enumerate(r.at) if k in unsure and not isinstance(p, Batch)]
        return " && ".join(guards), self._loaded(r, access), outside(self.printer, r.fill, kind)

    def _unsure(self, r: Read) -> list[int]:
        return [k for k, p in enumerate(r.at) if self.doubtful(r.tensor, k, p)]

    def _loaded(self, r: Read, access: Access) -> Text:
        text = f"rt::load({self.tensor(r.tensor)}, {self.placed.get(Spot(r)) or self._far(r, access)})"
        return Text(text, _ATOM, self.formal.slots[r.tensor].kind)

    def spells(self, r: Read) -> bool:
        """Whether the text of a read has its positions in it."""
        access = self.find(r.tensor, r.at)
        return access is not None and not self.plain(access) and (access.number, r.fill) not in self.lines

    def offset_of(self, r: Read) -> str:
        """Where in memory a read is, if that is written out in its text."""
        access = self.find(r.tensor, r.at)
        return self._far(r, access) if access is not None and self.spells(r) else ""

    def _far(self, r: Read, access: Access) -> str:
        return self.offset(access) + "".join(self.moved(r.tensor, k, p) for k, p in self.computed(r.at).items())

    def computed(self, at: tuple[Position, ...]) -> dict[int, Scalar]:
        """The positions that `Loops` do not move along."""
        found: dict[int, Scalar] = {}
        for k, p in enumerate(at):
            runs = isinstance(p, Index) and (self.runs is None or any(p == Index(_name(a)) for a in self.runs))
            if (not runs or self.takes_turns(p)) and not isinstance(p, Batch):
                found[k] = p
        return found

    def moved(self, buffer: str, k: int, p: Scalar) -> str:
        """What a computed position adds to an offset."""
        if p == ZERO:
            return ""
        if p == ONE:
            return f" + {self.stride(buffer, k)}"
        at = self.placed.get(p) or self.printer.at(p, NATIVE.infix["mul"].left)
        return f" + {at} * {self.stride(buffer, k)}"

    def takes_turns(self, p: Position) -> bool:
        """Whether a position is the index of a loop that goes on from what it stored."""
        return isinstance(p, Index) and p.name in self.turns

    def at(self, access: Access, where: str) -> str:
        """Where a plain access stands at the start of a run: starts of positions are apart from where the loops are."""
        fixed = access.starts() | {k: p for k, p in enumerate(access.at) if self.takes_turns(p)}
        apart = (self.moved(access.buffer, k, p) for k, p in fixed.items() if not isinstance(p, Batch))
        return f"{where}.at[{access.number}]{''.join(apart)}"

    def offset(self, access: Access) -> str:
        """Where an access stands at the point of its lane, computed positions aside."""
        if not access.moves_with(self.lanes):
            return f"{self.current}.at[{access.number}]"
        if self.stepper == self.current:
            return f"{self.current}.of({access.number}, i)"
        return f"{self.current}.at[{access.number}] + i * {self.stepper}.step[{access.number}]"

    def _pick(self, r: Read, k: int, offset: str) -> Text:
        """An access with one computed position: checked, then read."""
        p, buffer = r.at[k], self.formal.slots[r.tensor]
        size = buffer.shape[k]
        assert not isinstance(p, Batch)
        place = f"{self.formal.number(r.tensor)}, {k}, {self.placed.get(p) or self.print(p)}, {self.size(size)}"
        return Text(f"rt::pick(host, {self.tensor(r.tensor)}, {offset}, {place})", _ATOM, buffer.kind)

    def _guard(self, r: Read, k: int, p: Scalar) -> str:
        return self.guard(r.tensor, k, p, reports=r.fill is None)

    def guard(self, buffer: str, k: int, p: Scalar, *, reports: bool) -> str:
        """The condition that a position is in range; one that must be is reported where it is not."""
        size = self.formal.slots[buffer].shape[k]
        at = self.placed.get(p) or self.print(p)
        if not reports:
            return f"rt::within({at}, {self.size(size)})"
        return f"rt::inside(host, {at}, {self.size(size)}, {self.formal.number(buffer)}, {k})"

    def stride(self, buffer: str, position: int) -> str:
        return f"{self.tensor(buffer)}.stride({position})"

    def _step(self, buffer: str, position: int, by: Scalar | None) -> str:
        """How far an access moves with an index along an axis."""
        stride = self.stride(buffer, position)
        if by is None or by == ONE:
            return stride
        return f"{self.printer.at(by, NATIVE.infix['mul'].left)} * {stride}"

    def cast(self, text: Text, like: str) -> Text:
        storage = self.formal.casts[like]
        value = text if text.kind is Kind.FLOAT else NATIVE.as_float(text)
        return Text(f"rt::rounded(call.dtype, {value.text})", _ATOM) if storage is Storage.SCALAR else value

    # --- declarations ------------------------------------------------------------------------------------------------

    def tensors(self) -> Iterator[str]:
        """Declarations of the tensors that are accessed."""
        for buffer in dict.fromkeys(a.buffer for a in self.accesses):
            if buffer == _PLACES:
                yield f"const rt::Places {self.tensor(buffer)};"
                continue
            rank, batch_at = layout(self.formal.slots[buffer])
            type_ = stored_type(self.formal.slots[buffer])
            batch = f", {batch_at}" if batch_at >= 0 else ""
            name = self.tensor(buffer)
            yield f"const rt::Tensor<{type_}> {name}(call, {self.formal.number(buffer)}, {rank}{batch});"

    def loops(self, name: str, loops: tuple[Loop, ...], fixed: frozenset[str], kind: str = "Loops") -> list[str]:
        """Declaration of some nested loops with the strides of every access."""
        lines = [f"rt::{kind}<{max(len(self.accesses), 1)}> {name};"]
        for a in loops:
            if isinstance(a, Batch):
                which = [f"&{self.tensor(x.buffer)}" if x.axes_of(a) else "nullptr" for x in self.accesses]
                lines.append(f"{name}.batch({', '.join(['call', *which])});")
                continue
            steps = [" + ".join(self._step(x.buffer, k, by) for k, by in x.axes_of(a)) or "0" for x in self.accesses]
            size = self.extent(a)
            mark = "true" if a.name in fixed else ""
            line = f"{name}.dim({size}, {{{', '.join(steps) or '0'}}}{', ' if mark else ''}{mark});"
            if len(line) > _LONG:
                lines += [f"{name}.step({k}, {step});" for k, step in enumerate(steps) if step != "0"]
                line = f"{name}.dim_of_steps({size}{', ' if mark else ''}{mark});"
            lines.append(line)
        return lines


def _name(a: Loop) -> str:
    return "..." if isinstance(a, Batch) else a.name
