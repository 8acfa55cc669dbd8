"""A build of so many specs that several processes share the work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

UNLUCKY = """
import opgen.opt.derive as module

derive = module.derive

def unlucky(operator, *arguments):
    if operator.name == "unlucky":
        raise KeyError("S")
    return derive(operator, *arguments)

module.derive = unlucky
"""


@pytest.mark.slow
def test_299_of_300_specs_are_built_where_one_meets_an_internal_error(tmp_path: Path) -> None:
    for op in ("unlucky", *(f"op_{n}" for n in range(299))):
        (tmp_path / f"{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "sitecustomize.py").write_text(UNLUCKY)  # in every process of the build
    env = os.environ | {"PYTHONPATH": str(tmp_path / "python"), "TMPDIR": str(tmp_path)}
    line = [sys.executable, "-m", "opgen", "build", "."]
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "internal error: unlucky.yaml could not be differentiated: KeyError: 'S'" in done.stderr
    assert len(list(tmp_path.glob("generated/*/manifest.json"))) == 299
