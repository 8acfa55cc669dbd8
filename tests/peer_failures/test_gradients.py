"""What a respected system gets wrong, or refuses, today: one test for each, named after the failure.

Every operator here is built from its formula by the whole pipeline and called as a user calls it. Next to each test
stands who fails it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.autograd import gradgradcheck
from torch.nn import functional

import opgen
from tests.compilers import available
from tests.peer_failures.helpers import Build, check_derivatives, plain, randn

# --- reads ------------------------------------------------------------------------------------------------------------


def test_gradient_of_a_diagonal_read_is_diagonal(build_operator: Build) -> None:
    """Halide #7385."""
    diagonal = build_operator("op: diagonal\ninputs: {x: {shape: [N, N]}}\nforward: y[i] = x[i, i]\n").diagonal
    x, g = randn(4, 4), plain(4, seed=1)
    (grad,) = torch.autograd.grad(diagonal(x), x, g)
    assert torch.equal(grad, torch.diag(g))
    check_derivatives(diagonal, (x,))


@pytest.mark.parametrize("stride", [2, 3])
def test_strided_adjoint_respects_divisibility(build_operator: Build, stride: int) -> None:
    """sympy's summation of Kronecker deltas."""
    spec = (
        "op: strided\ninputs: {x: {shape: [N]}, w: {shape: [K]}}\nparams: {s: {type: int, domain: s > 0}}\n"
        "dims: {P: (N - K)//s + 1}\noutputs: {y: {shape: [P]}}\nforward: y[p] = sum[k](x[p*s + k] * w[k])\n"
    )
    strided = build_operator(spec).strided
    x, w = randn(11), randn(3, seed=1)
    expected = functional.conv1d(x[None, None], w[None, None], stride=stride)[0, 0]
    torch.testing.assert_close(strided(x, w, s=stride), expected)
    g = plain(*expected.shape, seed=2)
    ours = torch.autograd.grad(strided(x, w, s=stride), (x, w), g)
    torch.testing.assert_close(ours, torch.autograd.grad(expected, (x, w), g))
    assert gradgradcheck(lambda a, b: strided(a, b, s=stride), (x, w))


CONVOLUTION = """
op: convolution
inputs: {x: {shape: [N, C, L]}, w: {shape: [O, C, K]}}
params:
  stride: {type: int, default: 1, domain: stride > 0}
  padding: {type: int, default: 0, domain: padding >= 0}
  dilation: {type: int, default: 1, domain: dilation > 0}
dims: {P: (L + 2*padding - dilation*(K - 1) - 1)//stride + 1}
outputs: {y: {shape: [N, O, P]}}
forward: "y[n, o, p] = sum[c, k](pad(x[n, c, p*stride + k*dilation - padding], 0) * w[o, c, k])"
"""


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (1, 1, 1), (2, 1, 1), (2, 3, 2), (3, 2, 2)])
def test_convolution_backward(build_operator: Build, stride: int, padding: int, dilation: int) -> None:
    """Tensor Comprehensions #605: written by hand there."""
    op = build_operator(CONVOLUTION).convolution
    x, w = randn(2, 3, 12), randn(4, 3, 3, seed=1)
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    expected = functional.conv1d(x, w, None, **options)
    got = op(x, w, **options)
    torch.testing.assert_close(got, expected)
    g = plain(*expected.shape, seed=2)
    torch.testing.assert_close(
        torch.autograd.grad(got, (x, w), g), torch.autograd.grad(expected, (x, w), g), rtol=1e-10, atol=1e-10
    )


# --- reductions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "min"])
def test_gradient_through_max_and_min_with_ties(build_operator: Build, name: str) -> None:
    """KeOps #269: no gradient at all."""
    spec = f"op: extreme\ninputs: {{x: {{shape: [..., D]}}}}\nforward: y[...] = {name}[d](x[..., d])\n"
    extreme = build_operator(spec).extreme
    x = torch.tensor([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [0.0, 1.0, 2.0, -5.0]], dtype=torch.float64)
    x.requires_grad_()
    reference = {"max": torch.amax, "min": torch.amin}[name]
    ours, theirs = torch.autograd.grad(extreme(x).sum(), x), torch.autograd.grad(reference(x, -1).sum(), x)
    torch.testing.assert_close(ours, theirs)
    check_derivatives(extreme, (randn(3, 5),))


def test_product_reduction_with_zeros(build_operator: Build) -> None:
    """KeOps #384: there is none. Quotients by the factor give NaN."""
    product = build_operator("op: product\ninputs: {x: {shape: [..., D]}}\nforward: y[...] = prod[d](x[..., d])\n")
    x = torch.tensor([[2.0, 0.0, 3.0], [0.0, 5.0, 0.0], [1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(product.product(x).sum(), x)
    expected = torch.tensor([[0.0, 6.0, 0.0], [0.0, 0.0, 0.0], [6.0, 3.0, 2.0]], dtype=torch.float64)
    assert torch.equal(grad, expected)
    check_derivatives(product.product, (x,))


def test_running_product_gradient(build_operator: Build) -> None:
    """Warp: a product accumulated in a loop has a documented wrong gradient. Here with zeros in it, too."""
    spec = """
op: transmittance
inputs: {a: {shape: [..., T]}}
forward: |
  left[..., -1] = 1
  left[..., t] = left[..., t - 1] * (1 - a[..., t])
outputs: [left]
"""
    transmittance = build_operator(spec).transmittance
    a = torch.tensor([[0.5, 1.0, 0.25, 0.5], [0.1, 0.2, 0.3, 1.0]], dtype=torch.float64, requires_grad=True)
    expected = torch.cumprod(1 - a, -1)
    torch.testing.assert_close(transmittance(a), expected)
    g = plain(2, 4)
    ours, theirs = (torch.autograd.grad(y, a, g)[0] for y in (transmittance(a), expected))
    torch.testing.assert_close(ours, theirs)
    check_derivatives(transmittance, (a,))


LOG_SUM = "op: log_sum\ninputs: {x: {shape: [..., D]}}\nforward: y[...] = log(sum[d](exp(x[..., d])))\n"


def test_logsumexp_is_stable(build_operator: Build) -> None:
    """pytensor #2288: stable only under some build flags."""
    log_sum = build_operator(LOG_SUM).log_sum
    compare_with_logsumexp(log_sum)


@pytest.mark.thorough
@pytest.mark.skipif(not available(), reason="no C++ compiler")
def test_logsumexp_is_stable_when_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in the compiled kernels."""
    (tmp_path / "log_sum_native.yaml").write_text(LOG_SUM.replace("log_sum", "log_sum_native"))
    op = opgen.load(tmp_path / "log_sum_native.yaml", compiled=True)
    with sys.modules[f"{op.__module__.partition('.')[0]}._runtime"].use_backend("native"):
        assert op.backend == "native"
        compare_with_logsumexp(op)


def compare_with_logsumexp(op: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Values and gradients over the whole range, and a row of nothing but -inf, where torch's gradient is nan."""
    inf = torch.inf
    x = torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0], [3e38, -3e38], [-inf, 1.0], [-inf, -inf]])
    x.requires_grad_()
    torch.testing.assert_close(op(x), torch.logsumexp(x, -1))
    (ours,), (theirs,) = (torch.autograd.grad(f(x).sum(), x) for f in (op, lambda x: torch.logsumexp(x, -1)))
    torch.testing.assert_close(ours[:4], theirs[:4])
    assert (ours[4] == 0).all()


# --- singularities ----------------------------------------------------------------------------------------------------


def test_sqrt_of_max_has_a_finite_gradient_on_the_dead_side(build_operator: Build) -> None:
    """SymForce #445."""
    clipped = build_operator("op: clipped\ninputs: [x, z]\nforward: y = sqrt(max(0, x**2 - z**2))\n").clipped
    x = torch.tensor([1.0, 3.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([2.0, 1.0, 5.0, 4.0], dtype=torch.float64, requires_grad=True)
    y = clipped(x, z)
    first = torch.autograd.grad(y.sum(), (x, z), create_graph=True)
    second = torch.autograd.grad(sum(f.sum() for f in first), (x, z))
    dead = x.detach() ** 2 < z.detach() ** 2
    for gradient in (*first, *second):
        assert gradient.isfinite().all()
        assert (gradient[dead] == 0).all()
    torch.testing.assert_close(first[0][~dead], (x / (x**2 - z**2).sqrt())[~dead].detach())


def test_sinc_gradient_and_hessian_at_zero(build_operator: Build) -> None:
    """KeOps."""
    for number, formula in enumerate(("sinc(x)", "where(x == 0, 1, sin(pi*x)/(pi*x))")):
        name = f"cardinal_{number}"
        op = getattr(build_operator(f"op: {name}\ninputs: [x]\nforward: y = {formula}\n"), name)
        x = torch.tensor([0.0, 1e-9, -1e-5, 1.0], dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
        assert first[0] == 0
        if number == 0:
            torch.testing.assert_close(first[1:3], -(torch.pi**2) / 3 * x[1:3], rtol=1e-6, atol=0)
            (second,) = torch.autograd.grad(first.sum(), x)
            expected = torch.full((3,), -(torch.pi**2) / 3, dtype=torch.float64)
            torch.testing.assert_close(second[:3], expected, rtol=1e-6, atol=0)


DISTANCES = {
    "sqrt": "y[...] = sqrt(sum[d]((a[..., d] - b[..., d])**2))",
    "norm": "y[...] = norm[d](a[..., d] - b[..., d])",
}


@pytest.mark.parametrize("name", sorted(DISTANCES))
def test_distance_gradient_at_zero(build_operator: Build, name: str) -> None:
    """KeOps #221, geomloss #88."""
    inputs = "inputs: {a: {shape: [..., D]}, b: {shape: [..., D]}}"
    op = build_operator(f'op: distance\n{inputs}\nforward: "{DISTANCES[name]}"\n').distance
    a, b = randn(4, 3), plain(4, 3, seed=1)
    with torch.no_grad():
        b[1] = a[1]
    b.requires_grad_()
    first = torch.autograd.grad(op(a, b).sum(), (a, b), create_graph=True)
    assert all((g[1] == 0).all() and g.isfinite().all() for g in first)
    second = torch.autograd.grad(first[0].square().sum(), (a, b))
    assert all(g.isfinite().all() for g in second)
    apart = [0, 2, 3]
    torch.testing.assert_close(
        first[0][apart].detach(), functional.normalize((a - b).detach()[apart], dim=-1), rtol=1e-12, atol=1e-12
    )
