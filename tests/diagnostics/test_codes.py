"""The catalogue: every code that is used is explained, every code that is explained is used, and its examples hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import opgen
from opgen.diagnostics.codes import CATALOGUE, GROUPS, lookup
from opgen.diagnostics.explain import entry, overview, page
from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.diagnostics.text import render_all
from opgen.diff.flat import flat, untrained
from opgen.lower.operator import lower
from opgen.lower.unused import unused
from opgen.schema.load import load
from opgen.verify.callables import not_found

PACKAGE = Path(opgen.__file__).parent
ROOT = PACKAGE.parent
ABRIDGED = ["OPG108", "OPG227", "OPG247"]  # their examples would be longer than a page
EXAMPLES = [code for code, row in CATALOGUE.items() if row.in_spec and code not in ABRIDGED]


def used() -> dict[str, str]:
    """Every code that stands in a module outside of the catalogue, with the module."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("diagnostics/catalogue/"):
            for code in re.findall(r"\bOPG\d{3}\b", _without_docstring(path.read_text(encoding="utf-8"))):
                found.setdefault(code, place)
    return found


def _without_docstring(text: str) -> str:
    return re.sub(r'""".*?"""', "", text, flags=re.DOTALL)


def reported(text: str) -> tuple[Diagnostic, ...]:
    bag = Bag()
    spec = load(Source("spec.yaml", text + "\n"), bag)
    operator = None if spec is None else lower(spec, bag)
    if spec is not None and operator is not None:
        more = (*unused(spec), *untrained(operator, spec.parameter_places), *flat(operator, spec.described_outputs))
        return (*bag.items, *more, *not_found(operator))
    return bag.items


def test_codes_in_use_are_those_of_the_catalogue() -> None:
    places = used()
    assert {code: place for code, place in places.items() if code not in CATALOGUE} == {}
    assert [code for code in CATALOGUE if code not in places] == []


@pytest.mark.parametrize("code", CATALOGUE)
def test_rows_are_complete(code: str) -> None:
    row = CATALOGUE[code]
    assert re.fullmatch(r"OPG[1-7]\d\d", code)
    assert code[3] in GROUPS
    assert row.title
    assert not row.title.endswith(".")
    assert row.explanation.endswith(".")
    assert row.bad
    assert row.good
    assert row.bad != row.good


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_examples_are_what_they_are_said_to_be(code: str) -> None:
    row = CATALOGUE[code]
    assert code in [d.code for d in reported(row.spec(row.bad))]
    good = reported(row.spec(row.good))
    assert not good, render_all(good)


def test_only_the_examples_that_are_too_long_are_abridged() -> None:
    assert [code for code, row in CATALOGUE.items() if "…" in row.bad] == ABRIDGED


def test_a_code_is_found_however_it_is_written() -> None:
    assert lookup("204") is lookup("opg204") is lookup("OPG204") is CATALOGUE["OPG204"]
    assert lookup("OPG999") is None


def test_an_entry_shows_both_examples() -> None:
    found = entry(CATALOGUE["OPG204"])
    assert found.startswith("OPG204: Unbound index\n\n")
    assert "\nWrong:\n    op: example\n" in found
    assert "    forward: y[n] = sum[k](x[n, k]*w[k])\n" in found
    assert "\x1b[1;31mWrong:" in entry(CATALOGUE["OPG204"], color=True)


def test_unprintable_characters_of_an_example_are_spelt_out() -> None:
    assert "a\\x07b" in entry(CATALOGUE["OPG107"])


def test_the_overview_names_every_code() -> None:
    assert [line.split()[0] for line in overview().split("\n") if line.startswith("  ")] == list(CATALOGUE)


def test_the_page_is_current() -> None:
    message = "to write it anew: opgen explain --markdown > docs/errors.md"
    assert (ROOT / "docs/errors.md").read_text(encoding="utf-8") == page(), message
