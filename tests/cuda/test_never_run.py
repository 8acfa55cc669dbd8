"""Entries of a table of kernels that stand for those of a CPU alone: the file is C++ as it stands."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.native.conftest import needs_compiler

GENERATED = Path(__file__).resolve().parents[2] / "generated"


@needs_compiler
def test_a_table_with_entries_that_never_run_compiles() -> None:
    source = GENERATED / "conv1d" / "csrc" / "conv1d.cu"
    assert "{nullptr, nullptr}," in source.read_text()
    line = ["g++", "-fsyntax-only", "-std=c++20", "-x", "c++", "-I", str(GENERATED / "csrc"), str(source)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[:2000]
