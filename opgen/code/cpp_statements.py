"""Statements of a CPU kernel: what one point, or one lane of a run, computes and keeps.

In go nodes of a kernel and the scope of the part that they stand in, out come lines of C++.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from opgen.code.cpp_access import Access
from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import CpuScope
from opgen.code.invariants import invariants
from opgen.code.length import Length
from opgen.code.long_values import hoisted
from opgen.code.native_scope import value_type
from opgen.code.printer import NATIVE, Text
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import PLACE, Apply, Batch, Index, Read, Scalar, children, walk
from opgen.kernel.formal import Formal
from opgen.kernel.model import PLACES, Acc, Atomic, Body, For, If, Join, Node, Role, Store, Tile, conjuncts, ranged
from opgen.kernel.walk import bound, chain, inside, straight, values
from opgen.kernel.wanted import opened
from opgen.plan.model import Let

FOLDS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "any": "Any", "all": "All"}
_BEST = {"argmax": "rt::Best<true>", "argmin": "rt::Best<false>"}


@dataclass(frozen=True, slots=True)
class Once:
    """What is computed once, and which others it asks for."""

    name: str
    lines: list[str]
    asks: frozenset[str]


@dataclass(frozen=True, slots=True)
class NamedRow:
    """Where a row is named: along which axis, by which access to positions; and what asks for such rows ahead."""

    axis: int
    positions: Access
    asking: str


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around the lanes of a run: plain reads and sinks, what is read `ahead`, what comes `behind`.

    `span` tells which lanes there are, where these are not all; `resting` are the reads that may all stand still;
    `named` are the rows that a position names, by access.
    """

    plain: list[str]
    ahead: list[str]
    once: list[Once]
    behind: list[str]
    span: str
    resting: list[str]
    named: dict[int, NamedRow]


class Statements:
    """Prints the statements of one part of a kernel."""

    def __init__(self, formal: Formal, part: Body, turns: tuple[For, ...]) -> None:
        """`turns` are the loops that go on from what they stored; those around them are not merged with others."""
        self.part = part
        self.scope = CpuScope(formal, turns=frozenset(n.loop.name for n in turns if isinstance(n.loop, Axis)))
        self.scope.collect(part)
        self.fixed = _numeric_indices(self.scope, part)
        around = (n for n in inside(part) if isinstance(n, For) and any(t in inside(n.body) for t in turns))
        self.fixed |= {n.loop.name for n in around if isinstance(n.loop, Axis)}
        self.bound = bound(part)
        self.arrays: set[str] = set()  # locals that have a value for every lane
        self.added: set[Node] = set()  # what adds to shared places when a run has all its values

    def keep(self, x: Let | Acc | Tile, text: str) -> None:
        """A local that has a value for every lane."""
        self.scope.locals[x.name] = (text, x.kind)
        self.arrays.add(x.name)

    def written(self, s: Store | Atomic) -> Access:
        access = self.scope.find(s.slot, s.at, write=True)
        assert access is not None
        return access

    def number(self, loops: tuple[Loop, ...], name: str, where: str, *, lane: bool) -> dict[str, int]:
        """How the indices that are used as numbers are spelled; which of them may move from lane to lane.

        A last loop whose index is used is never merged with others: then no other moves.
        """
        numbered = [a for a in loops if isinstance(a, Axis) and a.name in self.fixed]
        moving = numbered[-1:] if numbered and numbered[-1] is loops[-1] else numbered
        for number, a in enumerate(numbered):
            i = "i" if lane and a in moving else "0"
            self.scope.indices[a.name] = f"{name}.index({where}, {number}, {i})"
        return {a.name: numbered.index(a) for a in moving} if lane else {}

    def once(self, body: Body, moving: Collection[str]) -> list[Once]:
        """Definitions of the quotients that are the same at every lane; from here on they are printed as names."""
        scope = self.scope
        found = [e for n in body for e in (_added(n) if n in self.added else values((n,)))]
        own: dict[str, bool] = {}  # whether a local of the body is the same at every lane

        def is_same(e: Scalar) -> bool:
            match e:
                case Index("..."):
                    return not scope.places().moves_with(scope.lanes)
                case Index(name):
                    return name not in moving
                case Read(tensor, at) if not at or tensor in self.bound:
                    return own.get(tensor, tensor in scope.locals and tensor not in self.arrays)
                case Read():
                    access = scope.find(e.tensor, e.at)
                    plain = access is not None and scope.plain(access)
                    return (plain or scope.settled(e)) and not self.moves(e)
                case _:
                    return True

        for n in body:
            if isinstance(n, Let):
                own[n.name] = all(map(is_same, walk(n.value)))
        made: list[Once] = []
        for e in invariants(found, is_same):
            scope.asked_ahead.clear()
            parts, value = hoisted(scope, opened(e, body), len("const opmath_t once_00 = ;"))
            name = scope.fresh("once")
            lines = [*parts, f"const {value_type(value.kind)} {name} = {value.text};"]
            made.append(Once(name, lines, frozenset(scope.asked_ahead)))
            scope.ahead[e] = Text(name, NATIVE.atom, value.kind)
        scope.asked_ahead.clear()
        return made

    def told(self, body: Body, moving: Mapping[str, int], loops: str, *, last: bool) -> list[Once]:
        """Definitions of conditions on where lanes are that take quotients, of which lanes have no vectors.

        Where none of the loops that they ask for moves along a run, they are the same at every lane.
        """
        scope = self.scope
        lets = {n.name: n.value for n in body if isinstance(n, Let)}

        def is_told(e: Scalar) -> bool:
            match e:
                case Index(name):
                    return name != "..."
                case Read(tensor, at):
                    return not at and tensor in lets and all(map(is_told, walk(lets[tensor])))
                case _:
                    return True

        made: list[Once] = []
        conditions = [n.value for n in body if isinstance(n, Let) and n.kind is Kind.BOOL]
        conditions += [a.args[0] for e in values(body) for a in walk(e) if isinstance(a, Apply) and a.fn == "where"]
        for e in invariants(conditions, is_told):
            whole = opened(e, body)
            ours = [moving[n.name] for n in walk(whole) if isinstance(n, Index) and n.name in moving]
            if e in scope.ahead or not ours:
                continue
            scope.asked_ahead.clear()
            parts, value = hoisted(scope, whole, len("  return ;"))
            if value.kind is not Kind.BOOL:
                continue
            still = "false" if last else " && ".join(f"{loops}.still({k})" for k in dict.fromkeys(ours))
            name = scope.fresh("told")
            head = f"const rt::Told {name}({scope.stepper}.size, {still}, [&](int64_t i) {{"
            lines = block(head, [*parts, f"return {value.text};"], "});")
            made.append(Once(f"{name}[i]", lines, frozenset(scope.asked_ahead)))
            scope.ahead[e] = Text(f"{name}[i]", NATIVE.atom, Kind.BOOL)
        scope.asked_ahead.clear()
        return made

    def ahead(self, around: Around) -> list[str]:
        """What stands ahead of lanes that are printed: of what is computed once, what these ask for."""
        wanted, lines = set(self.scope.asked_ahead), list[str]()
        for once in reversed(around.once):
            if once.name in wanted:
                wanted |= once.asks
                lines = [*once.lines, *lines]
        return [*around.ahead, *lines]

    def moves(self, r: Read) -> bool:
        """Whether what a read gives may differ from lane to lane."""
        access = self.scope.find(r.tensor, r.at)
        if access is None:
            return False
        ahead = self.scope.lines.get((access.number, r.fill))
        return access.moves_with(self.scope.lanes) if ahead is None else ahead[1]

    def each(self, body: Body, lane: str) -> list[str]:
        """The statements of a body at one lane, without locals that only what happened ahead of the lanes asks for."""
        scope, found, length = self.scope, [], Length()
        for node in body:
            scope.asked, scope.asked_ahead = set(), set()
            found.append((node, self.statement(node, lane), scope.asked, scope.asked_ahead))
            length.add(found[-1][1])
        wanted: set[str] = set()
        ahead: set[str] = set()
        lines: list[list[str]] = []
        for node, text, asked, asked_ahead in reversed(found):
            if not isinstance(node, Let) or node.name in wanted:
                wanted |= asked
                ahead |= asked_ahead
                lines.insert(0, text)
        scope.asked_ahead = ahead
        return [line for text in lines for line in text]

    def statement(self, node: Node, lane: str) -> list[str]:
        """A node at one lane; `lane` is where an accumulator takes its values."""
        match node:
            case Let():
                return self.let(node)
            case Join():
                return self.join(node, lane)
            case Store() if node.slot in self.bound or self.scope.runs is not None:
                return self._put(node)
            case Store():
                return self._later(node)
            case Atomic() if node in self.added:
                return self._later(node)
            case Atomic():
                return self._combine(node)
            case If(_, (Atomic() as atomic,)) if node in self.added:
                return self._later(atomic)
            case If(condition, body):
                return self._guarded(condition, body, lane)
            case _:
                raise AssertionError(f"{node} stands where only values are computed")

    def _later(self, s: Store | Atomic) -> list[str]:
        """A value of a run, which goes to its place when all of them are there."""
        head = f"{self.written(s).name}.set(i, "
        parts, value = hoisted(self.scope, s.value, len(f"{head});"))
        return [*parts, f"{head}{value.text});"]

    def let(self, let: Let) -> list[str]:
        head = f"const {value_type(let.kind)} {let.name} = "
        parts, value = hoisted(self.scope, let.value, len(head) + 4)
        name = self.scope.fresh(let.name)
        self.scope.locals[let.name] = (name, let.kind)
        return [*parts, f"const {value_type(let.kind)} {name} = {value.text};"]

    def join(self, j: Join, lane: str) -> list[str]:
        head, tail = f"{fold_name(j.acc)}.add({lane}, ", ");"
        if j.place is not None:
            tail = f", {self.scope.print(j.place)});"
        parts, value = hoisted(self.scope, j.value, len(head) + len(tail))
        return [*parts, f"{head}{value.text}{tail}"]

    def _put(self, s: Store) -> list[str]:
        """A store whose place is not that of a run."""
        scope, held = self.scope, self.bound.get(s.slot)
        if held is None:
            moved = (scope.moved(s.slot, k, p) for k, p in scope.computed(s.at).items())
            at = scope.offset(self.written(s)) + "".join(moved)
            head, tail = f"rt::store({scope.tensor(s.slot)}, {at}, ", ");"
        else:
            head, tail = f"{scope.locals[s.slot][0]} = ", ";"
        parts, value = hoisted(scope, s.value, len(f"{head}{tail}"))
        return [*parts, f"{head}{value.text}{tail}"]

    def nested(self, body: Body) -> list[str]:
        """A body with loops of its own at one lane."""
        lines: list[str] = []
        accs: list[Acc] = []
        for node in body:
            if isinstance(node, For):
                lines += self._loop(node, accs)
                accs = []
            elif isinstance(node, Acc):
                accs.append(node)
            else:
                lines += self.statement(node, "0")
        return lines

    def _loop(self, loop: For, accs: list[Acc]) -> list[str]:
        """A plain loop, and what it joins; `accs` have one lane."""
        loops, body = chain((loop,), (Role.SERIAL,))
        heads = [self.head(a, reverse=False) for a in loops if isinstance(a, Axis)]
        folds = [f"{self.fold_type(a, body, '1')} {fold_name(a.name)};" for a in accs]
        self.scope.depth += 2 * len(heads)
        lines = [*self.nested(body), *sums(accs, "ran(1)")]
        self.scope.depth -= 2 * len(heads)
        for head in reversed(heads):
            lines = block(head, lines)
        return [*folds, *lines, *self.fold_values(accs)]

    def head(self, a: Axis, *, reverse: bool) -> str:
        """The head of a plain loop, whose index is known from here on."""
        name = self.scope.indices[a.name] = self.scope.fresh(a.name)
        size = self.scope.extent(a)
        if reverse:
            return f"for (int64_t {name} = {size} - 1; {name} >= 0; --{name}) {{"
        return f"for (int64_t {name} = 0; {name} < {size}; ++{name}) {{"

    def _guarded(self, condition: Scalar, body: Body, lane: str) -> list[str]:
        """What happens under a condition."""
        texts = map(self.condition, conjuncts(condition))
        self.scope.depth += 2
        lines = [line for n in body for line in self.statement(n, lane)]
        self.scope.depth -= 2
        return block(f"if ({' && '.join(texts)}) {{", lines)

    def condition(self, e: Scalar) -> str:
        pair = ranged(e)
        return self.scope.print(e) if pair is None else f"rt::within({', '.join(map(self.scope.print, pair))})"

    def _combine(self, a: Atomic) -> list[str]:
        """A value on its way into a place that others share: they come one after the other."""
        scope = self.scope
        computed = scope.computed(a.at)
        offset = scope.offset(self.written(a)) + "".join(scope.moved(a.slot, k, q) for k, q in computed.items())
        unsure = [(k, q) for k, q in enumerate(a.at) if not isinstance(q, Batch) and scope.doubtful(a.slot, k, q)]
        guards = [scope.guard(a.slot, k, q, reports=True) for k, q in unsure]
        lines = [f"if (!{' || !'.join(guards)}) return;"] if guards else []
        head = f"rt::accumulate<rt::{FOLDS[a.op]}>({scope.tensor(a.slot)}, {offset}, "
        parts, value = hoisted(scope, a.value, len(f"{head});"))
        return [*lines, *parts, f"{head}{value.text});"]

    # --- folds -------------------------------------------------------------------------------------------------------

    def fold_type(self, a: Acc, body: Body, lanes: str = "") -> str:
        more = f", {lanes}" if lanes else ""
        if a.op in PLACES:
            (value,) = (n.value for n in body if isinstance(n, Join) and n.acc == a.name)
            return f"rt::Arg<{_BEST[a.op]}, {value_type(self._kind(value))}{more}>"
        return f"rt::Fold<rt::{FOLDS[a.op]}, {value_type(a.kind)}{more}>"

    def _kind(self, e: Scalar) -> Kind:
        """The kind of a value that is compared; its text is thrown away."""
        kept = dict(self.scope.locals)
        unknown = {n: (n, x.kind) for n, x in self.bound.items() if n not in self.scope.locals}
        self.scope.locals.update(unknown)
        indices = dict(self.scope.indices)
        self.scope.indices.update({a: a for a in self.fixed})
        kind = self.scope.printer.text(e).kind
        self.scope.locals, self.scope.indices = kept, indices
        return Kind.INT if kind is Kind.BOOL else kind

    def fold_values(self, accs: Iterable[Acc], owner: str = "", points: str = "") -> list[str]:
        """What has been folded; `points`: of how many, if that is known."""
        lines = []
        for a in accs:
            name = self.scope.fresh(a.name)
            lines.append(f"const {value_type(a.kind)} {name} = {owner}{fold_name(a.name)}.value({points});")
            self.scope.locals[a.name] = (name, a.kind)
        return lines


def _added(n: Node) -> tuple[Scalar, ...]:
    """What is computed at a lane where the places of its additions are known ahead."""
    (atomic,) = n.body if isinstance(n, If) else (n,)
    assert isinstance(atomic, Atomic)
    return (atomic.value,)


def fold_name(name: str) -> str:
    return f"{name}_fold"


def sums(accs: Iterable[Acc], call: str) -> list[str]:
    """A call for every accumulator that is a sum of floats: these are kept in blocks."""
    return [f"{fold_name(a.name)}.{call};" for a in accs if a.op == "sum" and a.kind is Kind.FLOAT]


def _numeric_indices(scope: CpuScope, body: Body) -> frozenset[str]:
    """Index names that are used as numbers, not only as plain positions."""
    own = bound(body)
    found = _numbers(scope, own, [e for group in straight(body) for e in values(group)])
    for node in inside(body):
        if isinstance(node, Store | Atomic) and node.slot not in own:
            doubtful = (q for k, q in enumerate(node.at) if scope.doubtful(node.slot, k, q))
            found |= {q.name for q in doubtful if isinstance(q, Index)}
    return frozenset(found)


def _numbers(scope: CpuScope, own: Collection[str], left: list[Scalar]) -> set[str]:
    """The same of values; what locals stand for is left out, and each part is looked at once."""
    found: set[str] = set()
    seen: set[Scalar] = {PLACE}  # which is no loop's own
    while left:
        e = left.pop()
        if e in seen or (isinstance(e, Read) and e.tensor in own):  # the latter at the point of a lane
            continue
        seen.add(e)
        if isinstance(e, Index):
            found.add(e.name)
        elif isinstance(e, Read):
            access = scope.find(e.tensor, e.at)
            at = () if access is not None and access.sure else e.at
            found |= {p.name for k, p in enumerate(at) if isinstance(p, Index) and scope.doubtful(e.tensor, k, p)}
            left += [p for p in at if not isinstance(p, Batch | Index)]
            left += [] if e.fill is None else [e.fill]
        else:
            left += children(e)
    return found
