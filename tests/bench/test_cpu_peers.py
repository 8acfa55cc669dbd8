"""What is measured on a CPU beside torch computes the same, and the command runs to its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.cpu_peers import best, holds, page
from benchmarks.cpu_peers_cases import CASES
from benchmarks.gpu import as_tuple, errors, prepared
from benchmarks.gpu_cases import Case, Make

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_both_compute_the_same(case: Case) -> None:
    op, runtime = prepared([case], None)[case.op]
    torch.manual_seed(0)
    operands = tuple(
        t.detach().requires_grad_(t.is_floating_point()) for t in case.operands(Make("cpu", True, torch.float32))
    )
    with runtime.use_backend("torch"):
        ours = case.ours(op)
        assert as_tuple(ours(*operands))[0].shape == as_tuple(case.theirs(*operands))[0].shape
        for own, theirs in errors(ours, case.theirs, operands):
            assert own is not None
            assert theirs is not None
            assert own <= 2 * theirs + 1e-6


@pytest.mark.thorough
def test_the_command_runs_to_its_end() -> None:
    line = [sys.executable, "benchmarks/cpu_peers.py", "--tiny", "--quick", "--no-compile", "--threads", "1", "rope"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rope | ") == 4
    assert done.stdout.rstrip().endswith("of 4 hold")


def test_a_row_holds_by_the_faster_peer_or_by_a_copy() -> None:
    row = {
        "case": "rope", "dtype": "float32", "threads": 1, "direction": "both", "us": {"opgen": 5.0}, "failed": {},
        "ratios": {"torch": [0.4, 0.5, 0.6], "torch.compile": [0.8, 0.9, 1.0]}, "share": 0.5,
    }  # fmt: skip
    assert best(row) == 0.9
    assert not holds(row)
    assert holds({**row, "share": 0.86})
    assert holds({**row, "ratios": {"torch": [0.4, 0.5, 0.6]}})
    assert "0 of 1 do" in page({"torch": "2", "vectors": "AVX2", "rows": [row]})
