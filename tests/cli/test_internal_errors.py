"""What every command does where something within opgen goes wrong: it says so, and goes on with the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen import project as project_module
from opgen.ir.operator import Operator
from opgen.lower.operator import lower
from opgen.opt.derive import derive
from opgen.project import build
from opgen.schema.model import OpSpec
from opgen.write.compare import Unit, compare
from tests.cli.conftest import forget

Opgen = Callable[..., tuple[int, str, str]]


def unlucky(operator: Operator, *arguments: object) -> object:
    """`derive`, with a mistake that some specs come upon."""
    if operator.name.startswith("unlucky"):
        raise KeyError("S")
    return derive(operator, *arguments)


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three specs, of which opgen cannot build the middle one."""
    for op in ("scale", "unlucky", "zoom"):
        (tmp_path / f"{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("opgen.opt.derive.derive", unlucky)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_an_internal_error_in_one_spec_leaves_the_others_alone(specs: Path, opgen: Opgen) -> None:
    code, _, err = opgen("build", ".", "--format", "text")
    assert code == 2
    assert "error[OPG701]: internal error: unlucky.yaml could not be differentiated: KeyError: 'S'" in err
    assert "Traceback" not in err
    assert sorted(p.parent.name for p in specs.glob("generated/*/manifest.json")) == ["scale", "zoom"]
    assert "2 operators in generated" in err
    (report,) = specs.glob("opgen-report-*.txt")
    text = report.read_text()
    assert f"report: {report} " in err
    assert text.startswith("command: opgen build . --format text\nopgen 0.1.0, Python ")
    assert "in unlucky\n    raise KeyError" in text
    assert "op: unlucky\n" in text
    assert opgen("build", ".", "--check")[0] == 2
    assert opgen("build", "scale.yaml", "zoom.yaml", "--check")[0] == 0
    assert "Traceback" in opgen("--traceback", "build", ".")[2]


def test_an_operator_stays_as_it_was_when_its_spec_meets_an_internal_error(
    specs: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opgen.opt.derive.derive", derive)
    assert opgen("build", ".")[0] == 0
    monkeypatch.setattr("opgen.opt.derive.derive", unlucky)
    (specs / "unlucky.yaml").write_text("op: unlucky\ninputs: [x]\nforward: y = 3*x\n")
    forget(specs)
    before = (specs / "generated/unlucky/function.py").read_text()
    assert opgen("build", ".")[0] == 2
    assert (specs / "generated/unlucky/function.py").read_text() == before


def test_an_internal_error_where_files_are_written_leaves_the_others_alone(
    specs: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opgen.opt.derive.derive", derive)

    def broken(out: Path, unit: Unit, version: str) -> object:
        if unit.folder == "unlucky":
            raise AssertionError
        return compare(out, unit, version)

    monkeypatch.setattr(project_module, "compare", broken)
    code, _, err = opgen("build", ".")
    assert code == 2
    assert "internal error: generated/unlucky could not be written: AssertionError" in err
    assert sorted(p.parent.name for p in specs.glob("generated/*/manifest.json")) == ["scale", "zoom"]


@pytest.mark.parametrize("command", [("show", "unlucky.yaml", "--stage", "adjoint"), ("catalogue", ".", "--out", "c")])
def test_an_internal_error_is_told_by_every_command(specs: Path, opgen: Opgen, command: tuple[str, ...]) -> None:
    code, _, err = opgen(*command)
    assert code == 2
    assert "unlucky.yaml could not be differentiated" in err
    assert len(list(specs.glob("opgen-report-*.txt"))) == 1


def test_lint_goes_on_after_an_internal_error(specs: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(spec: OpSpec, bag: object) -> object:
        if spec.name == "unlucky":
            raise KeyError("S")
        return lower(spec, bag)  # type: ignore[arg-type]

    monkeypatch.setattr("opgen.lower.operator.lower", broken)
    (specs / "zoom.yaml").write_text("op: zoom\ninputs: [x, z]\nforward: y = 2*x\n")
    code, out, _ = opgen("lint", ".", "--format", "json")
    assert code == 2
    assert json.loads(out)["diagnostics"][0]["code"] == "OPG701"
    assert len(json.loads(out)["diagnostics"]) > 1


@pytest.mark.usefixtures("specs")
def test_from_python_an_internal_error_is_a_diagnostic() -> None:
    result = build(".")
    assert result.failed
    assert [d.code for d in result.diagnostics] == ["OPG701"]
    assert sorted(result.ops) == ["scale", "zoom"]
