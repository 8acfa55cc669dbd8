"""Products that vanish in a tail, as torch code has them: what grows is kept finite on the side where it has to be."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

import pytest
import torch

from opgen.torch.functions import torch_function
from tests.accuracy.operators import formula_case
from tests.torch.execute import function


@pytest.mark.parametrize(
    ("formula", "part", "at_inf", "at_minus_inf"),
    [
        ("x*sigmoid(2*x)", "torch.clamp(x, min=-1e38)", math.inf, 0.0),
        ("x*erfc(x)", "torch.clamp(x, max=1e38)", 0.0, -math.inf),
        ("x*exp(-x*x)", "torch.clamp(x, -1e38, 1e38)", 0.0, 0.0),
        ("x*x*sigmoid(2*x)", "torch.where(", math.inf, 0.0),  # infinite in both tails, 0 in one
        ("2*exp(-x)", "2 * torch.exp(-x)", 0.0, math.inf),  # nothing grows
    ],
)
def test_forms(formula: str, part: str, at_inf: float, at_minus_inf: float) -> None:
    c = formula_case("f", formula, ("x",), None)
    made = torch_function("forward", [(c.derived.variant, c.derived.forward)], c.operator)
    assert part in "\n".join(made.lines)
    f = function(made)
    assert f(torch.tensor([math.inf, -math.inf])).tolist() == [at_inf, at_minus_inf]
    assert torch.isnan(f(torch.tensor([math.nan]))).all()


@pytest.mark.parametrize(
    "formula",
    ["hypot({0}, 1)", "hypot(1, {0})", "sqrt({0}**2 + 1)", "{0}*exp(-{0}**2)", "{0}*exp(-abs({0}))", "{0}*erfc(-{0})/2",
     "exp(-{0})*{0}**2", "silu({0})", "log(cosh({0}))", "where({0} > 0, hypot({0}, 2), {0})"],
)  # fmt: skip
def test_the_gradient_of_a_slice_is_that_of_the_whole(
    build_operator: Callable[[str], ModuleType], formula: str
) -> None:
    spec = "op: {}\ninputs: {{z: {{shape: [{}]}}}}\noutputs: {{y: {{shape: [N]}}}}\nforward: y[n] = {}\n"
    rows = build_operator(spec.format("rows", "2, N", formula.format("z[0, n]"))).rows
    whole = build_operator(spec.format("whole", "N", formula.format("z[n]"))).whole
    x = torch.tensor([-math.inf, -1e30, -2.0, 0.5, 1e30, math.inf], requires_grad=True)
    both = torch.stack([x, x]).detach().requires_grad_()
    (want,) = torch.autograd.grad(whole(x).sum(), x)
    (found,) = torch.autograd.grad(rows(both).sum(), both)
    _, tangent = torch.func.jvp(rows, (both,), (torch.ones_like(both),))
    torch.testing.assert_close(found, torch.stack([want, torch.zeros_like(want)]), equal_nan=True)
    torch.testing.assert_close(tangent, want, equal_nan=True)
