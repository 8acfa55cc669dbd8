"""What statisticians bring from R, Stan and Julia, and from the board: what is said of it builds."""

from __future__ import annotations

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


STEPS = "inputs: {a: {shape: [K, K]}, x: {shape: [T, K]}, w: {shape: [T, M]}}\noutputs: [h]"


@pytest.mark.parametrize(
    ("line", "read", "meant"),
    [
        ("h[t, j] = x[t, j] + logsumexp[i](h[t - 1] + a[i, j])", "h[t - 1]", ["h[t - 1, i]", "h[t - 1, j]"]),
        ("h[t, i] = tanh(sum[j](a[i, j]*h[t - 1]) + x[t, i])", "h[t - 1]", ["h[t - 1, j]", "h[t - 1, i]"]),
        ("h[..., t, i] = x[t, i] + sum[j](a[i, j]*h[..., t - 1])", "h[..., t - 1]",
         ["h[..., t - 1, j]", "h[..., t - 1, i]"]),
        ("h[t, i] = x[t, i]*mean[k](h[t - 1])", "h[t - 1]", ["h[t - 1, k]"]),
        ("h[t, i] = x[t, i]*mean[i](h[t - 1])", "h[t - 1]", ["h[t - 1, i]"]),
        ("h[t, j] = x[t, j]*h[t - 1] + max[i](a[i, j])", "h[t - 1]", ["h[t - 1, j]"]),
        ("h[t, i] = x[t, i] + sum[m](w[t, m]*h[t - 1])", "h[t - 1]", ["h[t - 1, i]"]),
        ("h[t, i, j] = x[t, i] + sum[k](a[i, k]*h[t - 1, j])", "h[t - 1, j]", ["h[t - 1, k, j]", "h[t - 1, i, j]"]),
    ],
)  # fmt: skip
def test_a_read_of_the_step_before_lacks_an_index_that_is_reduced_over_or_one_of_its_own(
    line: str, read: str, meant: list[str]
) -> None:
    assert said(whole(STEPS, line)) == meant
    for one in meant:
        built(whole(STEPS, line.replace(read, one)))
