"""Exit codes, streams and colours of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen import pipeline
from opgen.cli import run

Opgen = Callable[..., tuple[int, str, str]]


def test_help_names_every_command(opgen: Opgen) -> None:
    code, out, _ = opgen("--help")
    assert code == 0
    assert all(name in out for name in ("build", "compile", "show", "test"))


@pytest.mark.parametrize("name", ["build", "compile", "show", "test"])
def test_every_command_has_help(opgen: Opgen, name: str) -> None:
    code, out, _ = opgen(name, "--help")
    assert code == 0
    assert f"Usage: opgen {name}" in out


def test_version(opgen: Opgen) -> None:
    assert opgen("--version")[:2] == (0, "opgen 0.1.0\n")


def test_wrong_usage_is_2(opgen: Opgen) -> None:
    assert opgen("build", "--chekc")[0] == 2
    code, _, err = opgen("biuld")
    assert code == 2
    assert "did you mean build?" in err
    assert "did you mean build?" in opgen("generate", "specs")[2]
    assert "did you mean new?" in opgen("init")[2]
    assert "there are bench, build," in opgen("frobnicate")[2]


def test_interruption_is_130(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "run", interrupted)
    assert opgen("build")[0] == 130


def test_bug_is_2_with_the_stack_on_request(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(pipeline, "run", broken)
    code, out, err = opgen("build")
    assert (code, out) == (2, "")
    assert "internal error" in err
    assert "Traceback" not in err
    assert "Traceback" in opgen("--traceback", "build")[2]


@pytest.mark.usefixtures("project")
def test_colour_only_where_it_is_wanted(opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in opgen("build", "-v")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in opgen("build", "--force", "--out", "other")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in opgen("build", "--out", "third")[1]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert "\x1b[" not in opgen("build", "--out", "fourth")[1]


def test_reader_that_goes_away_is_no_traceback(project: Path) -> None:
    script = "import sys; from opgen.cli import run; sys.exit(run(['--help']))"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    _, err = child.communicate(timeout=60)
    assert b"Traceback" not in err


def test_run_is_reentrant() -> None:
    assert run(["--version"]) == run(["--version"]) == 0


def test_a_short_option_that_is_none_is_told_which_long_one_it_is(
    opgen: Callable[..., tuple[int, str, str]],
) -> None:
    code, _, err = opgen("build", "specs", "-o", "ops")
    assert (code, "there is no option -o; did you mean --out?" in err) == (2, True)
    assert "there is no option -z\n" in opgen("build", "-z")[2]


@pytest.mark.parametrize("name", ["--output-dir", "--target", "--dest", "--destination", "--dir", "--outdir"])
def test_the_folder_to_write_to_has_many_names_elsewhere(opgen: Callable[..., tuple[int, str, str]], name: str) -> None:
    code, _, err = opgen("build", "specs", name, "ops")
    assert (code, f"there is no option {name}; did you mean --out?" in err) == (2, True)
    assert "did you mean" not in opgen("explain", name)[2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("compile", "silu", "--device", "cuda"),
            "no option --device; it is one of opgen bench and of opgen test",
        ),
        (("show", "silu", "--cpu"), "no option --cpu\n"),
        (("lint", "--check"), "no option --check; opgen lint writes nothing without --fix, so that it needs none\n"),
        (("build", "--dry-run"), "no option --dry-run; did you mean --check, or --diff?\n"),
        (("list", "--json"), "no option --json; did you mean --format json?\n"),
        (
            ("show", "silu", "--stage", "backward", "--out", "x y"),
            "no option --out, as all is printed: write `opgen show silu --stage adjoint > 'x y'`",
        ),
        (("show", "silu", "-o"), "no option -o, as all is printed: write `opgen show silu > FILE`"),
        (("schema", "--output=s.json"), "no option --output, as all is printed: write `opgen schema > s.json`"),
        (("show", "silu", "--stage"), "--stage' requires an argument: one of spec, program, adjoint,"),
        (("bench", "silu", "--sizes", "1k", "1M"), "sizes are separated by commas: --sizes 1000,1M"),
        (("test", "silu", "--backend", "cuda"), "'cuda' is none of torch, native, all: write '--device cuda'"),
        (("test", "silu", "--device", "native"), "'native' is none of cpu, cuda: write '--backend native'"),
        (("new", "pair", "--kind", "attention"), "What is of no kind begins with its formula: --formula"),
    ],
)
def test_what_belongs_elsewhere_is_told(
    opgen: Callable[..., tuple[int, str, str]], given: tuple[str, ...], said: str
) -> None:
    code, _, err = opgen(*given)
    assert (code, said in err) == (2, True), err
