"""SIGKILL at any moment leaves the old operator or the new one, and the next run always recovers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compilers import available

ROOT = Path(__file__).resolve().parents[2]


def killed(folder: Path, seed: int, builds: int, installs: int, compilations: int) -> dict[str, dict[str, int]]:
    command = [sys.executable, "-m", "tests.write.killing", str(folder / "work")]
    counts = map(str, (seed, builds, installs, compilations))
    done = subprocess.run([*command, *counts], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    return found


@pytest.mark.thorough
def test_builds_that_are_killed(tmp_path: Path) -> None:
    found = killed(tmp_path, 1, 12, 0, 0)["builds"]
    assert sum(n for state, n in found.items() if state.startswith(("formula", "nothing"))) == 12


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="no C++ compiler")
@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_builds_and_compilations_that_are_killed(tmp_path: Path, seed: int) -> None:
    found = killed(tmp_path, 10 + seed, 50, 20, 6)
    assert sum(found["installs"].values()) == 20
    assert sum(found["compilations"].values()) == 6
