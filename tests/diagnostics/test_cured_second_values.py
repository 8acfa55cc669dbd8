"""A state that is assigned again within a step, as NumPy does it: the last value keeps the name that is read back."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

X = "inputs: {x: {shape: [..., T]}, v0: {shape: [...]}}\nparams: {a: float, th: float}"
FIRST = "v[..., t] = a*v[..., t - 1] + x[..., t]"
SPIKES = "s[..., t] = where(v[..., t] > th, 1, 0)"


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (
            (FIRST, SPIKES, "v[..., t] = v[..., t]*(1 - s[..., t])"),
            (
                "v1[..., t] = a * v[..., t - 1] + x[..., t]",
                "s[..., t] = where(v1[..., t] > th, 1, 0)",
                "v[..., t] = v1[..., t] * (1 - s[..., t])",
            ),
        ),
        (
            (FIRST, "v[..., t] = min(v[..., t], th)", "y[..., t] = v[..., t]*2"),
            ("v1[..., t] = a * v[..., t - 1] + x[..., t]", "v[..., t] = min(v1[..., t], th)"),
        ),
        (
            (FIRST, "v[..., t] = v[..., t] - th*v[..., t - 1]", "v[..., t] = relu(v[..., t])"),
            (
                "v1[..., t] = a * v[..., t - 1] + x[..., t]",
                "v2[..., t] = v1[..., t] - th * v[..., t - 1]",
                "v[..., t] = relu(v2[..., t])",
            ),
        ),
        (
            (FIRST, "v[..., t] *= th"),
            ("v1[..., t] = a * v[..., t - 1] + x[..., t]", "v[..., t] = v1[..., t] * th"),
        ),
        (
            (FIRST, SPIKES, "v[..., t] += -th*s[..., t]"),
            (
                "v1[..., t] = a * v[..., t - 1] + x[..., t]",
                "s[..., t] = where(v1[..., t] > th, 1, 0)",
                "v[..., t] = v1[..., t] + -th * s[..., t]",
            ),
        ),
    ],
)
@pytest.mark.parametrize("start", [(), ("v[..., -1] = v0",)])
def test_the_last_value_of_a_step_keeps_the_name(
    start: tuple[str, ...], lines: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    (found,) = diagnosed(whole(X, *start, *lines))
    (hint,) = found.hints
    told, *said = re.findall(r"`([^`]*)`", hint)
    assert told == "v[..., t - 1]"
    assert tuple(said) == meant
    rest = [line for line in lines if line.startswith("y")]
    built(whole(X, *start, *meant, *rest), warned=True)


def test_a_value_that_nothing_reads_is_no_value_on_the_way() -> None:
    (found,) = diagnosed(whole(X, FIRST, "v[..., t] = 2*x[..., t]"))
    assert found.hints == ("give each its own name, or guards that exclude each other",)
