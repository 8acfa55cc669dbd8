"""Recurrences, relaxations and padded reads as textbooks and arrays have them: with what is said, they are as meant."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from opgen.ir.operator import Operator
from tests.diagnostics.cures import built, diagnosed, follow, whole

P, T = 2, 4
VALUES = {n: torch.randn(P, T, generator=torch.Generator().manual_seed(k)) / 2 for k, n in enumerate("xz")}
VALUES["keep"] = torch.tensor([0.5, 0.25])
FIELDS = "inputs: {x: {shape: [P, T]}, keep: {shape: [P]}}\noutputs: [w]"


def computed(operator: Operator, **params: float) -> torch.Tensor:
    """The one result, on the values above."""
    (variant,) = operator.variants
    given = {t.name: array(VALUES[t.name].tolist()) for t in variant.program.inputs}
    (made,) = run(variant.program, given, params).values()
    return torch.tensor(made.data).reshape(made.shape).float()


def worn(start: torch.Tensor | float) -> torch.Tensor:
    """The elements of a recurrence from the second on."""
    w, steps = torch.zeros(P) + start, []
    for t in range(T):
        w = VALUES["keep"] * w + VALUES["x"][:, t]
        steps.append(w)
    return torch.stack(steps, 1)


@pytest.mark.parametrize(
    ("lines", "start"),
    [
        (["w[p, 0] = 0", "w[p, t + 1] = keep[p]*w[p, t] + x[p, t]"], 0.0),
        (["w[p, 0] = 2", "w[p, t + 1] = keep[p]*w[p, t] + x[p, t]"], 2.0),
        (["w[p, 0] = keep[p]", "w[p, t + 1] = keep[p]*w[p, t] + x[p, t]"], VALUES["keep"]),
        (["w[p, t + 1] = keep[p]*w[p, t] + x[p, t]", "w[p, 0] = 0"], 0.0),
    ],
)
def test_a_recurrence_that_is_written_to_the_next_element_is_told_once(
    lines: list[str], start: torch.Tensor | float
) -> None:
    (found,) = diagnosed(whole(FIELDS, *lines))
    first, body = (re.findall(r"`(w\[[^`]+ = [^`]+)`", h)[0] for h in found.hints[:2])
    torch.testing.assert_close(computed(built(whole(FIELDS, first, body))), worn(start))
    if "is left out" in found.hints[0]:
        torch.testing.assert_close(computed(built(whole(FIELDS, body))), worn(start))
    assert found.hints[2] == "what stood at `t + 1` stands at `t` then"


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ("w[p, t] = (w[p, t - 1] + w[p, t + 1] + x[p, t])*keep[p]", "p, t"),
        ("w[p, t < T] = (pad(w[p, t - 1], 0) + pad(w[p, t + 1], 0) + x[p, t])*keep[p]", "p, t < T"),
    ],
)
def test_a_relaxation_is_repeated_along_an_index_of_its_own(line: str, own: str) -> None:
    (found,) = diagnosed(whole(FIELDS, line))
    lines = re.findall(r"`(w[^`]+ = [^`]+)`", found.hints[0])
    assert lines[1] == f"w[{own}] = w2[steps - 1, p, t]"
    assert "with `params: {steps: {type: int, domain: steps >= 1}}`" in found.hints[0]
    fields = f"{FIELDS}\nparams: {{steps: {{type: int, domain: steps >= 1, default: 50}}}}"
    w = torch.zeros(P, T)
    for _ in range(50):
        around = torch.nn.functional.pad(w, (1, 1))
        w = (around[:, :-2] + around[:, 2:] + VALUES["x"]) * VALUES["keep"][:, None]
    torch.testing.assert_close(computed(built(whole(fields, *lines)), steps=50), w)


def test_a_recurrence_that_reads_ahead_may_mean_the_element_before() -> None:
    (found,) = diagnosed(whole(FIELDS, "w[p, t] = w[p, t-1] + x[p, t] - keep[p]*w[p, t+1]"))
    line = "w[p, t] = w[p, t-1] + x[p, t] - keep[p]*w[p, t-1]"
    assert found.hints[0] == f"a recurrence runs one way: for the element before in both places write `{line}`"
    assert "for as many steps as it takes to settle" in found.hints[1]
    built(whole(FIELDS, line))


@pytest.mark.parametrize(
    "lines",
    [
        ["w[p, -1] = 1", "w[p, t] = w[p, t - 1] + w[p, t + 1] + x[p, t]*keep[p]"],
        ["w[p, t] = w[p, t - 1] + w[p, t + 1] + keep[p]", "v[p, t] = x[p, t]"],  # how far `t` runs is not said
    ],
)
def test_one_that_may_be_something_else_is_not(lines: list[str]) -> None:
    assert not [h for d in diagnosed(whole(FIELDS, *lines)) for h in d.hints if "relaxation" in h]


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("w[p, t] = x[p, t] - pad(x, 0)[p, t - 1] + keep[p]", "w[p, t] = x[p, t] - pad(x[p, t - 1], 0) + keep[p]"),
        ("w[p, t] = pad(x[p, t], 0)[p, t - 1] + keep[p]", "w[p, t < T] = pad(x[p, t - 1], 0) + keep[p]"),
        ("w[p, t] = pad(x, -inf)[p, t + 1] + keep[p]", "w[p, t < T] = pad(x[p, t + 1], -inf) + keep[p]"),
        ("w[p, t] = exp(x)[p, t]*keep[p]", "w[p, t] = exp(x[p, t]) * keep[p]"),
        ("w[p, t] = clamp(x, 0, 1)[p, t]*keep[p]", "w[p, t] = clamp(x[p, t], 0, 1) * keep[p]"),
    ],
)
def test_positions_behind_a_call_stand_behind_its_tensor(written: str, line: str) -> None:
    follow(whole(FIELDS, written), {written: line})


@pytest.mark.parametrize(
    "value", ["pad(x, 1)[p, t - 1]", "pad(x, (1, 0))[p, t]", "max(x, x)[p, t]", "exp(x)[t]", "exp(x + keep)[p, t]"]
)
def test_one_that_is_not_certain_has_no_line(value: str) -> None:
    assert not [h for d in diagnosed(whole(FIELDS, f"w[p, t] = {value}*keep[p]")) for h in d.hints if "write `w" in h]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("inputs: {x: {shape: [N]}}\nparams: {cap: {type: float, default: None}}", "OPG205"),
        ("inputs: {x: {shape: [N]}}\nparams: {Cap: {type: float, default: 1, domain: 0 < Cap < 2}}", "OPG113"),
    ],
)
def test_what_only_follows_from_a_mistake_is_not_told(fields: str, code: str) -> None:
    is_missing = "None" in fields
    lines = ["y[n] = x[n] if not given(cap)", "y[n] = min(x[n], cap) if given(cap)"]
    (found,) = diagnosed(whole(fields, *(lines if is_missing else ["y[n] = min(x[n], Cap)"])))
    assert found.code == code
