"""Integers at their limits: floats beyond them are stored as the last one, and no division ends the process."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

STORED = """
op: stored_at_limits
inputs: {x: {shape: [N]}}
forward: |
  wide[n] = x[n]
  whole[n] = x[n]
  cast_wide[n] = cast(x[n], int64)
  cast_whole[n] = cast(x[n], int32)
outputs: {wide: {dtype: int64}, whole: {dtype: int32}, cast_wide: {}, cast_whole: {}}
"""
DIVIDED = """
op: divided_at_limits
inputs: {k: {shape: [N], dtype: int}, by: {shape: [N], dtype: int}}
params: {s: {type: int}}
forward: |
  quotient[n] = k[n]//by[n]
  of_a_param[n] = k[n]//s
  rest[n] = k[n] % by[n]
  both[n] = fmod(k[n], by[n]) + remainder(k[n], by[n])
"""
BACK_ENDS = ["torch", pytest.param("native", marks=[pytest.mark.thorough, needs_compiler])]


def loaded(spec: str, folder: Path, backend: str) -> object:
    (folder / "spec.yaml").write_text(spec)
    return opgen.load(folder / "spec.yaml", compiled=backend == "native")


@pytest.mark.parametrize("backend", BACK_ENDS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_what_is_beyond_becomes_the_last_number(tmp_path: Path, backend: str, dtype: torch.dtype) -> None:
    x = torch.tensor([1e30, torch.inf, 2.0**63, 2.0**62, 2.0**31, 2.0**30, -(2.0**31), -1e30, -torch.inf], dtype=dtype)
    with opgen.use_backend(backend):
        wide, whole, cast_wide, cast_whole = loaded(STORED, tmp_path, backend)(x)  # type: ignore[operator]
    exact = [2**63 - 1, 2**63 - 1, 2**63 - 1, 2**62, 2**31, 2**30, -(2**31), -(2**63), -(2**63)]
    narrow = [min(max(n, -(2**31)), 2**31 - 1) for n in exact]
    assert (wide.tolist(), cast_wide.tolist()) == (exact, exact)
    assert (whole.tolist(), cast_whole.tolist()) == (narrow, narrow)


@pytest.mark.parametrize("backend", BACK_ENDS)
def test_the_least_number_is_divided(tmp_path: Path, backend: str) -> None:
    least = -(2**63)
    k, by = torch.tensor([least, least, least, 7, -7]), torch.tensor([-1, 1, 2, -1, -1])
    with opgen.use_backend(backend):
        found = loaded(DIVIDED, tmp_path, backend)(k, by, s=-1)  # type: ignore[operator]
    quotient, of_a_param, rest, both = (r.tolist() for r in found)
    assert quotient == [least, least, least // 2, -7, 7]  # the first one goes around, as in torch
    assert of_a_param == [least, least, least, -7, 7]
    assert rest == both == [0, 0, 0, 0, 0]
