"""Reads in front of a tensor, rows that are unpacked, numbers in brackets: what is said of them builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

KNAPSACK = (
    "inputs: {value: {shape: [I]}, weight: {shape: [I], dtype: int, domain: weight >= 1}}\n"
    "params: {cap: {type: int, default: 10, domain: cap >= 1}}"
)
TABLE = "inputs: {x: {shape: [T]}, d: {shape: [T], dtype: int, domain: 1 <= d < T}}"


def lines(text: str) -> list[str]:
    """What the one message about a spec says to write, in order."""
    (found,) = diagnosed(text)
    return re.findall(r"`([^`]*)`", " ".join(found.hints))


@pytest.mark.parametrize(
    ("fields", "statement", "meant"),
    [
        (
            KNAPSACK,
            "best[i, w < cap + 1] = max(best[i - 1, w], best[i - 1, w - weight[i]] + value[i])",
            "best[i, w < cap + 1] = "
            "max(best[i - 1, w], where(w >= weight[i], best[i - 1, w - weight[i]] + value[i], -inf))",
        ),
        (TABLE, "y[t] = 2*x[t - d[t]]", "y[t] = where(t >= d[t], 2*x[t - d[t]], 0)"),
        (TABLE, "y[t] = x[t] + x[t + d[t]]", "y[t] = x[t] + where(t + d[t] < T, x[t + d[t]], 0)"),
        (TABLE, "y[t] = sum[s < T](x[s + d[t]])", "y[t] = sum[s < T](where(s + d[t] < T, x[s + d[t]], 0))"),
    ],
)
def test_a_position_that_no_value_of_its_domain_keeps_inside(fields: str, statement: str, meant: str) -> None:
    rest = ["total = best[I - 1, cap]"] if "best" in statement else []
    (found,) = diagnosed(whole(fields, statement, *rest))
    assert found.code == "OPG260"
    assert lines(whole(fields, statement, *rest))[0] == meant
    built(whole(fields, meant, *rest))


@pytest.mark.parametrize(
    ("fields", "statement"),
    [
        (TABLE, "y[t] = where(t >= d[t], x[t - d[t]], 0)"),
        (TABLE, "y[t] = pad(x[t - d[t]], 0)"),
        (TABLE, "y[t] = x[(t + d[t]) % T]"),
        (TABLE, "y[t] = x[d[t] - 1]"),
        (TABLE, "y[t] = x[T - 1 - d[t]]"),
        (TABLE.replace("1 <= d", "0 <= d"), "y[t] = x[t - d[t]]"),
    ],
)
def test_nothing_is_said_of_positions_that_may_be_inside(fields: str, statement: str) -> None:
    built(whole(fields, statement))


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        (
            "inputs: {z: {shape: [2, E]}}",
            "a, b = z",
            ["a[e] = z[0, e]", "b[e] = z[1, e]"],
        ),
        ("inputs: {z: {shape: [..., 2]}}", "a, b = z[...]", ["a = z[..., 0]", "b = z[..., 1]"]),
        ("inputs: {z: {shape: [N, 2]}}", "a, b = z", ["a[n] = z[n, 0]", "b[n] = z[n, 1]"]),
    ],
)
def test_the_rows_of_a_tensor_are_a_statement_each(fields: str, line: str, meant: list[str]) -> None:
    assert lines(whole(fields, line)) == meant
    built(whole(fields, *meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "y[k] = quantile[n, 0.75](x[n, k]) - quantile[n, 0.25](x[n, k])",
            "y[k] = quantile[n](x[n, k], 0.75) - quantile[n](x[n, k], 0.25)",
        ),
        ("y[k] = kth[n, 3](x[n, k])", "y[k] = kth[n](x[n, k], 3)"),
        ("y[k] = quantile[n, share](x[n, k])", "y[k] = quantile[n](x[n, k], share)"),
    ],
)
def test_what_an_order_statistic_takes_stands_behind_its_body(line: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [N, K]}}\nparams: {share: {default: 0.5, domain: 0 <= share <= 1}}"
    assert lines(whole(fields, line))[-1] == meant
    built(whole(fields, meant), warned=True)


def test_no_condition_stands_around_the_reduction_that_binds_its_index() -> None:
    (found,) = diagnosed(whole(TABLE, "y[t] = 2*sum[s < T](x[s + d[t]])"))
    assert not any("where(s + d[t] < T, 2*sum" in hint for hint in found.hints)


def test_what_a_statistic_takes_is_added_to_the_body_at_hand() -> None:
    assert lines(whole("inputs: {x: {shape: [N, K]}}", "y[k] = kth[n](2*x[n, k])"))[-1] == "kth[n](2*x[n, k], n)"


def test_a_seed_stands_behind_the_other_inputs() -> None:
    text = whole("inputs: {x: {shape: [N]}}", "y[n] = x[n] + normal(seed)")
    (found,) = diagnosed(text)
    assert "declare one, behind the other inputs: `inputs: {seed: {dtype: seed}}`" in found.hints[0]


def test_computing_in_doubles_is_passing_doubles() -> None:
    text = "op: cured\ninputs: [x]\ncompute_dtype: float64\nforward: y = 2*x\n"
    (found,) = diagnosed(text)
    assert found.hints == ("leave it away: what is passed as float64 is computed in float64, so pass `x.double()`",)
    built(text.replace("compute_dtype: float64\n", ""))


def test_a_window_around_a_point_is_inside_at_both_ends() -> None:
    fields = "inputs: {x: {shape: [..., T]}}\nparams: {k: {type: int, default: 3}}"
    mean, _, end = lines(whole(fields, "y[..., t] = mean[w < k](x[..., t + w - k//2])"))[1:4]
    assert mean.count("0 <= t + w - k//2 < T") == 2
    assert end == "t < T"
    built(whole(fields, f"y[..., {end}] = {mean}"))
