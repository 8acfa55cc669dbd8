"""Recurrences that go back by the index of a sum: the sum spelt out, with as many coefficients as it has."""

from __future__ import annotations

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole


def test_the_coefficients_of_a_sum_that_is_spelt_out_are_as_many() -> None:
    fields = "inputs: {x: {shape: [..., T]}, a: {shape: [P]}}"
    told = said(whole(fields, "y[..., t] = x[..., t] - sum[p](a[p]*y[..., t - p - 1])"))
    terms = "a[0] * y[..., t - 1] + a[1] * y[..., t - 2]"
    assert told[-2:] == [terms, "a: {shape: [2]}"]
    lines = ("y[..., -1] = 0", "y[..., -2] = 0", f"y[..., t] = x[..., t] - ({terms})")
    operator = built(whole(fields.replace("a: {shape: [P]}", told[-1]), *lines))
    x, a, y = [1.0, 2.0, -1.0, 3.0], [0.5, -0.25], [0.0, 0.0]
    for value in x:
        y.append(value - a[0] * y[-1] - a[1] * y[-2])
    assert run(operator.variants[0].program, {"x": array(x), "a": array(a)})["y"].data == y[2:]


def test_the_coefficients_are_read_where_they_stand() -> None:
    fields = "inputs: {x: {shape: [B, T, D]}, w: {shape: [D, P]}}"
    told = said(whole(fields, "y[b, t, d] = x[b, t, d] - sum[p](y[b, t - p - 1, d]*w[d, p])"))
    assert told[-2:] == ["y[b, t - 1, d] * w[d, 0] + y[b, t - 2, d] * w[d, 1]", "w: {shape: [D, 2]}"]
