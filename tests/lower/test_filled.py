"""Tensors that other libraries fill, as initialisers."""

from __future__ import annotations

import pytest

from opgen.lower.filled import filled
from tests.diagnostics.cures import built, diagnosed


def spec(initialiser: str) -> str:
    return (
        "op: a\ninputs: {x: {shape: [..., K]}, w: {shape: [K]}}\nforward: y[..., k] = w[k]*x[..., k]\n"
        f"module:\n  dims: {{K: features}}\n  parameters:\n    w: {initialiser}\n"
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("randn(K)", "normal"),
        ("torch.randn(K)", "normal"),
        ("np.random.rand(K)", "uniform"),
        ("nn.Parameter(torch.zeros(K))", "zeros"),
        ("ones(K)", "ones"),
        ("0.02*torch.randn(K)", "normal(std=0.02)"),
        ("torch.randn(K)*0.02", "normal(std=0.02)"),
        ("torch.randn(K)/math.sqrt(K)", "normal(std=1/sqrt(K))"),
        ("torch.rand(K)*0.5", '"uniform(0, 0.5)"'),
        ("2*torch.ones(K)", "constant(2)"),
    ],
)
def test_what_fills_a_tensor_is_told_as_an_initialiser(typed: str, meant: str) -> None:
    (found,) = diagnosed(spec(typed))
    assert found.hints == (f"the shape is known from `inputs`: write `{meant}`",)
    built(spec(meant))


@pytest.mark.parametrize("name", ["glorot_uniform", "glorot_normal", "truncated_normal"])
def test_other_names_are_told_alone(name: str) -> None:
    assert filled(name) in ("xavier_uniform", "xavier_normal", "trunc_normal")
    assert not filled(f"{name}(w)")


@pytest.mark.parametrize("text", ["torch.empty(K)", "rnd(K)", "3*zeros(K)", "randn(K) + 1", "torch.randn(K)*a*b", ""])
def test_what_has_no_counterpart_is_left(text: str) -> None:
    assert filled(text) is None
