"""Corners of boxes, definitions after "where", and defaults that are nothing, as messages say them."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, said, whole

BOXES = "inputs: {box: {shape: [N, 4]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n] = box[n].x2 - box[n].x1", "y[n] = box[n, 2] - box[n, 0]"),
        ("y[n] = box[n].ymax - box[n].ymin", "y[n] = box[n, 3] - box[n, 1]"),
        ("y[n] = box[n].bottom", "y[n] = box[n, 3]"),
    ],
)
def test_corners_of_a_box_are_elements(line: str, meant: str) -> None:
    assert meant in said(whole(BOXES, line))
    built(whole(BOXES, meant))


def test_what_has_no_four_elements_is_no_box() -> None:
    assert not any("[n, " in s for s in said(whole("inputs: {p: {shape: [N, 3]}}", "y[n] = p[n].x2")))


def test_a_definition_after_where_is_a_statement() -> None:
    fields, line = "inputs: {x: {shape: [N, K]}}", "p[n, k] = softmax[k](x[n, k])"
    loss = "loss = -mean[n](sum[k](p[n, k]*log(p[n, k])))"
    (found,) = diagnosed(whole(fields, loss, f"where {line}"))
    assert found.hints == ("a definition is a statement of its own, above those that read it", f"write `{line}`")
    built(whole(fields, line, loss))


def test_a_default_of_nothing_beside_guards_is_null() -> None:
    fields = "inputs: {x: {shape: [N]}}\nparams: {w: {type: float, default: None}}"
    text = whole(fields, "y[n] = x[n]*w if given(w)", "y[n] = x[n] if not given(w)")
    follow(text, {"default: None": "default: null"})
