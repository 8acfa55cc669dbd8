"""Conditions as other languages write them: the line that is told builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

X = "inputs: {x: {shape: [N]}, a: {shape: [N, N]}}"


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("i is j", "i == j"),
        ("i is not j", "i != j"),
        ("i in (0, 1)", "i == 0 or i == 1"),
        ("i not in [0, 1]", "i != 0 and i != 1"),
        ("i < j and i in (0, 1)", "i < j and (i == 0 or i == 1)"),
        ("i < j AND j < 3", "i < j and j < 3"),
        ("i < j xor i > 3", "(i < j) != (i > 3)"),
        ("logical_and(i < j, i > 3)", "i < j and i > 3"),
        ("logical_or(i < j, i > 3)", "i < j or i > 3"),
        ("torch.logical_not(i < j)", "not i < j"),
        ("np.logical_xor(i < j, i > 3)", "(i < j) != (i > 3)"),
        ("OR(i < j, i > 3)", "i < j or i > 3"),
    ],
)
def test_a_condition_in_words_of_other_languages(condition: str, meant: str) -> None:
    line = f"y[i, j] = where({meant}, a[i, j], x[i])"
    assert line in said(whole(X, f"y[i, j] = where({condition}, a[i, j], x[i])"))
    built(whole(X, line))


def test_signs_for_conditions() -> None:
    for sign, meant in (("i ~= j", "!="), ("(i < j) ^ (i > 3)", "(i < j) != (i > 3)")):
        assert said(whole(X, f"y[i, j] = where({sign}, a[i, j], x[i])")) == [meant]


@pytest.mark.parametrize(
    ("guard", "meant"),
    [("flag is True", "flag"), ("flag is False", "not flag"), ("flag is not True", "not flag")],
)
def test_a_flag_is_its_own_condition(guard: str, meant: str) -> None:
    fields = "inputs: [x]\nparams: {flag: {type: bool, default: true}}"
    other = "flag" if meant.startswith("not") else "not flag"
    assert said(whole(fields, f"y = x if {guard}", f"y = 2*x if {other}")) == [f"y = x if {meant}"]
    built(whole(fields, f"y = x if {meant}", f"y = 2*x if {other}"))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[i] = sum[j < i and j > 0](a[i, j])", "y[i] = sum[j](where(j < i and j > 0, a[i, j], 0))"),
        ("y[i] = sum[j | j < i](a[i, j])", "y[i] = sum[j](where(j < i, a[i, j], 0))"),
        ("y[i] = max[j < i and j > 0](a[i, j])", "y[i] = max[j](where(j < i and j > 0, a[i, j], -inf))"),
        ("y[i, j] = where(i < j, j < 3, a[i, j], 0)", "where(i < j and j < 3, a[i, j], 0)"),
        ("y[i, j] = a[i, j] if i < j", "y[i, j] = where(i < j, a[i, j], 0)"),
        ("y[i, j] = a[i, j] if i < j and j < 3", "y[i, j] = where(i < j and j < 3, a[i, j], 0)"),
    ],
)
def test_conditions_together_have_a_line(line: str, meant: str) -> None:
    assert meant in said(whole(X, line))
    head = "" if meant.startswith("y") else "y[i, j] = "
    built(whole(X, head + meant), warned=True)


def test_what_holds_elsewhere_is_not_known() -> None:
    found = diagnosed(whole(X, "y[i, j] = a[i, j] if i < j"))[0]
    assert found.hints[0].endswith("with what holds elsewhere in place of `0`")
