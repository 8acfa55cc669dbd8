"""The formulas by which a call chooses between the compiled kernel and plain torch.

In go a `Surface` and what is known of its kernels; out come functions of the arguments of an op, as those that count
floating-point operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from opgen.ir.program import Program
from opgen.ir.scalar import Batch, Dim, Lit, Param, Scalar, mul, walk
from opgen.package.shapes import Sizes
from opgen.package.view import Surface
from opgen.package.view_checks import backward_lines, branched
from opgen.package.view_flops import CountView, count_view, sum_lines
from opgen.plan.speed import Choice, Excess

_DOC = "By how many picoseconds the loops of the compiled kernel are expected to take longer than torch."


def excess_views(s: Surface, c: Choice, typed: Sequence[str], back_typed: Sequence[str]) -> tuple[CountView, ...]:
    """What the directions in torch lose in kernels. None where one of them cannot tell: both then choose alike."""
    found = []
    for which, excess in c.excess.items():
        programs = [p for _, p in s.programs(which)]
        if not all(_can_tell(p, own) for p, own in zip(programs, excess, strict=True)):
            return ()
        made = iter([_branch(s, p, own) for p, own in zip(programs, excess, strict=True)])
        branches = [next(made) if getattr(d, which) is not None else ("return 0",) for d in s.derived]
        if which == "forward":
            found.append(count_view(f"{which}_excess", _DOC, typed, branched(s, branches, returns=True)))
        else:
            lines = backward_lines(s, [t.partition(":")[0] for t in back_typed], branches, returns=True)
            found.append(count_view(f"{which}_excess", _DOC, back_typed, lines))
    return tuple(v for v in found if v is not None)


def _can_tell(p: Program, excess: Sequence[Excess]) -> bool:
    """Do the arguments of the program tell all sizes?"""
    sources, params = {d.name: d for d in p.dims}, {a.name for a in p.params}
    rest: list[Scalar | Batch] = [e for x in excess for e in x.extents]
    while rest:
        e = rest.pop()
        if isinstance(e, Batch):
            if not any(isinstance(n, Batch) for t in p.inputs for n in t.shape):
                return False
            continue
        for leaf in walk(e):
            if isinstance(leaf, Dim):
                if leaf.name not in sources:
                    return False
                value = sources[leaf.name].value
                rest += [] if value is None else [value]
            elif isinstance(leaf, Param) and leaf.name not in params:
                return False
    return True


def _branch(s: Surface, p: Program, excess: Sequence[Excess]) -> tuple[str, ...]:
    """The excess of a variant; what has the same extents is one."""
    each: dict[tuple[Scalar | Batch, ...], float] = {}
    for e in excess:
        key = tuple(sorted(e.extents, key=repr))
        each[key] = each.get(key, 0.0) + e.each
    amounts = [mul(Lit(math.ceil(1000 * n)), *map(_size, extents)) for extents, n in each.items()]
    return sum_lines(s, p, {"": amounts} if amounts else {}, _most)


def _most(sizes: Sizes, carriers: Sequence[str]) -> str:
    """The number of points of the batch shape, where one of the arguments has all of it: to broadcast takes longer."""
    counts = [f"math.prod({sizes.batch([name])})" for name in carriers]
    return f"max({', '.join(counts)})" if len(counts) > 1 else counts[0]


def _size(extent: Scalar | Batch) -> Scalar:
    return Dim("...") if isinstance(extent, Batch) else extent
