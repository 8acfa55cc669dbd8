"""Section 5 of the language page: functions of numbers, their kinks, and formulas that are made stable."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .sections import Build, pointwise, randn

INF, NAN = torch.inf, torch.nan
POSITIVE, UNIT, ABOVE = randn(7).abs() + 0.1, randn(7).tanh() * 0.9, randn(7).abs() + 1.1
A, B = randn(7), randn(7, seed=3)
ANYWHERE = (
    *("exp", "exp2", "expm1", "square", "abs", "sign", "floor", "ceil", "round", "trunc", "frac", "sin", "cos", "tan"),
    *("atan", "sinh", "cosh", "tanh", "asinh", "sigmoid", "relu", "erf", "erfc", "sinc"),
)
ABOVE_ZERO = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma")
FUNCTIONS: dict[str, tuple[Any, tuple[torch.Tensor, ...]]] = {
    **{n: (getattr(torch, n), (A,)) for n in ANYWHERE},
    **{n: (getattr(torch, n), (POSITIVE,)) for n in ABOVE_ZERO},
    **{n: (getattr(torch, n), (UNIT,)) for n in ("asin", "acos", "atanh", "erfinv")},
    "acosh": (torch.acosh, (ABOVE,)),
    "cbrt": (lambda x: x.sign() * x.abs() ** (1 / 3), (A,)),
    "logsigmoid": (torch.nn.functional.logsigmoid, (A,)),
    "softplus": (torch.nn.functional.softplus, (A,)),
    "silu": (torch.nn.functional.silu, (A,)),
    "erfcx": (torch.special.erfcx, (A,)),
    "i0e": (torch.special.i0e, (A,)),
    "i1e": (torch.special.i1e, (A,)),
    "pow": (torch.pow, (POSITIVE, B)),
    "copysign": (torch.copysign, (A, B)),
    "atan2": (torch.atan2, (A, B)),
    "min": (torch.minimum, (A, B)),
    "max": (torch.maximum, (A, B)),
    "hypot": (torch.hypot, (A, B)),
    "logaddexp": (torch.logaddexp, (A, B)),
    "xlogy": (torch.xlogy, (A, POSITIVE)),
    "heaviside": (torch.heaviside, (A, B.abs())),
    "fmod": (torch.fmod, (A, B)),
    "remainder": (torch.remainder, (A, B)),
    "clamp": (torch.clamp, (A, -POSITIVE, POSITIVE)),
    "lerp": (torch.lerp, (A, B, UNIT)),
    "isnan": (torch.isnan, (torch.tensor([1.0, NAN, INF]),)),
    "isfinite": (torch.isfinite, (torch.tensor([1.0, NAN, INF]),)),
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_scalar_functions(build_operator: Build, name: str) -> None:
    expected, inputs = FUNCTIONS[name]
    arguments = ", ".join("xzu"[: len(inputs)])
    gradients = name not in ("isnan", "isfinite", "erfcx", "heaviside")
    pointwise(name, f"{name}({arguments})", expected, *inputs, gradients=gradients).check(build_operator)


def test_polygamma(build_operator: Build) -> None:
    op = build_operator("op: a\ninputs: [x]\nforward: y = polygamma(2, x)\n").a
    torch.testing.assert_close(op(POSITIVE), torch.polygamma(2, POSITIVE))


@pytest.mark.parametrize(
    ("formula", "reference"),
    [
        ("abs(x)", torch.abs),
        ("relu(x)", torch.relu),
        ("max(x, 0)", lambda x: torch.maximum(x, torch.zeros_like(x))),
        ("min(x, 1)", lambda x: torch.minimum(x, torch.ones_like(x))),
    ],
)
def test_kinks_follow_torch(build_operator: Build, formula: str, reference: Any) -> None:
    op = build_operator(f"op: kink\ninputs: [x]\nforward: y = {formula}\n").kink
    x = torch.tensor([-1.0, 0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    ours, theirs = (torch.autograd.grad(f(x).sum(), x)[0] for f in (op, reference))
    torch.testing.assert_close(ours, theirs)


def test_clamp_has_slope_1_at_both_bounds_with_every_torch(build_operator: Build) -> None:
    op = build_operator("op: kept\ninputs: [x]\nforward: y = clamp(x, 0, 1)\n").kept
    x = torch.tensor([-1.0, 0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    expected = torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(torch.autograd.grad(op(x).sum(), x)[0], expected)
    torch.testing.assert_close(torch.func.jvp(op, (x.detach(),), (torch.ones_like(x),))[1], expected)


@pytest.mark.parametrize(
    ("formula", "reference"),
    [
        ("log(1 + exp(x))", lambda x: torch.nn.functional.softplus(x, threshold=1e9)),
        ("1 - cos(x)", lambda x: 2 * torch.sin(x / 2) ** 2),
        ("x/(1 + exp(-x))", torch.nn.functional.silu),
        ("exp(x) - 1", torch.expm1),
        ("log(1 + x**2)", lambda x: torch.log1p(x * x)),
    ],
)
def test_naive_formulas_are_made_stable(build_operator: Build, formula: str, reference: Any) -> None:
    op = build_operator(f"op: naive\ninputs: [x]\nforward: y = {formula}\n").naive
    x = torch.tensor([-80.0, -1e-4, 1e-6, 0.5, 80.0], requires_grad=True)
    ours, theirs = (f(x) for f in (op, reference))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(
        torch.autograd.grad(ours.sum(), x)[0], torch.autograd.grad(theirs.sum(), x)[0], equal_nan=True
    )
