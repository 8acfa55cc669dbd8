"""What `opgen compile` and `opgen test` say of what is compiled and what is not; the compiler is a stand-in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from opgen.cli import test as test_command
from opgen.toolchain import library
from opgen.toolchain.compiler import toolchain
from opgen.write.user_cache import CACHE_VARIABLE

Opgen = Callable[..., tuple[int, str, str]]


@pytest.fixture
def operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> Iterator[Path]:
    """Three operators in a package; what makes a file of the third one fails as often as `broken` is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr(library, "cuda_toolchain", lambda: None)
    toolchain.cache_clear()
    for op in ("scale", "shift", "zoom"):
        Path(f"{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")

    def compiler(command: list[str]) -> None:
        if Path("broken").exists() and any("zoom" in word for word in command):
            raise library.CompileError("c++ -c zoom.cpp\nzoom.cpp:1:1: error: what is this?\n")
        Path(command[command.index("-o") + 1]).write_bytes(b"made")

    monkeypatch.setattr(library, "_run", compiler)
    assert opgen("build", "scale.yaml", "shift.yaml", "zoom.yaml", "--out", "src/mylib/ops")[0] == 0
    yield tmp_path
    toolchain.cache_clear()


def compiled(opgen: Opgen, *arguments: str) -> tuple[int, str]:
    code, _, err = opgen("compile", *arguments, "--out", "src/mylib/ops")
    return code, err.splitlines()[-1]


def test_what_was_done_is_counted(operators: Path, opgen: Opgen) -> None:
    following = "next: opgen test --backend native --out src/mylib/ops"
    assert compiled(opgen) == (0, f"3 compiled; {following}")
    assert compiled(opgen) == (0, f"3 up to date; {following}")
    (operators / "src/mylib/ops/scale/_native.so").unlink()
    assert compiled(opgen) == (0, f"1 taken from the cache, 2 up to date; {following}")
    assert compiled(opgen, "zoom")[1].endswith("next: opgen test --backend native zoom --out src/mylib/ops")


def test_each_operator_is_told_what_auto_runs_and_why(operators: Path, opgen: Opgen) -> None:
    Path("wave.yaml").write_text("op: wave\ninputs: [x]\nforward: y = x*tan(-x)\n")
    Path("angle.yaml").write_text("op: angle\ninputs: [x, z]\nforward: y = atan2(x, z)\n")
    expected = {
        "angle": "forward torch (native when small): atan2 is computed one element at a time; backward native",
        "scale": "native",
        "wave": "torch (native when small): tan is computed one element at a time",
    }
    specs = [f"{op}.yaml" for op in (*expected, "shift", "zoom")]
    assert opgen("build", *specs, "--out", "src/mylib/ops")[0] == 0
    err = opgen("compile", *expected, "--out", "src/mylib/ops")[2].splitlines()
    assert sorted(err[:-1]) == [f"{op}: auto runs {text}" for op, text in expected.items()]
    out = opgen("doctor", "--out", "src/mylib/ops")[1]
    assert "3 of 5 operators in src/mylib/ops compiled; the others run in torch\n" in out
    assert out.endswith("".join(f"{op:<18} auto runs {text}\n" for op, text in expected.items()))
    for op, text in expected.items():
        assert f"# auto runs {text}\n" in opgen("show", "--stage", "plan", f"{op}.yaml")[1]
    (operators / "src/mylib/ops/angle/ops.py").write_text("pass\n")
    assert (
        "nobody can tell: src/mylib/ops/angle/ops.py defines no operator"
        in (opgen("doctor", "--out", "src/mylib/ops")[1])
    )


def test_one_that_fails_leaves_the_others_alone(operators: Path, opgen: Opgen) -> None:
    (operators / "broken").touch()
    assert compiled(opgen) == (1, "2 compiled, 1 failed")
    assert (operators / "src/mylib/ops/shift/_native.so").exists()
    (operators / "broken").unlink()
    assert compiled(opgen)[1].startswith("1 compiled, 2 up to date; ")


def test_an_internal_error_names_the_operator(operators: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(out: Path, op: str) -> str:
        raise KeyError(op)

    monkeypatch.setattr(library, "generation", broken)
    monkeypatch.setattr("tempfile.tempdir", str(operators))
    code, _, err = opgen("compile", "zoom", "--out", "src/mylib/ops")
    assert code == 2
    assert "internal error: zoom could not be compiled: KeyError: 'zoom'" in err


def test_what_is_not_compiled_is_one_line_each(operators: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_command, "_tested", lambda *_: 0)
    assert compiled(opgen, "scale")[0] == 0
    for backend in ("native", "all"):
        code, out, err = opgen("test", "--backend", backend, "--out", "src/mylib/ops")
        assert (code, out) == (2, "")
        *lines, last = err.splitlines()
        assert last.startswith("2 operators to compile")
        for op, line in zip(("shift", "zoom"), lines, strict=True):
            assert line.startswith(f"{op} is not compiled")
            assert opgen(*shlex.split(line.partition("opgen ")[2]))[0] == 0
        for op in ("shift", "zoom"):
            (operators / f"src/mylib/ops/{op}/_native.so").unlink()
    assert opgen("test", "scale", "--backend", "native", "--out", "src/mylib/ops")[0] == 0


def test_nothing_of_the_cache_lies_in_the_package(operators: Path, opgen: Opgen) -> None:
    assert compiled(opgen)[0] == 0
    libraries = [p.relative_to(operators).as_posix() for p in operators.rglob("*.so")]
    assert sorted(p for p in libraries if not p.startswith("cache/")) == [
        f"src/mylib/ops/{op}/_native.so" for op in ("scale", "shift", "zoom")
    ]
    assert not list(operators.glob("src/**/.opgen_cache"))


def test_the_commands_that_are_hinted_at_work_as_they_stand(
    operators: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_command, "_tested", lambda *_: 0)
    folder = "src/my lib/ops"
    code, _, err = opgen("build", "scale.yaml", "--out", folder)
    assert code == 0
    assert opgen(*shlex.split(err.partition("next: opgen ")[2]))[0] == 0
    (operators / folder / "scale/ops.py").write_text("mine")
    code, _, err = opgen("build", "scale.yaml", "--out", folder)
    assert code == 1
    (hint,) = (line for line in err.splitlines() if "--force" in line)
    assert opgen(*shlex.split(hint.partition("opgen ")[2].partition(" overwrites")[0]))[0] == 0
    assert opgen("build", "scale.yaml", "--out", folder, "--check")[0] == 0
    code, _, err = opgen("test", "--out", "none here/ops")
    assert code == 2
    Path("specs").mkdir()
    Path("scale.yaml").rename("specs/scale.yaml")
    line = err.partition("first: opgen ")[2].splitlines()[0]
    assert opgen(*shlex.split(line))[0] == 0
    assert opgen("test", "--out", "none here/ops")[0] == 0


@pytest.fixture
def checks(operators: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that are stand-ins, in packages that import nothing; one fails."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for op in ("scale", "shift", "zoom"):
        text = "class TestIt:\n    def test_a(self): assert True\n    def test_b(self): assert FOUND\n"
        Path(f"src/mylib/ops/{op}/test_{op}.py").write_text(text.replace("FOUND", str(op != "shift")))
        Path(f"src/mylib/ops/{op}/__init__.py").write_text("")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_fails_fails_however_many_are_tested_at_a_time(checks: None, opgen: Opgen, jobs: str) -> None:
    code, out, _ = opgen("test", "--out", "src/mylib/ops", "-j", jobs)
    assert code == 1
    assert "3 operators, 6 checks: 5 passed, 0 not applicable, 0 skipped, 1 failed" in out
    code, out, _ = opgen("test", "--out", "src/mylib/ops", "-j", jobs, "-k", "test_a")
    assert code == 0
    assert "3 passed" in out


def test_what_no_check_matches_and_the_first_that_fails(checks: None, opgen: Opgen) -> None:
    code, _, err = opgen("test", "scale", "zoom", "--out", "src/mylib/ops", "-j", "2", "-k", "test_aa")
    assert code == 1
    assert "no check matches 'test_aa'; there are:\n  a, b" in err
    code, out, _ = opgen("test", "shift", "zoom", "--out", "src/mylib/ops", "-j", "1", "-x")
    assert code == 1
    assert "zoom" not in out


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_tests_on_a_device_that_is_not_there_are_refused(operators: Path, opgen: Opgen) -> None:
    assert opgen("build", "scale.yaml")[0] == 0
    code, out, err = opgen("test", "--device", "cuda", "scale")
    assert (code, out) == (2, "")
    assert "torch sees no CUDA device here" in err
