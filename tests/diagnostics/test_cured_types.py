"""The type of a list param: all that is wrong with it is told at once, and what is proposed builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said

SPEC = "op: cured\ninputs: [x]\nparams: {{w: {}}}\nforward: y = w[0]*x\n"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("[int, integer, itn]", "[int, int, int]"),
        ("[integer, long]", "[int, int]"),
        ("[int, float, double]", "[float, float, float]"),
        ("[float, number]", "[float, float]"),
        ('"(int, int)"', "[int, int]"),
        ('"float, double, int"', "[float, double, int]"),
    ],
)
def test_the_types_of_elements_are_told_at_once(wrong: str, meant: str) -> None:
    text = SPEC.format(f"{{type: {wrong}}}")
    (found, *_) = diagnosed(text)
    assert said(text)[0] == f"type: {meant}"
    assert found.edit is not None
    if "double" not in meant:
        assert diagnosed(text) == (found,)
        built(SPEC.format(f"{{type: {meant}}}"))


@pytest.mark.parametrize(("wrong", "told"), [("[int, bool]", "`int` and `bool`"), ("[int, boolean, itn]", "`int`")])
def test_elements_of_several_types_are_several_params(wrong: str, told: str) -> None:
    (found,) = diagnosed(SPEC.format(f"{{type: {wrong}}}"))
    assert told in found.hints[0]


def test_words_in_the_place_of_types_are_choices() -> None:
    (found,) = diagnosed(SPEC.format("{type: [mean, none]}"))
    assert found.hints == ("a param of a few words has `choices: [mean, none]`, and no `type`",)


@pytest.mark.parametrize(
    ("domains", "meant"), [("[w >= 0, w < 4]", "0 <= w < 4"), ("[w > 0, w > 1]", "w > 0"), ("[w > 0]", "w > 0")]
)
def test_several_domains_of_a_list_are_one(domains: str, meant: str) -> None:
    text = SPEC.format(f"{{type: [int, int], domain: {domains}}}")
    (found,) = diagnosed(text)
    assert found.code == "OPG233"
    assert said(text) == [meant]
    built(text.replace(domains, meant))
