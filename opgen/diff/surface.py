"""The gradient of an operator that another library computes: its surface, since no formula leads to it.

In goes the program of such an operator, which has no statements; out comes one for its gradient, whose arguments are
what the callable gets: the cotangents of the differentiable outputs, every input, every output.
"""

from __future__ import annotations

from opgen.diff.adjoint import differentiable_inputs
from opgen.ir.program import Kind, Output, Program, Role, Tensor
from opgen.ir.scalar import BATCH


def gradient_surface(p: Program) -> Program | None:
    """The arguments and results of the gradient; None where nothing is differentiable."""
    wrt = differentiable_inputs(p)
    active = [o for o in p.outputs if o.differentiable and o.kind is Kind.FLOAT]
    if not wrt or not active:
        return None
    cotangents = tuple(Tensor(f"grad_{o.name}", o.shape, role=Role.COTANGENT, of=o.name, dtype=o.dtype) for o in active)
    results = tuple(Tensor(o.name, o.shape, o.kind, Role.SAVED, of=o.name, dtype=o.dtype) for o in p.outputs)
    shapes = {t.name: t.shape for t in p.inputs}
    outputs = tuple(
        Output(f"grad_{n}", f"grad_{n}", shapes[n], like=n if BATCH in shapes[n] else None, of=n) for n in wrt
    )
    return Program(f"{p.name}_backward", (*cotangents, *p.inputs, *results), p.params, p.dims, (), outputs)
