"""Thousands of random programs through every back end and every stage."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cuda import emulate
from tests.random_programs.calls import STAGES, Checked
from tests.random_programs.emptied import check_emptied
from tests.random_programs.printed import check_torch
from tests.random_programs.seeds import SLOW, compile_and_compare, programs_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(emulate.compiler() is None, reason="no C++ compiler is installed"),
]


@pytest.mark.parametrize("number", SLOW)
def test_many_more(number: int, tmp_path: Path) -> None:
    def both(done: Checked) -> None:
        check_torch(done)
        check_emptied(done)

    compile_and_compare(number, programs_of(number, both), tmp_path, STAGES)
