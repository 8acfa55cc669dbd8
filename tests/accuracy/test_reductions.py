"""Long sums are never further from the truth than torch's own (benchmarks/reductions.py prints the whole table)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.accuracy.reductions import REDUCTIONS, lines, loaded
from tests.cuda.harness import needs_compiler

pytestmark = [pytest.mark.slow, needs_compiler]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_never_worse_than_torch(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    found = lines(name, loaded(tmp_path, name), (1000, 2**16, 2**22))
    assert found
    assert not [line for line in found if line.worse]
