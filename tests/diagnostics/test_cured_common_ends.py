"""An index along axes of which one ends before the others: the line that is offered ends there, and builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

LONGER = "inputs: {r: {shape: [..., T]}, value: {shape: [..., T]}, last: {shape: [...]}}"
APPENDED = "v[..., t < T + 1] = where(t < T, value[..., t], last[...])"
FIELDS = "inputs: {x: {shape: [N]}, w: {shape: [K]}}\nparams: {k: {type: int, domain: k > 0}}"


@pytest.mark.parametrize(
    ("before", "line", "meant"),
    [
        (APPENDED, "d[..., t] = r[..., t] + v[..., t + 1] - v[..., t]", "d[..., t < T]"),
        (APPENDED, "d[..., t] = v[..., t + 1] - v[..., t] + r[..., t]", "d[..., t < T]"),
        (APPENDED, "d[..., t] = v[..., t]*r[..., t]", "d[..., t < T]"),
        (APPENDED, "d[...] = sum[t](r[..., t]*v[..., t])", "d[...] = sum[t < T](r[..., t]*v[..., t])"),
    ],
)
def test_an_index_ends_with_the_shorter_axis(before: str, line: str, meant: str) -> None:
    meant = meant if "=" in meant else f"{meant} ={line.partition('=')[2]}"
    (told,) = said(whole(LONGER, before, line))[1:]
    assert told.replace(" ", "") == meant.replace(" ", "")
    built(whole(LONGER, before, told))


@pytest.mark.parametrize(
    ("before", "line", "end"),
    [
        ("d[i < N - 1] = x[i + 1] - x[i]", "y[i] = d[i]*x[i]", "N - 1"),
        ("d[i < N - 1] = x[i + 1] - x[i]", "y[i] = x[i + 1]*d[i] - x[i]", "N - 1"),
        ("d[i < N - 1] = x[i + 1] - x[i]", "y[i] = d[i + 1] - d[i] + x[i]", "N - 2"),
        ("d[i < N//2] = x[2*i + 1]\n  e[i < (N + 1)//2] = x[2*i]", "y[i] = d[i] - e[i]", "N//2"),
        ("d[i < N - K + 1] = sum[j](x[i + j]*w[j])", "y[i] = d[i] + x[i]", "N - K + 1"),
        ("d[i < N - k] = x[i + k] - x[i]", "y[i] = d[i]*x[i]", "N - k"),
    ],
)
def test_parts_of_an_axis_end_with_the_shortest(before: str, line: str, end: str) -> None:
    inputs, params = FIELDS.split("\n")
    fields = inputs if "w[" in before else inputs.replace(", w: {shape: [K]}", "")
    fields += f"\n{params}" if "k]" in before else ""
    (told,) = said(whole(fields, before, line))[1:]
    assert told == line.replace("y[i]", f"y[i < {end}]")
    built(whole(fields, before, told))


def test_axes_that_have_nothing_to_do_with_each_other_have_no_shorter_one() -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N]}, y: {shape: [M]}}", "z[i] = x[i] + y[i]"))
    assert found.hints == ("use two indices, or give the dims one name if they are always equal",)
