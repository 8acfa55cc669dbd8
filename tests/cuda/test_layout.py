"""Printed CUDA is as clang-format leaves it, short enough to read, and there for every step of ours."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from opgen.ir.program import Compute, Output, Program, Tensor
from opgen.ir.scalar import BATCH, Scalar, add, call, mul
from opgen.package.step_table import StepTable
from opgen.plan.build import build
from opgen.plan.model import Contract
from tests.cuda import programs
from tests.cuda.harness import CSRC
from tests.cuda.printed import cuda_text
from tests.plain import planned


def long_formula() -> Program:
    x: Scalar = programs.read("some_rather_long_name", BATCH)
    body = x
    for fn in ("exp", "tanh", "sin", "cos", "sigmoid", "softplus", "erf", "square"):
        body = add(mul(call(fn, body), x), call(fn, x))
    return Program(
        "forward",
        (Tensor("some_rather_long_name", (BATCH,)),),
        (),
        (),
        (Compute("y", (BATCH,), body),),
        (Output("y", "y", (BATCH,)),),
    )


EVERY = [long_formula, programs.pointwise, programs.softmax, programs.affine, programs.reductions, programs.lookup]


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
def test_printed_files_are_formatted(tmp_path: Path) -> None:
    shutil.copy(CSRC.parents[1] / ".clang-format", tmp_path)
    files = []
    for make in EVERY:
        files.append(tmp_path / f"{make.__name__}.cu")
        files[-1].write_text(cuda_text(make.__name__, [("run", planned(make()))]))
    files += sorted(CSRC.glob("opgen_*.cuh")) + sorted(CSRC.glob("opgen_simt*.h"))
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_lines_are_short() -> None:
    text = cuda_text("long", [("run", planned(long_formula()))])
    assert max(map(len, text.splitlines())) <= 120


def test_what_torch_computes_has_no_kernel() -> None:
    table = StepTable("op")
    plans = [build(programs.affine()), build(programs.pointwise())]
    launches = [table.add(plan, f"plan_{k}") for k, plan in enumerate(plans)]
    kinds = [isinstance(s, Contract) for plan in plans for s in plan.steps]
    assert True in kinds
    assert sum(map(len, launches)) == kinds.count(False)
    assert len(table.cuda) == len(table.kernels)


def test_printing_twice_gives_the_same() -> None:
    for make in EVERY:
        assert cuda_text("op", [("run", planned(make()))]) == cuda_text("op", [("run", planned(make()))])
