"""Kernels issue no more instructions for each element than the committed table says (tests/cuda/budgets.py)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opgen.toolchain import cuda
from tests.cuda import budgets, every
from tests.cuda.harness import needs_compiler
from tests.spec_files import SPECS

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


@needs_compiler
@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
@pytest.mark.parametrize(
    ("op", "batch", "sizes", "small"),
    [
        ("rope", (64,), {"T": 4096, "D": 128, "H": 64}, True),
        ("rope", (2**15 - 1,), {"T": 4096, "D": 128, "H": 64}, True),
        ("rope", (2**15,), {"T": 4096, "D": 128, "H": 64}, False),  # 2^31 vectors
        ("rope", (2,), {"T": 2**21, "D": 128, "H": 64}, False),  # batch elements are 2^28 apart
        ("silu", (2**17 - 1, 2**17), {}, True),
        ("silu", (2**17, 2**17), {}, False),
        ("softmax", (2**31 - 1,), {"N": 16}, True),
        ("softmax", (2**31,), {"N": 16}, False),
    ],
)
def test_positions_of_32_bits_are_those_of_small_calls(
    op: str, batch: tuple[int, ...], sizes: dict[str, int], small: bool, tmp_path: Path
) -> None:
    case = budgets.Case(op, "forward", "bfloat16", batch, 4, sizes)
    ((symbol, *_), _), *more = budgets.launched(budgets.call_of(case), tmp_path)
    assert not more
    assert ("bfloat16_t, 1>" in budgets.plain_names([symbol])[symbol]) is small


def test_the_table_has_every_case() -> None:
    assert list(TOLD) == [c.name for c in budgets.CASES]


def test_every_operator_is_counted_and_what_is_far_from_memory_has_a_reason() -> None:
    _, *rows = every.TABLE.read_text().splitlines()
    assert list(dict.fromkeys(row.split()[0] for row in rows)) == [p.stem for p in SPECS]
    assert not [row for row in rows if every.UNKNOWN in row]
    far = [row for row in rows if row.split()[3].replace(".", "").isdigit() and float(row.split()[3]) > every.MOST]
    assert far
    assert [row for row in far if "  # " not in row] == []
