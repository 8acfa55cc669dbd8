"""`-q` and `-v` of the commands that do much, what is shown while they do it, and checks that are left out."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.cli import console
from opgen.toolchain import library
from opgen.toolchain.compiler import toolchain
from opgen.write.user_cache import CACHE_VARIABLE

Opgen = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", ["build", "compile", "test"])
def test_to_be_quiet_and_to_say_more_exclude_each_other(project: Path, opgen: Opgen, command: str) -> None:
    for both in (("-q", "-v"), ("--verbose", "--quiet")):
        code, out, err = opgen(command, *both)
        assert (code, out) == (2, "")
        assert "-q and -v exclude each other" in err


def test_a_quiet_build_tells_what_is_wrong(project: Path, opgen: Opgen) -> None:
    assert opgen("build", "-q") == (0, "", "")
    (project / "specs/one.yaml").write_text("one\nwrong\n")
    code, out, err = opgen("build", "-q")
    assert (code, out) == (1, "")
    assert err.startswith("error[OPG201]")
    assert err.endswith("1 error\n")
    (project / "specs/one.yaml").write_text("one\nx = 9\n")
    code, out, err = opgen("build", "-q", "--check")
    assert (code, err) == (1, "")
    assert "updated   generated/one/function.py" in out  # what is wrong, here


@pytest.fixture
def operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> Path:
    """Two operators, and a compiler that is a stand-in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr(library, "cuda_toolchain", lambda: None)

    def compiler(command: list[str]) -> None:
        if Path("broken").exists():
            raise library.CompileError("error: what is this?")
        Path(command[command.index("-o") + 1]).write_bytes(b"made")

    monkeypatch.setattr(library, "_run", compiler)
    toolchain.cache_clear()
    for op in ("scale", "shift"):
        Path(f"{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")
    assert opgen("build", "scale.yaml", "shift.yaml")[0] == 0
    return tmp_path


def test_a_quiet_compilation_tells_what_is_wrong(operators: Path, opgen: Opgen) -> None:
    assert opgen("compile", "-q") == (0, "", "")
    assert (operators / "generated/scale/_native.so").exists()
    (operators / "generated/scale/_native.so").unlink()
    assert opgen("clean", "--all")[0] == 0
    (operators / "broken").touch()
    code, out, err = opgen("compile", "-q")
    assert (code, out) == (1, "")
    assert "error[OPG602]" in err


def test_more_of_a_compilation_are_its_commands(operators: Path, opgen: Opgen) -> None:
    err = opgen("compile", "-v")[2]
    assert "scale: compiled; auto runs native" in err
    assert any("true -" in line and "scale.cpp" in line for line in err.splitlines()), err
    assert "scale.cpp" not in opgen("compile", "--out", "generated", "scale")[2]
    assert "scale: up to date; auto runs native" in opgen("compile", "-v")[2]


CHECKS = """
import warnings

import pytest


@pytest.mark.slow
def test_slow() -> None:
    pass


def test_compile() -> None:
    pass


def test_opinfo_gradients() -> None:
    pass


@pytest.mark.parametrize("case", [1, 2])
def test_values(case: int) -> None:
    warnings.warn("`torch.jit.script` is deprecated", DeprecationWarning, stacklevel=2)
    assert {value}
"""


@pytest.fixture
def checks(tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Run `opgen test` on a file of checks that is a stand-in, in a process of its own."""
    around = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "--strict-markers -p no:cacheprovider"}
    around["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def run(*arguments: str, value: bool = True) -> tuple[int, str, str]:
        folder = tmp_path / "generated/scale"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").touch()
        (folder / "test_scale.py").write_text(CHECKS.format(value=value))
        command = [sys.executable, "-m", "opgen", "test", "scale", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=around, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


def test_warnings_of_torch_about_itself_are_not_told(checks: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = checks()
    assert code == 0, err
    assert "warnings summary" not in err
    assert "5 passed" in err
    assert "1 operator, 4 checks: 4 passed" in out


def test_quick_leaves_out_what_takes_long(checks: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = checks("--quick")
    assert code == 0
    assert "2 passed, 3 deselected" in err
    assert "1 operator, 1 check: 1 passed" in out


def test_quiet_tests_tell_what_fails_and_more_are_the_names(checks: Callable[..., tuple[int, str, str]]) -> None:
    assert checks("-q") == (0, "", "")
    code, out, err = checks("-q", value=False)
    assert code == 1
    assert "2 failed" in err
    assert "1 operator, 4 checks: 3 passed" in out
    assert "test_values[1] PASSED" in checks("-v")[2]


def test_progress_says_how_many_for_how_long_and_what(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream, now = Terminal(), [100.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    progress = console.Progress(3)
    progress("one")
    now[0] += 75.4
    progress("two")
    progress.close()
    assert stream.getvalue() == "\r\x1b[K[1/3] one\r\x1b[K[2/3] 1:15 two\r\x1b[K"
    silent = console.Progress(3, quiet=True)
    silent("one")
    silent.close()
    assert stream.getvalue().endswith("two\r\x1b[K")
