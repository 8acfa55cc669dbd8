"""Words that a command has no place for, and folders in the place of specs: the message says what to type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Opgen = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/halved.yaml").write_text("op: halved\ninputs: [x]\nforward: y = x/2\n")
    assert opgen("build", "specs")[0] == 0
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("clean halved", "opgen clean takes no names; leave away 'halved'"),
        ("doctor a b", "opgen doctor takes no names; leave away 'a', 'b'"),
        ("show specs/halved.yaml kernel", "unexpected 'kernel'; did you mean --stage kernel?"),
        ("show specs/halved.yaml zork", "opgen show takes one SPEC, and no 'zork'"),
        ("show generated/halved", "generated/halved is a folder, and no spec; did you mean specs/halved.yaml?"),
        ("test all", "all of them are meant where none is named: opgen test"),
        ("compile all", "all of them are meant where none is named: opgen compile"),
        ("test -k grad check", "words behind -k stand in quotes: -k 'grad and check'"),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_word_out_of_place(opgen: Opgen, words: str, told: str) -> None:
    code, _, err = opgen(*words.split())
    assert code == 2
    assert told in err


@pytest.mark.parametrize("command", ["build", "lint"])
@pytest.mark.usefixtures("project")
def test_a_folder_of_generated_code_is_of_a_spec(opgen: Opgen, command: str) -> None:
    code, _, err = opgen(command, "generated/halved")
    assert code == 1
    assert "did you mean specs/halved.yaml?" in err
