"""What a program says about its dims and params, and how large things probably are.

Sizes are symbolic, so costs are compared with every dim at one large value and every param at a small one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opgen.ir.program import Kind, Loop, Program, definitions
from opgen.ir.ranges import Facts, derived_sizes, facts_of, positive_params, sizes_of
from opgen.ir.scalar import Apply, Dim, Lit, Param, Scalar, walk

_HINTS = {"batch": 1 << 12, "dim": 1 << 8, "derived": 1 << 8, "param": 2}


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a program says about its dims and params: derived dims, params that are extents, divisors, integers."""

    dims: Mapping[str, Scalar | None] = field(default_factory=dict)
    nonnegative: tuple[Scalar, ...] = ()
    nonzero: tuple[Scalar, ...] = ()
    integers: frozenset[str] = frozenset()
    positive: tuple[Scalar, ...] = ()

    @staticmethod
    def of(p: Program) -> Sizes:
        dims = derived_sizes(p)
        divisors = [
            n.args[1]
            for value in dims.values() if value is not None
            for n in walk(value) if isinstance(n, Apply) and n.fn in ("floordiv", "mod")
        ]  # fmt: skip
        integers = [a.name for a in p.params if a.type == "int"]
        integers += [t.name for t in p.inputs if t.kind is Kind.INT]
        integers += [s.target for s in definitions(p) if s.kind is Kind.INT]
        return Sizes(dims, sizes_of(p), tuple(dict.fromkeys(divisors)), frozenset(integers), positive_params(p))

    def facts(self, loops: Iterable[Loop]) -> Facts:
        return facts_of(loops, self.dims, self.nonnegative, self.integers, self.positive)


def estimate(e: Scalar, dims: Mapping[str, Scalar | None]) -> int:
    """A size to compare with others: dims are large, params are small."""
    match e:
        case Lit(value):
            return int(value)
        case Dim("..."):
            return _HINTS["batch"]
        case Dim(name):
            stated = dims.get(name)
            return _HINTS["dim"] if stated is None else max(estimate(stated, dims), _HINTS["derived"])
        case Param():
            return _HINTS["param"]
        case Apply(fn, args):
            return _estimated(fn, [estimate(a, dims) for a in args])
        case _:
            return _HINTS["dim"]


def _estimated(fn: str, values: list[int]) -> int:
    match fn:
        case "add":
            return sum(values)
        case "sub":
            return values[0] - values[1]
        case "neg":
            return -values[0]
        case "mul":
            product = 1
            for v in values:
                product *= v
            return product
        case "floordiv":
            return values[0] // (values[1] or 1)
        case "mod":
            return values[1]
        case "min":
            return min(values)
        case _:
            return max(values, default=1)
