"""Kernels issue no more instructions for each element than the committed table says (tests/cuda/budgets.py)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opgen.toolchain import cuda
from tests.cuda import budgets
from tests.cuda.harness import needs_compiler

MARGIN = 1.05  # compilers differ a little
TOLD = {row[:50].rstrip(): float(row[50:].split()[0]) for row in budgets.TABLE.read_text().splitlines()[1:]}


@pytest.mark.thorough
@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(cuda.nvcc() is None, reason="nvcc is not installed")
@pytest.mark.skipif(budgets.nvdisasm() is None, reason="nvdisasm is not installed (nvidia-cuda-nvdisasm has it)")
@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
@pytest.mark.parametrize("case", budgets.CASES, ids=lambda c: c.name)
def test_a_case_stays_within_the_table(case: budgets.Case, tmp_path: Path) -> None:
    counted = budgets.counted(case, tmp_path)
    assert 0 < counted.total <= MARGIN * TOLD[case.name], counted.row


def test_the_table_has_every_case() -> None:
    assert list(TOLD) == [c.name for c in budgets.CASES]
