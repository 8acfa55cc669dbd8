"""Products that vanish in a tail, as torch code has them: what grows is kept finite on the side where it has to be."""

from __future__ import annotations

import math

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
