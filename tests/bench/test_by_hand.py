"""Loops written by hand compute what their operators do; what takes how long is measured elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

import opgen
from benchmarks.by_hand.__main__ import ROOT, cases, compiled
from tests.compilers import available


@pytest.mark.thorough
@pytest.mark.skipif(not available(), reason="no C++ compiler is installed")
def test_loops_and_operators_agree(tmp_path: Path) -> None:
    torch.manual_seed(0)
    found = cases(compiled(tmp_path), quick=True)
    assert len({case.kind for case in found}) == 5
    for case in found:
        op = opgen.load(ROOT / case.spec, compiled=False)
        torch.testing.assert_close(case.loop(*case.operands), op(*case.operands, **case.params), rtol=1e-5, atol=1e-4)
