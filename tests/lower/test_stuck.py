"""Scatters that start from what they cannot change, and draws that are rounded down: what is told and what is not."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = """\
inputs:
  x: {shape: [E]}
  i: {shape: [E], dtype: int, domain: 0 <= i < V}
  h: {shape: [V]}
  w: {shape: [V, C]}
  seed: {dtype: seed}
"""
USED = "z = w[0, 0]*uniform(seed)"


@pytest.mark.parametrize(
    ("start", "op", "neutral"),
    [
        ("inf", "max=", "-inf"),
        ("-inf", "min=", "inf"),
        ("0", "*=", "1"),
        ("0.0", "*=", "1"),
        ("inf", "+=", "0"),
        ("-inf", "+=", "0"),
    ],
)
def test_a_scatter_that_changes_nothing_is_told(start: str, op: str, neutral: str) -> None:
    lines = ("p[v<V] = {}", f"p[i[e]] {op} x[e]", "y[v] = p[v]/h[v]", USED)
    (found,) = diagnosed(whole(FIELDS, lines[0].format(start), *lines[1:]))
    assert (found.code, found.severity) == ("OPG267", Severity.WARNING)
    assert found.hints == (f"write `p[v<V] = {neutral}`",)
    built(whole(FIELDS, lines[0].format(neutral), *lines[1:]))


@pytest.mark.parametrize("value", ["abs(x[e])", "x[e]**2", "sum[c](square(w[i[e], c]))", "hypot(x[e], 1)"])
def test_the_least_of_what_is_never_below_0_and_of_0_is_told(value: str) -> None:
    lines = ("p[v < V] = {}", f"p[i[e]] min= {value}", "y[v] = p[v]*h[v]*sum[e](x[e])", USED)
    (found,) = diagnosed(whole(FIELDS, lines[0].format("0"), *lines[1:]))
    assert (found.code, found.hints) == ("OPG267", ("write `p[v < V] = inf`",))
    built(whole(FIELDS, lines[0].format("inf"), *lines[1:]))


@pytest.mark.parametrize(
    "value", ["-abs(x[e])", "-cosh(x[e]) - exp2(x[e])", "-mean[c](w[i[e], c]**2)*2", "min(x[e], -1)"]
)
def test_the_greatest_of_what_is_never_above_0_and_of_0_is_told(value: str) -> None:
    lines = ("p[v < V] = {}", f"p[i[e]] max= {value}", "y[v] = p[v]*h[v]*sum[e](x[e])", USED)
    (found,) = diagnosed(whole(FIELDS, lines[0].format("0"), *lines[1:]))
    assert (found.code, found.hints) == ("OPG267", ("write `p[v < V] = -inf`",))
    built(whole(FIELDS, lines[0].format("-inf"), *lines[1:]))


def test_of_integers_no_start_is_proposed() -> None:
    lines = ("p[v < V] = 0", "p[i[e]] min= abs(i[e])", "y[v] = p[v]*h[v]*sum[e](x[e])", USED)
    (found,) = diagnosed(whole(FIELDS, *lines))
    assert (found.code, found.hints) == ("OPG267", ())


@pytest.mark.parametrize("value", ["x[e]", "abs(x[e])", "1 - abs(x[e])"])
def test_the_greatest_of_0_and_what_may_be_above_it_is_not(value: str) -> None:
    assert not diagnosed(whole(FIELDS, "p[v < V] = 0", f"p[i[e]] max= {value}", "y[v] = p[v]*h[v]", USED))


@pytest.mark.parametrize("value", ["x[e]", "abs(x[e]) - 1", "x[e]**3"])
def test_the_least_of_0_and_what_may_be_below_it_is_not(value: str) -> None:
    assert not diagnosed(whole(FIELDS, "p[v < V] = 0", f"p[i[e]] min= {value}", "y[v] = p[v]*h[v]", USED))


def test_only_the_first_scatter_is_told_by_the_name_of_the_spec() -> None:
    lines = ("p[v < V] = inf", "p[i[e]] max= x[e]", "p[i[e]] min= 2*x[e]", "y[v] = p[v]/h[v]", USED)
    (found,) = diagnosed(whole(FIELDS, *lines))
    assert found.message.startswith("`p` starts from inf")


@pytest.mark.parametrize(
    ("start", "op"),
    [
        ("-inf", "max="),
        ("0", "max="),
        ("inf", "min="),
        ("0", "+="),
        ("1", "*="),
        ("inf", "*="),  # which a negative number turns round
        ("h[v]", "max="),
        ("where(h[v] > 0, inf, 0)", "max="),
    ],
)
def test_one_that_may_change_something_is_not(start: str, op: str) -> None:
    assert not diagnosed(whole(FIELDS, f"p[v < V] = {start}", f"p[i[e]] {op} x[e]", "y[v] = p[v]/h[v]", USED))


@pytest.mark.parametrize("drawn", ["int(uniform(seed))", "floor(uniform(seed))", "int(floor(uniform(seed)))"])
def test_a_number_from_0_to_1_that_is_rounded_down_is_told(drawn: str) -> None:
    (found,) = diagnosed(whole(FIELDS, f"y[v, e] = w[v, 0] + {drawn}*x[e] + h[i[e]]"))
    assert (found.code, found.message) == (
        "OPG275",
        f"`{drawn}` is 0 everywhere: `uniform(seed)` is less than 1",
    )


@pytest.mark.parametrize(
    ("lines", "drawn"),
    [
        (("k[v < V] = int(floor(uniform(seed)))", "y[v] = w[v, k[v]] + h[v]"), "int(floor(uniform(seed)))"),
        (("y[v] = w[v, int(uniform(seed))] + h[v]",), "int(uniform(seed))"),
    ],
)
def test_the_integer_that_is_meant_has_the_size_of_its_axis(lines: tuple[str, ...], drawn: str) -> None:
    lines = (*lines, "z = x[i[0]]")
    (found,) = diagnosed(whole(FIELDS, *lines))
    *_, meant = re.findall(r"`([^`]+)`", found.hints[0])
    assert meant == "integer(seed, C)"
    built(whole(FIELDS, *(line.replace(drawn, meant) for line in lines)))


@pytest.mark.parametrize(
    "drawn",
    [
        "floor(uniform(seed)*C)",
        "int(uniform(seed) + 0.5)",
        "round(uniform(seed))",
        "ceil(uniform(seed))",
        "floor(normal(seed))",
        "floor(C*uniform(seed))",
        "floor(-uniform(seed))",
    ],
)
def test_one_that_may_be_another_number_is_not(drawn: str) -> None:
    assert not diagnosed(whole(FIELDS, f"y[v, e] = w[v, 0] + {drawn}*x[e] + h[i[e]]"))


@pytest.mark.parametrize(
    ("formula", "hint"),
    [
        ("(2*int(uniform(seed)) - 1)*x[e]", "for 0 or 1 write `integer(seed, 2)`"),
        ("(1 - int(uniform(seed))*2)*x[e]", "for 0 or 1 write `integer(seed, 2)`"),
        (
            "x[e] + 6*floor(uniform(seed))",
            "for an integer from 0 to `6 - 1` write `integer(seed, 6)` in place of the product",
        ),
        ("x[e] + int(uniform(seed))", "an integer from 0 on is `integer(seed, …)`, with how many there are"),
    ],
)
def test_how_many_integers_are_meant_is_what_stands_beside_them(formula: str, hint: str) -> None:
    (found,) = diagnosed(whole(FIELDS, f"y[v, e] = w[v, 0] + {formula} + h[i[e]]"))
    assert found.hints == (hint,)


def test_an_index_is_no_number_of_integers() -> None:
    line = "y[v, e] = w[v, 0] + integer(seed, e)*x[e] + h[i[e]]"
    (found,) = diagnosed(whole(FIELDS, line))
    assert (found.code, found.message) == ("OPG223", "`e` begins at 0, and `integer` draws one of at least 1 value")
    assert found.hints == (
        "up to `e` itself it is `integer(seed, e + 1)`",
        "over all that `e` counts it is `integer(seed, E)`",
    )
    for meant in ("integer(seed, e + 1)", "integer(seed, E)", "where(e > 0, integer(seed, e), 0)"):
        built(whole(FIELDS, line.replace("integer(seed, e)", meant)))
