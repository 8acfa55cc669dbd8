"""Recurrences whose left side lacks an index, as messages write them: what is said builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [T, D]}, z: {shape: [D, T]}, u: {shape: [D, D]}, f: {shape: [D]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "h[t] = tanh(sum[k](u[j, k]*h[t - 1, k]) + x[t, j])",
            ["h[-1, j] = 0", "h[t, j] = tanh(sum[k](u[j, k] * h[t - 1, k]) + x[t, j])"],
        ),
        (
            "h[t] = tanh(sum[k](u[j, k]*h[k, t - 1]) + z[j, t])",
            ["h[j, -1] = 0", "h[j, t] = tanh(sum[k](u[j, k] * h[k, t - 1]) + z[j, t])"],
        ),
        ("h[t] = f[d]*h[t - 1] + x[t, d]", ["h[-1, d] = 0", "h[t, d] = f[d] * h[t - 1, d] + x[t, d]"]),
        ("h[t] = f[d]*h[t - 1] + z[d, t]", ["h[d, -1] = 0", "h[d, t] = f[d] * h[d, t - 1] + z[d, t]"]),
        (
            "h[t] = tanh((1 - f[d])*h[t - 1]) + x[t, d]",
            ["h[-1, d] = 0", "h[t, d] = tanh((1 - f[d]) * h[t - 1, d]) + x[t, d]"],
        ),
    ],
)
def test_the_lines_have_the_index_with_the_start(line: str, meant: list[str]) -> None:
    found = [s for s in said(whole(FIELDS, "h[-1] = 0", line)) if "=" in s]
    assert found == meant
    built(whole(_used(meant[1]), *meant))


def test_a_start_with_the_index_stays() -> None:
    (found,) = diagnosed(whole(FIELDS, "h[-1, d] = 0", "h[t] = f[d]*h[t - 1] + x[t, d]"))
    assert found.hints == ("write `h[t, d] = f[d] * h[t - 1, d] + x[t, d]`", "or sum over it with `sum[d](…)`")


@pytest.mark.parametrize("line", ["h[t] = h[t - 1] + f[d]*x[t, d]", "h[t] = 0.5*h[t - 1] + sum[k](f[k]*u[k, d])"])
def test_an_index_that_stands_apart_from_the_step_before_is_summed_over(line: str) -> None:
    assert not any(s.startswith("h[t, d]") for s in said(whole(FIELDS, "h[-1] = 0", line)))


def _used(line: str) -> str:
    """The inputs that a line reads."""
    shapes = {"x": "[T, D]", "z": "[D, T]", "u": "[D, D]", "f": "[D]"}
    return f"inputs: {{{', '.join(f'{n}: {{shape: {s}}}' for n, s in shapes.items() if f'{n}[' in line)}}}"
