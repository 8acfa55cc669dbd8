"""`opgen new`: what it writes builds and has no findings; a file that is there stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.schema.json_schema import schema
from opgen.schema.kinds import KINDS

Opgen = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def declared(folder: Path, name: str) -> str:
    """The spec without the lines every new one begins with."""
    lines = (folder / f"specs/{name}.yaml").read_text().split("\n")
    assert lines[0] == "# yaml-language-server: $schema=opgen.schema.json"
    assert lines[1] == f"op: {name}"
    return "\n".join(lines[3:])


def test_every_kind_builds_and_has_no_findings(folder: Path, opgen: Opgen) -> None:
    for kind in KINDS:
        assert opgen("new", f"my_{kind}", "--kind", kind)[:2] == (0, f"created   specs/my_{kind}.yaml\n")
    assert opgen("lint")[0] == 0
    assert opgen("build")[0] == 0
    assert json.loads((folder / "specs/opgen.schema.json").read_text()) == schema()


@pytest.mark.parametrize(
    ("formula", "inputs"),
    [
        ("x*sigmoid(beta*x) + pi", "inputs: [x, beta]\n"),
        ("y[n] = sum[k](x[n, k]*w[k])", "inputs:\n  x: {shape: [N, K]}\n  w: {shape: [K]}\n"),
        (
            "y[..., d] = table[ids[...], d]",
            "inputs:\n  table: {shape: [D1, D]}\n  ids: {shape: [...], dtype: int}\n",
        ),
        (
            "y[n] = x[n]*alpha + table[shift]",
            "inputs:\n  x: {shape: [N]}\n  alpha: {shape: []}\n  table: {shape: [Shift]}\n"
            "  shift: {shape: [], dtype: int}\n",
        ),
        ("h = exp(x)\ny = where(h >= 2, h, 0)", "inputs: [x]\n"),
        ("where(x >= 2, x, 0)", "inputs: [x]\n"),
    ],
)
def test_operands_of_a_formula_are_declared(folder: Path, opgen: Opgen, formula: str, inputs: str) -> None:
    assert opgen("new", "mine", "--formula", formula)[0] == 0
    assert declared(folder, "mine").startswith(inputs)
    assert opgen("lint") == (0, "", "no findings\n")


@pytest.mark.parametrize("formula", ["x ? 2", "max(x, 0) if", "a: b\nop: other", "y[n] = x[k]", "\x00", ""])
def test_a_formula_with_a_mistake_is_shown_and_not_written(folder: Path, opgen: Opgen, formula: str) -> None:
    code, out, err = opgen("new", "mine", "--formula", formula)
    assert (code, out) == (1, "")
    assert "error[OPG" in err
    assert list(folder.iterdir()) == []


def test_a_formula_of_a_paper_is_read_as_a_line_that_is_shown(opgen: Opgen) -> None:
    told = "read as   y[i, d] = sum[j](x[i, j] * w[d, j]) + b[d]\n"
    assert told in opgen("new", "mine", "--formula", "Y = X W^T + b")[2]
    assert "read as" not in opgen("new", "other", "--formula", "x*2")[2]
    assert "read as" not in opgen("new", "third", "--formula", "y[n] = x[n]*2")[2]


def test_a_file_that_is_there_stays(folder: Path, opgen: Opgen) -> None:
    (folder / "specs").mkdir()
    (folder / "specs/mine.yaml").write_text("mine")
    code, _, err = opgen("new", "mine")
    assert code == 1
    assert "OPG503" in err
    assert (folder / "specs/mine.yaml").read_text() == "mine"


@pytest.mark.parametrize("name", ["../mine", "MyOp", "a b", "a\nop: b", ""])
def test_a_name_that_is_none_is_wrong_usage(folder: Path, opgen: Opgen, name: str) -> None:
    assert opgen("new", name)[0] == 2
    assert list(folder.iterdir()) == []


def test_wrong_usage(opgen: Opgen) -> None:
    assert opgen("new", "mine", "--kind", "other")[0] == 2
    assert opgen("new", "mine", "--kind", "loss", "--formula", "x")[0] == 2
    assert "write my_op" in opgen("new", "MyOp")[2]
    assert opgen("new", "robust.yaml")[2].endswith("; write robust\n")
    assert opgen("new", "specs/Robust.yml")[2].endswith("; write robust --in specs\n")


@pytest.mark.parametrize(
    ("word", "meant"), [("losses", "loss"), ("normalization", "normalisation"), ("scan", "recurrence")]
)
def test_a_kind_that_is_none_is_answered_with_the_one_that_is_meant(opgen: Opgen, word: str, meant: str) -> None:
    code, _, err = opgen("new", "mine", "--kind", word)
    assert code == 2
    assert f"there is no kind '{word}'; did you mean '{meant}'?" in err


@pytest.mark.parametrize("word", ["convolution", "pooling", "attention"])
def test_a_kind_that_is_none_of_ours_is_answered_with_all(opgen: Opgen, word: str) -> None:
    code, _, err = opgen("new", "patch_merge", "--kind", word)
    assert code == 2
    assert f"there is no kind '{word}'; there are: {', '.join(KINDS)}. What is of no kind begins with" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("saxpy --formula y = a*x + b", "put the formula in quotes: saxpy --formula 'y = a*x + b'"),
        ("saxpy --formula y = a*x - b --in here", "put the formula in quotes: saxpy --formula 'y = a*x - b'"),
        ("saxpy --formula=y = a*x -b", "put the formula in quotes: saxpy --formula 'y = a*x -b'"),
        ("saxpy y = a*x", "write: saxpy --formula 'y = a*x'"),
        ("saxpy axpy", "opgen new takes one NAME, and no 'axpy'"),
        ("saxpy --knd gather", "--kind"),
    ],
)
def test_a_formula_without_quotes(opgen: Opgen, words: str, told: str) -> None:
    code, _, err = opgen("new", *words.split())
    assert code == 2
    assert told in err


def test_a_formula_in_one_word_is_a_formula_as_well(folder: Path, opgen: Opgen) -> None:
    assert opgen("new", "--formula=y=a*x", "saxpy")[0] == 0
    assert (folder / "specs/saxpy.yaml").exists()
