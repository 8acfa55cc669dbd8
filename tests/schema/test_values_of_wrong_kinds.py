"""Values of tests, params and dims of the wrong kind: what the message says to write in their place is read."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said

HEAD = (
    "op: cured\ninputs: {x: {shape: [..., K]}}\n"
    "params: {a: {type: float, default: 1.0}, n: {type: int, default: 2}, b: {type: bool, default: true}}\n"
    "forward: y[..., k] = where(b, a, 1)*x[..., k]*n\n"
)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("sizes: 5", "sizes: {K: 5}"),
        ('sizes: "..."', "sizes: {K: 5}"),
        ('sizes: {K: "5"}', "K: 5"),
        ("sizes: {K: 5.0}", "K: 5"),
        ("sizes: {K: N}", "K: 5"),
        ("sizes: {K: [3, 4]}", "cases: [{K: 3}, {K: 4}]"),
        ("params: {a: 2}", "cases: [{a: 2}]"),
        ("cases: [{x: 1}]", "x: [1]"),
        ("cases: [{x: abc}]", "x: [0.5, -1]"),
        ('cases: [{a: "2"}]', "a: 2"),
        ("cases: [{a: [2]}]", "a: 2"),
        ("cases: [{n: 2.5}]", "n: 2"),
        ('cases: [{b: "yes"}]', "b: true"),
    ],
)
def test_values_of_tests_are_said(wrong: str, right: str) -> None:
    assert right in said(f"{HEAD}tests: {{{wrong}}}\n")
    field = right if right.startswith(("sizes", "cases")) else f"{wrong.partition(':')[0]}: " + (
        f"{{{right}}}" if wrong.startswith("sizes") else f"[{{{right}}}]"
    )  # fmt: skip
    built(f"{HEAD}tests: {{{field}}}\n")


@pytest.mark.parametrize("wrong", ["sizes: null", "sizes: {K: null}", "cases: [{a: null}]", "cases: [{x: null}]"])
def test_what_is_null_is_left_away(wrong: str) -> None:
    (found,) = diagnosed(f"{HEAD}tests: {{{wrong}}}\n")
    assert "leave" in found.hints[0]


@pytest.mark.parametrize(
    ("wrong", "right", "read"),
    [
        ('"1.0"', "{type: float, default: 1.0}", "a"),
        ('"3"', "{type: int, default: 3}", "a"),
        ("[1, 2]", "{type: [int, int], default: [1, 2]}", "a[0]*a[1]"),
        ("[1, 0.5]", "{type: [float, float], default: [1, 0.5]}", "a[0]*a[1]"),
    ],
)
def test_values_in_the_place_of_a_type_are_defaults(wrong: str, right: str, read: str) -> None:
    text = "op: cured\ninputs: {x: {shape: [..., K]}}\nparams: {a: %s}\nforward: y[..., k] = " + f"x[..., k]*{read}\n"
    assert right in said(text % wrong)
    built(text % right)


@pytest.mark.parametrize("value", ["K^2", "2K", "K >> 1", "K//2 if K > 2 else 1", "(K", '"K//"'])
def test_a_dim_that_cannot_be_read_is_told_once(value: str) -> None:
    text = f"op: cured\ninputs: {{x: {{shape: [..., K]}}}}\ndims: {{P: {value}}}\nforward: y[..., p < P] = x[..., 0]\n"
    (found,) = diagnosed(text)
    assert "there is no dim" not in found.message


@pytest.mark.parametrize("field", ["params: null", "params: 3"])
def test_nothing_is_put_into_brackets_that_is_no_name(field: str) -> None:
    (found,) = diagnosed(f"op: cured\ninputs: [x]\n{field}\nforward: y = x\n")
    assert not any("[" in hint for hint in found.hints)
