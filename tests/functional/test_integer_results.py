"""Operators whose results are integers or conditions only, in forward mode: tangents are zero, as torch's are."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch.autograd import forward_ad

Build = Callable[[str], ModuleType]
ORDER = "op: order\ninputs: {x: {shape: [..., N]}}\nforward: o[..., n] = argsort[n](x[..., n])"
SEVERAL = """
op: signs
inputs: {x: {shape: [N]}}
outputs: [positive, count, rounded]
forward: |
  positive[n] = x[n] > 0
  count = count[n](x[n] > 0)
  rounded[n] = int(floor(x[n]))
"""
CONSTANT = "op: frozen\ninputs: [x]\noutputs: {y: {differentiable: false}}\nforward: y = 2*x"


@pytest.mark.parametrize("spec", [ORDER, SEVERAL, CONSTANT])
def test_tangents_are_zero(build_operator: Build, spec: str) -> None:
    package = build_operator(spec)
    name = package.__name__.rpartition(".")[2]
    function = next(v for n, v in vars(package).items() if n.endswith("Function"))
    x = torch.randn(4)
    for call in (getattr(package, name), function.apply):
        values, tangents = torch.func.jvp(call, (x,), (x,))
        for value, tangent in zip(*((r if isinstance(r, tuple) else (r,)) for r in (values, tangents)), strict=True):
            assert torch.equal(tangent, torch.zeros_like(value))
        with forward_ad.dual_level():
            results = call(forward_ad.make_dual(x, x))
            results = results if isinstance(results, tuple) else (results,)
            assert all(forward_ad.unpack_dual(r).tangent is None for r in results)
        results = call(x.clone().requires_grad_())
        assert not any(r.requires_grad for r in (results if isinstance(results, tuple) else (results,)))


def test_as_part_of_something_differentiable(build_operator: Build) -> None:
    order = build_operator(ORDER).order
    x = torch.randn(3, 4)
    _, tangent = torch.func.jvp(lambda x: x * order(x), (x,), (x,))
    torch.testing.assert_close(tangent, x * order(x))
    hessian = torch.func.hessian(lambda x: (x * x * order(x)).sum())(x[0])
    torch.testing.assert_close(hessian, torch.diag(2.0 * order(x[0])))
