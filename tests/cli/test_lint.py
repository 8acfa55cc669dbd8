"""`opgen lint`, and `--format`: data on stdout, talk on stderr, and always one document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.diagnostics.codes import CATALOGUE

Opgen = Callable[..., tuple[int, str, str]]

GOOD = "op: good\ninputs: [x]\nforward: y = 2*x\n"
UNUSED = "op: spare\ninputs: [x, w]\nforward: y = 2*x\n"
BAD = "op: bad\ninputs: [x]\nforward: y = 2*z\nexact: maybe\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/good.yaml").write_text(GOOD)
    return tmp_path


def test_a_good_spec_has_no_findings_and_nothing_is_written(folder: Path, opgen: Opgen) -> None:
    assert opgen("lint") == (0, "", "no findings\n")
    assert [p.name for p in folder.iterdir()] == ["specs"]


def test_mistakes_and_warnings_of_every_spec_are_shown(folder: Path, opgen: Opgen) -> None:
    (folder / "specs/bad.yaml").write_text(BAD)
    (folder / "specs/spare.yaml").write_text(UNUSED)
    code, out, err = opgen("lint", "specs")
    assert (code, out) == (1, "")
    assert "error[OPG205]" in err
    assert "error[OPG112]" in err
    assert "warning[OPG240]: the input `w` is never used" in err
    assert "2 errors, 1 warning" in err


def test_what_is_never_used_is_told_where_a_spec_is_built_too(folder: Path, opgen: Opgen) -> None:
    (folder / "specs/spare.yaml").write_text(UNUSED)
    code, _, err = opgen("build", "specs/spare.yaml")
    assert code == 0
    assert "warning[OPG240]: the input `w` is never used" in err


def test_two_specs_of_one_operator_are_found(folder: Path, opgen: Opgen) -> None:
    (folder / "specs/again.yaml").write_text(GOOD)
    assert "OPG505" in opgen("lint")[2]


@pytest.mark.parametrize("command", ["lint", "build"])
def test_json_is_one_document_on_stdout(folder: Path, opgen: Opgen, command: str) -> None:
    (folder / "specs/bad.yaml").write_text(BAD)
    code, out, err = opgen(command, "specs", "--format", "json")
    found = json.loads(out)["diagnostics"]
    assert code == 1
    assert [(d["code"], d["line"]) for d in found] == [("OPG112", 4), ("OPG205", 3)]
    assert "2 errors" in err


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_without_findings_there_is_a_document_too(folder: Path, opgen: Opgen, form: str) -> None:
    code, out, _ = opgen("lint", "--format", form)
    assert code == 0
    assert json.loads(out)
    code, out, err = opgen("build", "--format", form)
    assert code == 0
    assert json.loads(out)
    assert "created   generated/good (9 files)" in err


def test_annotations(folder: Path, opgen: Opgen) -> None:
    (folder / "specs/spare.yaml").write_text(UNUSED)
    code, out, _ = opgen("lint", "--format", "github")
    assert code == 1
    assert out.startswith("::warning title=OPG240%3A Unused name,file=specs/spare.yaml,line=2,")


@pytest.mark.parametrize("path", ["specs/none.yaml", "empty"])
def test_what_is_not_there_is_a_document_too(folder: Path, opgen: Opgen, path: str) -> None:
    (folder / "empty").mkdir()
    code, out, _ = opgen("lint", path, "--format", "json")
    assert code == 1
    assert json.loads(out)["diagnostics"][0]["file"] is None


def test_every_example_of_the_catalogue_is_told_as_a_document(folder: Path, opgen: Opgen) -> None:
    rows = [row for row in CATALOGUE.values() if row.in_spec and "…" not in row.bad]
    for row in rows:
        (folder / f"specs/{row.code}.yaml").write_text(row.spec(row.bad))
    code, out, _ = opgen("lint", "--format", "json")
    assert code == 1
    told = {(d["code"], d["file"]) for d in json.loads(out)["diagnostics"]}
    assert [row.code for row in rows if (row.code, f"specs/{row.code}.yaml") not in told] == []


def test_a_diff_and_a_document_do_not_share_stdout(folder: Path, opgen: Opgen) -> None:
    assert opgen("build", "--diff", "--format", "json")[0] == 2


@pytest.mark.parametrize(
    ("backward", "warned"),
    [
        ("grad_x = w", True),
        ("g = 2*w\n  grad_x = g*w", True),
        ("grad_x = grad_y*w", False),
        ("g = grad_y*w\n  grad_x = g", False),
        ("grad_x = 0", False),
    ],
)
def test_a_gradient_without_a_cotangent_is_a_warning(folder: Path, opgen: Opgen, backward: str, warned: bool) -> None:
    text = f"op: scaled\ninputs: [x, w]\nforward: y = x*w\nbackward: |\n  {backward}\n"
    (folder / "specs/scaled.yaml").write_text(text)
    code, _, err = opgen("lint")
    assert code == int(warned)
    assert ("warning[OPG228]: `grad_x` does not depend on the cotangent" in err) == warned
    assert opgen("build")[0] == 0


def test_a_path_that_is_none_names_the_one_that_is_meant(folder: Path, opgen: Opgen) -> None:
    for wanted in ("specs/god.yaml", "good", "good.yaml", "goood"):
        code, _, err = opgen("lint", wanted)
        assert code == 1
        assert "did you mean specs/good.yaml?" in err
    assert "did you mean" not in opgen("lint", "elsewhere/other.yaml")[2]


def test_a_folder_that_is_none_names_the_one_that_is_meant(folder: Path, opgen: Opgen) -> None:
    (folder / "spaces").mkdir()
    for wanted in ("spec", "spec/", "Specs"):
        code, _, err = opgen("lint", wanted)
        assert code == 1
        assert f"cannot read '{wanted.rstrip('/')}': No such file or directory" in err
        assert "did you mean specs?" in err
    assert "did you mean" not in opgen("lint", "spaced")[2]  # no spec is in the folder that is called so
