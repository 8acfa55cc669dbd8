"""Bytes that are viewed as bool may be 2: compiled, a condition is what it is for torch, wherever it is read."""

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
op: truths
inputs: {x: {shape: [K]}, m: {shape: [K], dtype: bool}}
outputs: {counted: {}, weighted: {}, gone_on: {}, sorted: {}, picked: {}, summed: {}}
forward: |
  counted[k] = x[k]*cumsum[k](where(m[k], 1, 0))
  weighted[k] = cumsum[k](x[k]*m[k])
  gone_on[k] = gone_on[k - 1] + m[k]
  order[k] = argsort[k](where(m[k], 1, 0))
  sorted[k] = x[order[k]]
  picked[k] = where(m[order[k]], 1, 0)
  summed = sum[k](m[k]*x[k]) + count[k](m[k])
"""


def test_bytes_viewed_as_bool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "truths.yaml").write_text(SPEC)
    assert not build(tmp_path / "truths.yaml", tmp_path / "told").failed
    compile_op(tmp_path / "told", "truths")
    monkeypatch.syspath_prepend(str(tmp_path))
    package = importlib.import_module("told.truths")
    runtime = importlib.import_module("told._runtime")
    x = torch.arange(1.0, 38.0)
    m = torch.arange(37) % 3 == 0
    viewed = (2 * m.to(torch.uint8)).view(torch.bool)
    assert viewed.view(torch.uint8).max() == 2
    with runtime.use_backend("torch"):
        expected = package.truths(x, m)
    before = runtime.calls("native")
    with runtime.use_backend("native"):
        got = package.truths(x, viewed)
    assert runtime.calls("native") > before
    torch.testing.assert_close(got, expected)
