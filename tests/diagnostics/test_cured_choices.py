"""A word that is misspelt, or stands in a field of its own where a param is meant: its choices are told."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

X = "inputs: {x: {shape: [N, K]}}"


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("reduction: summ", "params: {reduction: {choices: [mean, sum, none], default: sum}}"),
        ("reduction: none", "params: {reduction: {choices: [mean, sum, none], default: none}}"),
        ("reductions: [mean, sum]", "params: {reductions: {choices: [mean, sum], default: mean}}"),
    ],
)
def test_a_field_of_words_is_a_param(field: str, meant: str) -> None:
    (found,) = diagnosed(whole(f"{X}\n{field}", "y = sum[n, k](x[n, k])"))
    assert re.findall(r"`([^`]*)`", found.hints[0]) == [meant]
    built(whole(f"{X}\n{meant}", f"y = {field.partition(':')[0]}[n, k](x[n, k])"))


def test_a_field_of_a_number_is_a_param() -> None:
    (found,) = diagnosed(whole(f"{X}\noutput_scale: 2", "y[n] = x[n, 0]"))
    assert found.hints == ("what a call chooses is a param: `params: {output_scale: {type: int, default: 2}}`",)
    (found,) = diagnosed(whole(f"{X}\nmode: fast", "y[n] = x[n, 0]"))
    assert found.hints == ("what a call chooses is a param: `params: {mode: {choices: [fast, …], default: fast}}`",)


@pytest.mark.parametrize(("field", "meant"), [("input: [z]", "inputs"), ("param: {p: float}", "params")])
def test_a_slip_is_still_one(field: str, meant: str) -> None:
    found = diagnosed(f"op: cured\n{field}\nforward: y = 2\n")
    assert f"did you mean `{meant}`?" in [hint for d in found for hint in d.hints]


@pytest.mark.parametrize("word", ["atuo", "aut", "Auto"])
def test_what_is_kept_by_itself(word: str) -> None:
    (found,) = diagnosed(whole(f"{X}\nsave: {word}", "y[n] = sum[k](exp(x[n, k]))"))
    assert found.hints == ("did you mean `auto`?", f"or, if it is a name, `[{word}]`")
