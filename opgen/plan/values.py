"""Values inside a nest: hash-consed, each named at most once, hoisted out of the loops they do not depend on.

Bodies go in as the scalars of the Program; out come lets and expressions over lets. A value used twice is computed
once; one that depends on no inner loop is computed per outer point. What could fail when evaluated needlessly (a gather
in the branch of a `where` that is not taken) stays inside its branch.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import reduce

from opgen.ir.arithmetic import either, negation_of
from opgen.ir.described import described
from opgen.ir.functions import row
from opgen.ir.lazy import lazy_arguments
from opgen.ir.order import occurrences
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop
from opgen.ir.scalar import (
    BATCH,
    NEG_INF,
    TRUE,
    ZERO,
    Apply,
    Batch,
    Cast,
    Const,
    Dim,
    Index,
    Lit,
    Param,
    Position,
    Read,
    Scalar,
    both,
    call,
    is_exact_test,
    rebuild,
    walk,
    where,
)
from opgen.opt.ranges import Ranges
from opgen.plan.contract import is_plain
from opgen.plan.model import Let

Point = Mapping[str, Scalar]  # index of a statement -> what it is in the nest


@dataclass(slots=True)
class Node:
    """One value: `value` has other nodes as `Read("#k", ())`. `level` 0 is the outer point, 1 an inner loop.

    `moves`: whether it may change along the loops that runs go along.
    """

    value: Scalar
    kind: Kind
    level: int
    moves: bool
    unsafe: bool
    wish: str
    uses: int = 0
    escapes: bool = False  # used by a deeper level than its own
    name: str = ""


@dataclass(slots=True)
class Values:
    """All values of a nest. `level_of` gives the level of an index name (`...` for the batch)."""

    kind_of: Callable[[str], Kind]
    param_kind: Callable[[str], Kind]
    maps: Mapping[str, Compute]
    fresh: Callable[[str], str]
    ranges: Ranges
    memory: Container[str] = ()  # tensors that steps fill
    locals: dict[str, Scalar] = field(default_factory=dict)
    places: dict[str, tuple[Position, ...]] = field(default_factory=dict)  # of locals that are read elsewhere as well
    local_kinds: dict[str, Kind] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    shared: dict[Scalar, int] = field(default_factory=dict)  # level 0
    inner: dict[Scalar, int] = field(default_factory=dict)  # level 1, of the current pass
    inner_loops: frozenset[str] = frozenset()
    along: frozenset[str] = frozenset()  # loops that runs go along: the inner ones, or the last one of a map
    loops: tuple[Loop, ...] = ()  # those around a value, inner ones included
    exact: bool = False  # whether what is built is tested for equality: the last bit of it counts
    points: Scalar = TRUE  # whether the inner loops have any: what is computed ahead of them may not be there otherwise
    instances: dict[tuple[str, tuple[Position, ...], bool, bool], Scalar] = field(default_factory=dict)

    def enter(self, outer: tuple[Loop, ...], inner: tuple[Loop, ...] = (), along: tuple[Loop, ...] = ()) -> None:
        """Start a pass over some loops inside others; without them, values may go `along` some of the outer ones."""
        self.inner = {}
        self.instances = {}
        self.inner_loops = _names(inner)
        self.along = self.inner_loops or _names(along)
        self.loops = (*outer, *inner)
        self.points = TRUE
        for size in (Dim("...") if isinstance(a, Batch) else a.extent for a in inner):
            self.points = self.points if isinstance(size, Lit) else both(self.points, call("ne", size, ZERO))

    # --- building ------------------------------------------------------------------------------------------------

    def value(self, e: Scalar, point: Point, wish: str = "") -> Scalar:
        """An expression of a statement as an expression over nodes."""
        return self._build(e, point, eager=True, wish=wish)

    def _build(self, e: Scalar, point: Point, *, eager: bool, wish: str = "") -> Scalar:
        match e:
            case Index(name):
                return point.get(name, e)
            case Read():
                return self._read(e, point, eager=eager)
            case Apply(fn) if fn in _COMPARED and isinstance(known := _decided(Apply(fn, _places(e, point))), Lit):
                return known
            case Apply(fn, args):
                before, self.exact = self.exact, self.exact or is_exact_test(e)
                lazy = lazy_arguments(fn, len(args))
                built = tuple(self._build(a, point, eager=eager and k not in lazy) for k, a in enumerate(args))
                self.exact = before
                value = self._steady(self._of_itself(_decided(Apply(fn, built))), eager=eager)
                return self._intern(value, eager=eager, wish=wish) if isinstance(value, Apply) else value
            case Cast():
                return self._intern(rebuild(e, lambda a: self._build(a, point, eager=eager)), eager=eager, wish=wish)
            case _:
                return e

    def _of_itself(self, e: Scalar) -> Scalar:
        """A comparison of a value with itself as what it gives; one that is not a number is not equal to itself."""
        match e:
            case Apply(fn, (a, b)) if fn in _COMPARED and a == b:
                known = fn in ("lt", "gt") or self.kind(a) is not Kind.FLOAT
                return Lit(_COMPARED[fn](0, 0)) if known else e
            case _:
                return e

    def _steady(self, e: Scalar, *, eager: bool) -> Scalar:
        """A share of a product by a size: what no run changes is divided, so that lanes have no quotient.

        Only a product with something computed, which is rounded anyway: `k*w[]/N` may be meant to be whole.
        """
        match e:
            case Apply("div", (Read() as product, size)) if not self.exact and self._is_size(size):
                factors = self._factors(product)
                fixed = tuple(a for a in factors if not self.moves(a))
                if len(fixed) == len(factors) or not any(map(self._is_computed, fixed)):
                    return e
                share = Apply("div", (self._product(fixed, eager=eager), size))
                return Apply("mul", (self._intern(share, eager=eager, wish=""), *(a for a in factors if self.moves(a))))
            case _:
                return e

    def _is_size(self, e: Scalar) -> bool:
        """Whether something is a size, or a product of sizes."""
        return isinstance(e, Dim) or (bool(self._factors(e)) and all(map(self._is_size, self._factors(e))))

    def _factors(self, e: Scalar) -> tuple[Scalar, ...]:
        known = self.node(e)
        return known.value.args if known and isinstance(known.value, Apply) and known.value.fn == "mul" else ()

    def _is_computed(self, e: Scalar) -> bool:
        """Whether something is the float that an operation or a fold gives, be it in another step."""
        known = self.node(e)
        value = known.value if known else e
        own = isinstance(value, Apply) or (isinstance(value, Read) and value.tensor in self.local_kinds)
        own = own or (isinstance(value, Read) and value.tensor in self.memory)
        return own and self.kind(e) is Kind.FLOAT

    def _product(self, factors: tuple[Scalar, ...], *, eager: bool) -> Scalar:
        return factors[0] if len(factors) == 1 else self._intern(Apply("mul", factors), eager=eager, wish="")

    def _read(self, e: Read, point: Point, *, eager: bool) -> Scalar:
        if e.tensor in self.locals and e.tensor not in self.places:
            return self.locals[e.tensor]
        at = tuple(p if isinstance(p, Batch) else self._place(p, point, eager=eager) for p in e.at)
        if e.tensor in self.locals and self.places[e.tensor] == at:
            return self.locals[e.tensor]
        source = self.maps.get(e.tensor)
        if source is not None and e.fill is None:
            return self._instance(source, at, eager=eager)
        fill = None if e.fill is None else self._build(e.fill, point, eager=False)
        return self._intern(Read(e.tensor, at, fill), eager=eager, wish="")

    def _place(self, p: Scalar, point: Point, *, eager: bool) -> Scalar:
        """A position; arithmetic of indices stays as it is, so that one can see how far it goes."""
        if any(isinstance(n, Read) for n in walk(p)):
            return self._build(p, point, eager=eager)
        return _at(p, point)

    def place(self, p: Scalar, point: Point) -> Scalar:
        """A position of a store."""
        return self._place(p, point, eager=True)

    def _instance(self, source: Compute, at: tuple[Position, ...], *, eager: bool) -> Scalar:
        """A map at some positions, written in place; once per pass."""
        key = (source.target, at, eager, self.exact)
        if key not in self.instances:
            point = {a.name: p for a, p in zip(source.axes, at, strict=True) if isinstance(a, Axis) and p != BATCH}
            inner = {name: p for name, p in point.items() if not isinstance(p, Batch)}
            self.instances[key] = self._build(source.body, inner, eager=eager, wish=source.target)
        return self.instances[key]

    def _intern(self, e: Scalar, *, eager: bool, wish: str) -> Scalar:
        unsafe = self.unsafe(e)
        if unsafe and not eager:
            return e
        moves, level = self.moves(e), self.level(e)
        table = self.inner if level else self.shared
        if unsafe and not level and e not in table and self.points != TRUE:
            wish = wish or (f"{e.tensor}_value" if isinstance(e, Read) else "")
            e = where(self.points, e, Lit(False) if self.kind(e) is Kind.BOOL else ZERO)
            unsafe = False  # it has a value now wherever it is computed
        found = table.get(e)
        if found is None:
            found = len(self.nodes)
            name = wish or (e.tensor if isinstance(e, Read) else "")
            self.nodes.append(Node(e, self.kind(e), level, moves, unsafe, name))
            table[e] = found
        elif wish and not self.nodes[found].wish:
            self.nodes[found].wish = wish
        return Read(f"#{found}", ())

    # --- properties ----------------------------------------------------------------------------------------------

    def node(self, e: Scalar) -> Node | None:
        return self.nodes[int(e.tensor[1:])] if isinstance(e, Read) and e.tensor.startswith("#") else None

    def level(self, e: Scalar) -> int:
        return 1 if self.inner_loops and self.moves(e) else 0

    def moves(self, e: Scalar) -> bool:
        """Whether a value may change along a run."""
        for n in walk(e):
            known = self.node(n)
            if known is not None and known.moves:
                return True
            if isinstance(n, Index) and n.name in self.along:
                return True
            if isinstance(n, Read) and BATCH in n.at and "..." in self.along:
                return True
        return False

    def unsafe(self, e: Scalar) -> bool:
        for n in walk(e):
            known = self.node(n)
            if known is not None:
                if known.unsafe:
                    return True
            elif isinstance(n, Read):
                if n.fill is None and n.at and not (is_plain(n) and self._stays(n)):
                    return True
            elif isinstance(n, Apply) and n.fn in ("floordiv", "mod") and not isinstance(n.args[1], Lit):
                return True
        return False

    def _stays(self, r: Read) -> bool:
        """Whether plain indices stay in a tensor: one may run further than its axis, under a condition."""
        return r.tensor not in self.ranges.shapes or self.ranges.surely(r, self.loops)

    def kind(self, e: Scalar) -> Kind:
        match e:
            case Lit(value):
                return Kind.BOOL if isinstance(value, bool) else Kind.INT if isinstance(value, int) else Kind.FLOAT
            case Const() | Cast():
                return Kind.FLOAT
            case Dim() | Index():
                return Kind.INT
            case Param(name):
                return self.param_kind(name)
            case Read(tensor):
                known = self.node(e)
                if known is not None:
                    return known.kind
                return self.local_kinds[tensor] if tensor in self.local_kinds else self.kind_of(tensor)
            case Apply(fn, args):
                return self._apply_kind(fn, args)

    def _apply_kind(self, fn: str, args: tuple[Scalar, ...]) -> Kind:
        if fn == "where":
            branches = {self.kind(a) for a in args[1:]}
            return branches.pop() if len(branches) == 1 else Kind.FLOAT if Kind.FLOAT in branches else Kind.INT
        if fn == "div":
            return Kind.FLOAT
        result = row(fn).result
        if result != "same":
            return Kind(result)
        return Kind.FLOAT if any(self.kind(a) is Kind.FLOAT for a in args) else Kind.INT

    # --- naming --------------------------------------------------------------------------------------------------

    def use(self, root: Scalar, level: int) -> None:
        """Note that a root of a pass at some level uses a value."""
        for n, times in occurrences(root).items():
            known = self.node(n)
            if known is not None:
                known.uses += times
                known.escapes = known.escapes or level > known.level

    def settle(self) -> None:
        """Carry the uses of the roots down; operands come before what they are operands of."""
        for n in reversed(self.nodes):
            if n.uses:
                self.use(n.value, n.level)

    def named(self, k: int) -> bool:
        """Whether a value gets a let: used twice, or computed further out than it is used."""
        n = self.nodes[k]
        if n.value == NEG_INF:  # as good as a name
            return False
        return n.uses > 1 or (n.uses == 1 and n.escapes)

    def lets(self, first: int, last: int, level: int) -> tuple[Let, ...]:
        """The lets of one level among the nodes made in some stretch, in order."""
        out: list[Let] = []
        for k in range(first, last):
            n = self.nodes[k]
            if n.level == level and self.named(k):
                value, plain = self.expression(n.value), isinstance(n.value, Read) and not n.wish.endswith("_value")
                n.name = self.fresh(f"{n.wish}_value" if plain else n.wish or described(value))
                out.append(Let(n.name, value, n.kind))
                self.local_kinds[n.name] = n.kind
        return tuple(out)

    def expression(self, e: Scalar) -> Scalar:
        """An expression over nodes as one over lets, single uses written in place."""
        done: dict[Scalar, Scalar] = {}

        def look(a: Scalar) -> Scalar:
            if a not in done:
                known = self.node(a)
                if known is not None:
                    done[a] = Read(known.name, ()) if known.name else look(known.value)
                else:
                    done[a] = a if isinstance(a, Read) and not a.at else rebuild(a, look)
            return done[a]

        return look(e)


def _decided(e: Apply) -> Scalar:
    """A comparison of places a known distance apart, as two indices that run together are, and what follows from it."""
    match e:
        case Apply(fn, (a, b)) if fn in _COMPARED and _is_place(a) and _is_place(b):
            distance = (polynomial(a) - polynomial(b)).constant
            return e if distance is None else Lit(_COMPARED[fn](distance, 0))
        case Apply("where", (condition, a, b)):
            return where(condition, a, b)
        case Apply("and", args):
            return reduce(both, args)
        case Apply("or", args):
            return reduce(either, args)
        case Apply("not", (a,)):
            return negation_of(a)
        case _:
            return e


_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def _names(loops: tuple[Loop, ...]) -> frozenset[str]:
    return frozenset("..." if isinstance(a, Batch) else a.name for a in loops)


def _is_place(e: Scalar) -> bool:
    return all(isinstance(n, Index | Dim | Lit | Apply) for n in walk(e))


def resolve(e: Scalar, maps: Mapping[str, Compute], found: dict[Read, None], seen: set[Read]) -> None:
    """Collect the reads of stored tensors that a body comes down to, through the maps that are written in place."""
    for n in walk(e):
        if not isinstance(n, Read) or n in seen:
            continue
        seen.add(n)
        source = maps.get(n.tensor)
        if source is None:
            found[n] = None
        else:
            pairs = zip(source.axes, n.at, strict=True)
            bound = {a.name: p for a, p in pairs if isinstance(a, Axis) and not isinstance(p, Batch)}
            resolve(_at(source.body, bound), maps, found, seen)


def _at(e: Scalar, bound: Point) -> Scalar:
    """A body at some positions."""
    if isinstance(e, Index):
        return bound.get(e.name, e)
    return rebuild(e, lambda a: _at(a, bound))


def _places(e: Apply, point: Point) -> tuple[Scalar, ...]:
    """The arguments at a point, before anything in them has a name."""
    return tuple(_at(a, point) for a in e.args)
