"""`opgen.load`: what it returns, again and again, and in processes that are started later."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest
import torch

import opgen
from opgen.cli import run
from opgen.diagnostics.crash import Crash
from opgen.toolchain.compiler import NoCompilerError, toolchain
from opgen.toolchain.library import NoKernelsError
from opgen.toolchain.load import LoadError
from opgen.write.user_cache import CACHE_VARIABLE, cache_folder
from tests.compilers import available

pytestmark = pytest.mark.thorough

SPEC = "op: {}\ninputs: [x]\nforward: y = x*x + {}\n"
SPAWNED = """
import multiprocessing, sys
import torch
import opgen

if __name__ == "__main__":
    square = opgen.load(sys.argv[1], compiled=False)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply_async(square, (torch.tensor([3.0]),)).get(timeout=300).tolist())
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "square_more.yaml"
    path.write_text(SPEC.format("square_more", 1))
    return path


@pytest.fixture
def baseline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A compiler that has less to do."""
    monkeypatch.setenv("OPGEN_ISA", "baseline")
    yield
    toolchain.cache_clear()


def test_a_loaded_operator_is_found_by_spawned_processes(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    program = tmp_path / "program.py"
    program.write_text(SPAWNED)
    command = [sys.executable, "-W", "ignore", str(program), str(spec)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[10.0]\n"


@pytest.mark.skipif(not available(), reason="no C++ compiler")
def test_an_operator_is_compiled_however_it_was_loaded_before(
    spec: Path, baseline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = hashlib.sha256(spec.read_bytes()).hexdigest()[:16]
    shutil.rmtree(cache_folder() / "loaded" / f"opgen_loaded_{digest}", ignore_errors=True)  # of an earlier run
    x = torch.tensor([3.0])
    plain = opgen.load(spec, compiled=False)
    assert (plain.backend, plain(x).item()) == ("torch", 10.0)
    monkeypatch.setenv("CXX", "no-such-compiler")
    toolchain.cache_clear()
    with pytest.warns(UserWarning, match="square_more runs in plain torch: no C"):
        waiting = opgen.load(spec)  # without a compiler
    assert waiting.backend == "torch"
    monkeypatch.delenv("CXX")
    toolchain.cache_clear()
    fast = opgen.load(spec, compiled=True)
    assert fast.backend.startswith("native")
    assert fast is waiting is opgen.load(spec)
    assert plain.backend == "torch"
    assert fast(x).item() == plain(x).item() == 10.0


def test_what_cannot_be_compiled_is_an_error_where_it_must_be(tmp_path: Path) -> None:
    path = tmp_path / "cbrt_elsewhere.yaml"
    path.write_text("op: cbrt_elsewhere\ninputs: [x]\noutputs: {y: {shape: [...]}}\nforward: {numpy: numpy.cbrt}\n")
    if available():
        with pytest.warns(UserWarning, match="^cbrt_elsewhere has no kernels and runs in plain torch"):
            opgen.load(path)
    with pytest.raises(NoKernelsError if available() else NoCompilerError, match="no "):
        opgen.load(path, compiled=True)
    assert opgen.load(path, compiled=False)(torch.tensor([8.0])).item() == pytest.approx(2.0)


def test_the_same_spec_is_one_operator_wherever_it_lies(spec: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/again.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(spec.read_bytes())
    first = opgen.load(spec, compiled=False)
    assert opgen.load(elsewhere, compiled=False) is first
    elsewhere.write_text(SPEC.format("square_more", 2))
    second = opgen.load(elsewhere, compiled=False)
    assert (first(torch.tensor([3.0])).item(), second(torch.tensor([3.0])).item()) == (10.0, 11.0)


def test_an_internal_error_shows_where_it_happened(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise KeyError("S")

    monkeypatch.setattr("opgen.opt.derive.derive", broken)
    spec.write_text(SPEC.format("square_more", 3))
    with pytest.raises(LoadError, match=r"OPG701.*could not be differentiated(?s:.*)in broken"):
        opgen.load(spec)
    assert isinstance(opgen.build(spec, spec.parent / "out").diagnostics[0], Crash)
    assert run(["show", str(spec), "--stage", "plan"]) == 2


def test_editors_and_type_checkers_know_what_is_returned() -> None:
    assert get_type_hints(opgen.load)["return"] is opgen.Operator
    assert (Path(opgen.__file__).parent / "py.typed").is_file()
