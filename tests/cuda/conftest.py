"""Fixtures of the CUDA tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opgen.ir.program import Program
from tests.cuda.harness import Emulation


@pytest.fixture
def emulation(tmp_path: Path) -> Callable[..., Emulation]:
    """Prints and compiles a program."""

    def make(name: str, program: Program, dtypes: Sequence[str] = ("float64",)) -> Emulation:
        return Emulation(name, program, tmp_path, dtypes)

    return make
