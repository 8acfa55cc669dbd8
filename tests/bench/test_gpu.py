"""What is measured on a GPU runs to its end on a CPU, at small sizes, so that no time of a GPU is lost to slips."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu_cases import CASES

ROOT = Path(__file__).resolve().parents[2]


def ran(script: str, *words: str) -> str:
    line = [sys.executable, f"benchmarks/{script}", "--device", "cpu", *words]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_every_case_is_measured_in_both_directions(tmp_path: Path) -> None:
    told = tmp_path / "gpu.json"
    ran("gpu.py", "--tiny", "--no-compile", "--seconds", "0.01", "--out", str(told))
    rows = json.loads(told.read_text(encoding="utf-8"))["rows"]
    assert [r["case"] for r in rows] == [c.name for c in CASES]
    for r in rows:
        assert all(own <= 2 * torch + 1e-6 for own, torch in r["errors"] if own is not None), r["case"]
        for direction in ("forward", "backward"):
            assert r[direction]["us"]["opgen"] > 0
            assert "failed" not in r[direction]


@pytest.mark.thorough
def test_the_smoke_run_ends_without_a_failure(tmp_path: Path) -> None:
    said = ran("gpu_smoke.py", "--out", str(tmp_path), "--jobs", "1", "squared_relu")
    assert "0 failed" in said
    assert "kernel sum float32: equal" in said
