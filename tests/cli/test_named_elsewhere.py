"""A spec that is called by a name or path where it is not, and an operator that is not built yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Opgen = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for place, op in (("specs/leaky.yaml", "leaky"), ("ops/bent.yaml", "bent"), ("specs/named.yaml", "other_name")):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(f"op: {op}\ninputs: [x]\nforward: y = where(x > 0, x, 0.5*x)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["build", "lint"])
@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("leaky", "specs/leaky.yaml"),
        ("leaky.yaml", "specs/leaky.yaml"),
        ("ops/leaky.yaml", "specs/leaky.yaml"),
        ("bent", "ops/bent.yaml"),
        ("bent.yaml", "ops/bent.yaml"),
    ],
)
def test_a_spec_is_found_a_folder_down(folder: Path, opgen: Opgen, command: str, wanted: str, meant: str) -> None:
    code, _, err = opgen(command, wanted)
    assert code == 1
    assert f"did you mean {meant}?\n" in err


@pytest.mark.parametrize("wanted", ["bent", "bent.yaml", "specs/bent.yaml"])
def test_show_names_it_as_well(folder: Path, opgen: Opgen, wanted: str) -> None:
    assert "did you mean ops/bent.yaml?\n" in opgen("show", wanted)[2]
    for path in [*folder.glob("specs/*"), folder / "specs"]:
        path.rmdir() if path.is_dir() else path.unlink()
    assert "did you mean ops/bent.yaml?\n" in opgen("show", wanted)[2]


def test_both_are_named_where_there_are_two(folder: Path, opgen: Opgen) -> None:
    (folder / "ops/leaky.yaml").write_text((folder / "specs/leaky.yaml").read_text())
    assert "did you mean ops/leaky.yaml or specs/leaky.yaml?\n" in opgen("build", "leaky")[2]


@pytest.mark.parametrize("command", ["test", "compile"])
@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("leaky", "opgen build specs/leaky.yaml"),
        ("specs/leaky.yaml", "opgen build specs/leaky.yaml, then: opgen {} leaky"),
        ("leaky.yaml", "opgen build specs/leaky.yaml, then: opgen {} leaky"),
        ("bent", "opgen build ops/bent.yaml"),
        ("other_name", "opgen build specs/named.yaml"),
        ("ops", "opgen build ops"),
    ],
)
@pytest.mark.parametrize("others", [False, True])
def test_what_is_not_built_yet_is_built_first(
    folder: Path, opgen: Opgen, command: str, wanted: str, meant: str, others: bool
) -> None:
    if others:
        (folder / "generated/zork").mkdir(parents=True)
        (folder / "generated/zork/manifest.json").write_text("{}")
    code, _, err = opgen(command, wanted)
    assert code == 2
    assert f"there is no operator '{wanted}' in generated; first: {meant.format(command)}\n" in err
    if wanted == "leaky":
        assert f"in out; first: {meant} --out out\n" in opgen(command, wanted, "--out", "out")[2]
    if wanted == "leaky.yaml":
        then = f"first: opgen build specs/leaky.yaml --out out, then: opgen {command} leaky --out out\n"
        assert then in opgen(command, wanted, "--out", "out")[2]


def test_an_operator_that_is_built_is_called_by_its_name(folder: Path, opgen: Opgen) -> None:
    assert opgen("build", "ops/bent.yaml")[0] == 0
    assert "in generated; did you mean 'bent'?\n" in opgen("test", "ops/bent.yaml")[2]
    assert "in generated; did you mean 'bent'?\n" in opgen("test", "generated/bent")[2]
    assert "in generated; there are: bent\n" in opgen("test", "zork")[2]
