"""Slices with whole numbers left of `=`: the lines that are offered build in place of them."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole


@pytest.mark.parametrize("value", ["-q[..., 1:4]", "r[..., :3]*q[..., 1:4]"])
def test_a_statement_for_each_component(value: str) -> None:
    fields = "inputs: {q: {shape: [..., 4]}, r: {shape: [..., 3]}}\noutputs: {y: {shape: [..., 4]}}"
    lines = said(whole(fields, "y[..., 0] = q[..., 0]*r[..., 0]", f"y[..., 1:4] = {value}"))
    assert [line.partition(" =")[0] for line in lines] == ["y[..., 1]", "y[..., 2]", "y[..., 3]"]
    built(whole(fields, "y[..., 0] = q[..., 0]*r[..., 0]", *lines))


def test_what_goes_on_from_the_first_is_one_statement() -> None:
    fields = "inputs: {x: {shape: [..., T]}}\nparams: {a: {type: float, default: 0.9}}"
    (line,) = said(whole(fields, "y[..., 0] = x[..., 0]", "y[..., 1:] = x[..., 1:] - a*x[..., :-1]"))
    assert line == "y[..., t] = where(t == 0, x[..., 0], x[..., t] - a*x[..., t - 1])"
    built(whole(fields, line))


@pytest.mark.parametrize("line", ["y[..., 1:] = x[..., 2:]", "y[..., 1:] = x[..., :]", "y[..., 1:4] = x[..., :2]"])
def test_slices_that_do_not_keep_step_have_no_such_line(line: str) -> None:
    text = whole("inputs: {x: {shape: [..., T]}}", "y[..., 0] = x[..., 0]", line)
    assert not any("where(t == 0" in told or "y[..., 1] =" in told for told in said(text))
