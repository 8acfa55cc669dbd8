"""The sizes of the calls of random programs: which of them can be others, and what the shapes are then."""

from __future__ import annotations

from opgen.ir.program import Program, Tensor
from opgen.ir.scalar import BATCH, Batch, Dim, walk


def told(p: Program) -> list[str]:
    """The dims that inputs tell, and that stand in no extent of another one."""
    found = [d.name for d in p.dims if d.tensor is not None]
    values = {d.name: d.value for d in p.dims if d.value is not None}
    sizes = [x for t in p.inputs for x in t.shape if not isinstance(x, Batch)]
    extents = [values.get(x.name) if isinstance(x, Dim) else x for x in sizes]
    within = {n.name for x in extents if x is not None for n in walk(x) if isinstance(n, Dim)}
    return [name for name in found if name not in within]


def resized(shape: tuple[int, ...], t: Tensor, dim: str, size: int) -> tuple[int, ...]:
    """The shape of a tensor where a dim has another size; `...` is the last one of the batch, unless that is 1."""
    batch = len(shape) - sum(not isinstance(x, Batch) for x in t.shape)
    axes = [x for t in t.shape for x in ([Dim("")] * (batch - 1) + [t] * (batch > 0) if isinstance(t, Batch) else [t])]
    which = BATCH if dim == "..." else Dim(dim)
    return tuple(size if x == which and not (x == BATCH and n == 1) else n for x, n in zip(axes, shape, strict=True))
