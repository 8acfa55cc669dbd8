"""The catalogue: every code that is used is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import opgen
from opgen.diagnostics.codes import CATALOGUE, GROUPS, explain

PACKAGE = Path(opgen.__file__).parent


def test_every_code_in_use_is_in_the_catalogue() -> None:
    used: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for code in re.findall(r"\"(OPG\d+)\"", path.read_text(encoding="utf-8")):
            used.setdefault(code, path.relative_to(PACKAGE).as_posix())
    assert {code: place for code, place in used.items() if code not in CATALOGUE} == {}


@pytest.mark.parametrize("code", CATALOGUE)
def test_rows_are_complete(code: str) -> None:
    row = CATALOGUE[code]
    assert re.fullmatch(r"OPG[1-6]\d\d", code)
    assert code[3] in GROUPS
    assert row.title
    assert not row.title.endswith(".")
    assert row.explanation.endswith(".")


def test_explain() -> None:
    assert explain("204") == explain("opg204") == explain("OPG204")
    assert "sum[k]" in (explain("OPG204") or "")
    assert explain("OPG999") is None
