"""In which order a product of several factors is summed: two at a time, along the cheapest tree.

In go the factors of one sum, plain accesses over some of its loops; out come at most two factors, and statements for
what was contracted before. `x[b, k]*a[r, k]*c[n, r]` over `k` and `r` takes `b*n*r*k` steps at once, and
`b*r*k + b*n*r` as `(x a) c`. The steps of two orders
are compared for sizes as operators usually have them (`typical_sizes`), so that an order whose index sets lie within
those of another one is never passed over for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from opgen.diff.algebra import product
from opgen.diff.structure import Builder, extent
from opgen.ir.program import Loop, Program, Shape
from opgen.ir.scalar import BATCH, Batch, Dim, Lit, Read, Scalar
from opgen.ir.text import scalar
from opgen.opt.stabilize import Rewrite

_EXHAUSTIVE = 6  # so many factors are tried in every order; of more, the cheapest pair goes first
_BATCH, _POSITIONS, _FEATURES, _RANK, _OTHER = 1024, 512, 64, 16, 16

Sizes = Mapping[str, int]
Note = Callable[[Rewrite], None]


def typical_sizes(p: Program) -> dict[str, int]:
    """A size for every dim of an operator, by where it stands in its inputs and outputs.

    Last dims are features. A dim between two weights, which neither the data nor a result has, is a rank: a
    factorisation would be pointless if it were large. Everything else counts positions.
    """
    inputs, outputs = [t.shape for t in p.inputs], [o.shape for o in p.outputs]
    weights = [s for s in inputs if not is_data(s, inputs)]
    found = {"...": _BATCH}
    for d in p.dims:
        dim = Dim(d.name)
        inner = sum(dim in s for s in weights) > 1 and any(s[-1] == dim for s in weights if s)
        if inner and not any(dim in s for s in (*outputs, *(s for s in inputs if s not in weights))):
            found[d.name] = _RANK
        else:
            found[d.name] = _FEATURES if any(s and s[-1] == dim for s in (*inputs, *outputs)) else _POSITIONS
    return found


def is_data(shape: Shape, inputs: Sequence[Shape]) -> bool:
    """Has an input the batch, or where nothing has one, the rows of the first input?"""
    if any(BATCH in s for s in inputs):
        return BATCH in shape
    return bool(inputs and inputs[0]) and inputs[0][0] in shape


@dataclass(frozen=True, slots=True)
class Factor:
    """A plain access, and the loops that it spans."""

    loops: tuple[Loop, ...]
    access: Read


@dataclass(frozen=True, slots=True)
class _Tree:
    """A way to contract some factors: the loops that are left, the loops of each step, and the two halves."""

    loops: frozenset[Loop]
    steps: tuple[frozenset[Loop], ...]
    factor: Factor | None = None
    halves: tuple[_Tree, ...] = ()

    @property
    def text(self) -> str:
        if self.factor is not None:
            return self.factor.access.tensor
        return " ".join(h.text if h.factor is not None else f"({h.text})" for h in self.halves)


def pairwise(
    b: Builder, base: str, factors: Sequence[Factor], loops: tuple[Loop, ...], over: tuple[Loop, ...],
    sizes: Sizes, note: Note,
) -> tuple[list[Factor], tuple[Loop, ...]]:  # fmt: skip
    """The last two factors of the sum, and the loops that are summed over their product."""
    order = _Order(b, base, loops, over, sizes)
    left = [order.alone(f, factors) for f in factors]
    over = tuple(a for a in over if sum(a in f.loops for f in left) > 1)
    if len(left) < 3:
        return left, over
    trees = order.trees(left)
    note(Rewrite(base, f"the product is contracted as {trees[0].text}", order.reason(trees)))
    return [order.emit(half) for half in trees[0].halves], tuple(a for a in over if a in _spanned(trees[0]))


def _spanned(tree: _Tree) -> frozenset[Loop]:
    return frozenset[Loop]().union(*(h.loops for h in tree.halves))


class _Order:
    def __init__(self, b: Builder, base: str, loops: tuple[Loop, ...], over: tuple[Loop, ...], sizes: Sizes) -> None:
        self.b, self.base, self.loops, self.over, self.sizes = b, base, loops, over, sizes

    def alone(self, f: Factor, factors: Sequence[Factor]) -> Factor:
        """A factor summed over the loops that no other factor has."""
        others = {a for g in factors if g is not f for a in g.loops}
        own = tuple(a for a in f.loops if a in self.over and a not in others)
        if not own:
            return f
        left = tuple(a for a in f.loops if a not in own)
        return Factor(left, self.b.emit(f"{self.base}_part", left, f.access, "sum", own))

    # --- the choice --------------------------------------------------------------------------------------------------

    def trees(self, factors: list[Factor]) -> list[_Tree]:
        """The best trees, best first; without equals in cost beside it where only one order was looked at."""
        leaves = [_Tree(frozenset(f.loops), (), f) for f in factors]
        while len(leaves) > _EXHAUSTIVE:
            i, j = min(combinations(range(len(leaves)), 2), key=lambda ij: self.cost(self.joined(leaves, *ij)))
            pair = self.joined(leaves, i, j)
            leaves = [*(t for k, t in enumerate(leaves) if k not in (i, j)), pair]
        return sorted(self._all(leaves), key=self.cost)

    def _all(self, parts: list[_Tree]) -> list[_Tree]:
        """The best tree for each last step."""
        if len(parts) == 1:
            return parts
        best: dict[frozenset[Loop], _Tree] = {}
        for i, j in combinations(range(len(parts)), 2):
            rest = [t for k, t in enumerate(parts) if k not in (i, j)]
            for tree in self._all([*rest, self.joined(parts, i, j)]):
                first = tree.steps[0]
                if first not in best or self.cost(tree) < self.cost(best[first]):
                    best[first] = tree
        return list(best.values())

    def joined(self, parts: list[_Tree], i: int, j: int) -> _Tree:
        """Two parts contracted, all loops summed that neither the result nor another part has."""
        both = parts[i].loops | parts[j].loops
        others = frozenset[Loop]().union(*(t.loops for k, t in enumerate(parts) if k not in (i, j)))
        kept = frozenset(a for a in both if a not in self.over or a in others)
        return _Tree(kept, (*parts[i].steps, *parts[j].steps, both), None, (parts[i], parts[j]))

    def cost(self, tree: _Tree) -> tuple[int, int, int]:
        """Steps, then the elements between them, then how many of those are sums: a product is cheaply made again."""
        return sum(map(self.points, tree.steps)), *self._between(tree)

    def _between(self, tree: _Tree) -> tuple[int, int]:
        stored = sums = 0
        for half in (h for h in tree.halves if h.factor is None):
            more, summing = self._between(half)
            stored += self.points(half.loops) + more
            sums += (half.loops != half.steps[-1]) + summing
        return stored, sums

    def points(self, loops: frozenset[Loop]) -> int:
        return math.prod(self._size(a) for a in loops)

    def _size(self, a: Loop) -> int:
        match extent(a):
            case Lit(value):
                return int(value)
            case Dim(name):
                return self.sizes.get(name, _OTHER)
            case _:
                return _OTHER

    # --- its reason --------------------------------------------------------------------------------------------------

    def reason(self, trees: list[_Tree]) -> str:
        best = trees[0]
        if len(trees) == 1:
            return f"{self.steps(best)} steps"
        other = trees[1]
        text = f"{self.steps(best)} steps, {self.steps(other)} as {other.text}"
        sizes = [f"{_name(a)} = {self._size(a)}" for a in self.loops if not isinstance(extent(a), Lit)]
        return f"{text}: sizes are taken to be {', '.join(dict.fromkeys(sizes))}"

    def steps(self, tree: _Tree) -> str:
        """The number of steps as a formula."""
        return " + ".join("*".join(_name(a) for a in self.loops if a in step) for step in tree.steps)

    # --- the statements ----------------------------------------------------------------------------------------------

    def emit(self, tree: _Tree) -> Factor:
        if tree.factor is not None:
            return tree.factor
        left, right = (self.emit(h) for h in tree.halves)
        kept = tuple(a for a in self.loops if a in tree.loops)
        summed = tuple(a for a in self.over if a in tree.steps[-1] and a not in tree.loops)
        body: Scalar = product(left.access, right.access)
        return Factor(kept, self.b.emit(f"{self.base}_part", kept, body, "sum" if summed else None, summed))


def _name(a: Loop) -> str:
    return "batch" if isinstance(a, Batch) else scalar(a.extent)
