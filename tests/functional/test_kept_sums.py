"""Operators that keep a sum of inputs in place of the inputs: gradients of every order find their way through it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")
forward_ad = torch.autograd.forward_ad

Build = Callable[[str], ModuleType]

SQUARED = """
op: squared
inputs: {a: {shape: [..., N]}, b: {shape: [..., N]}}
forward: y[...] = sum[n]((a[..., n] - b[..., n])**4)
"""


def kept_by(call: Callable[[], object]) -> list[tuple[int, ...]]:
    """The shapes of what a call saves."""
    found: list[tuple[int, ...]] = []

    def note(t: torch.Tensor) -> torch.Tensor:
        found.append(tuple(t.shape))
        return t

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        call()
    return found


def test_gradients_of_every_order(build_operator: Build) -> None:
    op = build_operator(SQUARED).squared
    a = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    b = torch.randn(3, dtype=torch.float64, requires_grad=True)
    ours, theirs = op(a, b), ((a - b) ** 4).sum(-1)
    assert kept_by(lambda: op(a, b)) == [(2, 3)]
    for _ in range(4):
        torch.testing.assert_close(ours, theirs)
        grads = [torch.autograd.grad(y.sin().sum(), (a, b), create_graph=True) for y in (ours, theirs)]
        ours, theirs = (ga.tanh().sum(0) * gb.tanh() for ga, gb in grads)


def test_transforms(build_operator: Build) -> None:
    op = build_operator(SQUARED).squared

    def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ((a - b) ** 4).sum(-1)

    a, b, c = (torch.randn(3, dtype=torch.float64) for _ in range(3))
    for func in (torch.func.hessian, lambda f, k: torch.func.jacfwd(torch.func.jacfwd(f, k), k)):
        for k in (0, 1):
            torch.testing.assert_close(func(op, k)(a, b), func(reference, k)(a, b))
    tangents = (c, 2 * c)
    for f in (op, torch.func.grad(op)):
        g = reference if f is op else torch.func.grad(reference)
        torch.testing.assert_close(torch.func.jvp(f, (a, b), tangents), torch.func.jvp(g, (a, b), tangents))
    mapped = torch.vmap(torch.func.hessian(op), (None, 0))
    torch.testing.assert_close(
        mapped(a, torch.stack([b, c])), torch.vmap(torch.func.hessian(reference), (None, 0))(a, torch.stack([b, c]))
    )


def test_half_is_kept_in_the_dtype_of_computing(build_operator: Build) -> None:
    op = build_operator(SQUARED).squared
    a, b = (torch.randn(2, 3, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    gradient, *_ = torch.autograd.grad(op(a, b).sum(), a, create_graph=True)
    second = torch.autograd.grad(gradient.sum(), (a, b))
    wide = 12 * (a.detach().float() - b.detach().float()) ** 2
    assert [g.dtype for g in second] == [torch.bfloat16] * 2
    torch.testing.assert_close(second[0].float(), wide, rtol=2e-2, atol=2e-2)
    torch.testing.assert_close(second[1].float(), -wide, rtol=2e-2, atol=2e-2)


def test_a_sum_of_what_has_no_gradient(build_operator: Build) -> None:
    constant = "{shape: [...], differentiable: false}"
    text = f"op: turned\ninputs: {{x: {{shape: [...]}}, u: {constant}, v: {constant}}}\nforward: y = x*sin(u - v)\n"
    op = build_operator(text).turned
    x, u, v = (torch.randn(4, dtype=torch.float64, requires_grad=k == 0) for k in range(3))
    assert kept_by(lambda: op(x, u, v)) == [(4,)]
    torch.testing.assert_close(torch.autograd.grad(op(x, u, v).sum(), x)[0], (u - v).sin())


def test_what_is_differentiable_once_or_overwrites_its_input(build_operator: Build) -> None:
    a, b = (torch.randn(4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    once = build_operator("op: once\ninputs: [a, b]\nonce_differentiable: true\nforward: y = (a - b)**2\n").once
    gradient, _ = torch.autograd.grad(once(a, b).sum(), (a, b), create_graph=True)
    torch.testing.assert_close(gradient.detach(), 2 * (a - b).detach())
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
    package = build_operator("op: over\ninputs: [a, b]\ninplace: a\nforward: y = (a - b)**2\n")
    for overwrite in (package.over_, package.function.OverInplaceFunction.apply):
        copy = a * 1
        y = overwrite(copy, b)
        assert y is copy
        torch.testing.assert_close(torch.autograd.grad(y.sum(), (a, b))[1], -2 * (a - b).detach())


def test_the_autograd_function(build_operator: Build) -> None:
    package = build_operator(SQUARED)
    a, b = (torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def call(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return package.function.SquaredFunction.apply(a, b)[0]

    assert torch.autograd.gradcheck(call, (a, b), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(call, (a, b), check_fwd_over_rev=True)


@pytest.mark.parametrize("order", ["..., K", "K, ..."])
def test_the_tangent_of_a_sum_has_the_batch_dims_of_what_has_no_gradient(build_operator: Build, order: str) -> None:
    text = (
        "op: noisy\n"
        "inputs:\n"
        "  x: {shape: [..., K]}\n"
        f"  noise: {{shape: [{order}], differentiable: false}}\n"
        "  w: {shape: [..., K]}\n"
        f"forward: y[..., k] = (x[..., k] + noise[{order.lower()}])**3*w[..., k]\n"
    )
    op = build_operator(text).noisy
    x, plain, w = (torch.randn(s, dtype=torch.float64) for s in ((5,), (3, 5), (2, 1, 5)))
    noise = plain if order.startswith(".") else plain.movedim(-1, 0)
    with forward_ad.dual_level():
        y = op(forward_ad.make_dual(x, torch.ones_like(x)), noise, w)
        torch.testing.assert_close(forward_ad.unpack_dual(y).tangent, 3 * (x + plain) ** 2 * w)
    found = torch.func.jvp(torch.func.grad(lambda x: op(x, noise, w).sum()), (x,), (torch.ones_like(x),))[1]
    torch.testing.assert_close(found, (6 * (x + plain) * w).sum((0, 1)))
