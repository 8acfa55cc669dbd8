"""What statisticians bring from R, Stan and Julia, and from the board: what is said of it builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


def told(text: str) -> str:
    """All hints of the one message about a spec."""
    (found,) = diagnosed(text)
    return " ".join(found.hints)


PAST = "inputs: {l: {shape: [N, N]}, b: {shape: [N]}, k: {shape: [N]}}\noutputs: [z]"


@pytest.mark.parametrize(
    "line",
    [
        "z[i] = (b[i] - sum[j < i](l[i, j]*z[j]))/l[i, i]",
        "z[i] = b[i] - sum[j](where(j < i, l[i, j]*z[j], 0))",
        "z[i] = b[i] - sum[j](where(j < i, l[i, j]*z[j - 1], 0))",
        "z[i] = b[i] - sum[j](l[i, j]*z[j])",
        "z[i] = b[i] + max[j < i](z[j])",
        "z[i] = b[i] + sum[j < i](k[i - j]*z[j])",
        "z[i] = b[i] + sum[j < i](k[j]*z[i - j - 1])",
        "z[i] = b[i] + mean[j <= i - 1](z[j])",
        "z[i] = b[i] + sum(z[:i])",
        "z[i] = sum(z[j] for j in range(i)) + b[i]",
        "z[i] = b[i] + sum[j < i](l[i, j]*z[j]*z[i - 1])",
    ],
)
def test_nothing_is_proposed_for_a_recurrence_over_its_whole_past(line: str) -> None:
    hints = told(whole(PAST, line))
    assert "a fixed number of places back, such as `z[i - 1]` and `z[i - 2]`, and no sum" in hints
    assert "`forward: {torch: package.function}`" in hints
    assert "z[i] = " not in hints


def test_an_update_in_place_is_still_the_step_before() -> None:
    assert said(whole(PAST, "z[t] = z[t]*k[t] + np.exp(b[t])"))[-1] == "z[t] = z[t - 1] * k[t] + exp(b[t])"
