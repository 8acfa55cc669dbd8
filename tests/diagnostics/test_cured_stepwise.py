"""Values without an index that go on from themselves, `h = tanh(h + x[:, t])`, are recurrences along what is read."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

ROWS = "inputs: {x: {shape: [B, T]}, h0: {shape: [B]}, v: {shape: [B, T, D]}, v0: {shape: [B, D]}}"
LAST = "last_h[b] = h[b, T - 1]"


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (["h = tanh(h + x[:, t])"], ["h[b, t] = tanh(h[b, t - 1] + x[b, t])", LAST]),
        (["h = tanh(h + x[b, t])"], ["h[b, t] = tanh(h[b, t - 1] + x[b, t])", LAST]),
        (["h = 0", "h = tanh(h + x[:, t])"], ["h[b, t] = tanh(h[b, t - 1] + x[b, t])", "h = 0", LAST]),
        (["h = 0", "h = tanh(h + x[b, t])"], ["h[b, t] = tanh(h[b, t - 1] + x[b, t])", "h = 0", LAST]),
        (["h = 1", "h = h*x[b, t]"], ["h[b, -1] = 1", "h[b, t] = h[b, t - 1] * x[b, t]", LAST]),
        (["h = h0", "h = h*x[b, t]"], ["h[b, -1] = h0[b]", "h[b, t] = h[b, t - 1] * x[b, t]", LAST]),
        (
            ["h = v0", "h = tanh(h + v[:, t])"],
            [
                "h[b, -1, d] = v0[b, d]",
                "h[b, t, d] = tanh(h[b, t - 1, d] + v[b, t, d])",
                "last_h[b, d] = h[b, T - 1, d]",
            ],
        ),
    ],
)
def test_it_goes_on_along_the_index_that_is_written(lines: list[str], meant: list[str]) -> None:
    proposed = said(whole(ROWS, *lines))[1 if len(lines) > 1 and lines[0] not in ("h = 0", "h = 1") else 0 :]
    assert [part for part in proposed if " = " in part] == meant
    built(whole(ROWS, *(line for line in meant if line != "h = 0")), warned=True)


@pytest.mark.parametrize("line", ["h = tanh(h + x[i, j])", "h = h + x"])
def test_nothing_is_said_of_steps_where_no_index_is_certain(line: str) -> None:
    assert not any("step by step" in hint for found in diagnosed(whole(ROWS, line)) for hint in found.hints)
