"""Half precision in the torch form: computed in float32, rounded once; and float64 is float64 throughout."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from opgen.ir.operator import Flags
from opgen.opt.derive import derive_variant
from opgen.torch.functions import torch_function
from tests.lower.specs import built, elementwise
from tests.torch.execute import function

FORMULAS = (
    "x[n]*(0.1*n + 1)",
    "x[n]*n",
    "x[n]*cos(0.5*n)",
    "x[n]*0.3**n",
    "x[n]*2**(-n)",
    "x[n]/(n + 1)**2",
    "cos(0.1*n + 1)",
)


def forward(formula: str):  # type: ignore[no-untyped-def]
    operator = built(elementwise(f"y[n < N] = {formula}", "{x: {shape: [N]}}"))
    (variant,) = operator.variants
    return function(torch_function("f", [(variant, derive_variant(variant, Flags()).forward)], operator))


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_formulas_of_an_index_round_once(formula: str, dtype: torch.dtype) -> None:
    f, x = forward(formula), torch.linspace(-2, 3, 700).to(dtype)
    found = f(x)
    assert found.dtype == dtype
    want = f(x.double())
    torch.testing.assert_close(found.double(), want, rtol=0.51 * torch.finfo(dtype).eps, atol=1e-5)


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_of_an_index_have_the_precision_of_the_operands(formula: str) -> None:
    x = torch.linspace(-2, 3, 40, dtype=torch.float64)
    n = torch.arange(40, dtype=torch.float64)
    python = formula.replace("x[n]", "x").replace("cos", "torch.cos")
    want = eval(python, {"x": x, "n": n, "torch": torch})
    torch.testing.assert_close(forward(formula)(x), want, rtol=1e-14, atol=0)
