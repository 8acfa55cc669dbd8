"""Kernels of random specs: compiled C++ and emulated CUDA compute what the interpreter computes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cuda import emulate
from tests.random_programs.seeds import QUICK_KERNELS, compile_and_compare, programs_of

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(emulate.compiler() is None, reason="no C++ compiler is installed"),
]


@pytest.mark.parametrize("number", QUICK_KERNELS)
def test_kernels(number: int, tmp_path: Path) -> None:
    compile_and_compare(number, programs_of(number), tmp_path, ("forward", "backward"))
