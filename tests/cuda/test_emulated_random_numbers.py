"""Emulated kernels for CUDA draw the numbers of the definition and of the torch form, to the bit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen import build
from opgen.ir import philox
from opgen.ir.interp import Array
from opgen.opt.derive import derive
from tests.cuda.harness import Emulation, needs_compiler
from tests.drawing_specs import DRAWING, SETTINGS, SPECS, same
from tests.lower.specs import built

pytestmark = [pytest.mark.thorough, needs_compiler]
Make = Callable[..., Emulation]

SPEC = """
op: drawn_on_a_gpu
inputs: {x: {shape: [..., N], differentiable: false}, seed: {dtype: seed}}
outputs: {u: {shape: [..., N]}, g: {shape: [..., N]}, k: {shape: [..., N]}}
forward: |
  u[..., i] = uniform(seed)
  g[..., i] = normal(seed)
  k[..., i] = integer(seed, 1000)
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", [0, 2**62 + 12345, -987654321012345])
def test_the_same_bits(emulation: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, seed: int) -> None:
    torch = pytest.importorskip("torch")
    (derived,) = derive(built(SPEC))
    shape = (3, 5, 41)
    count = 3 * 5 * 41
    made = emulation("drawn", derived.forward, [dtype])
    arrays = {"x": Array(shape, [0.0] * count), "seed": Array((), [seed])}
    found = made.emulated.run(arrays, {}, dtype)
    bits = [[philox.bits(seed, call, place) for place in range(count)] for call in range(3)]
    assert found["u"].data == [philox.uniform(b) for b in bits[0]]
    assert found["k"].data == [b % 1000 for b in bits[2]]

    (tmp_path / "drawn_on_a_gpu.yaml").write_text(SPEC)
    folder = f"gpu_{dtype}_{abs(seed)}"
    assert not build(tmp_path / "drawn_on_a_gpu.yaml", tmp_path / folder).failed
    monkeypatch.syspath_prepend(str(tmp_path))
    op = importlib.import_module(f"{folder}.drawn_on_a_gpu").drawn_on_a_gpu
    drawn = op(torch.zeros(shape, dtype=getattr(torch, dtype)), torch.tensor(seed))
    for name, tensor in zip("ugk", drawn, strict=True):
        emulated = torch.tensor(found[name].data, dtype=torch.float64)
        if dtype == "float32" or name != "g":
            assert torch.equal(emulated, tensor.double().flatten()), name
        else:  # the logarithm and the cosine of doubles are those of two libraries
            torch.testing.assert_close(emulated, tensor.flatten(), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", DRAWING)
def test_operators_of_the_catalogue(
    name: str, emulation: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    (tmp_path / f"{name}.yaml").write_text(SPECS[name])
    assert not build(tmp_path / f"{name}.yaml", tmp_path / f"emulated_{name}").failed
    monkeypatch.syspath_prepend(str(tmp_path))
    op = getattr(importlib.import_module(f"emulated_{name}.{name}"), name)
    operator = built(SPECS[name])
    inputs = [t.name for t in operator.inputs if t.name != "seed"]
    given = [torch.randn(3, 37, generator=torch.Generator().manual_seed(k)) for k in range(len(inputs))]
    arrays = {n: Array((3, 37), t.flatten().tolist()) for n, t in zip(inputs, given, strict=True)}
    derived = derive(operator)
    assert len(derived) == len(SETTINGS[name])
    for k, settings in enumerate(SETTINGS[name]):
        d = next(d for d in derived if all(settings[c.name] == c.value for c in d.variant.conditions))  # type: ignore[union-attr]
        made = emulation(f"{name}{k}", d.forward, ["float32"])
        params = {n: v for n, v in settings.items() if not isinstance(v, bool)}
        found = made.emulated.run(arrays | {"seed": Array((), [11])}, params, "float32")
        (result,) = d.variant.program.outputs
        emulated = torch.tensor(found[result.name].data, dtype=torch.float32).reshape(3, 37)
        same(name, emulated, op(*given, torch.tensor(11), **settings))
