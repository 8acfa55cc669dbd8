"""Edges of a tensor that are assigned beside the whole: the one statement that is offered builds and has both."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

VALUES = "inputs: {value: {shape: [..., T]}, last: {shape: [...]}}"
ROD = "inputs: {u: {shape: [N]}, left: {shape: []}, right: {shape: []}}"
PLATE = "inputs: {u: {shape: [H, W]}}"
STEP = "u[i] + 0.1 * (u[i + 1] - 2 * u[i] + u[i - 1])"


@pytest.mark.parametrize(
    ("fields", "statements", "line"),
    [
        (VALUES, ["v[..., T] = last[...]", "v[..., t] = value[..., t]"],
         "v[..., t < T + 1] = where(t < T, value[..., t], last[...])"),
        (VALUES, ["v[..., t] = value[..., t]", "v[..., T] = last"],
         "v[..., t < T + 1] = where(t < T, value[..., t], last)"),
        (VALUES, ["v[..., t < T] = value[..., t]", "v[..., T] = 0"],
         "v[..., t < T + 1] = where(t < T, value[..., t], 0)"),
        (VALUES, ["w[..., t] = 2*value[..., t]", "v[..., T] = last", "v[..., t] = w[..., t]"],
         "v[..., t < T + 1] = where(t < T, w[..., t], last)"),
        (ROD, ["v[0] = left", f"v[i] = {STEP}", "v[N - 1] = right"],
         f"v[i] = where(i == 0, left, where(i == N - 1, right, {STEP}))"),
        (ROD, ["v[0] = left", f"v[i] = {STEP}", "v[-1] = right"],
         f"v[i] = where(i == 0, left, where(i == N - 1, right, {STEP}))"),
        (ROD, [f"v[i] = {STEP}", "v[0] = left", "v[N - 1] = right"],
         f"v[i] = where(i == 0, left, where(i == N - 1, right, {STEP}))"),
        (ROD, ["v[0] = left", "v[N - 1] = right", "v[i] = (u[i + 1] - u[i - 1])/2"],
         "v[i < N] = where(i == 0, left, where(i == N - 1, right, (u[i + 1] - u[i - 1]) / 2))"),
        (ROD, ["v[0] = left*right", "v[i] = 2*u[i]"], "v[i] = where(i == 0, left * right, 2 * u[i])"),
        (ROD, ["v[i] = left*right*u[i]", "v[N - 1] = 0"], "v[i] = where(i == N - 1, 0, left * right * u[i])"),
        (ROD, ["v[0] = left*right", f"v[i] = {STEP}"],
         "v[i] = where(i == 0, left * right, u[i] + 0.1 * (pad(u[i + 1], 0) - 2 * u[i] + u[i - 1]))"),
        (PLATE, ["v[0, k] = 1", "v[i, j] = u[i, j] - u[i - 1, j]"],
         "v[i, j] = where(i == 0, 1, u[i, j] - u[i - 1, j])"),
        (PLATE, ["v[0, k] = 1", "v[i, 0] = 2", "v[i, j] = u[i, j]"],
         "v[i, j] = where(j == 0, 2, where(i == 0, 1, u[i, j]))"),
    ],
)  # fmt: skip
def test_edges_and_the_whole_are_one_statement(fields: str, statements: list[str], line: str) -> None:
    (found,) = diagnosed(whole(fields, *statements))
    assert found.code == "OPG217"
    assert [part for part in said(whole(fields, *statements)) if " = " in part] == [line]
    kept = [s for s in statements if not s.startswith("v[")]
    used = fields if "right" in line or fields is not ROD else fields.replace(", right: {shape: []}", "")
    built(whole(used, *kept, line))


@pytest.mark.parametrize(
    "statements",
    [
        ["h[-1] = left", "h[i] = right*h[i - 1] + u[i]"],
        ["h[N] = left", "h[i] = right*h[i + 1] + u[i]"],
        ["h[0] = left", "h[1] = right*sum[i](u[i])"],
    ],
)
def test_starts_and_components_stay_what_they_are(statements: list[str]) -> None:
    built(whole(f"{ROD}\noutputs: [h]", *statements))
