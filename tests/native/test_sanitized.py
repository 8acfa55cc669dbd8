"""Kernels touch nothing beside their arguments and do nothing undefined, and no two threads meet: sanitizers watch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cuda import emulate

ROOT = Path(__file__).parents[2]
LIBRARIES = {"memory": "libasan.so", "threads": "libtsan.so", "race": "libtsan.so"}


def runtime(library: str) -> str:
    """The library of a sanitizer that the compiler links to; empty if it has none."""
    compiler = emulate.compiler()
    if compiler is None:
        return ""
    done = subprocess.run([compiler, f"-print-file-name={library}"], capture_output=True, text=True, check=True)
    found = Path(done.stdout.strip())
    return str(found) if found.is_absolute() and found.exists() else ""


def watched(what: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A run beside a sanitizer."""
    library = runtime(LIBRARIES[what])
    if not library:
        pytest.skip(f"the compiler has no {LIBRARIES[what]}")
    watching = {"LD_PRELOAD": library, "PYTHONMALLOC": "malloc"}
    watching |= {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "halt_on_error=1"}
    command = [sys.executable, "-m", "tests.native.sanitized", what, str(folder)]
    return subprocess.run(command, cwd=ROOT, env=os.environ | watching, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["memory", "threads"])
def test_a_sanitizer_finds_nothing(what: str, tmp_path: Path) -> None:
    done = watched(what, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "calls" in done.stdout


@pytest.mark.slow
def test_a_race_is_found(tmp_path: Path) -> None:
    done = watched("race", tmp_path)
    assert done.returncode != 0
    assert "data race" in done.stderr
