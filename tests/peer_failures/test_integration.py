"""What a respected system gets wrong, or refuses, where an operator meets the rest of torch and of the machine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from tests.compilers import available
from tests.peer_failures.helpers import Build, check_derivatives, plain, randn

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.thorough
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


def test_work_grows_with_the_depth_of_a_composition() -> None:
    """sympy on inlined expressions: a depth of 16 takes more than a minute."""
    from opgen import pipeline
    from tests.growth.test_growth import work

    def text(depth: int) -> str:
        lines = ["e0 = x"] + [f"e{i + 1} = sin(e{i})*e{i} + 1/3" for i in range(depth)] + [f"y = e{depth}"]
        return "op: deep\ninputs: [x]\nforward: |\n" + "".join(f"  {line}\n" for line in lines)

    work(text(3))  # imports, and what is remembered
    few, many = (work(text(n)) for n in (10, 20))
    assert many < 3 * few
    made = pipeline.run(pipeline.SpecFile(Path("deep.yaml"), text(20).encode(), "deep.yaml"))
    assert made.files is not None, made.diagnostics
    gradient = next(f.text for f in made.files if f.path == "function.py")
    assert len(re.findall(r"\bsin\(", gradient)) < 200
