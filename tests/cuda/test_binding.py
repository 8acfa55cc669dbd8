"""The CUDA binding runs the right steps with the right arguments: generated tests pass on it, on emulated kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import opgen
from tests.cuda.bound import bind
from tests.cuda.harness import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
# variants that share steps, positions read from data, and a result that backward reads
QUICK = ("layer_norm", "embedding", "softmax")


def generated_tests_pass(spec: Path, folder: Path) -> None:
    out = folder / "generated"
    assert not opgen.build(spec, out).failed
    op = spec.stem
    shutil.copy(bind(out, op, folder), out / op / "_native.so")
    shutil.copy(ROOT / "pyproject.toml", folder)
    arguments = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", str(out / op / f"test_{op}.py")]
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"}  # a run and a report of its own
    environment |= {"OPGEN_BACKEND": "native", "OPGEN_SIMT_SEED": "1"}  # atomics in one order
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("op", QUICK)
def test_generated_tests_pass_on_the_emulated_kernels(op: str, tmp_path: Path) -> None:
    generated_tests_pass(ROOT / "specs" / f"{op}.yaml", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("spec", [s for s in SPECS if s.stem not in QUICK], ids=lambda s: s.stem)
def test_every_generated_test_passes_on_the_emulated_kernels(spec: Path, tmp_path: Path) -> None:
    generated_tests_pass(spec, tmp_path)


RAISED = """
import torch
from generated.embedding import embedding
from generated._runtime import calls, use_backend

with use_backend("native"):
    for table, ids in ((torch.randn(5, 3), [1, 5]), (torch.randn(5, 3), [-1]), (torch.randn(0, 3), [0])):
        try:
            torch.ops.generated_native.embedding_forward(torch.tensor(ids), table)
        except RuntimeError as e:
            print(e)
    torch.testing.assert_close(embedding(torch.tensor([4]), table := torch.randn(5, 3)), table[4:])
"""


def test_a_position_out_of_range_raises_what_the_cpu_raises(tmp_path: Path) -> None:
    out = tmp_path / "generated"
    assert not opgen.build(ROOT / "specs" / "embedding.yaml", out).failed
    shutil.copy(bind(out, "embedding", tmp_path), out / "embedding" / "_native.so")
    done = subprocess.run([sys.executable, "-c", RAISED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for bad, size in ((5, 5), (-1, 5), (0, 0)):
        text = f"embedding: index {bad} is out of range for axis 0 of weight, which has size {size}"
        assert text in done.stdout
