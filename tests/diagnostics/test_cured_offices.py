"""What spreadsheets, C and papers have: what is said of it builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

X = "inputs: {x: {shape: [N]}, w: {shape: [N]}, r: {shape: [N], dtype: int}}"
Z = "inputs: {z: {shape: [N], dtype: complex}, v: {shape: [N], dtype: complex}, x: {shape: [N]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n] = if(r[n] <> 1, x[n], w[n])", "y[n] = where(r[n] != 1, x[n], w[n])"),
        ("y[n] = where(r[n]<>1, x[n], w[n])", "y[n] = where(r[n] != 1, x[n], w[n])"),
        ("y = SUMPRODUCT(w, x)/SUM(w)", "y = sum[n](w[n] * x[n]) / sum[n](w[n])"),
        ("y[n] = MAX(x[n], w[n])", "y[n] = max(x[n], w[n])"),
        ("y[n] = x[n]*2.5f", "y[n] = x[n]*2.5"),
        ("y[n] = x[n]*(w[n] < 0 ? 1 : 2)", "y[n] = x[n] * where(w[n] < 0, 1, 2)"),
    ],
)
def test_what_spreadsheets_have_is_told_with_the_line(line: str, meant: str) -> None:
    (found,) = diagnosed(whole(X, line))
    assert any(f"`{said}`" in " ".join(found.hints) for said in (meant, "2.5"))
    built(whole(X, meant))


def test_an_imaginary_unit_is_told_beside_an_index() -> None:
    (found,) = diagnosed(whole(X, "y = sum[j](x[j]*exp(2j*pi*w[j]))"))
    assert re.findall(r"`([^`]*)`", " ".join(found.hints)) == ["complex(0, 2)", "2*j"]
    (found,) = diagnosed(whole(X, "y = sum[j](x[j]*(2j*pi*w[j]))"))
    assert re.findall(r"`([^`]*)`", " ".join(found.hints)) == ["2*j", "complex(0, 2)"]
    for unit in ("complex(0, 2)", "2*j"):
        built(whole(X, f"y = sum[j](x[j]*exp({unit}*pi*w[j]))"))


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("relu(z[n] - x[n])", "relu(abs(z[n]) - x[n])"),
        ("max(z[n]*v[n], x[n])", "max(real(z[n]*v[n]), x[n])"),
        ("floor(z[n] - v[n])", "floor(imag(z[n] - v[n]))"),
        ("max[i](-z[i])*x[n]", "max[i](-abs(z[i]))*x[n]"),
    ],
)
def test_a_part_of_what_is_complex_is_named(value: str, part: str) -> None:
    (found,) = diagnosed(whole(Z, f"y[n] = {value}"))
    lines = re.findall(r"`([^`]*)`", " ".join(found.hints))
    assert part.removesuffix("*x[n]") in lines
    for line in lines:
        built(whole(Z, f"y[n] = x[n] + {line}"))


def test_what_no_dim_counts_is_counted_by_a_param() -> None:
    line = "y[t] = sum[n](x[n]*sin(n*t))"
    params = "params: {length: {type: int, default: 64, domain: length >= 1}}"
    follow(whole(X, line), {"forward:": f"{params}\nforward:", "y[t": "y[t < length"})
    follow(whole(X, line), {"y[t": "y[t < N"})


def test_the_weight_of_a_given_class_is_read() -> None:
    fields = "inputs: {x: {shape: [..., N, K]}}\noutputs: [y]"
    weights = "p[..., n, k] = softmax[k](x[..., n, k])"
    (found,) = diagnosed(whole(fields, weights, "y[...] = -mean[n](log(sum[k](p[..., n, k])))"))
    line, declared = re.findall(r"`([^`]*)`", found.hints[0])[:2]
    assert declared == "target: {shape: [..., N], dtype: int}"
    built(whole(fields.replace("]}}", f"]}}, {declared}}}"), weights, line))
