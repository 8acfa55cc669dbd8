"""What a respected system gets wrong, or refuses, today: one test for each, named after the failure.

Every operator here is built from its formula by the whole pipeline and called as a user calls it. Next to each test
stands who fails it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional

import opgen
from opgen.native.toolchain import available

Build = Callable[[str], ModuleType]
ROOT = Path(__file__).resolve().parents[2]


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def plain(*shape: int, seed: int = 0) -> torch.Tensor:
    return randn(*shape, seed=seed).detach()


def check_derivatives(f: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...]) -> None:
    """First and second order against finite differences."""
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


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


@pytest.mark.skipif(not available(), reason="no C++ compiler")
def test_logsumexp_is_stable_when_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in the compiled kernels."""
    (tmp_path / "log_sum_native.yaml").write_text(LOG_SUM.replace("log_sum", "log_sum_native"))
    op = opgen.load(tmp_path / "log_sum_native.yaml", compiled=True)
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


# --- integration ------------------------------------------------------------------------------------------------------


def test_double_backward_of_every_operator() -> None:
    """Taichi #4722, Dr.Jit, Warp #72, tiny-cuda-nn #58, Slang #5203.

    Each generated test file runs gradgradcheck; here we see to it that none leaves it out but those whose spec says so.
    """
    shared = (ROOT / "generated/_testing/derivatives.py").read_text()
    assert "gradgradcheck(" in shared
    for spec in sorted((ROOT / "specs").glob("*.yaml")):
        name = spec.stem
        test = (ROOT / f"generated/{name}/test_{name}.py").read_text()
        assert "(OperatorTests)" in test, name
        assert "def test_" not in test, f"{name} has a test of its own, which may hide the shared one"
        if "once_differentiable: true" not in spec.read_text():
            assert "once_differentiable = True" not in test, name


def test_compile_fullgraph_and_forward_mode_on_one_operator(build_operator: Build) -> None:
    """KeOps; plain custom_op: one or the other."""
    op = build_operator("op: wave\ninputs: [x, w]\nforward: y = sin(w*x)*exp(-x**2)\n").wave
    x, w, t = randn(5), randn(5, seed=1), plain(5, seed=2)
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, w), op(x, w))
    ours = torch.autograd.grad(compiled(x, w).sum(), (x, w))
    torch.testing.assert_close(ours, torch.autograd.grad(op(x, w).sum(), (x, w)))
    value, tangent = torch.func.jvp(op, (x.detach(), w.detach()), (t, t))
    expected = torch.func.jvp(lambda a, b: torch.sin(b * a) * torch.exp(-(a**2)), (x.detach(), w.detach()), (t, t))
    torch.testing.assert_close((value, tangent), expected)


def test_two_entry_points_agree(build_operator: Build) -> None:
    """torch's custom_op with register_autograd: torch.func.jvp gives zeros there, without a word."""
    package = build_operator("op: cubic\ninputs: [x]\nforward: y = x**3 + sin(x)\n")
    x, t = plain(6), plain(6, seed=1)
    (_, by_op), (_, by_function) = (torch.func.jvp(f, (x,), (t,)) for f in (package.cubic, package.CubicFunction.apply))
    expected = (3 * x**2 + torch.cos(x)) * t
    torch.testing.assert_close(by_op, expected)
    torch.testing.assert_close(by_function, expected)
    torch.testing.assert_close(torch.func.hessian(package.cubic)(x[0]), 6 * x[0] - torch.sin(x[0]))


def test_integer_index_tensor_keeps_its_dtype(build_operator: Build) -> None:
    """KeOps #367: indices have to be floats there, exact up to 2**24 only."""
    spec = (
        "op: pick\ninputs: {x: {shape: [N]}, i: {shape: [M], dtype: int, domain: 0 <= i < N}}\n"
        "outputs: [y, j]\nforward: |\n  y[m] = x[i[m]]\n  j[m] = i[m] + 0\n"
    )
    pick = build_operator(spec).pick
    big = 2**24 + 1
    x = torch.zeros(big + 1, dtype=torch.float32)
    x[big] = 1
    y, j = pick(x.requires_grad_(), torch.tensor([big, big - 1]))
    assert j.dtype is torch.int64
    assert j.tolist() == [big, big - 1]
    assert y.tolist() == [1.0, 0.0]
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert grad[big] == 1
    assert grad.sum() == 2


def test_gradient_of_a_broadcast_batch_has_the_shape_of_the_input(build_operator: Build) -> None:
    """KeOps #145, #103."""
    inputs = "inputs: {x: {shape: [..., D]}, w: {shape: [..., D]}}"
    spec = f"op: affine\n{inputs}\nforward: y[...] = sum[d](x[..., d]*w[..., d])\n"
    affine = build_operator(spec).affine
    x, w = randn(3, 1, 5, 4), randn(2, 1, 4, seed=1)
    y = affine(x, w)
    assert y.shape == (3, 2, 5)
    for ours, theirs in zip(
        torch.autograd.grad(y.sum(), (x, w)), torch.autograd.grad((x * w).sum(), (x, w)), strict=True
    ):
        torch.testing.assert_close(ours, theirs)
    check_derivatives(affine, (x, w))


@pytest.mark.skipif(not available(), reason="no C++ compiler")
def test_second_run_needs_no_compiler(tmp_path: Path) -> None:
    """KeOps #440, SlangPy #1001, slangtorch #42: what was compiled once is used by a process that finds no compiler."""
    (tmp_path / "doubled.yaml").write_text("op: doubled\ninputs: [x]\nforward: y = 2*x\n")
    program = (
        "import sys, torch, opgen\n"
        "op = opgen.load('doubled.yaml', compiled=True)\n"
        "assert op(torch.ones(3)).tolist() == [2.0] * 3\n"
        "print(op.backend)\n"
    )
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    path = {"PATH": ":".join(["/usr/local/bin", "/usr/bin", "/bin"])}

    def run(extra: dict[str, str]) -> str:
        command, known = [sys.executable, "-c", program], {**environment, **extra}
        done = subprocess.run(command, cwd=tmp_path, env=known, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    first = run(path)
    assert run({"PATH": str(tmp_path / "empty")}) == first


CHAIN = """
op: chained_norms
inputs: {x: {shape: [..., D]}, scale: {shape: [D]}}
forward: |
  r[...] = rsqrt(mean[d](x[..., d]**2) + 1e-6)
  h[..., d] = x[..., d] * r[...] * scale[d]
  m[...] = mean[d](h[..., d])
  v[...] = var[d](h[..., d])
  y[..., d] = (h[..., d] - m[...]) * rsqrt(v[...] + 1e-6) * scale[d]
"""


def test_chained_norms_with_a_shared_scale_under_compile(build_operator: Build) -> None:
    """Inductor: pytorch #193061. In one operator, and as two calls of it that share the scale."""
    op = build_operator(CHAIN).chained_norms

    def reference(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        h = functional.rms_norm(x, (6,), scale, 1e-6)
        return functional.layer_norm(h, (6,), scale, None, 1e-6)

    x, scale = randn(4, 6), randn(6, seed=1)
    for ours, theirs in ((op, reference), (lambda x, s: op(op(x, s), s), lambda x, s: reference(reference(x, s), s))):
        expected = theirs(x, scale)
        wanted = torch.autograd.grad(expected.square().sum(), (x, scale))
        for f in (ours, torch.compile(ours, fullgraph=True, backend="aot_eager")):
            y = f(x, scale)
            torch.testing.assert_close(y, expected)
            torch.testing.assert_close(torch.autograd.grad(y.square().sum(), (x, scale)), wanted)


def saved_bytes(op: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> int:
    """What autograd keeps for the backward of a call, each storage once."""
    kept: dict[int, int] = {}

    def pack(t: torch.Tensor) -> torch.Tensor:
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        op(*inputs)
    return sum(kept.values())


def test_saved_tensors_of_a_kernel_sum_are_linear(build_operator: Build) -> None:
    """AOTAutograd's min-cut keeps the M x N matrix."""
    spec = """
op: kernel_sum
inputs: {x: {shape: [M, D]}, y: {shape: [N, D]}, b: {shape: [N, E]}}
params: {g: {type: float, default: 1.0, domain: g > 0}}
forward: a[i, e] = sum[j](exp(-sum[d]((x[i, d] - y[j, d])**2)/(2*g**2))*b[j, e])
"""
    kernel_sum = build_operator(spec).kernel_sum

    def bytes_of(n: int) -> int:
        return saved_bytes(kernel_sum, randn(n, 3), randn(n, 3, seed=1), randn(n, 2, seed=2))

    assert bytes_of(256) == 2 * bytes_of(128)
    x, y, b = randn(5, 3), randn(6, 3, seed=1), randn(6, 2, seed=2)
    torch.testing.assert_close(kernel_sum(x, y, b), torch.exp(-(torch.cdist(x, y) ** 2) / 2) @ b)
    check_derivatives(kernel_sum, (x, y, b))


def test_depth_20_composition_generates_in_under_a_second() -> None:
    """sympy on inlined expressions: a depth of 16 takes more than a minute. CPU time of this thread is what counts."""
    from opgen import pipeline

    lines = ["e0 = x"] + [f"e{i + 1} = sin(e{i})*e{i} + 1/3" for i in range(20)] + ["y = e20"]
    text = "op: deep\ninputs: [x]\nforward: |\n" + "".join(f"  {line}\n" for line in lines)
    spec = pipeline.SpecFile(Path("deep.yaml"), text.encode(), "deep.yaml")
    pipeline.run(pipeline.SpecFile(Path("warm.yaml"), b"op: warm\ninputs: [x]\nforward: y = sin(x)*x\n", "warm.yaml"))
    start = time.thread_time()
    made = pipeline.run(spec)
    spent = time.thread_time() - start
    assert made.files is not None, made.diagnostics
    assert spent < 1.0
    gradient = next(f.text for f in made.files if f.path == "function.py")
    assert len(re.findall(r"\bsin\(", gradient)) < 200
