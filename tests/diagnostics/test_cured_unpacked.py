"""Several results in one line are answered with all lines that build, those that read them further down included."""

from __future__ import annotations

import numpy as np
import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole

PARTS = [
    "a[..., d < D//2] = x[..., d]",
    "b[..., d < D//2] = x[..., d + D//2]",
    "y[..., d] = a[..., d] * sigmoid(b[..., d])",
]
NAMED = [part.replace("d", "m").replace("D", "B").replace("sigmoim", "sigmoid") for part in PARTS]


@pytest.mark.parametrize("call", ["chunk(x, 2)", "x.chunk(2, dim=-1)", "torch.chunk(x, 2, dim=-1)"])
@pytest.mark.parametrize(
    ("fields", "meant"),
    [
        ("inputs: {x: {shape: [..., D]}}", PARTS),
        ("inputs: [x]", ["inputs: {x: {shape: [..., B]}}", *NAMED]),
    ],
)
def test_what_reads_the_parts_is_told_with_them(call: str, fields: str, meant: list[str]) -> None:
    proposed = said(whole(fields, f"a, b = {call}", "y = a * sigmoid(b)"))
    assert proposed == ["x", *meant] if fields == "inputs: [x]" else proposed == meant
    declared, lines = (meant[0], meant[1:]) if fields == "inputs: [x]" else (fields, meant)
    built(whole(declared, *lines))


def test_parts_without_an_axis_are_of_the_last_one_or_of_the_first_one() -> None:
    fields = "inputs: {x: {shape: [N, D]}}"
    proposed = said(whole(fields, "a, b = chunk(x, 2)"))
    assert proposed == [
        *("a[n, d < D//2] = x[n, d]", "b[n, d < D//2] = x[n, d + D//2]", "chunk"),
        *("a[n < N//2, d] = x[n, d]", "b[n < N//2, d] = x[n + N//2, d]"),
    ]
    built(whole(fields, *proposed[3:]))


@pytest.mark.parametrize(
    ("call", "first"),
    [
        ("var_mean(x, dim=-1)", "var[d](x[..., d]) * D / (D - 1)"),
        ("torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)", "var[d](x[..., d])"),
        ("std_mean(x, dim=-1)", "sqrt(var[d](x[..., d]) * D / (D - 1))"),
    ],
)
def test_both_moments(call: str, first: str) -> None:
    fields = "inputs: {x: {shape: [..., D]}}"
    proposed = [p for p in said(whole(fields, f"v, m = {call}", "y = (x - m)/v")) if p != "var"]
    assert proposed == [f"v = {first}", "m = mean[d](x[..., d])", "y[..., d] = (x[..., d] - m) / v"]
    built(whole(fields, *proposed))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("a, b = x[..., h < H], x[..., h + H]", ["a[..., h < H] = x[..., h]", "b[..., h < H] = x[..., h + H]"]),
        ("a[..., h], b[..., h] = x[..., h < H], x[..., h]", ["a[..., h < H] = x[..., h]", "b[..., h < H] = x[..., h]"]),
        ("a, b = sum[h < H](x[..., h]), x[..., H]", ["a = sum[h < H](x[..., h])", "b = x[..., H]"]),
    ],
)  # fmt: skip
def test_how_far_an_index_runs_is_written_where_it_is_bound(line: str, meant: list[str]) -> None:
    fields = "dims: {H: W//2}\ninputs: {x: {shape: [..., W]}}"
    last = "y[..., h < H] = a[..., h] * b[..., h]" if "h <" in meant[0] and "sum" not in meant[0] else "y = a*b"
    assert said(whole(fields, line, last)) == meant
    program = built(whole(fields, *meant, last)).variants[0].program
    values = np.arange(6.0)
    made = run(program, {"x": array(values.tolist())})["y"]
    second = values[3:] if "h + H" in line else values[:3]
    expected = values[:3] * second if "h <" in last else values[:3].sum() * values[3]
    assert made.data == np.ravel(expected).tolist()
