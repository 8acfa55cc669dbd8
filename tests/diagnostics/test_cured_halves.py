"""Halves of a dim that positions reach with `/`, as messages write them: what is said builds."""

from __future__ import annotations

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [..., D]}}"
TURNED = "y[..., d] = where(d < D/2, -x[..., d + D/2], x[..., d - D/2])"


def test_the_quotient_and_the_extent_are_told_at_once() -> None:
    text = whole(FIELDS, TURNED)
    assert len(diagnosed(text)) == 1
    (line,) = (s for s in said(text) if s.startswith("y["))
    assert line.startswith("y[..., d < D] = where(")
    built(whole(FIELDS, line))


def test_a_stated_extent_leaves_the_quotients() -> None:
    text = whole(FIELDS, TURNED.replace("y[..., d]", "y[..., d < D]"))
    assert said(text) == ["/", "//", "d + D // 2", "/", "//", "d - D // 2"]
