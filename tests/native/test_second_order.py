"""Kernels of second order: what they compute, when they run, and when the formula in plain torch does."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor

from opgen import build
from opgen.toolchain.compiler import second_of, toolchain
from opgen.toolchain.library import compile_op
from tests.compilers import available

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not available(), reason="no C++ compiler")]
WELL = """
op: well
inputs:
  x: {shape: [..., N, D]}
  depth: {shape: []}
  weight: {shape: [N], optional: true, absent: 1}
forward: |
  r2[..., i, j] = sum[d]((x[..., i, d] - x[..., j, d])**2)
  energy[...] = sum[i, j](where(i != j, depth*exp(-r2[..., i, j])*weight[i]*weight[j], 0))
"""
SOFT = """
op: soft
inputs: {x: {shape: [..., N]}, at: {shape: [M], dtype: int, domain: 0 <= at < N}}
forward: |
  p[..., n] = softmax[n](x[..., n])
  y[..., m] = p[..., at[m]]
outputs: [y]
"""
BAG = """
op: bag
inputs:
  table: {shape: [V, D]}
  at: {shape: [N, M], dtype: int, domain: 0 <= at < V}
  weight: {shape: [N, M], optional: true, absent: 1}
forward: y[n, d] = sum[m](weight[n, m]*table[at[n, m], d])
"""
SETTINGS = '[tool.opgen]\nsecond_order = ["well", "soft", "bag"]\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("twice")
    (folder / "pyproject.toml").write_text(SETTINGS)
    out = folder / "twice"
    for name, spec in (("well", WELL), ("soft", SOFT), ("bag", BAG)):
        (folder / f"{name}.yaml").write_text(spec)
        result = build(folder / f"{name}.yaml", out)
        assert not result.failed, result.diagnostics
        compile_op(out, name)
        compile_op(out, name, second_of(toolchain()))
    sys.path.insert(0, str(folder))
    yield importlib.import_module("twice")
    sys.path.remove(str(folder))
    for loaded in [m for m in sys.modules if m.split(".")[0] == "twice"]:
        del sys.modules[loaded]


@pytest.fixture
def runtime(made: ModuleType) -> ModuleType:
    return importlib.import_module(f"{made.__name__}._runtime")


def operands(dtype: torch.dtype, *, batch: tuple[int, ...] = (2,), weighted: bool = True) -> tuple[Tensor | None, ...]:
    torch.manual_seed(0)
    x = torch.randn(*batch, 7, 3, dtype=torch.float64)
    found = (x, torch.tensor(1.5), torch.rand(7) + 0.5 if weighted else None)
    return tuple(t if t is None else t.to(dtype).requires_grad_() for t in found)


def twice(op: Callable[..., Tensor], given: tuple[Tensor | None, ...], *wanted: int) -> tuple[Tensor | None, ...]:
    """The gradients of a gradient's inner product, with respect to the operands that are there or some of them."""
    own = [t for t in given if t is not None]
    first = torch.autograd.grad(op(*given).sum(), own, create_graph=True)
    torch.manual_seed(1)
    loss = sum((torch.randn_like(g) * g).sum() for g in first)
    assert isinstance(loss, Tensor)
    return torch.autograd.grad(loss, [own[k] for k in wanted] if wanted else own, allow_unused=True)


def counted(runtime: ModuleType) -> int:
    return int(runtime.calls("native"))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch", [(), (2,), (0,), (3, 2)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_kernels_compute_what_the_formula_does(
    made: ModuleType, runtime: ModuleType, dtype: torch.dtype, batch: tuple[int, ...], weighted: bool
) -> None:
    given = operands(dtype, batch=batch, weighted=weighted)
    with runtime.use_backend("torch"):
        expected = twice(made.well, given)
    with runtime.use_backend("native"):
        before = counted(runtime)
        found = twice(made.well, given)
    assert counted(runtime) == before + 3  # forward, backward, and the gradient of that
    for own, theirs in zip(found, expected, strict=True):
        assert own is not None
        assert theirs is not None
        assert own.shape == theirs.shape
        assert own.dtype is theirs.dtype
        slack = {torch.float64: 1e-12, torch.float32: 1e-4, torch.bfloat16: 4e-2}[dtype]
        torch.testing.assert_close(
            own, theirs, rtol=slack, atol=slack * float(theirs.abs().max() if theirs.numel() else 1)
        )


def test_gradients_of_gradients_are_those_of_differences(made: ModuleType, runtime: ModuleType) -> None:
    x = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    at = torch.tensor([0, 4, 4])
    with runtime.use_backend("native"):
        before = counted(runtime)
        assert torch.autograd.gradgradcheck(lambda x: made.soft(x, at), (x,))
        assert torch.autograd.gradgradcheck(made.well, operands(torch.float64))
    assert counted(runtime) > before


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_always_0_is_0(made: ModuleType, runtime: ModuleType, weighted: bool) -> None:
    at = torch.tensor([[0, 2], [1, 1]])
    table = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(2, 2, dtype=torch.float64, requires_grad=True) if weighted else None
    found = []
    for backend in ("torch", "native"):
        with runtime.use_backend(backend):
            y = made.bag(table, at, weight)
            cotangent = torch.ones_like(y, requires_grad=True)
            (first,) = torch.autograd.grad(y, table, cotangent, create_graph=True)
            wanted = (table, cotangent) if weight is None else (table, cotangent, weight)
            found.append(torch.autograd.grad(first.square().sum(), wanted, materialize_grads=True))
    torch.testing.assert_close(found[1], found[0])


def test_what_nobody_wants_is_none(made: ModuleType, runtime: ModuleType) -> None:
    given = operands(torch.float64)
    with runtime.use_backend("torch"):
        expected = twice(made.well, given, 1)
    with runtime.use_backend("native"):
        found = twice(made.well, given, 1)
    torch.testing.assert_close(found, expected)


def test_third_order_and_transforms_go_through_the_formula(made: ModuleType, runtime: ModuleType) -> None:
    x, depth, _ = operands(torch.float64, batch=())
    assert x is not None
    assert depth is not None

    def energy(x: Tensor) -> Tensor:
        found: Tensor = made.well(x, depth.detach())
        return found

    with runtime.use_backend("torch"):
        expected = torch.func.hessian(energy)(x.detach())
    with runtime.use_backend("native"):
        torch.testing.assert_close(torch.func.hessian(energy)(x.detach()), expected)
        (first,) = torch.autograd.grad(energy(x), x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x, create_graph=True)
        (third,) = torch.autograd.grad(second.square().sum(), x)
    with runtime.use_backend("torch"):
        (first,) = torch.autograd.grad(energy(x), x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x, create_graph=True)
        torch.testing.assert_close(third, torch.autograd.grad(second.square().sum(), x)[0])


def test_an_operator_that_no_project_names_has_no_such_sources(tmp_path: Path) -> None:
    (tmp_path / "well.yaml").write_text(WELL)
    for settings, expected in (("", False), (SETTINGS, True), ('[tool.opgen]\nsecond_order = "soft"\n', False)):
        (tmp_path / "pyproject.toml").write_text(settings)
        assert not build(tmp_path / "well.yaml", tmp_path / "out").failed
        assert (tmp_path / "out" / "well" / "csrc" / "second" / "well.cpp").exists() == expected
