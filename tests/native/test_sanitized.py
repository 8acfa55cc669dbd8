"""Kernels read and write nothing beside their arguments, and do nothing undefined: sanitizers watch them run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cuda import emulate

ROOT = Path(__file__).parents[2]


def runtime() -> str:
    """The library of the address sanitizer that the compiler links to; empty if it has none."""
    compiler = emulate.compiler()
    if compiler is None:
        return ""
    done = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    found = Path(done.stdout.strip())
    return str(found) if found.is_absolute() and found.exists() else ""


def watched(tmp_path: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A run of Python beside the sanitizer."""
    watching = {"LD_PRELOAD": runtime(), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=os.environ | watching, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(not runtime(), reason="the compiler has no address sanitizer")
def test_nothing_beside_the_arguments_is_touched(tmp_path: Path) -> None:
    done = watched(tmp_path, "-m", "tests.native.sanitized", str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    assert "calls" in done.stdout
