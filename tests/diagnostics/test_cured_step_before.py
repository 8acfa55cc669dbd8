"""Recurrences in other notations of the step before, and recurrences that leave out an index of what they read."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed

SPEC = """op: decayed
inputs: {{x: {{shape: {shape}}}, r: {{shape: {of_r}}}}}
params: {{a: {{type: float}}}}
forward: |
  {line}
"""


def told(line: str, shape: str = "[T, D]", of_r: str = "[D]") -> list[str]:
    """The hints of the one message about a spec with this statement, less where more of it is explained."""
    (found,) = diagnosed(SPEC.format(line=line, shape=shape, of_r=of_r))
    return [str(h) for h in found.hints if not str(h).startswith("opgen explain")]


@pytest.mark.parametrize(
    "before", ["prev(h)", "previous(h)", "prev(h[t, d])", "h.prev", "h[prev]", "h[prev, d]", "h_prev"]
)
def test_the_step_before(before: str) -> None:
    assert told(f"h[t, d] = a*{before} + x[t, d]*r[d]") == ["the step before is `h[t - 1, d]`"]


@pytest.mark.parametrize("before", ["prev(h)", "h.prev", "h[prev]", "h_prev"])
def test_a_recurrence_goes_along_t_rather_than_along_samples(before: str) -> None:
    line = f"h[b, t] = a*{before} + x[b, t]*r[t]"
    assert told(line, "[B, T]", "[T]") == ["the step before is `h[b, t - 1]`"]


@pytest.mark.parametrize(
    ("line", "of_r", "meant"),
    [
        ("h[t] = a*h[t-1] + x[t]", "[]", "h[t, d] = a*h[t-1, d] + x[t, d]"),
        ("h[t] = r*h[t-1] + x[t]", "[D]", "h[t, d] = r[d]*h[t-1, d] + x[t, d]"),
        ("h[t] = r*h[t-1] + (1 - r)*x[t]", "[D]", "h[t, d] = r[d]*h[t-1, d] + (1 - r[d])*x[t, d]"),
        ("h[t] = r*h[t-1] + x[t]", "[T]", "h[t, d] = r[t]*h[t-1, d] + x[t, d]"),
        ("h[t] = r*h[t-1] + x[t]", "[T, D]", "h[t, d] = r[t, d]*h[t-1, d] + x[t, d]"),
        ("h[t] = r*x[t]", "[D]", "h[t, d] = r[d]*x[t, d]"),
    ],
)
def test_a_statement_that_lacks_an_index_beside_bare_tensors(line: str, of_r: str, meant: str) -> None:
    assert told(line, of_r=of_r) == [f"write `{meant}`"]
