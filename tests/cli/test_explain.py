"""`opgen explain`: one code, several, all of them, and a misspelt one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opgen.diagnostics.explain import page

Opgen = Callable[..., tuple[int, str, str]]


def test_codes_are_explained_in_the_order_given(opgen: Opgen) -> None:
    code, out, err = opgen("explain", "OPG204", "opg202")
    assert (code, err) == (0, "")
    assert out.index("OPG204: ") < out.index("OPG202: ")


def test_without_a_code_all_are_listed(opgen: Opgen) -> None:
    code, out, _ = opgen("explain")
    assert code == 0
    assert "OPG101" in out
    assert "OPG602" in out


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("OPG2O4", "did you mean `OPG204`?"),
        ("OP204", "did you mean `OPG204`?"),
        ("hello", "opgen explain lists all"),
        ("OPG999", "there are 1xx (YAML and the fields of a spec), 2xx"),
    ],
)
def test_a_misspelt_code_is_wrong_usage(opgen: Opgen, wrong: str, hint: str) -> None:
    code, out, err = opgen("explain", wrong)
    assert (code, out) == (2, "")
    assert hint in err


def test_the_page_goes_to_stdout(opgen: Opgen) -> None:
    assert opgen("explain", "--markdown") == (0, page(), "")
    assert opgen("explain", "--markdown", "OPG204")[0] == 2
