"""Signs and words of other languages in statements of tensors with named dims: one message has the whole line."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = "inputs: {x: {shape: [N, K]}, y: {shape: [N, K]}, p: {shape: [N], dtype: bool}, q: {shape: [N], dtype: bool}}"


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("o = x is y", "o[n, k] = x[n, k] == y[n, k]"),
        ("o = x is not y", "o[n, k] = x[n, k] != y[n, k]"),
        ("o = x xor y", "o[n, k] = (x[n, k] != 0) != (y[n, k] != 0)"),
        ("o = p xor q", "o[n] = p[n] != q[n]"),
        ("o = exp x", "o[n, k] = exp(x[n, k])"),
        ("o = sin x + cos y", "o[n, k] = sin(x[n, k]) + cos(y[n, k])"),
        ("o = 50%*x", "o[n, k] = 50/100* x[n, k]"),
        ("o = 2.5% * x + y", "o[n, k] = 2.5/100* x[n, k] + y[n, k]"),
        ("o = 1,5*x", "o[n, k] = 1.5*x[n, k]"),
        ("o = x ** -1,5", "o[n, k] = x[n, k] ** -1.5"),
        ("o = x mod y", "o[n, k] = x[n, k] % y[n, k]"),
        ("o = x div y", "o[n, k] = x[n, k] // y[n, k]"),
    ],
)
def test_the_line_that_is_said_builds(statement: str, meant: str) -> None:
    (found,) = diagnosed(whole(FIELDS, statement))
    (line,) = re.findall(r"`(o[^`]* = [^`]*)`", " ".join(found.hints))
    assert line.replace("* x", "*x") == meant.replace("* x", "*x")
    built(whole(FIELDS, line), warned=True)


def test_a_line_at_indices_stays_as_it_is() -> None:
    (found,) = diagnosed(whole(FIELDS, "o[n, k] = exp x[n, k]"))
    assert "`o[n, k] = exp(x[n, k])`" in found.hints[0]
