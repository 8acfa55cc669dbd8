"""Operators that keep a slope in place of inputs: what a cotangent is multiplied by where only labels vary it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.functional.test_kept_sums import kept_by

torch = pytest.importorskip("torch")

Build = Callable[[str], ModuleType]

RANKING = """
op: ranking
inputs: {a: {shape: [..., N]}, b: {shape: [..., N]}, label: {shape: [N], differentiable: false}}
forward: y[...] = mean[n](max(0, 0.25 - label[n]*(a[..., n] - b[..., n])))
"""
HINGE = "op: hinge\ninputs: {x: {shape: [...]}, label: {shape: [...]%s}}\nforward: y = max(0, 1 - label*x)\n"
CONSTANT = ", differentiable: false"


def test_one_number_for_each_element(build_operator: Build) -> None:
    op = build_operator(HINGE % CONSTANT).hinge
    x = torch.tensor([0.0, 1.0, 2.0, -3.0], requires_grad=True)
    label = torch.tensor([1.0, 1.0, 1.0, -1.0])
    assert kept_by(lambda: op(x, label)) == [(4,)]
    (gradient,) = torch.autograd.grad(op(x, label).sum(), x)
    torch.testing.assert_close(gradient, torch.tensor([-1.0, -0.5, 0.0, 0.0]))


def test_inputs_are_kept_where_the_label_has_a_gradient(build_operator: Build) -> None:
    op = build_operator(HINGE % "").hinge
    x, label = (torch.randn(4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert kept_by(lambda: op(x, label))[:2] == [(4,), (4,)]
    assert torch.autograd.gradcheck(op, (x, label))


def test_nothing_comes_through_where_it_is_flat(build_operator: Build) -> None:
    op = build_operator(HINGE % CONSTANT).hinge
    x, label = torch.tensor([0.0, 5.0], requires_grad=True), torch.ones(2)
    (gradient,) = torch.autograd.grad(op(x, label), x, torch.tensor([1.0, float("inf")]))
    torch.testing.assert_close(gradient, torch.tensor([-1.0, 0.0]))


def test_gradients_of_every_order(build_operator: Build) -> None:
    op = build_operator(RANKING).ranking

    def reference(a: torch.Tensor, b: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return torch.clamp(0.25 - label * (a - b), min=0).mean(-1)

    a = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    b = torch.randn(3, dtype=torch.float64, requires_grad=True)
    label = torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64)
    ours, theirs = op(a, b, label), reference(a, b, label)
    for _ in range(3):
        torch.testing.assert_close(ours, theirs)
        grads = [torch.autograd.grad((y**2).sum(), (a, b), create_graph=True) for y in (ours, theirs)]
        ours, theirs = (ga.sum(0) * gb for ga, gb in grads)
    a, b = a.detach(), b.detach()
    for f in (torch.func.grad, torch.func.jacfwd, torch.func.hessian):
        found, wanted = (f(lambda x, g=g: (g(x, b, label) ** 2).sum())(a) for g in (op, reference))
        torch.testing.assert_close(found, wanted)
    batched = torch.vmap(torch.func.grad(lambda x, y: op(x, y, label)), (0, None))
    torch.testing.assert_close(batched(a, b), torch.func.grad(lambda x: op(x, b, label).sum())(a))


def test_half_keeps_slopes_in_the_dtype_of_computing(build_operator: Build) -> None:
    op = build_operator(HINGE % CONSTANT).hinge
    x = torch.zeros(3, dtype=torch.bfloat16, requires_grad=True)
    label = torch.tensor([1.0, -1.0, 0.5], dtype=torch.bfloat16)
    (gradient,) = torch.autograd.grad(op(x, label).sum(), x)
    assert gradient.dtype == torch.bfloat16
    torch.testing.assert_close(gradient, -label)


def test_an_output_of_that_name(build_operator: Build) -> None:
    text = (HINGE % CONSTANT).replace("forward: y", "outputs: [y, slope]\nforward: |\n  slope = 0.5*label\n  y")
    x, label = torch.randn(2, 4, dtype=torch.float64, requires_grad=True), torch.ones(4, dtype=torch.float64)
    y, slope = build_operator(text).hinge(x, label)
    torch.testing.assert_close(slope, torch.full((2, 4), 0.5, dtype=torch.float64))
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], -(x < 1).double())
