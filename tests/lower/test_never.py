"""Conditions that hold nowhere: what is told, and what is left alone."""

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
  m: {shape: [N], dtype: bool}
  q: {shape: [M]}
  seed: {dtype: seed}
params: {k: {type: int, default: 3}, f: {type: float, default: 1, domain: f >= 0}, o: {type: bool, default: true}}
"""


def told(*lines: str) -> list[tuple[str, tuple[str, ...]]]:
    found = diagnosed(whole(FIELDS, *lines))
    assert all(d.severity is Severity.WARNING for d in found)
    return [(d.message, d.hints) for d in found if d.code == "OPG283"]


@pytest.mark.parametrize(
    ("condition", "part", "hint"),
    [
        ("x[n] > 1 and x[n] < 0", "", "if either will do write `x[n] > 1 or x[n] < 0`"),
        ("x[n]>=1 and x[n]<=0", "", "if either will do write `x[n]>=1 or x[n]<=0`"),
        ("r[n] == 0 and r[n] == 1", "", "if either will do write `r[n] == 0 or r[n] == 1`"),
        ("k <= 3 and k > 3", "", "leave one of them out: `k <= 3` alone, or `k > 3`"),
        ("m[n] and not m[n]", "", "leave one of them out: `m[n]` alone, or `not m[n]`"),
        ("x[n] > s[n] and s[n] > x[n]", "", "if either will do write `x[n] > s[n] or s[n] > x[n]`"),
        ("n > 2 and n < 3", "", "leave one of them out: `n > 2` alone, or `n < 3`"),
        (
            "m[n] and x[n] > 1 and x[n] < 0",
            "x[n] > 1 and x[n] < 0",
            "if either will do write `(x[n] > 1 or x[n] < 0)`",
        ),
        ("n < 0", "", "the first one is `n == 0`"),
        ("n >= N", "", "the last one is `n == N - 1`"),
        ("n - 1 < -1", "", "the first one is `n == 0`"),
        ("n > N + 3", "", "the last one is `n == N - 1`"),
        ("n % 2 == 2", "", "multiples of 2 are `n % 2 == 0`, and those in front of them `n % 2 == 1`"),
        ("n%N == N", "", "multiples of N are `n%N == 0`, and those in front of them `n%N == N - 1`"),
        ("r[n] % 3 > 4", "", "multiples of 3 are `r[n] % 3 == 0`, and those in front of them `r[n] % 3 == 2`"),
        ("2 < 2*n//3 % 2", "", "multiples of 2 are `2*n//3 % 2 == 0`, and those in front of them `2*n//3 % 2 == 1`"),
        ("(n + k) % 2 < 0", "", "multiples of 2 are `(n + k) % 2 == 0`, and those in front of them"),
        ("n % 4 - 4 == 0", "", None),
        ("n % M == M and m[n]", "n % M == M", "multiples of M are `n % M == 0`, and those in front of them"),
        ("x[n] > x[n]", "", None),
        ("0 > x[n] > 1", "", None),
        ("abs(x[n]) < 0", "", None),
        ("sigmoid(x[n]) > 1", "", None),
        ("3 == 2*sin(x[n])", "", None),
        ("uniform(seed) < 0", "", None),
        ("m[n] and -2 >= cos(x[n]) - tanh(x[n])/2", "-2 >= cos(x[n]) - tanh(x[n])/2", None),
    ],
)
def test_a_condition_that_never_holds_is_told(condition: str, part: str, hint: str | None) -> None:
    ((message, hints),) = told(f"y[n] = where({condition}, x[n], 2) + n")
    assert message == f"`{part or condition}` is never true, and the choice always `2`"
    assert len(hints) == (hint is not None)
    assert " ".join(hints).startswith(hint or "")
    for meant in re.findall(r"`([^`]*)`", " ".join(hints)):
        assert not told(f"y[n] = where({condition.replace(part or condition, meant)}, x[n], 2) + n")


@pytest.mark.parametrize(
    "lines",
    [
        ("b[n] = x[n] > 0", "y[n] = where(b[n] and x[n] < 0, 1, x[n])"),
        ("y = count[i](x[i] > 2 and m[i] and x[i] <= 2)",),
        ("y[n] = where(m[n] or n > N - 1, x[n], 2)",),
        ("y[n] = where(not (x[n] > 0 and x[n] < 0), x[n], 2)",),
        ("y[t] = y[t - 1] + where(t < 0, 1, x[t])",),
        ("y = sum[n < N - 1](where(n >= N - 1, x[n], x[n + 1]))",),
    ],
)
def test_one_by_a_name_or_in_a_reduction_is_told(lines: tuple[str, ...]) -> None:
    assert len(told(*lines)) == 1


WITHIN = """\
inputs: {s: {shape: [N, N]}, x: {shape: [N], domain: x > 0}}
params:
  w: {type: int, default: 4, domain: w >= 1}
  v: {type: int, default: 4, domain: v >= 0}
  r: {type: float, default: 0.5, domain: 0 < r < 1}
  u: {type: int, default: 4}
"""


def told_within(condition: str) -> list[tuple[str, tuple[str, ...]]]:
    line = f"y[i] = sum[j](where({condition}, s[i, j]*x[i]*w*v*r*u, 0))"
    return [(d.message, d.hints) for d in diagnosed(whole(WITHIN, line)) if d.code == "OPG283"]


@pytest.mark.parametrize(
    ("condition", "turned"),
    [
        ("j <= i and j >= i + w", "j >= i - w"),
        ("j <= i and j>=i+3", "j>=i-3"),
        ("j <= i and j > i + v", "j > i - v"),
        ("i - w >= j and j >= i", "i + w >= j"),
        ("s[i, j] < 0 and s[i, j] > r", ""),
        ("r > s[i, j] and s[i, j] > 2", ""),
    ],
)
def test_two_that_no_params_allow_are_told_with_the_other_sign(condition: str, turned: str) -> None:
    ((message, hints),) = told_within(condition)
    assert message == f"`{condition}` is never true, and the choice always `0`"
    assert hints[0].startswith(f"with the other sign write `{turned}`" if turned else "if either will do")
    parts = condition.split(" and ")
    assert not turned or any(not told_within(" and ".join(p)) for p in ((parts[0], turned), (turned, parts[1])))


@pytest.mark.parametrize(
    "condition",
    [
        "j <= i and j >= i + v",
        "j <= i and j >= i + u",
        "w < 1 and j <= i",  # one alone asks for what a domain says
        "w < 1 and u > 3",
        "x[i] < 0 and s[i, j] > x[i]",  # whose domain nothing checks
        "s[i, j] <= 0 and s[i, j] >= r",  # a float may be rounded to 0
        "u > 3 and u < w",
        "j <= i or j > i - w",
    ],
)
def test_two_that_params_allow_are_not(condition: str) -> None:
    assert not told_within(condition)


def test_another_index_that_runs_as_far_is_proposed() -> None:
    ((_, hints),) = told("y = sum[i, j](where(r[i]>r[i], x[j] - x[i], 0))")
    assert hints == ("write `r[i]>r[j]`, or `r[j]>r[i]`",)
    assert not told("y = sum[i, j](where(r[i]>r[j], x[j] - x[i], 0))")
    ((_, hints),) = told("y = sum[i, j](where(r[i] > r[i], q[j]*x[i], 0))")
    assert hints == ()  # no other index runs as far
    ((_, hints),) = told("y = sum[i, j, l](where(r[i] > r[i], x[l]*x[j]*x[i], 0))")
    assert hints == ()  # two do


@pytest.mark.parametrize(
    "condition",
    [
        "x[n] != x[n]",
        "x[n] == x[n]",
        "not (x[n] >= x[n])",
        "n % 2 == 1",
        "n % k == k",
        "n % M == M - 1",
        "n % M == N",
        "x[n] % 2 == 2",  # of floats that are rounded
        "n/2 % 2 == 2",
        "n % 3 % 2 == 1 and n % 2 == 1",
        "n >= n",
        "n == n",
        "x[n] + 1 < x[n]",  # of floats that are rounded, or infinite
        "x[n] >= 1.0001 and x[n] <= 1",
        "x[n] >= 0 and x[n] <= 0",
        "r[n] > 2 and r[n] < 3 or m[n] and not m[N - 1 - n]",
        "x[n] > s[n] and x[n] < s[N - 1 - n]",
        "f < 0",  # what a domain says may be asked for all the same
        "s[n] <= 0",
        "N < 1",
        "N < M and M < 3",
        "n >= M",
        "n > 0 and n < N - 1",  # false for small sizes only
        "k > 3 and N < 2",
        "o and k > 3 and not m[n]",
        "uniform(seed) > uniform(seed)",
        "uniform(seed) >= 1",
        "normal(seed) > 4",
        "sigmoid(x[n]) >= 1 and 1 - tanh(x[n]) <= 0",
        "0.9 < sin(x[n]) < 1",
        "tanh(x[n]) > f",
        "uniform(seed) > 0.5 and uniform(seed) < 0.5",
    ],
)
def test_one_that_may_hold_or_asks_for_nan_is_not(condition: str) -> None:
    assert not told(f"y[n] = where({condition}, x[n], 2) + n")


@pytest.mark.parametrize(
    "lines",
    [
        ("u = uniform(seed)", "v = uniform(seed)", "y[n] = where(u > v, 1, x[n])"),
        ("y = sum[n < 3](x[n]) + sum[n < 5](where(n >= 3, x[n], 0))",),
        ("y = sum[i](x[i]) + sum[i](where(i >= N, q[i], 0))",),
        ("a[n] = x[n] if o", "a[n] = -x[n] if not o", "y[n] = where(a[n] > x[n], 1, x[n])"),
    ],
)
def test_what_only_looks_alike_is_not(lines: tuple[str, ...]) -> None:
    assert not told(*lines)
