"""`h = scan[t](…)` as other libraries have it: the recurrence that is offered builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

ROWS = "inputs: {x: {shape: [..., T]}}"
LINE = "h[..., t] = 0.9 * h[..., t - 1] + 0.1 * x[..., t]"


@pytest.mark.parametrize(
    ("fields", "statement", "line"),
    [
        (ROWS, "h = scan[t](0.9*h + 0.1*x[..., t])", LINE),
        (ROWS, "h = fold[t](0.9*h + 0.1*x[..., t])", LINE),
        (ROWS, "h[..., t] = scan[t](0.9*h + 0.1*x[..., t])", LINE),
        (ROWS, "h[..., t] = accumulate[t](0.9*h[..., t - 1] + 0.1*x[..., t])", LINE),
        (ROWS, "h = scan[t](max(h, x[..., t]))", "h[..., t] = max(h[..., t - 1], x[..., t])"),
        (
            "inputs: {x: {shape: [T, D]}, a: {shape: [D]}}", "h = scan[t](a[d]*h + x[t, d])",
            "h[t, d] = a[d] * h[t - 1, d] + x[t, d]",
        ),
        (
            "inputs: {x: {shape: [B, T]}, a: {shape: [B, T]}}", "h[b, t] = scan[t](a[b, t]*h + x[b, t])",
            "h[b, t] = a[b, t] * h[b, t - 1] + x[b, t]",
        ),
    ],
)  # fmt: skip
def test_a_scan_over_steps_is_a_recurrence(fields: str, statement: str, line: str) -> None:
    (found,) = diagnosed(whole(fields, statement))
    assert found.code == "OPG211"
    assert line in said(whole(fields, statement))
    built(whole(f"{fields}\noutputs: [h]", line))


def test_a_scan_that_does_not_go_on_is_told_what_does() -> None:
    assert "h[t] = a*h[t - 1] + x[t]" in said(whole(ROWS, "h = scan[t](0.1*x[..., t])"))
