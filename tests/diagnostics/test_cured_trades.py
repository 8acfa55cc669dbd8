"""Numbers, cases and starts as other trades write them: what is proposed in their place builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

X = "inputs: {x: {shape: [N, D]}, w: {shape: [D]}}"
CASES = """\
op: degree_days
inputs: {low: {shape: [D]}, high: {shape: [D]}}
params: {base: {type: float, default: 10.0}}
forward: |
  total = sum[d](max((low[d] + high[d])/2 - base, 0))
tests:
"""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("4.1d-1", "4.1e-1"), ("1.5d0", "1.5e0"), ("1D3", "1e3"), ("2.d0", "2e0"), (".5d+2", ".5e+2"), ("4D2", "4e2")],
)
def test_an_exponent_of_fortran_is_one_with_e(typed: str, meant: str) -> None:
    text = whole(X, "s[n] = sum[d](w[d]*x[n, d])", f"y[n] = 2/{typed}*s[n] - 1")
    (found,) = diagnosed(text)
    assert found.message == f"`{typed}` is no number"
    assert found.edit is not None
    assert found.edit.text == meant
    built(text.replace(typed, meant))


def test_one_is_known_in_a_default_too() -> None:
    (found,) = diagnosed(whole(f"{X}\nparams: {{f: {{type: float, default: 1d-3}}}}", "y = f*sum[n, d](x[n, d])"))
    assert found.hints == ("write `1e-3`",)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("inputs: [x, d]", "y = x*2d-1"),
        ("inputs: [x]\nparams: {d: float}", "y = x*2d-1"),
        (X, "y[d] = w[d]*2d-1"),
        ("inputs: [x, d0]", "y = x*2d0"),
    ],
)
def test_a_name_of_the_spec_is_multiplied(fields: str, line: str) -> None:
    (found,) = diagnosed(whole(fields, line))
    assert found.message == "a name stands directly after the number `2`"


@pytest.mark.parametrize(
    ("cases", "meant"),
    [
        ("  cases: {low: [5.0, 12.0], high: [9.0, 24.0]}\n", "[{low: [5.0, 12.0], high: [9.0, 24.0]}]"),
        ("  cases:\n    low: [5.0, 12.0]\n    high:\n      - 9\n      - 24\n", "[{low: [5.0, 12.0], high: [9, 24]}]"),
        ("  cases: {a: {D: 3}, b: {base: 2, D: 1}}\n", "[{D: 3}, {base: 2, D: 1}]"),
    ],
)
def test_cases_without_a_list_are_put_in_one(cases: str, meant: str) -> None:
    text = CASES + cases
    (found,) = diagnosed(text)
    assert found.hints == (f"write `cases: {meant}`, one mapping for each case",)
    edit = found.edit
    assert edit is not None
    built(text[: edit.span.start] + edit.text + text[edit.span.end :])
    built(f"{CASES}  cases: {meant}\n")


def test_long_ones_begin_with_a_dash() -> None:
    (found,) = diagnosed(f"{CASES}  cases:\n    low: {[*range(40)]}\n    high: {[*range(40)]}\n")
    assert found.hints == ("each case begins with `- `, one mapping for each case",)


def test_a_start_is_read_where_it_was_read_by_its_other_name() -> None:
    fields = "inputs: {x: {shape: [..., T]}, a: {shape: [...]}}\noutputs: [h]"
    text = whole(fields, "h[..., -1] = a[...]", "h[..., t] = 0.2*x[..., t] + 0.8*a[...]")
    (found,) = diagnosed(text)
    (line,) = re.findall(r"did you mean `([^`]*)`", found.hints[0])
    assert line == "h[..., t] = 0.2*x[..., t] + 0.8*h[..., t - 1]"
    assert [r.span.text for r in found.related] == ["-1"]
    built(text.replace("h[..., t] = 0.2*x[..., t] + 0.8*a[...]", line))


@pytest.mark.parametrize(
    ("start", "line", "template"),
    [
        ("h[..., -1] = 0", "h[..., t] = x[..., t]", "h[..., t] = h[..., t - 1] + …"),
        ("h[..., -1] = 0", "y[..., t] = x[..., t]", "h[..., t] = h[..., t - 1] + …"),
    ],
)
def test_how_one_goes_on_has_all_of_its_positions(start: str, line: str, template: str) -> None:
    fields = f"inputs: {{x: {{shape: [..., T]}}}}\noutputs: [{line[0]}]"
    (found,) = diagnosed(whole(fields, start, line))
    assert found.hints[0] == f"it goes on with, say, `{template}`"
    goes_on = template.replace("…", "x[..., t]")
    built(whole("inputs: {x: {shape: [..., T]}}\noutputs: [h]", start, goes_on))


def test_what_is_only_moved_is_padded() -> None:
    moved = "y[..., t] = h[..., t] - h[..., t - 1]"
    lines = ("h[..., -1] = 0", "h[..., t] = 2*x[..., t]", moved)
    (found,) = diagnosed(whole("inputs: {x: {shape: [..., T]}}", *lines))
    assert found.hints[1] == "where nothing is to go on leave out the start, and read `pad(h[..., t - 1], 0)`"
    built(whole("inputs: {x: {shape: [..., T]}}", lines[1], moved.replace("h[..., t - 1]", "pad(h[..., t - 1], 0)")))
