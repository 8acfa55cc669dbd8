"""Limits that data state, `sum[e < ptr[r + 1] - ptr[r]](val[ptr[r] + e])`: an axis says how far the index runs."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

DATA = {
    "off": [0, 2, 5], "len": [2, 3, 0], "ptr": [0, 2, 5, 5], "x": [[1.0], [2.0], [4.0], [8.0], [16.0]],
    "v": [1.0, 2.0, 4.0, 8.0, 16.0], "ids": [4, 3, 2, 1, 0], "n": [1, 1, 1],
}  # fmt: skip
SHAPES = {"off": "[B]", "len": "[B]", "n": "[B]", "ptr": "[P]", "x": "[E, D]", "v": "[E]", "ids": "[E]"}


def fields(line: str) -> str:
    whole_numbers = ("off", "len", "n", "ptr", "ids")
    declared = ", ".join(
        f"{n}: {{shape: {s}{', dtype: int' if n in whole_numbers else ''}}}"
        for n, s in SHAPES.items()
        if f"{n}[" in line
    )
    stated = "\ndims: {R: P - 1}\noutputs: {y: {shape: [R]}}" if "ptr" in line else ""
    return f"inputs: {{{declared}}}{stated}"


@pytest.mark.parametrize(
    ("line", "meant", "value"),
    [
        (
            "y[r] = sum[e < ptr[r + 1] - ptr[r]](v[ptr[r] + e] * v[ids[ptr[r] + e]])",
            "y[r] = sum[e < E](where(e < ptr[r + 1] - ptr[r], v[ptr[r] + e] * v[ids[ptr[r] + e]], 0))",
            [32.0, 48.0, 0.0],
        ),
        (
            "y[r] = max[e < ptr[r + 1] - ptr[r]](v[e + ptr[r]])",
            "y[r] = max[e < E](where(e < ptr[r + 1] - ptr[r], v[e + ptr[r]], -inf))",
            [2.0, 16.0, float("-inf")],
        ),
        (
            "y[b, d] = sum[t < len[b]](x[off[b] + t, d])",
            "y[b, d] = sum[t < E](where(t < len[b], x[off[b] + t, d], 0))",
            [3.0, 28.0, 0.0],
        ),
        (
            "y[b] = mean[0 <= t <= len[b]](v[ids[off[b] + t]])",
            "y[b] = sum[t < E](where(0 <= t <= len[b], v[ids[off[b] + t]], 0))"
            " / count[t < E](0 <= t <= len[b])",
            None,
        ),
        (
            "y[b, d] = mean[t < n[b]](x[ids[len[b] + t], d])",
            "y[b, d] = sum[t < E](where(t < n[b], x[ids[len[b] + t], d], 0)) / count[t < E](t < n[b])",
            [4.0, 2.0, 16.0],
        ),
        (
            "y[b] = sum[t < n[b]](v[len[b] - t])",
            "y[b] = sum[t < E](where(t < n[b], v[len[b] - t], 0))",
            [4.0, 8.0, 1.0],
        ),
        (
            "y[b] = sum[t < len[b]](where(v[off[b] + t] > 2, v[off[b] + t], 0))",
            "y[b] = sum[t < E](where(t < len[b], where(v[off[b] + t] > 2, v[off[b] + t], 0), 0))",
            [0.0, 28.0, 0.0],
        ),
        (
            "y[b] = sum[t < len[b], d](x[off[b] + t, d])",
            "y[b] = sum[t < E, d](where(t < len[b], x[off[b] + t, d], 0))",
            [3.0, 28.0, 0.0],
        ),
        (
            "y[b] = sum[t < len[b], d < n[b]](x[off[b] + t, d])",
            "y[b] = sum[t < E, d](where(t < len[b] and d < n[b], x[off[b] + t, d], 0))",
            [3.0, 28.0, 0.0],
        ),
        (
            "y[b] = sum[t < len[b]](v[2*t])",
            "y[b] = sum[t < E](where(t < len[b], v[2 * t], 0))",
            [5.0, 21.0, 0.0],
        ),
        (
            "y = sum[b](sum[t < len[b]](v[off[b] + t]))",
            "y = sum[b](sum[t < E](where(t < len[b], v[off[b] + t], 0)))",
            [31.0],
        ),
    ],
)  # fmt: skip
def test_an_index_beside_an_offset_runs_as_far_as_the_axis(line: str, meant: str, value: list[float] | None) -> None:
    text = whole(fields(line), line)
    assert said(text) == [meant]
    program = built(text.replace(line, meant)).variants[0].program
    if value is not None:
        given = {name: array(DATA[name]) for name in SHAPES if f"{name}[" in line}
        assert list(run(program, given, {})["y"].data) == value


def test_a_limit_of_each_batch_element_is_one_too() -> None:
    inputs = "inputs: {x: {shape: [..., E]}, off: {shape: [...], dtype: int}, len: {shape: [...], dtype: int}}"
    for end, place in (("len[...]", "off[...]"), ("len", "off")):
        line = f"y[...] = sum[t < {end}](x[..., {place} + t])"
        (meant,) = said(whole(inputs, line))
        assert meant == f"y[...] = sum[t < E](where(t < {end}, x[..., {place} + t], 0))"
        built(whole(inputs, meant))


@pytest.mark.parametrize(
    ("line", "reduction"),
    [
        ("y[b] = sum[t < len[b]](exp(-t))", "sum[t < num_t](where(t < len[b], exp(-t), 0))"),
        ("y[b] = sum[t < len[b]](1)", "sum[t < num_t](where(t < len[b], 1, 0))"),
        (
            "y[b] = sum[t < len[b]](pad(v[off[b] + t], 0))",
            "sum[t < num_t](where(t < len[b], pad(v[off[b] + t], 0), 0))",
        ),
        (
            "y[b] = sum[t < len[b]](where(n[b] > 0, v[off[b] + t], 0))",
            "sum[t < num_t](where(t < len[b], where(n[b] > 0, v[off[b] + t], 0), 0))",
        ),
        (
            "y[b] = sum[2 <= t < len[b]](v[off[b] + t - 2])",
            "sum[t < num_t](where(2 <= t < len[b], v[off[b] + t - 2], 0))",
        ),
        (
            "y[b] = sum[off[b] <= t < len[b]](v[t - off[b]])",
            "sum[t < num_t](where(off[b] <= t < len[b], v[t - off[b]], 0))",
        ),
        ("y[e] = v[e]*sum[t < 2*e](exp(-t))", "sum[t < num_t](where(t < 2 * e, exp(-t), 0))"),
        ("y[e] = v[e]*sum[t <= e + 1](exp(-t))", "sum[t < num_t](where(t <= e + 1, exp(-t), 0))"),
    ],
)  # fmt: skip
def test_where_no_axis_says_how_far_the_message_asks(line: str, reduction: str) -> None:
    text = whole(fields(line), line)
    (found,) = diagnosed(text)
    assert (found.code, found.edit) == ("OPG246", None)
    assert said(text) == ["t", "params: {num_t: int}", reduction]
    head = line.partition("sum")[0]
    built(whole(f"{fields(line)}\nparams: {{num_t: int}}", f"{head}{reduction}"), warned=True)


@pytest.mark.parametrize(
    "line",
    ["y[b] = sum[t < len[b], t > 0](v[off[b] + t - 1])", "y[b] = sum[t < len[b], t != n[b]](v[off[b] + t])"],
)
def test_no_end_is_guessed_where_another_condition_moves_the_beginning(line: str) -> None:
    assert all("t < E" not in hint and "t < B" not in hint for hint in said(whole(fields(line), line)))


@pytest.mark.parametrize(("end", "left"), [("2*i", "i"), ("i//2", "i"), ("i", "i < E"), ("i + 1", "i < E")])
def test_a_multiple_of_an_index_does_not_say_how_far_it_runs_itself(end: str, left: str) -> None:
    (meant, *_) = (told for told in said(whole(fields("v[e]"), f"y[i] = sum[e < {end}](v[e])")) if "where(" in told)
    assert meant.startswith(f"y[{left}] = sum[e](where(e < ")
