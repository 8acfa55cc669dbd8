"""Gradients that a spec states: for outputs that are steps, and through functions with surrogate derivatives."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

Build = Callable[[str], ModuleType]


def test_output_whose_cotangent_is_read_is_float(build_operator: Build) -> None:
    fire = build_operator("""
op: fire
inputs: [v]
forward: spike = v > 0.5
backward: grad_v = grad_spike / (1 + abs(v))
""").fire
    v = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    spike = fire(v)
    assert (spike.dtype, spike.tolist()) == (torch.float64, [0.0, 1.0])
    assert torch.autograd.grad(spike.sum(), v)[0].tolist() == [1.0, 0.5]


def test_surrogate_in_a_product(build_operator: Build) -> None:
    gate = build_operator("""
op: gate
inputs: [v]
functions: {step(v): {value: "where(v > 0, 1, 0)", derivative: 3}}
forward: y = v * step(v)
""").gate
    v = torch.tensor([-1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(gate(v).sum(), v, create_graph=True)
    assert gradient.tolist() == [-3.0, 7.0]
    assert torch.autograd.grad(gradient.sum(), v)[0].tolist() == [6.0, 6.0]


CONSTANT = {
    "of one dim": "inputs: {x: {shape: [N]}}\nforward: y[n] = x[n]**2\nbackward: grad_x[n] = 0.1*x[n]\n",
    "with batch dims": (
        "inputs: {x: {shape: [..., N]}}\nforward: y[..., n] = x[..., n]**2\nbackward: grad_x[..., n] = 0.1*x[..., n]\n"
    ),
    "of nothing": "inputs: {x: {shape: []}}\nforward: y = x**2\nbackward: grad_x = 0.1\n",
    "beside the cotangent": "inputs: [x]\nforward: y = x**2\nbackward: grad_x = grad_y + 0.1 - 1\n",
}


@pytest.mark.parametrize("case", CONSTANT)
def test_a_gradient_need_not_scale_with_the_cotangent(case: str, build_operator: Build) -> None:
    op = build_operator(f"op: stated\n{CONSTANT[case]}").stated
    x = torch.ones(() if case == "of nothing" else 2, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
    torch.testing.assert_close(gradient, torch.full_like(x, 0.1), check_stride=False)
    (second,) = torch.autograd.grad(gradient.sum() + 0 * x.sum(), x, allow_unused=True)
    torch.testing.assert_close(second, torch.full_like(x, 0.1 * ("dim" in case)))
    # nothing has it as its transpose, so there is no tangent to tell
    with pytest.raises(RuntimeError, match="cannot be differentiated in forward mode"):
        torch.func.jvp(op, (x.detach(),), (torch.ones_like(x),))
