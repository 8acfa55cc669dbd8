"""Rows that are kept: what a pass along a row has computed, and a later pass would compute again, stands in a tile.

In goes a kernel whose loops have the roles of a processor with vectors, or of a device, out comes one in which passes
over the same row hand on what takes longer to compute than to store and to load: exponentials, quotients; on a device,
whose tiles are registers, functions alone. A tile is as long as the row, and taken again by what is kept later where
nobody reads it any more. A loop that goes on from what it stored has rows of its own, which may take points twice:
nothing is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.ir.lazy import is_lazy
from opgen.ir.names import Names
from opgen.ir.program import Axis
from opgen.ir.scalar import Apply, Cast, Index, Read, Scalar, children, mentions, reads, rebuild, walk
from opgen.kernel.model import Atomic, Body, For, If, Join, Kernel, Node, Role, Store, Tile
from opgen.kernel.walk import alive, bound, chain, inside, waits
from opgen.kernel.wanted import opener
from opgen.plan.model import Let
from opgen.plan.speed import FUNCTIONS

_OF_WHOLE_NUMBERS = ("floordiv", "fmod", "mod", "remainder")
CALLS = frozenset((*FUNCTIONS, "decay")) - {*_OF_WHOLE_NUMBERS}
_LONG = {Role.LANES: CALLS | {"div", "reciprocal", "rsqrt", "sqrt"}, Role.TEAM: CALLS}
_ARITHMETIC = ("abs", "add", "max", "min", "mul", "neg", "sub")


def kept(k: Kernel, role: Role = Role.LANES) -> Kernel:
    """The kernel with what its rows hand on; `role`: that of the loops along them."""
    names = Names(())
    for name in (*(s.name for s in k.slots), *bound(k.body), *_indices(k.body)):
        names.fresh(name)
    stored = frozenset(n.slot for n in inside(k.body) if isinstance(n, Store | Atomic))
    return replace(k, body=_body(k.body, names, stored, role, row=False))


def _indices(body: Body) -> Iterator[str]:
    return (n.loop.name for n in inside(body) if isinstance(n, For) and isinstance(n.loop, Axis))


def _body(body: Body, names: Names, stored: frozenset[str], role: Role, *, row: bool) -> Body:
    """A body; `row`: what stands at one point of the parallel loops."""
    found: list[Node] = []
    for node in body:
        match node:
            case For(body=inner, role=Role.PARALLEL):
                found.append(replace(node, body=_body(inner, names, stored, role, row=True)))
            case If(body=then, otherwise=otherwise):
                parts = (_body(part, names, stored, role, row=row) for part in (then, otherwise))
                found.append(replace(node, body=next(parts), otherwise=next(parts)))
            case _:
                found.append(node)
    turns = any(isinstance(n, For) and n.role is Role.SERIAL and waits(n) for n in found)
    return _handed_on(tuple(found), names, stored, role) if row and not turns else tuple(found)


@dataclass
class _Row:
    """A pass along a row: where it stands, its statements, and what its values are without its locals."""

    at: int
    loops: tuple[Axis, ...]
    body: Body
    role: Role
    whole: dict[Scalar, Scalar] = field(init=False)  # of every value in it
    computed: frozenset[Scalar] = field(init=False)  # those

    def __post_init__(self) -> None:
        self.becomes(self.body)

    def becomes(self, body: Body) -> None:
        self.body, self.whole = body, _whole(body)
        self.computed = frozenset(self.whole.values())

    @property
    def here(self) -> tuple[Index, ...]:
        return tuple(Index(a.name) for a in self.loops)


def _handed_on(body: Body, names: Names, stored: frozenset[str], role: Role) -> Body:
    nodes = list(body)
    tiles: list[Tile] = []
    found = [r for at, n in enumerate(nodes) if (r := _row(at, n, role)) is not None]
    for loops in dict.fromkeys(r.loops for r in found):
        rows = [r for r in found if r.loops == loops]
        made: dict[str, int] = {}  # tiles, and the row that fills them
        for n, row in enumerate(rows):
            later = rows[n + 1 :]
            wanted = frozenset[Scalar]().union(*(r.computed for r in later))
            for e in sorted(_worth_keeping(row, wanted, stored), key=_size, reverse=True):
                asking = [r for r in later if e in r.computed]
                if not asking:  # all that asked for it asks for a larger part
                    continue
                name = names.fresh("row_values")
                made[name] = n
                _keep(row, e, name, names.fresh(f"{e.fn}_value" if isinstance(e, Apply) else "number"))
                for r in asking:
                    r.becomes(alive(_with(r, {e: Read(name, r.here)})))  # whatever locals it is made of
        # Registers are shared by a compiler: on a device, a row may read one value while it computes the next one anew.
        shared = {name: name for name in made} if role is Role.TEAM else _shared(made, rows)
        for row in rows:
            nodes[row.at] = _around(row, tuple(_renamed(n, shared) for n in row.body))
        tiles += [Tile(name, tuple(a.extent for a in loops)) for name in dict.fromkeys(shared.values())]
    return (*tiles, *nodes)


def _shared(made: Mapping[str, int], rows: Sequence[_Row]) -> dict[str, str]:
    """The tile that each is: one that nobody reads behind the row which fills it anew."""
    last = {name: max(n for n, r in enumerate(rows) if _reads(r.body, name)) for name in made}
    found: dict[str, str] = {}
    until: dict[str, int] = {}
    for name, filled in made.items():
        tile = next((t for t, n in until.items() if n <= filled), name)
        found[name], until[tile] = tile, last[name]
    return found


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    def step(e: Scalar) -> Scalar:
        e = rebuild(e, step)
        return replace(e, tensor=names[e.tensor]) if isinstance(e, Read) and e.tensor in names else e

    assert isinstance(node, Let | Join | Store)
    node = replace(node, value=step(node.value))
    return replace(node, slot=names.get(node.slot, node.slot)) if isinstance(node, Store) else node


def _row(at: int, node: Node, role: Role) -> _Row | None:
    loops, body = chain((node,), (role,))
    if not loops or not all(isinstance(n, Let | Join | Store) for n in body):
        return None
    axes = tuple(a for a in loops if isinstance(a, Axis))
    tiled = len(axes) == len(loops) and (len(axes) == 1 or role is not Role.TEAM)  # registers are of one axis
    return _Row(at, axes, body, role) if tiled else None


def _around(row: _Row, body: Body) -> Node:
    for a in reversed(row.loops):
        body = (For(a, body, row.role),)
    return body[0]


def _whole(body: Body) -> dict[Scalar, Scalar]:
    """Every value of a body, and what it is without the locals of that."""
    whole = opener(body)
    return {e: whole(e) for n in body for top in _values(n) for e in walk(top)}


def _values(node: Node) -> tuple[Scalar, ...]:
    return (node.value,) if isinstance(node, Let | Join | Store) else ()


def _reads(body: Body, tile: str) -> bool:
    return any(r.tensor == tile for n in body for e in _values(n) for r in reads(e))


# --- what is worth keeping -------------------------------------------------------------------------------------------


def _worth_keeping(row: _Row, wanted: frozenset[Scalar], stored: frozenset[str]) -> list[Scalar]:
    """The largest values that every point of a row computes and a later pass asks for, without locals of the row."""
    found: dict[Scalar, None] = {}
    seen: set[Scalar] = set()
    left = [e for n in row.body for e in _values(n)]
    while left:
        e = left.pop(0)
        if e in seen:
            continue
        seen.add(e)
        whole = row.whole[e]
        if whole in wanted and _takes_long(whole, _LONG[row.role]) and _is_same_later(whole, row, stored):
            found[whole] = None
        else:
            left += children(e)[:1] if is_lazy(e) else () if isinstance(e, Read) else children(e)
    return list(found)


def _size(e: Scalar) -> int:
    return sum(1 for _ in walk(e))


def _takes_long(e: Scalar, long: frozenset[str]) -> bool:
    """Whether a number is computed by some of the functions that take `long`."""
    match e:
        case Apply(fn, args):
            parts = args[1:] if fn == "where" else args
            return fn in long or (fn in ("where", *_ARITHMETIC) and any(_takes_long(p, long) for p in parts))
        case Cast(arg):
            return _takes_long(arg, long)
        case _:
            return False


def _is_same_later(e: Scalar, row: _Row, stored: frozenset[str]) -> bool:
    """Whether a value moves along the row, and nothing that it reads in memory is stored meanwhile."""
    return row.loops[-1].name in mentions(e)[0] and all(r.tensor not in stored for r in reads(e) if r.at)


def _keep(row: _Row, e: Scalar, tile: str, local: str) -> None:
    """A value as a local, which goes to the tile behind all that is read from it."""
    known = Read(local, ())
    own = next(v for n in row.body for top in _values(n) for v in walk(top) if row.whole[v] == e)  # with its locals
    body = _with(row, {e: known})
    first = next(k for k, n in enumerate(body) if any(known in reads(v) for v in _values(n)))
    row.becomes(alive((*body[:first], Let(local, own), *body[first:], Store(tile, row.here, known))))


def _with(row: _Row, by: Mapping[Scalar, Scalar]) -> Body:
    done: dict[Scalar, Scalar] = {}

    def step(e: Scalar) -> Scalar:
        if e not in done:
            whole = row.whole.get(e, e)
            done[e] = by[whole] if whole in by else rebuild(e, step)
        return done[e]

    return tuple(replace(n, value=step(n.value)) if isinstance(n, Let | Join | Store) else n for n in row.body)
