"""`opgen catalogue`: one page, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.cli import run

GOOD = "op: twice_scaled\nsummary: Scaling.\ninputs: {x: {shape: [..., K]}, w: {shape: [K]}}\nforward: y = x*w\n"


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/good.yaml").write_text(GOOD.replace("y = x*w", '"y[..., k] = x[..., k]*w[k]"'))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def opgen(specs: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(["catalogue", "--out", str(specs / "docs/page.md"), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_an_entry_has_formula_derivative_and_saved(specs: Path, opgen: Callable[..., tuple[int, str, str]]) -> None:
    assert opgen()[0] == 0
    page = (specs / "docs/page.md").read_text()
    assert "y[..., k] = x[..., k]*w[k]" in page
    assert "grad_w[k < K] = sum[...](" in page
    assert "saved for backward: `x[..., K]`, `w[K]`" in page


def test_check_tells_whether_the_page_is_current(specs: Path, opgen: Callable[..., tuple[int, str, str]]) -> None:
    assert opgen("--check")[0] == 1
    assert not (specs / "docs").exists()
    assert opgen()[0] == 0
    assert opgen("--check")[0] == 0


def test_a_mistake_in_one_spec_leaves_the_page_alone(specs: Path, opgen: Callable[..., tuple[int, str, str]]) -> None:
    assert opgen()[0] == 0
    before = (specs / "docs/page.md").read_text()
    (specs / "specs/bad.yaml").write_text("op: bad\ninputs: [x]\nforward: y = z\n")
    code, _, err = opgen()
    assert code == 1
    assert "bad.yaml:3:14" in err
    assert (specs / "docs/page.md").read_text() == before
