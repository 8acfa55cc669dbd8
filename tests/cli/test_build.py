"""What `opgen build` says, writes and returns."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen import pipeline
from opgen.cli import console
from tests.cli.conftest import forget

Opgen = Callable[..., tuple[int, str, str]]


def tree(out: Path) -> dict[str, tuple[bytes, int]]:
    return {p.as_posix(): (p.read_bytes(), p.stat().st_mtime_ns) for p in sorted(out.rglob("*")) if p.is_file()}


def test_build_names_what_it_creates(project: Path, opgen: Opgen) -> None:
    code, out, err = opgen("build")
    assert code == 0
    assert out.splitlines()[1:] == ["created   generated/one (3 files)", "created   generated/two (3 files)"]
    assert "2 operators in generated" in err
    assert (project / "generated/two/function.py").read_text() == "x = 2\n"


def test_second_build_writes_and_generates_nothing(
    project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    opgen("build")
    before = tree(project)
    monkeypatch.setattr(pipeline, "run", lambda *_: pytest.fail("generated again"))
    code, out, err = opgen("build")
    assert (code, out) == (0, "")
    assert "up to date" in err
    assert tree(project) == before


def test_build_without_the_cache_writes_nothing_but_the_cache(project: Path, opgen: Opgen) -> None:
    opgen("build")
    before = tree(project)
    forget(project)
    assert opgen("build")[:2] == (0, "")
    assert tree(project) == before


def test_what_takes_long_is_named_while_it_does(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.1)
    (project / "specs/three.yaml").write_text("three\nslow = 3\n")
    code, _, err = opgen("build")
    assert code == 0
    told = [line for line in err.splitlines() if "takes more than" in line]
    assert told == ["specs/three.yaml takes more than 0.1 s: it is still being differentiated"]


def test_what_takes_long_is_apart_from_mistakes_of_other_specs(
    project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "PATIENCE", 0.1)
    (project / "specs/three.yaml").write_text("three\nslow = 3\n")
    (project / "specs/two.yaml").write_text("two\nwrong = 2\n")
    code, _, err = opgen("build", "--force")
    assert code == 1
    before, apart, rest = err.partition("\n\n")
    assert before.endswith("it is still being differentiated")
    assert apart
    assert rest.startswith("error[OPG")


def test_check_is_quiet_on_a_true_tree(project: Path, opgen: Opgen) -> None:
    opgen("build")
    assert opgen("build", "--check")[:2] == (0, "")


@pytest.mark.parametrize("with_cache", [True, False])
@pytest.mark.parametrize("target", ["one/function.py", "one/manifest.json", "__init__.py", "manifest.json"])
@pytest.mark.parametrize("how", ["edit", "remove"])
def test_check_names_a_generated_file_that_differs(
    project: Path, opgen: Opgen, target: str, how: str, with_cache: bool
) -> None:
    opgen("build")
    path = project / "generated" / target
    if how == "edit":
        path.write_bytes(path.read_bytes() + b"# mine\n")
    else:
        path.unlink()
    if not with_cache:
        forget(project)
    before = tree(project)
    code, out, _ = opgen("build", "--check")
    assert code == 1
    assert f"generated/{target}" in out
    assert tree(project) == before


def test_check_names_what_a_changed_spec_changes(project: Path, opgen: Opgen) -> None:
    opgen("build")
    (project / "specs/one.yaml").write_text("one\nx = 11\n")
    code, out, _ = opgen("build", "--check", "specs")
    assert code == 1
    assert "updated   generated/one/function.py" in out
    assert "two" not in out
    assert (project / "generated/one/function.py").read_text() == "x = 1\n"


def test_diff_prints_the_difference(project: Path, opgen: Opgen) -> None:
    opgen("build")
    (project / "specs/one.yaml").write_text("one\nx = 11\n")
    code, out, _ = opgen("build", "--diff")
    assert code == 1
    assert "-x = 1\n+x = 11\n" in out


def test_hand_edit_is_refused_with_its_diff(project: Path, opgen: Opgen) -> None:
    opgen("build")
    edited = project / "generated/one/function.py"
    edited.write_text("x = 1  # better\n")
    (project / "specs/one.yaml").write_text("one\nx = 11\n")
    (project / "specs/two.yaml").write_text("two\nx = 22\n")
    code, _, err = opgen("build")
    assert code == 1
    assert "OPG503" in err
    assert "-x = 1  # better" in err
    assert "--force" in err
    assert edited.read_text() == "x = 1  # better\n"
    assert "x = 1\n" not in (project / "generated/two/function.py").read_text()
    assert "edited by hand generated/one/function.py" in opgen("build", "--check", "--force")[1]
    code, out, _ = opgen("build", "--force")
    assert (code, "edited" in out) == (0, False)
    assert "overwritten generated/one/function.py" in out
    assert edited.read_text() == "x = 11\n"


def test_diffs_of_hand_edits_are_shortened(project: Path, opgen: Opgen) -> None:
    opgen("build")
    lines = "".join(f"y{n} = {n}\n" for n in range(1000))
    (project / "generated/one/function.py").write_text(lines)
    code, _, err = opgen("build")
    assert code == 1
    assert "-y0 = 0\n" in err
    assert "-y500 = 500" not in err
    assert re.search(r"… 9\d\d more lines; opgen build .*--diff shows all of them", err)
    assert "-y999 = 999" in opgen("build", "--diff")[1]


def test_mistake_leaves_earlier_output_and_other_operators_alone(project: Path, opgen: Opgen) -> None:
    opgen("build")
    (project / "specs/one.yaml").write_text("one\nwrong\n")
    (project / "specs/two.yaml").write_text("two\nx = 22\n")
    code, out, err = opgen("build")
    assert code == 1
    assert "specs/one.yaml:2:1" in err
    assert "OPG201" in err
    assert "Traceback" not in err
    assert "one" not in out
    assert (project / "generated/one/function.py").read_text() == "x = 1\n"
    assert (project / "generated/two/function.py").read_text() == "x = 22\n"


@pytest.mark.parametrize("remembered", [True, False])
def test_operators_of_deleted_and_renamed_specs_are_removed(project: Path, opgen: Opgen, remembered: bool) -> None:
    opgen("build")
    if not remembered:
        forget(project)
    (project / "specs/one.yaml").unlink()
    (project / "specs/two.yaml").write_text("zwei\nx = 2\n")
    code, out, _ = opgen("build", "--check")
    assert code == 1
    assert "removed   generated/one/function.py" in out
    assert opgen("build")[0] == 0
    assert sorted(p.name for p in (project / "generated").iterdir() if p.is_dir()) == ["zwei"]


def test_specs_outside_of_a_project_are_told_apart_by_where_they_are(project: Path, opgen: Opgen) -> None:
    (project / "pyproject.toml").unlink()
    for name in ("a", "b"):
        (project / "specs" / name).mkdir()
        (project / f"specs/{name}/same.yaml").write_text(f"op_{name}\nx = 1\n")
    for paths in (["specs"], ["specs/a"], ["specs/b/same.yaml"]):
        assert opgen("build", *paths)[0] == 0
        assert {"one", "op_a", "op_b"} <= {p.name for p in (project / "generated").iterdir()}
    (project / "specs/a/same.yaml").unlink()
    (project / "specs/a/other.yaml").write_text("other\nx = 1\n")
    assert "removed   generated/op_a (3 files)" in opgen("build", "specs/a")[1]
    assert {"one", "op_b", "other"} <= {p.name for p in (project / "generated").iterdir()}


def test_moved_spec_keeps_its_operator(project: Path, opgen: Opgen) -> None:
    opgen("build")
    (project / "specs/one.yaml").rename(project / "specs/uno.yaml")
    code, out, _ = opgen("build")
    assert code == 0
    assert "removed" not in out
    assert (project / "generated/one/function.py").exists()


def test_one_spec_leaves_the_others_alone(project: Path, opgen: Opgen) -> None:
    opgen("build")
    (project / "specs/two.yaml").unlink()
    assert opgen("build", "specs/one.yaml")[0] == 0
    assert (project / "generated/two/function.py").exists()


def test_two_specs_for_one_operator(project: Path, opgen: Opgen) -> None:
    (project / "specs/two.yaml").write_text("one\nx = 2\n")
    code, _, err = opgen("build")
    assert code == 1
    assert "OPG505" in err
    assert not (project / "generated/one").exists()


@pytest.mark.parametrize("names", [("one", "one_backward"), ("one_backward", "one")])
def test_an_operator_has_not_the_name_of_a_gradient(project: Path, opgen: Opgen, names: tuple[str, str]) -> None:
    for file, op in zip(("one", "two"), names, strict=True):
        (project / f"specs/{file}.yaml").write_text(f"{op}\nx = 1\n")
    code, _, err = opgen("build")
    assert code == 1
    assert "specs/two.yaml: 'one_backward' is what torch calls the gradient of 'one'" in err
    assert opgen("build", "specs/one.yaml")[0] == 0


def test_missing_spec_and_empty_folder(project: Path, opgen: Opgen) -> None:
    (project / "empty").mkdir()
    code, _, err = opgen("build", "nowhere.yaml", "empty")
    assert code == 1
    assert "OPG501" in err
    assert "OPG507" in err


def test_a_path_that_is_none_is_told_what_there_is(project: Path, opgen: Opgen) -> None:
    assert "there are specs/one.yaml, specs/two.yaml" in opgen("build", "nowhere.yaml")[2]
    for k in range(8):
        (project / f"specs/more{k}.yaml").write_text(f"more{k}\nx = 1\n")
    assert "specs holds 10 specs, none of which is called so" in opgen("build", "nowhere.yaml")[2]
    told = "specs are named by their files: specs holds 10 specs, none of which is called so"
    assert told in opgen("build", "nowhere")[2]
    for spec in (project / "specs").iterdir():
        spec.unlink()
    assert "`opgen new nowhere` writes a first spec of it" in opgen("build", "nowhere.yaml")[2]


@pytest.mark.parametrize("command", ["build", "lint", "list"])
def test_specs_are_named_by_their_files(project: Path, opgen: Opgen, command: str) -> None:
    (project / "specs/more.yaml").write_text("op: many  # of them\ninputs: [x]\nforward: y = x\n")
    (project / "mkdocs.yml").write_text("site_name: no spec\n")
    for named, meant in (("one", "specs/one.yaml"), ("specs/one", "specs/one.yaml"), ("many", "specs/more.yaml")):
        code, _, err = opgen(command, named)
        assert code != 0
        assert f"specs are named by their files: did you mean {meant}?" in err
    assert "did you mean specs?" in opgen(command, "spec")[2]


@pytest.mark.parametrize(
    ("command", "meant"), [("help", "--help"), ("version", "--version"), ("diff", "build --diff"), ("biuld", "build")]
)
def test_a_command_that_is_none(opgen: Opgen, command: str, meant: str) -> None:
    code, _, err = opgen(command)
    assert code != 0
    assert f"no such command: {command}; did you mean {meant}?" in err


def test_output_that_is_a_link_elsewhere_is_refused(project: Path, opgen: Opgen) -> None:
    (project / "elsewhere").mkdir()
    (project / "generated").mkdir()
    (project / "generated/one").symlink_to(project / "elsewhere")
    code, _, err = opgen("build")
    assert code == 1
    assert "OPG504" in err
    assert not list((project / "elsewhere").iterdir())


def test_output_that_cannot_be_written(project: Path, opgen: Opgen) -> None:
    (project / "generated").write_text("a file")
    code, _, err = opgen("build")
    assert code in (1, 2)
    assert "Traceback" not in err
    assert (project / "generated").read_text() == "a file"


def test_files_are_the_same_from_another_folder(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    opgen("build")
    monkeypatch.chdir(project / "specs")
    assert opgen("build", "one.yaml", "--out", "../generated", "--check")[:2] == (0, "")


@pytest.mark.parametrize("link", [".opgen_cache", ".opgen_cache/staged"])
def test_a_cache_that_is_a_link_elsewhere_is_refused(project: Path, opgen: Opgen, link: str) -> None:
    (project / "elsewhere/one/new").mkdir(parents=True)
    path = project / "generated" / link
    path.parent.mkdir(parents=True)
    path.symlink_to(project / "elsewhere")
    code, _, err = opgen("build")
    assert code == 1
    assert "OPG504" in err
    assert [p.name for p in (project / "elsewhere").rglob("*")] == ["one", "new"]
    assert not (project / "generated/one").exists()


def test_what_is_refused_is_not_told_as_done(project: Path, opgen: Opgen) -> None:
    opgen("build")
    (project / "specs/one.yaml").write_text("one\nx = 11\n")
    (project / "generated/one/__init__.py").write_text("mine")
    code, out, err = opgen("build")
    assert (code, out) == (1, "edited by hand generated/one/__init__.py\n")
    (project / "specs/one.yaml").unlink()
    code, out, err = opgen("build")
    assert (code, out) == (1, "edited by hand generated/one/__init__.py\n")
    assert "opgen build specs --force removes it" in err
    assert (project / "generated/one/function.py").exists()
    assert "removed   generated/one (3 files)" in opgen("build", "--force")[1]
    assert not (project / "generated/one").exists()


@pytest.mark.parametrize("options", [(), ("--force",), ("--check",)])
def test_a_package_of_ones_own_is_no_place_for_operators(project: Path, opgen: Opgen, options: tuple[str, ...]) -> None:
    (project / "mylib").mkdir()
    (project / "mylib/one").mkdir()
    (project / "mylib/one/__init__.py").write_text("mine")
    code, _, err = opgen("build", "--out", "mylib", *options)
    assert code == 1
    assert "error[OPG503]: mylib/one/__init__.py was not made by opgen, and is not overwritten" in err
    assert 'a folder of their own: `out = "mylib/ops"` in [tool.opgen], or --out mylib/ops' in err
    assert (project / "mylib/one/__init__.py").read_text() == "mine"
    assert not (project / "mylib/one/function.py").exists()


def test_every_file_is_named_where_that_is_asked_for(project: Path, opgen: Opgen) -> None:
    assert "created   generated/one/function.py" in opgen("build", "--check")[1]
    assert "created   generated/one/function.py" in opgen("build", "-v")[1]
