"""Compiled reads at computed positions: even ones, pieces, gathers, positions out of range, and those nobody wants."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: moved_lines
params: {shift: {type: int, default: 3}}
inputs:
  x: {shape: [..., N]}
  table: {shape: [V, D]}
  at: {shape: [...], dtype: int}
  places: {shape: [N], dtype: int}
dims: {M: N*shift, G: N // shift, S: shift}
outputs:
  back: {shape: [..., N]}
  late: {shape: [..., N]}
  apart: {shape: [..., M]}
  rows: {shape: [..., D]}
  mixed: {shape: [..., N]}
  halves: {shape: [..., N]}
  sums: {shape: [G, ...]}
  skew: {shape: [..., G, S]}
forward: |
  back[..., n] = x[..., N - 1 - n]
  late[..., n] = where(n >= shift, x[..., n - shift], 0)*2
  apart[..., m] = x[..., m // shift]*(1 + m % shift)
  rows[..., d] = table[at[...], d]**2
  mixed[..., n] = x[..., places[n]]
  halves[..., n] = where(n < N // 2, x[..., n + N // 2] - x[..., n], x[..., n - N // 2])
  sums[g, ...] = sum[s < shift](x[..., g*shift + s])*x[..., G - 1 - g]
  skew[..., g, s] = x[..., g*shift + s]*x[..., N - 1 - g*shift] + x[..., g + N - G]
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operator, compiled."""
    folder = tmp_path_factory.mktemp("lines")
    path = folder / "moved_lines.yaml"
    path.write_text(SPEC, encoding="utf-8")
    out = folder / "made_lines"
    assert not opgen.build(path, out).failed
    opgen.compile(["moved_lines"], out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_lines.moved_lines")


def arguments(batch: tuple[int, ...], n: int, d: int, dtype: torch.dtype) -> list[torch.Tensor]:
    torch.manual_seed(n)
    x, table = torch.randn(*batch, n).to(dtype), torch.randn(7, d).to(dtype)
    return [x, table, torch.randint(0, 7, batch), torch.randperm(n)]


def results(package: Any, given: list[torch.Tensor], backend: str, k: int) -> list[torch.Tensor]:
    """The outputs and the gradients."""
    leaves = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
    with importlib.import_module("made_lines._runtime").use_backend(backend):
        out = package.moved_lines(*leaves, shift=k)
        weights = [torch.arange(o.numel(), dtype=o.dtype).reshape(o.shape) % 5 for o in out]
        grads = torch.autograd.grad(out, leaves[:2], weights)
    return [*out, *grads]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("batch", "n", "d"), [((), 1, 1), ((3,), 8, 1), ((2, 5), 37, 3), ((4,), 600, 300)], ids=str)
@pytest.mark.parametrize("k", [1, 3, 20])
def test_compiled_lines_are_those_of_torch(
    package: Any, batch: tuple[int, ...], n: int, d: int, k: int, dtype: torch.dtype
) -> None:
    given = arguments(batch, n, d, dtype)
    for a, b in zip(results(package, given, "native", k), results(package, given, "torch", k), strict=True):
        torch.testing.assert_close(a, b)


def test_a_transposed_input_is_read_where_it_stands(package: Any) -> None:
    given = arguments((6,), 50, 4, torch.float32)
    turned = [given[0].t().contiguous().t(), given[1].t().contiguous().t(), *given[2:]]
    for a, b in zip(results(package, turned, "native", 3), results(package, given, "native", 3), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(("which", "value"), [(2, 7), (2, -1), (3, 37), (3, -2)], ids=str)
def test_positions_out_of_range_are_reported(package: Any, which: int, value: int) -> None:
    given = arguments((5,), 37, 3, torch.float32)
    given[which][-1] = value
    with pytest.raises(IndexError, match=str(value)):
        results(package, given, "native", 3)


EVEN = """
op: every_other
inputs: {x: {shape: [..., N]}}
params: {size: {type: int, default: 3}, lead: {type: int, default: 1}}
dims: {L: size}
outputs: {y: {shape: [..., L]}, z: {shape: [..., N]}}
forward: |
  y[..., i] = x[..., 2*i + lead]
  z[..., n] = where(n > 0, x[..., n - 1], 0)
"""


def test_ends_of_even_positions_are_compared_ahead_of_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "every_other.yaml").write_text(EVEN, encoding="utf-8")
    assert not opgen.build(tmp_path / "every_other.yaml", tmp_path / "made_even").failed
    opgen.compile(["every_other"], tmp_path / "made_even")
    text = (tmp_path / "made_even" / "every_other" / "csrc" / "every_other_kernels.cpp").read_text(encoding="utf-8")
    forward_y, forward_z = text.split("int forward_z<" if "int forward_z<" in text else "int forward_z(")[:2]
    assert "memory.source(x, run.at[0] + lead * x.stride(1)" in forward_y
    assert "rt::Line<scalar_t> x_at" in forward_z  # what a condition leaves out may be out of range
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("made_even.every_other")
    x = torch.randn(4, 9)
    with importlib.import_module("made_even._runtime").use_backend("native"):
        for turned in (x, x.t().contiguous().t(), x.flip(1)):
            y, z = package.every_other(turned)
            assert torch.equal(y, turned[:, 1:7:2])
            assert torch.equal(z, torch.cat((torch.zeros(4, 1), turned[:, :-1]), 1))
        for size, lead, place in ((5, 1, 9), (3, -1, -1), (1, 9, 9)):
            with pytest.raises(IndexError, match=str(place)):
                package.every_other(x, size=size, lead=lead)
        assert package.every_other(x, size=0, lead=-5)[0].shape == (4, 0)
        assert package.every_other(x[:0], size=5, lead=3)[0].shape == (0, 5)
