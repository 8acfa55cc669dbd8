"""What random programs came down to when they failed, in every back end."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.cuda import emulate
from tests.random_programs import found_rows
from tests.random_programs.calls import STAGES, Checked, check
from tests.random_programs.compiled import Batch
from tests.random_programs.emptied import check_emptied
from tests.random_programs.fakes import check_fakes
from tests.random_programs.found import FOUND, cases
from tests.random_programs.lengthened import lengthen
from tests.random_programs.printed import check_torch


@pytest.fixture(scope="module")
def found() -> dict[str, Checked]:
    return {name: check(case) for name, case in cases().items()}


@pytest.mark.parametrize("name", FOUND)
def test_in_torch(found: dict[str, Checked], name: str) -> None:
    check_torch(found[name])
    check_fakes(found[name])
    check_emptied(found[name])


@pytest.mark.thorough
@pytest.mark.skipif(emulate.compiler() is None, reason="no C++ compiler is installed")
@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "cuda"])
def test_in_kernels(found: dict[str, Checked], tmp_path: Path, emulated: bool) -> None:
    batch = Batch.of(list(found.values()), STAGES)
    assert len(batch.calls) > len(FOUND)
    batch.run(tmp_path, emulated)


@pytest.mark.thorough
@pytest.mark.skipif(emulate.compiler() is None, reason="no C++ compiler is installed")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_long_rows_in_teams(found: dict[str, Checked], tmp_path: Path, dtype: str) -> None:
    rows = [check(found[name].case) for name in found_rows.FOUND]
    for done in rows:
        lengthen(done)
    Batch.of(rows, STAGES, dtype=dtype).run(tmp_path, emulated=True)
