"""Sums of products as matrix products: which statements the BLAS of torch should compute, and in what order.

A sum over a product of accesses whose factors fall into groups of different indices is a contraction. Two groups make
one `Contract` when each has an index the other lacks (a true matrix product); more groups are first split in two,
smallest intermediate first. Factors of one group are multiplied into a temporary beforehand, and a factor over no index
is applied afterwards. Everything else stays a reduction of a nest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind, Loop, Shape, Statement
from opgen.ir.scalar import Apply, Batch, Index, Read, Scalar, mul
from opgen.opt.products import Group, factors_in, groups_of, is_product
from opgen.plan.model import Contract, Operand, label


@dataclass(frozen=True, slots=True)
class Contraction:
    """What a statement became: temporaries and matrix products in order, the last one under the statement's name."""

    statements: tuple[Statement, ...]
    products: tuple[str, ...]  # the statements among them that are matrix products
    operands: tuple[str, ...]  # tensors that must be in memory


def split(s: Compute, names: Names, shapes: Mapping[str, Shape]) -> Contraction | None:
    """Rewrite a sum of products, or None where a nest does as well."""
    if s.op != "sum" or s.kind is not Kind.FLOAT:
        return None
    groups, constant = groups_of(factors_in(s.body), s.loops)
    if len(groups) < 2 or any(sum(a in g.loops for g in groups) == 1 for a in s.over):
        return None
    build = _Split(s, names, shapes)
    if not build.reduce(groups):
        return None
    return build.finish(constant)


class _Split:
    def __init__(self, s: Compute, names: Names, shapes: Mapping[str, Shape]) -> None:
        self.s = s
        self.names = names
        self.shapes = shapes
        self.out: list[Statement] = []
        self.products: list[str] = []
        self.operands: list[str] = []
        self.last: list[Group] = []

    def reduce(self, groups: list[Group]) -> bool:
        """Contract pairs until two groups are left; false where no pair makes a matrix product."""
        while len(groups) > 2:
            pair = self._best_pair(groups) or self._outer_pair(groups)
            if pair is None:
                return False
            i, j = pair
            kept, summed = self._result(groups, i, j)
            name = self.names.fresh(f"{self.s.target}_part")
            if summed:
                a, b = self._operand(groups[i]), self._operand(groups[j])
                self.out.append(Compute(name, kept, mul(a.body, b.body), "sum", summed, span=self.s.span))
                self.products.append(name)
            else:
                self.out.append(Compute(name, kept, mul(groups[i].body, groups[j].body), span=self.s.span))
            rest = [g for k, g in enumerate(groups) if k not in (i, j)]
            groups = [*rest, Group(kept, Read(name, positions(kept)))]
            groups, _ = groups_of([g.body for g in groups], self.s.loops)
        if len(groups) == 2 and is_product(groups[0], groups[1], self.s.over):
            self.last = [self._operand(g) for g in groups]
            return True
        self.last = groups
        return bool(self.products)

    def _result(self, groups: list[Group], i: int, j: int) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
        others = {a for k, g in enumerate(groups) if k not in (i, j) for a in g.loops} | set(self.s.axes)
        both = [a for a in self.s.loops if a in groups[i].loops or a in groups[j].loops]
        return tuple(a for a in both if a in others), tuple(a for a in both if a not in others)

    def _best_pair(self, groups: list[Group]) -> tuple[int, int] | None:
        def cost(pair: tuple[int, int]) -> tuple[int, int]:
            kept, summed = self._result(groups, *pair)
            return len(kept), len(kept) + len(summed)

        pairs = [
            (i, j)
            for i, j in combinations(range(len(groups)), 2)
            if is_product(groups[i], groups[j], self._result(groups, i, j)[1])
        ]
        return min(pairs, key=cost) if pairs else None

    def _outer_pair(self, groups: list[Group]) -> tuple[int, int] | None:
        """Of three groups, the two whose plain product makes a matrix product with the third."""
        if len(groups) != 3:
            return None
        for i, j in combinations(range(3), 2):
            third = groups[3 - i - j]
            kept, summed = self._result(groups, i, j)
            if not summed and is_product(Group(kept, groups[i].body), third, self.s.over):
                return i, j
        return None

    def _operand(self, g: Group) -> Group:
        """A group as one access in memory: itself, or a temporary that holds the product of its factors."""
        if isinstance(g.body, Read) and is_plain(g.body) and self._whole(g.body):
            self.operands.append(g.body.tensor)
            return g
        name = self.names.fresh(f"{self.s.target}_factor")
        self.out.append(Compute(name, g.loops, g.body, span=self.s.span))
        self.operands.append(name)
        return Group(g.loops, Read(name, positions(g.loops)))

    def _whole(self, r: Read) -> bool:
        """Whether the loops run over all of a tensor."""
        return is_whole(r, self.s.loops, self.shapes[r.tensor]) if r.tensor in self.shapes else True

    def finish(self, constant: list[Scalar]) -> Contraction:
        s = self.s
        body = mul(*(g.body for g in self.last))
        matrix = len(self.last) == 2 and is_product(self.last[0], self.last[1], s.over)
        target = self.names.fresh(f"{s.target}_unscaled") if constant else s.target
        left = {a for g in self.last for a in g.loops}
        over = tuple(a for a in s.over if a in left)
        self.out.append(replace(s, target=target, body=body, over=over))
        if matrix:
            self.products.append(target)
        if constant:
            whole = Read(target, positions(s.axes))
            self.out.append(Compute(s.target, s.axes, mul(*constant, whole), kind=s.kind, span=s.span))
        return Contraction(tuple(self.out), tuple(self.products), tuple(self.operands))


def is_plain(r: Read) -> bool:
    """Whether an access uses each position for one distinct index."""
    names = [p.name if isinstance(p, Index) else "..." if isinstance(p, Batch) else "" for p in r.at]
    return r.fill is None and "" not in names and len(set(names)) == len(names)


def is_whole(r: Read, loops: tuple[Loop, ...], shape: Shape) -> bool:
    """Whether every position of a plain access runs over the whole axis."""
    known: dict[Scalar, Scalar] = {Index(a.name): a.extent for a in loops if isinstance(a, Axis)}
    return all(isinstance(p, Batch) or known.get(p) == size for p, size in zip(r.at, shape, strict=True))


def operand(r: Read) -> Operand:
    """A plain access as an operand of a contraction."""
    plain = (p for p in r.at if isinstance(p, Batch | Index))
    return Operand(r.tensor, tuple("..." if isinstance(p, Batch) else p.name for p in plain))


def contract(s: Compute, reason: str) -> Contract:
    """The matrix product that a statement of the form `sum(a * b)` stands for."""
    assert isinstance(s.body, Apply)
    a, b = (operand(f) for f in s.body.args if isinstance(f, Read))
    out = Operand(s.target, tuple(label(x) for x in s.axes))
    shared = tuple(x for x in a.labels if x in b.labels)
    return Contract(
        name=s.target,
        out=out,
        a=a,
        b=b,
        batch=tuple(x for x in shared if x in out.labels),
        m=tuple(x for x in a.labels if x not in b.labels),
        n=tuple(x for x in b.labels if x not in a.labels),
        k=tuple(x for x in shared if x not in out.labels),
        reason=reason,
    )


def linear_form(c: Contract) -> tuple[Operand, Operand] | None:
    """Rows and matrix where torch calls the product linear: `out[m..., n] = sum[k] rows[m..., k] * matrix[n, k]`."""
    for rows, matrix in ((c.a, c.b), (c.b, c.a)):
        if len(matrix.labels) != 2 or len(c.k) != 1 or c.batch:
            continue
        n, k = matrix.labels
        fits = rows.labels == (*c.out.labels[:-1], k) and c.out.labels[-1] == n
        if fits and (k,) == c.k and "..." not in matrix.labels:
            return rows, matrix
    return None


def equation(c: Contract) -> str:
    """A contraction for einsum."""
    letters: dict[str, str] = {"...": "..."}
    for name in (*c.a.labels, *c.b.labels):
        if name not in letters:
            letters[name] = chr(ord("a") + len(letters) - 1)
    parts = ["".join(letters[x] for x in o.labels) for o in (c.a, c.b, c.out)]
    return f"{parts[0]},{parts[1]}->{parts[2]}"
