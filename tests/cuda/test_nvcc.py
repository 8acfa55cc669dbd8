"""nvcc accepts the printed kernels without spills and without local memory, and the check can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.toolchain import cuda
from tests.cuda import programs
from tests.cuda.harness import CSRC
from tests.cuda.printed import cuda_text

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(cuda.nvcc() is None, reason="nvcc is not installed")]

LOCAL = """
extern "C" __global__ void indexed(float* x, const int* at, int n) {
  float held[32];
  for (int i = 0; i < 32; ++i) held[i] = x[i];
  for (int i = 0; i < n; ++i) held[at[i]] += held[at[i + 1]];
  for (int i = 0; i < 32; ++i) x[i] = held[i];
}
"""


GATED = """op: gated
inputs: {x: {shape: [..., D]}, gate: {shape: [..., D]}, gain: {shape: [D]}, shift: {shape: [D]}}
forward: |
  r[...] = rsqrt(mean[d](x[..., d]**2))
  y[..., d] = x[..., d] * r[...] * gain[d] * silu(gate[..., d]) + shift[d]
"""


def test_rows_with_much_in_registers_join_sums_without_spills(tmp_path: Path) -> None:
    made = run(SpecFile(Path("gated.yaml"), GATED.encode(), "gated.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    backward = made.derived[0].backward
    assert backward is not None
    text = cuda_text("gated", [("backward", build(backward))])
    assert text.count("rt::across<") == 1
    source = tmp_path / "gated.cu"
    source.write_text(text)
    for result in cuda.compile_all([source], [CSRC], tmp_path / "out"):
        assert result.ok, result.message


def test_samples_compile_for_both_architectures(tmp_path: Path) -> None:
    plans = [("rows", build(programs.softmax())), ("lookup", build(programs.lookup()))]
    source = tmp_path / "samples.cu"
    source.write_text(cuda_text("samples", plans))
    results = cuda.compile_all([source], [CSRC], tmp_path / "out")
    assert [r.architecture for r in results] == ["sm_80", "sm_90"]
    for result in results:
        assert result.ok, result.message
        assert result.kernels > 0
        assert 0 < result.registers <= 128


def test_local_memory_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "indexed.cu"
    source.write_text(LOCAL)
    (result,) = cuda.compile_one(source, [CSRC], tmp_path / "indexed.cubin", ["sm_90"])
    assert not result.ok
    assert "Local memory" in result.message


def test_a_compile_error_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "broken.cu"
    source.write_text("__global__ void broken( {")
    (result,) = cuda.compile_one(source, [CSRC], tmp_path / "broken.cubin", ["sm_90"])
    assert not result.ok
    assert "error" in result.message
