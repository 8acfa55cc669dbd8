"""Two statements whose guards are conditions on an index, each for what the other leaves: one, told once."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed, follow, whole

FIELDS = "inputs: {x: {shape: [..., T]}}\nparams: {alpha: float}"
STEP = "alpha * x[..., t] + (1 - alpha) * y[..., t - 1]"


@pytest.mark.parametrize(
    ("start", "rest"),
    [
        ("t == 0", "t > 0"),
        ("t == 0", "t >= 1"),
        ("t == 0", "t != 0"),
        ("t == 0", "0 < t"),
        ("0 == t", "t > 0"),
        ("t <= 0", "t > 0"),
        ("t <= 0", "t >= 1"),
        ("t < 1", "t > 0"),
        ("t < 2", "t > 1"),
    ],
)
def test_a_start_and_its_steps_are_one_statement(start: str, rest: str) -> None:
    line = f"y[..., t] = where({start}, x[..., t], {STEP})"
    first, second = f"y[..., t] = x[..., t] if {start}", f"y[..., t] = {STEP} if {rest}"
    written = f"{first}\n  {second}"
    follow(whole(FIELDS, written), {written: line})
    written = f"{second}\n  {first}"
    (found,) = diagnosed(whole(FIELDS, written))
    assert found.code == "OPG222"
    assert found.hints[0].startswith("write both as one: `y[..., t] = where(")


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        ("y[..., t] = x[..., t] if t == T - 1", "y[..., t] = 2 * x[..., t + 1] if t < T - 1",
         "y[..., t] = where(t == T - 1, x[..., t], 2 * x[..., t + 1])"),
        ("y[..., t] = x[..., t] if alpha == 0", "y[..., t] = alpha * x[..., t] if alpha != 0",
         "y[..., t] = where(alpha == 0, x[..., t], alpha * x[..., t])"),
    ],
)  # fmt: skip
def test_other_opposites(first: str, second: str, line: str) -> None:
    written = f"{first}\n  {second}"
    (found,) = diagnosed(whole(FIELDS, written))
    assert found.hints == (f"write both as one: `{line}`",)


@pytest.mark.parametrize(("first", "second"), [("t == 1", "t > 1"), ("t == 0", "t > 1"), ("t < 2", "t > 2")])
def test_guards_that_leave_places_out_are_no_one_statement(first: str, second: str) -> None:
    found = diagnosed(whole(FIELDS, f"y[..., t] = x[..., t] if {first}", f"y[..., t] = {STEP} if {second}"))
    assert not any("write both as one" in hint for told in found for hint in told.hints)
