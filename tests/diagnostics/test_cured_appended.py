"""One element joined to an axis, `cat([value, last])`: a choice of it and the others, in the names of the spec."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


@pytest.mark.parametrize(
    ("value", "last", "call", "line"),
    [
        ("[..., T]", "[...]", "cat([value, last])", "v[..., t < T + 1] = where(t < T, value[..., t], last)"),
        ("[..., T]", "[...]", "cat([last, value], -1)", "v[..., t < T + 1] = where(t < 1, last, value[..., t - 1])"),
        ("[..., T]", "[]", "cat([value, last])", "v[..., t < T + 1] = where(t < T, value[..., t], last)"),
        ("[T]", "[]", "concat((value, last))", "v[t < T + 1] = where(t < T, value[t], last)"),
        ("[T, B]", "[B]", "cat([value, last])", "v[t < T + 1, b] = where(t < T, value[t, b], last[b])"),
        ("[B, T]", "[B]", "cat([value, last[:, None]], 1)", "v[b, t < T + 1] = where(t < T, value[b, t], last[b])"),
        ("[B, T]", "[B]", "cat([value, last.unsqueeze(1)], dim=1)",
         "v[b, t < T + 1] = where(t < T, value[b, t], last[b])"),
        ("[..., T]", "[...]", "cat([value, last[..., None]], -1)",
         "v[..., t < T + 1] = where(t < T, value[..., t], last[...])"),
        ("[..., T]", "[...]", "cat([last.unsqueeze(-1), value], dim=-1)",
         "v[..., t < T + 1] = where(t < 1, last[...], value[..., t - 1])"),
        ("[..., T, D]", "[..., D]", "cat([last[..., None, :], value], dim=-2)",
         "v[..., t < T + 1, d] = where(t < 1, last[..., d], value[..., t - 1, d])"),
        ("[B, T, D]", "[B, D]", "cat([last[:, None], value], dim=1)",
         "v[b, t < T + 1, d] = where(t < 1, last[b, d], value[b, t - 1, d])"),
        ("[..., T]", "[...]", "value*last[..., None]", "v[..., t] = value[..., t] * last[...]"),
        ("[..., T, D]", "[..., T]", "value - last.unsqueeze(-1)", "v[..., t, d] = value[..., t, d] - last[..., t]"),
        ("[..., T]", "[..., 1]", "cat([value, last])",
         "v[..., i < T + 1] = where(i < T, value[..., i], last[..., i - T])"),
        ("[T]", "[]", "cat([last, value, last])",
         "v[t < T + 2] = where(t < 1, last, where(t < T + 1, value[t - 1], last))"),
    ],
)  # fmt: skip
def test_what_lacks_the_axis_is_one_element_of_it(value: str, last: str, call: str, line: str) -> None:
    fields = f"inputs: {{value: {{shape: {value}}}, last: {{shape: {last}}}}}"
    (found,) = diagnosed(whole(fields, f"v = {call}"))
    assert line in said(whole(fields, f"v = {call}")), found
    built(whole(fields, line))


@pytest.mark.parametrize(
    ("value", "last", "written"),
    [("[..., T]", "[...]", "value[..., None]*last"), ("[..., T, D]", "[..., D]", "value + last[..., None]"),
     ("[..., T, D]", "[..., D]", "cat([value, last[..., None]], dim=-1)")],
)  # fmt: skip
def test_no_line_for_batches_that_do_not_line_up(value: str, last: str, written: str) -> None:
    text = whole(f"inputs: {{value: {{shape: {value}}}, last: {{shape: {last}}}}}", f"v = {written}")
    assert not [line for line in said(text) if line.startswith("v")]


@pytest.mark.parametrize("call", ["cat([value, 0])", "cat([value, zeros(1)])"])
def test_a_number_is_one_element(call: str) -> None:
    fields, line = "inputs: {value: {shape: [T]}}", "v[t < T + 1] = where(t < T, value[t], 0)"
    assert said(whole(fields, f"v = {call}"))[-1:] == [line]
    built(whole(fields, line))


@pytest.mark.parametrize("call", ["cat([value, zeros(3)])", "foo([value, value])", "cat([value, other])"])
def test_a_list_is_no_function_that_is_missing(call: str) -> None:
    text = whole("inputs: {value: {shape: [T]}, other: {shape: [A, B]}}", f"v = {call}")
    assert not any("`[]`" in m for d in diagnosed(text) for m in (d.message, *d.hints))
