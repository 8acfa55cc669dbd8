"""Maps along rows give what the torch form gives, in memory as lanes take it and wherever else it may be."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: along
inputs:
  x: {shape: [..., T, D]}
  turn: {shape: [T, H]}
  factor: {shape: [T]}
  bias: {shape: [H], optional: true, absent: 0}
dims: {D: 2*H}
outputs: {y: {}, z: {}}
forward: |
  y[..., t, d < 2*H] = where(
      d < H, x[..., t, d]*turn[t, d] - x[..., t, d + H] + bias[d], x[..., t, d]*turn[t, d - H] + x[..., t, d - H])
  z[..., t, h < H] = x[..., t, h]*factor[t]*factor[t]
"""
Lay = Callable[[torch.Tensor], torch.Tensor]
LAYOUTS: dict[str, Lay] = {
    "side by side": torch.Tensor.contiguous,
    "columns": lambda x: x.mT.contiguous().mT if x.ndim > 1 else x,
    "apart": lambda x: torch.stack((x, x), -1)[..., 0],
    "a part": lambda x: torch.cat((x, x), -1)[..., : x.shape[-1]],
    "the same": lambda x: x[..., :1].expand(x.shape),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("places")
    (folder / "along.yaml").write_text(SPEC)
    assert not build(folder / "along.yaml", folder / "placed").failed
    compile_op(folder / "placed", "along")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("placed.along")


def results(package: ModuleType, backend: str, given: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """Outputs and gradients."""
    runtime = importlib.import_module("placed._runtime")
    with runtime.use_backend(backend):
        y, z = package.along(*given)
        draws = torch.Generator().manual_seed(1)
        total = sum((t * torch.randint(-3, 4, t.shape, generator=draws)).sum() for t in (y, z))
        return [y.detach(), z.detach(), *torch.autograd.grad(total, given)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("h", [1, 7, 16, 40, 1030])
def test_rows_anywhere(package: ModuleType, h: int, layout: str, dtype: torch.dtype) -> None:
    torch.manual_seed(h)
    shapes = ((2, 3, 5, 2 * h), (5, h), (5,), (h,))
    lay = LAYOUTS[layout]
    given = tuple(lay(torch.randn(s).to(dtype)).requires_grad_() for s in shapes)
    for some in (given, given[:3]):
        found = results(package, "native", some)
        exact = results(package, "torch", tuple(t.detach().double().requires_grad_() for t in some))
        for a, b in zip(found, exact, strict=True):
            room = {torch.float64: 1e-9, torch.float32: 1e-4}.get(dtype, 0.05)
            torch.testing.assert_close(a.double(), b, atol=room * max(1.0, b.abs().max().item() / 8), rtol=room)


def test_runs_are_printed_for_both(package: ModuleType) -> None:
    (kernels,) = Path(str(package.__file__)).parent.glob("**/along_kernels.cpp")
    text = kernels.read_text()
    assert "memory.resting(factor_held" in text
    assert text.count("rt::in_place(outer, ") > 1
