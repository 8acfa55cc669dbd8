"""Compiled kernels draw the numbers of the torch form, to the bit, for any number of threads and any layout."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch

from opgen import build
from opgen.toolchain.library import compile_op
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
