"""Rows: the accesses of a team whose places are the points of one shared loop, and nothing else moves in it; and lines,
which are those of a thread that folds for neighbouring points.

In goes the body of a kernel of teams, out come the lines that name its rows. In its loops they are read by name, so
that what lies around a row is computed once, and the team says whether a row is held in registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from opgen.code.cuda_scope import Scope, along, hole
from opgen.code.long_values import hoisted
from opgen.code.native_layout import block
from opgen.code.native_scope import mentions
from opgen.ir.lazy import always_read
from opgen.ir.polynomial import Polynomial, polynomial
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import ZERO, Apply, Batch, Dim, Index, Lit, Param, Position, Read, Scalar, is_constant, reads, walk
from opgen.kernel.cases import shift
from opgen.kernel.model import Atomic, Body, Join, Role, Store
from opgen.kernel.powers import Powers, powers
from opgen.kernel.walk import alive, chain, inside, loop_of, values
from opgen.kernel.wanted import opened
from opgen.plan.model import Let

VECTOR = 8  # elements, of 16 bits
_FEW_ROWS = 2
_LIGHT = {"abs", "add", "div", "exp", "log", "max", "min", "mul", "neg", "reciprocal", "rsqrt", "sqrt", "square", "sub"}
_ARITHMETIC = {
    "abs",
    "add",
    "and",
    "div",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "mul",
    "ne",
    "neg",
    "not",
    "or",
    "sub",
    "where",
}


@dataclass(frozen=True)
class Candidate:
    """An access at the points of a loop that is shared out, which may be a row."""

    loop: Axis
    slot: str
    at: tuple[Position, ...]
    is_stored: bool
    is_certain: bool  # read at every point, of a loop without a condition
    locals: frozenset[str]  # that its positions read


def candidates(body: Body) -> list[Candidate]:
    """Those of a kernel along its loops."""
    stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    once = stored_once(body)
    found: list[Candidate] = []
    for loop, inner, always in _loops(body):
        met = certain(inner) if always else set()
        for slot, at in dict.fromkeys((*reads_of(inner, stored), *stores_of(inner, once))):
            if Index(loop.name) in at:
                parts = (n for p in at if not isinstance(p, Batch) for n in walk(p))
                names = frozenset(n.tensor for n in parts if isinstance(n, Read) and not n.at)
                found.append(Candidate(loop, slot, at, slot in stored, Read(slot, at) in met, names))
    return found


def rows_along(
    scope: Scope, outer: Sequence[Loop], given: Iterable[Candidate], known: Collection[str] = ()
) -> list[str]:
    """Names the rows of a kernel; of those whose places data tell, the ones that locals which are `known` lead to."""
    around = {a.name for a in outer if isinstance(a, Axis)}
    lines: list[str] = []
    for access in given:
        slot, at, loop = access.slot, access.at, access.loop
        if (slot, hole(at, loop)) in scope.rows.names:
            continue
        picked = access.is_certain and not access.locals.isdisjoint(known)
        row = _is_row(scope, slot, at, loop, around, known=known if picked else ())
        here = at.index(Index(loop.name))
        if row and scope.rows.dims.get(slot, here) == here:
            lines.append(_named(scope, access))
    return lines


def kept_along(scope: Scope, loop: Axis, body: Body, tiles: Collection[str]) -> tuple[list[str], Body]:
    """How what a pass hands on is computed, ahead of it, and the pass without that; what it does not read, it keeps."""
    lines: list[str] = []
    held = [n for n in body if isinstance(n, Store) and n.slot in tiles]
    for node in held:
        name, local = scope.fresh(node.slot), node.value
        parts, value = hoisted(scope, opened(local, body), len("return ;"))
        inner = scope.loops[loop.name]
        if mentions(inner, [*parts, value.text]):
            parts.insert(0, f"const int64_t {inner} = at;")
        given = [*parts, f"return {value.text};"]
        lines += block(f"const auto {name}_of = [&](auto at) {{", given, "};")
        lines.append(f"auto {name} = rt::kept<Team, opmath_t>({name}_of);")
        body = tuple(
            replace(n, value=Read(node.slot, node.at)) if isinstance(n, Let) and Read(n.name, ()) == local else n
            for n in body
            if n is not node
        )
        body = alive(body)
        scope.rows.kept[node.slot] = f"{name}.keep(at)"
    read = {r.tensor for e in values(body) for r in reads(e)}
    return lines, (*body, *(replace(n, value=Read(n.slot, n.at)) for n in held if n.slot not in read))


def is_arithmetic(body: Body) -> bool:
    """Whether passes along rows compute nothing that takes registers of its own."""
    passes = tuple(n for n in body if loop_of(n) is not None)
    return {n.fn for e in values(passes) for n in walk(e) if isinstance(n, Apply)} <= _ARITHMETIC


def is_passed_once(body: Body) -> bool:
    """Whether rows that are not held are read once, but for what params turn on."""
    passes = [n for n in powers(body) if isinstance(n, Powers) or ((found := loop_of(n)) is not None and not found[1])]
    return len(passes) == 1 and isinstance(passes[0], Powers)


def is_light(scope: Scope, body: Body) -> bool:
    """Whether a thread has registers for much of a row: one is read, one stored, and little is computed."""
    called = {n.fn for e in values(body) if not is_constant(e) for n in walk(e) if isinstance(n, Apply)}
    return 0 < len(scope.rows.names) <= _FEW_ROWS and called <= _LIGHT


def lines_across(
    scope: Scope, outer: Sequence[Loop], loops: Sequence[Loop], body: Body, *, wanted: bool = False
) -> list[str]:
    """Names what neighbouring points read, at one place of the inner loops, and what they store.

    Nothing where nothing is read so, unless it is `wanted` even then.
    """
    found = list(_lines(scope, outer, loops, body))
    if not outer or not (wanted or any_read(scope, outer, loops, body)):
        return []
    last = outer[-1]
    stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    added = {n.slot for n in body if isinstance(n, Atomic)}
    lines: list[str] = []
    for slot, at in found:
        if (slot, hole(at, last)) in scope.rows.names:
            continue
        name = scope.fresh(f"{slot}_line")
        scope.rows.add(slot, at, last, name)
        scope.rows.apart(_distance(at, last))
        tensor, places = scope.tensor(slot), scope.positions(at, slot)
        if slot in added:
            lines.append(f"auto* const {name} = {tensor}.at({places});")
        else:
            axis = scope.rows.dims[slot]
            method = f"rt::write_line<V, {axis}>" if slot in stored else scope.reader("read_line", slot, "V", str(axis))
            lines.append(f"{'' if slot in stored else 'const '}auto {name} = {method}({tensor}, {places});")
    return lines


def any_read(scope: Scope, outer: Sequence[Loop], loops: Sequence[Loop], body: Body) -> bool:
    """Whether neighbouring points read neighbours anywhere."""
    stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    return any(slot not in stored for slot, _ in _lines(scope, outer, loops, body))


def _lines(
    scope: Scope, outer: Sequence[Loop], loops: Sequence[Loop], body: Body
) -> Iterator[tuple[str, tuple[Position, ...]]]:
    """The accesses of neighbouring points that are neighbours, those of a slot along one of its dims."""
    if not outer:
        return
    last = outer[-1]
    stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    around = {a.name for a in (*outer[:-1], *loops) if isinstance(a, Axis)}
    cells = [(n.slot, n.at) for n in body if isinstance(n, Atomic)]
    dims = dict(scope.rows.dims)
    met = certain(body)
    for slot, at in dict.fromkeys((*reads_of(body, stored), *stores_of(body, stored_once(body)), *cells)):
        here = along(at, last)
        if len(here) != 1 or dims.get(slot, here[0]) != here[0] or not scope.takes(_distance(at, last)):
            continue
        sure = Read(slot, at) in met
        moved = isinstance(last, Axis) and Index(last.name) not in at
        if moved and not sure:  # out of range ahead of a condition, maybe
            continue
        if _is_told(scope, slot, at, last, body, stored) or _is_row(scope, slot, at, last, around, sure=sure):
            dims[slot] = here[0]
            yield slot, at


def _distance(at: Sequence[Position], loop: Loop) -> Polynomial:
    if isinstance(loop, Batch):
        return polynomial(ZERO)
    (p,) = (at[k] for k in along(at, loop))
    found = None if isinstance(p, Batch) else shift(p, Index(loop.name))
    assert found is not None
    return found


def _is_told(scope: Scope, slot: str, at: Sequence[Position], last: Loop, body: Body, stored: set[str]) -> bool:
    """Whether what is read is at a place that data tell, wherever the last loop is, and is read at every point."""
    (here,) = along(at, last)
    if slot not in scope.formal.slots or scope.doubtful(slot, here, at[here]):
        return False
    places = [n for k, p in enumerate(at) if k != here and not isinstance(p, Batch) for n in walk(p)]
    data = [n for n in places if isinstance(n, Read)]
    if isinstance(last, Batch):
        moves = Index("...") in places or any(isinstance(p, Batch) for n in data for p in n.at)
    else:
        moves = Index(last.name) in places
    outside = all(n.at and n.fill is None and n.tensor not in stored for n in data)
    added = any(isinstance(n, Atomic) and (n.slot, n.at) == (slot, at) for n in body)
    return bool(data) and outside and not moves and (added or Read(slot, tuple(at)) in certain(body))


def certain(body: Body) -> set[Scalar]:
    """What is read at every point, whatever the data."""
    return {r for n in body if isinstance(n, Let | Store | Join | Atomic) for r in always_read(n.value)}


@contextmanager
def across(scope: Scope, outer: Sequence[Loop], named: Sequence[str]) -> Iterator[None]:
    """Within: points are those of a loop over the lanes of what is named."""
    loops, place = scope.loops, scope.place
    if named:
        scope.rows.loop = last = outer[-1]
        if isinstance(last, Axis):
            scope.loops = {**loops, last.name: f"({loops[last.name]} + at)"}
        else:
            scope.place = f"rt::beside({scope.place}, at)"
    yield
    scope.rows.loop, scope.loops, scope.place = None, loops, place


def _loops(body: Body) -> Iterator[tuple[Axis, Body, bool]]:
    """The loops that are shared out along one axis, and whether they have no condition."""
    for node in body:
        found = loop_of(node)
        if found is not None:
            loops, inner = chain(found[:1], (Role.TEAM,))
            if len(loops) == 1 and isinstance(loops[0], Axis):
                yield loops[0], inner, found[1] is None


def reads_of(body: Body, stored: set[str]) -> Iterator[tuple[str, tuple[Position, ...]]]:
    for e in values(body):
        for r in walk(e):
            if isinstance(r, Read) and r.at and r.fill is None and r.tensor not in stored:
                yield r.tensor, r.at


def stored_once(body: Body) -> frozenset[str]:
    """Slots that one statement of a body stores, and nothing reads."""
    read = {r.tensor for e in values(body) for r in walk(e) if isinstance(r, Read)}
    stores = Counter(n.slot for n in inside(body) if isinstance(n, Store | Atomic))
    return frozenset(slot for slot, count in stores.items() if count == 1 and slot not in read)


def stores_of(body: Body, once: Collection[str]) -> Iterator[tuple[str, tuple[Position, ...]]]:
    """What is stored at every point, of the slots that are stored `once`."""
    return ((n.slot, n.at) for n in body if isinstance(n, Store) and n.slot in once)


def _is_row(
    scope: Scope,
    slot: str,
    at: Sequence[Position],
    loop: Loop,
    around: set[str],
    *,
    sure: bool = False,
    known: Collection[str] = (),
) -> bool:
    """Whether nothing but a loop moves an access; one that is `sure` to be met may be where a host has to check it, and
    one that locals lead to which are `known` is checked where it is named."""
    extent = None if isinstance(loop, Batch) else loop.extent
    if isinstance(extent, Lit) and extent.value % VECTOR:  # few, and never whole vectors
        return False
    if slot not in scope.formal.slots:
        return False
    here = along(at, loop)
    if any(scope.doubtful(slot, k, p, told=sure) for k, p in enumerate(at) if not known or k in here):
        return False
    rest = [p for k, p in enumerate(at) if k not in here and not isinstance(p, Batch)]
    fixed = {*(Index(name) for name in around), *(Read(name, ()) for name in known)}
    parts = [n for p in rest for n in walk(p)]
    return len(here) == 1 and all(isinstance(n, Lit | Dim | Param) or n in fixed for n in parts)


def _named(scope: Scope, access: Candidate) -> str:
    """The line that names a row."""
    slot, at, loop = access.slot, access.at, access.loop
    here = Index(loop.name)
    first = [ZERO if p == here else p for p in at]
    places = scope.positions(first, slot, where=f"{scope.size(loop)} != 0")
    name = scope.fresh(f"{slot}_row")
    tensor = scope.tensor(slot)
    scope.rows.add(slot, at, loop, name)
    axis = at.index(here)
    if access.is_stored:
        return f"auto {name} = rt::write_row<Team, {axis}>({tensor}, {places});"
    method = scope.reader("read_row", slot, "Team", str(axis))
    return f"const auto {name} = {method}({scope.size(loop)}, {tensor}, {places});"
