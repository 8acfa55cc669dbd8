"""Random specs as whole operators: both back ends agree, whatever batch dims and layouts a call has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from opgen.toolchain.compiler import toolchain
from tests.native.conftest import needs_compiler
from tests.random_programs.operators import built, compare
from tests.random_programs.seeds import each
from tests.random_programs.specs import Case

pytestmark = [pytest.mark.thorough, needs_compiler]

QUICK, FEW = 1000, 6
SLOW = range(1001, 1011)


@pytest.fixture
def compiled_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A compiler that optimises nothing: what stands around kernels is compared here."""
    script = tmp_path / "compiler"
    script.write_text(f'#!/bin/sh\nexec {toolchain().compiler} "$@" -O0\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("OPGEN_ISA", "baseline")
    toolchain.cache_clear()
    yield
    toolchain.cache_clear()


@pytest.mark.usefixtures("compiled_quickly")
@pytest.mark.parametrize("number", [QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)])
def test_both_back_ends_agree(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[Case] = []
    each(number, cases.append)
    monkeypatch.syspath_prepend(str(tmp_path))
    for operator in built(cases[:FEW] if number == QUICK else cases, tmp_path, f"whole_{number}"):
        compare(operator)
