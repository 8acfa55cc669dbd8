"""What `auto` leaves to plain torch on a GPU: products of matrices that a kernel makes point by point.

There a thread has a row of a stream, and its sums are in memory: products of matrices, which torch makes in tiles on
units of their own, take a hundred times as long and more. Torch takes the memory for what is never stored in kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.ir.scalar import Apply, Read
from opgen.plan.model import Dot, KernelPlan, Stream


def slower_on_gpu(plans: Mapping[str, Sequence[KernelPlan]]) -> tuple[str, ...]:
    """The directions, forward or backward, whose kernels plain torch is expected to be faster than."""
    return tuple(which for which, own in plans.items() if any(map(_multiplies_matrices, own)))


def _multiplies_matrices(p: KernelPlan) -> bool:
    """Is there a stream in which all that is summed at a point is a product of two tensors?"""
    streams = (step for step in p.steps if isinstance(step, Stream))
    return any(
        dots and all(map(_is_product, dots)) for dots in ([d for s in x.sweeps for d in s.dots] for x in streams)
    )


def _is_product(d: Dot) -> bool:
    return isinstance(d.value, Apply) and d.value.fn == "mul" and all(isinstance(a, Read) for a in d.value.args)
