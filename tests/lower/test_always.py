"""Conditions that hold everywhere: what is told, and what is left alone."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import diagnosed, whole

FIELDS = """\
inputs:
  x: {shape: [N]}
  s: {shape: [N], domain: s > 0}
  r: {shape: [N], dtype: int}
  l: {shape: [N], dtype: int, domain: 0 <= l <= 1}
  m: {shape: [N], dtype: bool}
  q: {shape: [M]}
  seed: {dtype: seed}
params: {k: {type: int, default: 3}, f: {type: float, default: 1, domain: f >= 0}, o: {type: bool, default: true}}
"""


def told(*lines: str) -> list[tuple[str, tuple[str, ...]]]:
    found = diagnosed(whole(FIELDS, *lines))
    assert all(d.severity is Severity.WARNING for d in found)
    return [(d.message, d.hints) for d in found if d.code in ("OPG283", "OPG286")]


@pytest.mark.parametrize(
    ("condition", "part", "hint"),
    [
        ("x[n] != 0 or x[n] != 9", "", "if both are to hold write `x[n] != 0 and x[n] != 9`"),
        ("r[n]!=0 or r[n]!=1", "", "if both are to hold write `r[n]!=0 and r[n]!=1`"),
        ("l[n] != 0 or l[n] != 1", "", None),
        ("m[n] != 0 or m[n] != 1", "", None),
        ("r[n] > 2 or r[n] < 5", "", "if both are to hold write `r[n] > 2 and r[n] < 5`"),
        ("r[n] > 2 or r[n] < 3", "", None),
        ("k > 3 or k <= 3", "", "leave one of them out: `k > 3` alone, or `k <= 3`"),
        ("m[n] or x[n] != 1 or x[n] != 2", "x[n] != 1 or x[n] != 2", "if both are to hold write"),
        ("n >= 0", "", "all but the first are `n > 0`"),
        ("n < N", "", "all but the last are `n < N - 1`"),
        ("n > -1 or m[n]", "n > -1", "all but the first are `n > 0`"),
        ("n % 2 >= 0", "", None),
        ("r[n] % 3 != 3", "", None),
        ("n % N < N", "", None),
        ("m[n] or not m[n]", "", None),
        ("not (x[n] > 1) or not (x[n] < 0)", "", None),
        ("r[n] >= r[n]", "", None),
        ("n + 1 > n", "", None),
    ],
)
def test_a_condition_that_always_holds_is_told(condition: str, part: str, hint: str | None) -> None:
    ((message, hints),) = told(f"y[n] = where({condition}, x[n], 2) + n")
    assert message == f"`{part or condition}` is always true, and the choice always `x[n]`"
    assert len(hints) == (hint is not None)
    assert " ".join(hints).startswith(hint or "")
    for meant in re.findall(r"`([^`]*)`", " ".join(hints)):
        assert not told(f"y[n] = where({condition.replace(part or condition, meant)}, x[n], 2) + n")


@pytest.mark.parametrize("condition", ["x[n] > 0 or x[n] < 1", "x[n] != 0 or x[n] > -1"])
def test_of_floats_nan_is_no_number(condition: str) -> None:
    ((message, _),) = told(f"y[n] = where({condition}, x[n], 2) + n")
    assert message == f"`{condition}` is true of every number"


def test_one_by_a_name_is_told_where_both_stand() -> None:
    ((message, _),) = told("b[n] = x[n] != 0", "y[n] = where(b[n] or x[n] != 9, x[n], 2)")
    assert message.startswith("`b[n] or x[n] != 9` is always true")


def test_another_index_that_runs_as_far_is_proposed() -> None:
    ((_, hints),) = told("y = sum[i, j](where(r[i]>=r[i], x[j] - x[i], 0))")
    assert hints == ("write `r[i]>=r[j]`, or `r[j]>=r[i]`",)
    assert not told("y = sum[i, j](where(r[i]>=r[j], x[j] - x[i], 0))")


@pytest.mark.parametrize(
    "condition",
    [
        "x[n] >= 0 or x[n] <= 0",  # false for nan, and so asks for it
        "x[n] > 0 or x[n] <= 0",
        "x[n] >= x[n]",
        "x[n] == x[n]",
        "x[n] == 0 or x[n] != 0",
        "x[n] != k or x[n] != 3",
        "x[n] != 0.1 or x[n] != 0.10001",  # one number in a narrow dtype
        "x[n] != 0 or s[n] != 9",
        "x[n] != inf or x[n] != 0",
        "n % 2 != 1",
        "n % M < N",
        "x[n] % 2 < 2",
        "n != 0 or n != N - 1",  # one place if `N` is 1
        "n >= 0 and n < N - 1",  # as bounds are written
        "0 <= n < N",
        "s[n] > 0",  # what a domain says may be asked for all the same
        "f >= 0",
        "N > 0",
        "n < M",
        "abs(x[n]) >= 0",
        "uniform(seed) > 0 or uniform(seed) < 1",
        "(m[n] and x[n] != 0) or x[n] != 9",
    ],
)
def test_one_that_may_be_false_is_not(condition: str) -> None:
    assert not told(f"y[n] = where({condition}, x[n], 2) + n")
