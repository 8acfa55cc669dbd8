"""An index with the name of a tensor that a recurrence assigns, further down as well: another letter."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, whole


@pytest.mark.parametrize(
    ("fields", "lines", "line"),
    [
        ("[T]", ["s[t] = 0.9*s[t - 1] + x[t]", "t[k] = 0.5*t[k - 1] + s[k]"], "s[i] = 0.9 * s[i - 1] + x[i]"),
        ("[T]", ["s[t] = 0.9*s[t - 1] + t*x[t]", "t[k] = 0.5*t[k - 1] + s[k]"], "s[i] = 0.9 * s[i - 1] + i * x[i]"),
        ("[T, D]", ["h[t, g] = h[t - 1, g] + x[t, g]", "g[t] = g[t - 1] + h[t, 0]"], "h[t, i] = h[t - 1, i] + x[t, i]"),
    ],
)
def test_it_is_an_index_with_the_name_of_a_tensor(fields: str, lines: list[str], line: str) -> None:
    given = f"inputs: {{x: {{shape: {fields}}}}}"
    (found,) = diagnosed(whole(given, *lines))
    assert found.code == "OPG207"
    assert found.edit is not None
    assert found.edit.text == line
    built(whole(given, line, *lines[1:]))


def test_an_extent_beside_it_is_no_condition() -> None:
    lines = ["p[t, c < 2] = p[t - 1, c] + x[t]", "c[t] = c[t - 1] + p[t, 0]"]
    (found,) = diagnosed(whole("inputs: {x: {shape: [T]}}", *lines))
    assert found.code == "OPG207"
