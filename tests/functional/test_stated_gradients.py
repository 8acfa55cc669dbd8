"""Gradients that a spec states: for outputs that are steps, and through functions with surrogate derivatives."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

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
