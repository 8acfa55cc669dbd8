"""Runs of a CPU kernel: what they read ahead of their lanes, and what is behind them.

In go statements that run lane by lane, out come declarations of what these read and write.
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.code.cpp_access import Access
from opgen.code.cpp_comb import Comb
from opgen.code.cpp_in_place import is_torn
from opgen.code.cpp_layout import block
from opgen.code.cpp_lines import Lines, rests
from opgen.code.cpp_statements import FOLDS, Around, Statements
from opgen.code.native_scope import stored_type
from opgen.ir.program import Axis, Kind, Loop, Role
from opgen.ir.scalar import Apply, Batch, Position, Read, Scalar, children, reads, walk
from opgen.kernel.formal import Formal
from opgen.kernel.model import Atomic, Body, For, If, Join, Store, ranged
from opgen.kernel.walk import inside, values
from opgen.plan.model import Let


class Runs(Statements):
    """Prints the statements of one part of a kernel, and the runs that they are the lanes of."""

    def __init__(self, formal: Formal, part: Body, turns: tuple[For, ...]) -> None:
        super().__init__(formal, part, turns)
        self.pieces: dict[str, Scalar] = {}  # by loops: what their runs do not go across
        self.outer_locals: set[str] = set()
        self.kept: dict[str, str] = {}  # what passes along a row hand on, and its name
        self.outer: tuple[Loop, ...] = ()
        self.loops: dict[tuple[Loop, ...], str] = {}  # inner loops, by name
        self.across = False  # whether the lanes are points of the outer loops
        self.shared = False  # whether threads share the outer loops
        self.chooses = False  # whether lanes go on with one of the values they come to
        self.holds = False  # whether runs follow one another, so that one can hold what the next one reads again
        self.held: list[str] = []  # declarations of what runs hold
        self.still: dict[str, str] = {}  # what all runs of a thread read of tensors that stand still, by tensor
        self.asks: dict[tuple[str, int, tuple[str, ...]], str] = {}  # what asks ahead, by its kind, access and loops
        self.pauses = False  # whether a processor forgets about the next row while it computes with one
        self.nexts: set[tuple[str, tuple[Position, ...]]] = set()  # what is asked for in the next one
        self.in_place = False  # whether runs may be in memory as lanes take them
        self.placed: dict[bool, list[Access]] = {}  # their accesses, by whether these stand still then
        self.phases: Scalar | None = None  # how far points of the last outer loop are apart that follow one another

    def sources(
        self,
        body: Body,
        at: str,
        loops: str,
        moving: dict[str, int],
        sparse: Comb | None = None,
        around: str = "",
        *,
        chooses: bool = False,
    ) -> Around:
        """Runs of everything a body reads and writes; what does not move is one number.

        `loops` run along the lanes; `around` is what comes to the next run, where they do not. `chooses`: lanes go on
        with one of the values that they come to.
        """
        scope, step, self.chooses = self.scope, self.scope.stepper, chooses
        accesses = self._accesses(values(body) if sparse is None else (*values(body), *sparse.asked))
        lines, lanes = self._values_at(accesses, at), _read_by_lanes(body)
        holds = self.holds and sparse is None
        asked, resting = _asked_ahead(body), list[str]()
        inner = next((loops for loops, name in self.loops.items() if name == around), ())
        for a in accesses:
            if scope.plain(a) and a.moves_with(scope.lanes) and a.name not in scope.declared:
                scope.declared.add(a.name)
                still = not all(map(a.axes_of, scope.lanes))
                placing = scope.formal.slots[a.buffer].kind is Kind.INT and (a.buffer, a.at) not in lanes
                if holds and rests(scope, a, asked):
                    kind = "Resting"
                    resting.append(a.name)
                else:
                    kind = "Numbers" if placing else "Steady" if self.holds else "Source"
                    kind = kind if still and not self._may_miss(a.buffer) else "Source"
                lines += [self._run_of(kind, a, at, step), *self._next(a, at, step)]
                if (
                    kind == "Source"
                    and sparse is None
                    and a.moves_with(inner)
                    and scope.formal.slots[a.buffer].kind is Kind.FLOAT
                ):
                    run = f"{at}.first, {at}.at[{a.number}], {step}.step[{a.number}], {step}.size"
                    lines.append(f"{self._asking('Apart', a, (around,))}.run({scope.tensor(a.buffer)}, {run});")
        stores = (s for s in body if isinstance(s, Store) and s.slot not in self.bound)
        sinks = list(map(self.written, stores))
        for written in sinks:
            lines += [self._run_of("Sink", written, at, step), *self._next(written, at, step)]
        lines += [f"auto* const {self.kept[name]}_at = {self.kept[name]}.at({at});" for name in self._met(body)]
        own = {n.name for n in body if isinstance(n, Let)}
        last = bool(scope.lanes) and isinstance(scope.lanes[-1], Axis) and scope.lanes[-1].name in moving
        last &= loops != "outer" or self.phases is None
        ahead = Lines(scope, body, at, step, loops, moving, last, frozenset(self.arrays), frozenset(own), self.pieces)
        ahead.hold, ahead.asked = self._hold if holds else None, asked
        nest = tuple(dict.fromkeys((around or loops, *(["outer"] if self.shared else []))))
        ahead.asking = lambda a: self._asking("Ahead", a, nest)
        if sparse is not None:
            self._teeth(sparse, ahead)
        for e in values(body):
            for r in reads(e):
                if r.tensor not in self.bound:
                    ahead.read(r)
        if ahead.resting and self.across:  # runs find out for a while where they stand
            lines += [line for written in sinks for line in self._asked("ask_to_store", written, at, step)]
        behind: list[str] = []
        self.added.clear()
        for n in body:
            atomic, condition = (n.body[0], n.condition) if isinstance(n, If) and len(n.body) == 1 else (n, None)
            if isinstance(atomic, Atomic):
                found = ahead.add(atomic, condition, FOLDS[atomic.op])
                if found is not None:
                    ahead.out.append(found[0])
                    behind.append(found[1])
                    self.added.add(n)
        once = self.once(body, moving)
        if sparse is None:
            once += self.told(body, moving, loops, last=last)
        return Around(lines, ahead.out, once, behind, ahead.span, [*resting, *ahead.resting], ahead.named)

    def at_rest(self, around: Around, each: list[str], size: str) -> list[str]:
        """Lanes that read numbers where all reads that may stand still along a run do."""
        if not around.resting:
            return each
        lanes = self.scope.fresh("lanes")
        head = f"const auto {lanes} = [&]({', '.join(f'const auto& {name}' for name in around.resting)}) {{"
        return [*block(head, each, "};"), f"rt::at_rest({size}, {lanes}, {', '.join(around.resting)});"]

    def if_asked(self, loop: For, lines: list[str]) -> list[str]:
        """A loop where somebody asks for what it stores, if that is all it does."""
        nodes = tuple(inside((loop,)))
        slots = dict.fromkeys(n.slot for n in nodes if isinstance(n, Store))
        more = any(isinstance(n, Atomic | Join) for n in nodes)
        if more or not slots or not slots.keys() <= self.scope.formal.unasked:
            return lines
        condition = " || ".join(f"{self.scope.tensor(slot)}.data != nullptr" for slot in slots)
        return block(f"if ({condition}) {{", lines)

    def _met(self, body: Body) -> list[str]:
        """What a body reads or writes of what passes along a row hand on."""
        met = [r.tensor for e in values(body) for r in reads(e)] + [s.slot for s in body if isinstance(s, Store)]
        return [name for name in dict.fromkeys(met) if name in self.kept]

    def _teeth(self, sparse: Comb, ahead: Lines) -> None:
        """Declare the lanes that a body runs along where these are not all."""
        scope = self.scope
        ahead.span = scope.fresh("span")
        for condition in sparse.uniform:
            if (pair := ranged(condition)) is None:
                text = self.condition(condition)
            else:
                text = f"rt::within({ahead.position(pair[0], 'place')}.at, {scope.print(pair[1])})"
            ahead.out.append(f"if (!({text})) return;")
        if sparse.start is not None:
            multiple = ahead.function(sparse.start, "multiple")
            ahead.out.append(f"if (!(rt::mod({multiple}(0), {scope.print(sparse.divisor)}) == 0)) return;")
        ahead.out.append(f"rt::Span {ahead.span}({scope.stepper}.size);")
        for name, pairs in (("clip", sparse.clips), ("below", sparse.below)):
            for position, limit in pairs:
                at = ahead.position(position, "place")
                ahead.out.append(f"{ahead.span}.{name}({scope.print(limit)}, {at});")
        if sparse.clips or sparse.below:
            ahead.out.append(f"if ({ahead.span}.count == 0) return;")

    def _values_at(self, accesses: Iterable[Access], where: str) -> list[str]:
        """Plain accesses that have one value at this place, as constants; each once. One point reads directly."""
        lines: list[str] = []
        for access in accesses if self.scope.lanes else ():
            if (
                self.scope.plain(access)
                and not access.moves_with(self.scope.lanes)
                and access.name not in self.outer_locals
            ):
                self.outer_locals.add(access.name)
                tensor = self.scope.tensor(access.buffer)
                lines.append(f"const auto {access.name} = rt::load({tensor}, {self.scope.at(access, where)});")
        return lines

    def _run_of(self, kind: str, a: Access, at: str, step: str) -> str:
        type_ = stored_type(self.scope.formal.slots[a.buffer])
        self.scope.widens |= kind != "Sink" and type_ == "scalar_t"
        tensor, n = self.scope.tensor(a.buffer), a.number
        const = "" if kind in ("Sink", "Resting") else "const "
        held = f"{self._hold(a)}, " if kind in ("Steady", "Resting") else ""
        if kind == "Source" and (self._may_miss(a.buffer) or self._shared_by_rows(a)):
            held = f"{self._still(a.buffer)}, "
        elif kind == "Source" and self.chooses and type_ == "scalar_t":
            kind = "Widened"
        ends = f"{held}{tensor}, {self.scope.at(a, at)}, {step}.step[{n}], {step}.size"
        if self.in_place:
            self.placed.setdefault(kind == "Resting", []).append(a)
            return f"{const}auto {a.name} = memory.{kind.lower()}({ends});"
        return f"{const}rt::{kind}<{type_}> {a.name}({ends});"

    def _hold(self, a: Access) -> str:
        """The name of what runs of an access hold."""
        name = self.scope.fresh(f"{self.scope.tensor(a.buffer)}_held")
        self.held.append(f"rt::Held<{stored_type(self.scope.formal.slots[a.buffer])}> {name};")
        return name

    def _asking(self, kind: str, a: Access, loops: tuple[str, ...]) -> str:
        """The name of what asks ahead for what stands at an access, or is named there; `loops` come to it."""
        key = kind, a.number, loops
        if key not in self.asks:
            self.asks[key] = self.scope.fresh(f"{self.scope.tensor(a.buffer)}_{kind.lower()}")
        return self.asks[key]

    def _next(self, a: Access, at: str, step: str) -> list[str]:
        """Asks for what a row goes on to where it is computed with for long, once for all of its passes."""
        waits = self.pauses or (self.in_place and is_torn(self.scope, a, self.outer))
        return self._asked("ask_next", a, at, step) if waits else []

    def _asked(self, call: str, a: Access, at: str, step: str) -> list[str]:
        scope = self.scope
        moves = bool(self.outer) and a.moves_with(self.outer)
        if not moves or scope.formal.slots[a.buffer].kind is not Kind.FLOAT or (a.buffer, a.at) in self.nexts:
            return []
        self.nexts.add((a.buffer, a.at))
        return [f"rt::{call}({scope.tensor(a.buffer)}, {scope.at(a, at)}, {step}.step[{a.number}], {step}.size);"]

    def _still(self, slot: str) -> str:
        """The name of what all runs read of a tensor that stands still."""
        if slot not in self.still:
            self.still[slot] = self.scope.fresh(f"{self.scope.tensor(slot)}_still")
        return self.still[slot]

    def _shared_by_rows(self, a: Access) -> bool:
        """Whether all rows of a kernel read the same numbers."""
        floats = self.scope.formal.slots[a.buffer].kind is Kind.FLOAT
        return floats and bool(self.outer) and not self.across and not a.moves_with(self.outer)

    def _may_miss(self, slot: str) -> bool:
        """Whether an input may be missing, and is one number then."""
        buffer = self.scope.formal.slots[slot]
        return buffer.missing is not None and buffer.role not in (Role.COTANGENT, Role.TANGENT)

    def holding(self, runs: list[str]) -> list[str]:
        """Runs behind what they hold."""
        held, self.held, self.holds = self.held, [], False
        return [*held, *runs]

    def behind_still(self, runs: list[str]) -> list[str]:
        """All runs of a thread behind what they read of tensors that stand still."""
        still, self.still = self.still, {}
        types = {slot: stored_type(self.scope.formal.slots[slot]) for slot in still}
        asks, self.asks = self.asks, {}
        buffers = {a.number: self.scope.tensor(a.buffer) for a in self.scope.accesses}
        return [
            *(f"const rt::Still<{types[s]}> {name}({self.scope.tensor(s)});" for s, name in still.items()),
            *(
                f"const rt::{kind} {name}({', '.join((buffers[a], str(a), *loops))});"
                for (kind, a, loops), name in asks.items()
            ),
            *runs,
        ]

    def _accesses(self, expressions: Iterable[Scalar]) -> list[Access]:
        found: dict[int, Access] = {}
        for e in expressions:
            for r in walk(e):
                if isinstance(r, Read) and r.tensor not in self.bound:
                    access = self.scope.find(r.tensor, r.at)
                    assert access is not None
                    found[access.number] = access
        return [found[k] for k in sorted(found)]


def _asked_ahead(body: Body) -> frozenset[str]:
    """The tensors that positions, fills and conditions of a body read."""
    asked: list[Scalar] = [n.condition for n in body if isinstance(n, If)]
    stored = [n.body[0] if isinstance(n, If) else n for n in body]
    asked += [p for n in stored if isinstance(n, Store | Atomic) for p in n.at if not isinstance(p, Batch)]
    for e in values(body):
        for a in walk(e):
            match a:
                case Read(at=at, fill=fill):
                    asked += [p for p in at if not isinstance(p, Batch)]
                    asked += [] if fill is None else [fill]
                case Apply("where" | "and" | "or", (condition, *others)):
                    asked += [condition] if a.fn == "where" else [condition, *others]
    lets = {n.name: n.value for n in body if isinstance(n, Let)}
    found: set[str] = set()
    while asked:
        new = {r.tensor for r in reads(asked.pop())} - found
        found |= new
        asked += [lets[name] for name in new & lets.keys()]
    return frozenset(found - lets.keys())


def _read_by_lanes(body: Body) -> set[tuple[str, tuple[Position, ...]]]:
    """What the lanes of a run read themselves, not only to find where something else stands."""
    found: set[tuple[str, tuple[Position, ...]]] = set()
    left = list(values(body))
    seen: set[Scalar] = set()
    while left:
        e = left.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, Read):
            found.add((e.tensor, e.at))
        else:
            left += children(e)
    return found
