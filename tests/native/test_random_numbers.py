"""Compiled kernels draw the numbers of the torch form, to the bit, for any number of threads and any layout."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch

from opgen import build
from opgen.toolchain.library import compile_op
from tests.drawing_specs import DRAWING, SETTINGS, SPECS, same
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: drawn_natively
inputs: {x: {shape: [..., N]}, w: {shape: [...]}, seed: {dtype: seed}}
outputs: {u: {shape: [..., N]}, g: {shape: [..., N]}, k: {shape: [...]}, y: {shape: [..., N]}}
forward: |
  u[..., i] = uniform(seed)
  g[..., i] = normal(seed)
  k[...] = integer(seed, 1000)
  y[..., i] = where(uniform(seed) < 0.5, x[..., i], w[...])*normal(seed)
"""


def test_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "drawn_natively.yaml"
    spec.write_text(SPEC)
    assert not build(spec, tmp_path / "natively").failed
    compile_op(tmp_path / "natively", "drawn_natively")
    monkeypatch.syspath_prepend(str(tmp_path))
    op = importlib.import_module("natively.drawn_natively").drawn_natively
    runtime = importlib.import_module("natively._runtime")
    threads = torch.get_num_threads()
    try:
        for seed in (0, -(2**62) + 7):
            for dtype in (torch.float32, torch.bfloat16):
                for x in (torch.rand(301, 70, 3), torch.rand(3, 70, 301).permute(2, 1, 0), torch.rand(5)):
                    w = torch.rand(x.shape[1:-1])
                    given = x.to(dtype), w.to(dtype), torch.tensor(seed)
                    with runtime.use_backend("torch"):
                        expected = op(*given)
                    for count in (1, 2):
                        torch.set_num_threads(count)
                        before = runtime.calls("native")
                        with runtime.use_backend("native"):
                            found = op(*given)
                        assert runtime.calls("native") > before
                        assert all(map(torch.equal, found, expected))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("name", DRAWING)
def test_operators_of_the_catalogue(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain torch and kernels, one thread and two, `vmap` and a loop; values and gradients."""
    (tmp_path / f"{name}.yaml").write_text(SPECS[name])
    assert not build(tmp_path / f"{name}.yaml", tmp_path / f"drawn_{name}").failed
    compile_op(tmp_path / f"drawn_{name}", name)
    monkeypatch.syspath_prepend(str(tmp_path))
    op = getattr(importlib.import_module(f"drawn_{name}.{name}"), name)
    runtime = importlib.import_module(f"drawn_{name}._runtime")
    inputs = [torch.randn(5, 37, 23, generator=torch.Generator().manual_seed(k)) for k in range(2)]
    inputs = inputs[: SPECS[name].partition("params:")[0].count("shape:") or 1]
    seeds, threads = torch.arange(7, 12), torch.get_num_threads()
    before = runtime.calls("native")
    try:
        for settings in SETTINGS[name]:
            expected: list[torch.Tensor] | None = None
            for backend, count in (("torch", 1), ("torch", 2), ("native", 1), ("native", 2)):
                torch.set_num_threads(count)
                with runtime.use_backend(backend):
                    loop = [op(*(x[k] for x in inputs), seeds[k], **settings) for k in range(5)]
                    batch = torch.vmap(lambda *a: op(*a, **settings))(*inputs, seeds)  # noqa: B023
                    leaves = [x.clone().requires_grad_() for x in inputs]
                    y = op(*leaves, seeds[0], **settings)
                    grads = torch.autograd.grad(y, leaves, inputs[0])
                same(name, batch, torch.stack(loop))
                made = [batch, y.detach(), *grads]
                for a, b in zip(made, expected or made, strict=True):
                    same(name, a, b)
                expected = expected or made
        assert runtime.calls("native") > before
    finally:
        torch.set_num_threads(threads)
