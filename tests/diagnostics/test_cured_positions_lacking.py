"""Accesses with too few or too many positions, and others that are rewritten: what is said builds and means it."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


@pytest.mark.parametrize(
    ("inputs", "line", "meant"),
    [
        (
            "score: {shape: [B, H, L, L]}, m: {shape: [B, L, L], dtype: bool}",
            "p[b, h, i, j] = softmax[j](where(m[i, j], score[b, h, i, j], -inf))",
            "m[b, i, j]",
        ),
        (
            "q: {shape: [B, H, L, E]}, k: {shape: [B, H, L, E]}, m: {shape: [H, L, L]}",
            "s[b, h, i, j] = sum[e](q[b, h, i, e]*k[b, h, j, e]) + m[i, j]",
            "m[h, i, j]",
        ),
        ("x: {shape: [N, C, H, W]}, m: {shape: [C, H, W]}", "y[n, c, i, j] = x[n, c, i, j] + m[i, j]", "m[c, i, j]"),
        ("x: {shape: [N, C]}, m: {shape: [N, C]}", "y[n, c] = x[n, c]*m[c]", "m[n, c]"),
        ("x: {shape: [B, T, D], dtype: int}, m: {shape: [V, D]}", "y[b, t, d] = m[x[b, t, d]]", "m[x[b, t, d], d]"),
        ("x: {shape: [B, L, L]}, m: {shape: [L, L]}", "y[b, i, j] = x[b, i, j] + m[i]", "m[i, j]"),
        ("x: {shape: [T, B, D]}", "y[t, b, d] = 2*x[t, d]", "x[t, b, d]"),
        ("x: {shape: [B, T, D]}", "y[b, t < T, d] = pad(x[t - 1, d], 0)", "x[b, t - 1, d]"),
        ("x: {shape: [..., T, D]}", "y[..., t < T, d] = pad(x[t - 1, d], 0)", "x[..., t - 1, d]"),
        ("x: {shape: [..., T, D]}, m: {shape: [D]}", "y[..., t, d] = x[b, t]*m[d]", "x[..., t, d]"),
    ],
)
def test_a_missing_position_is_that_of_the_missing_dim(inputs: str, line: str, meant: str) -> None:
    text = whole(f"inputs: {{{inputs}}}", line)
    assert said(text) == [meant]
    (found,) = diagnosed(text)
    assert found.span is not None
    built(text.replace(found.span.text, meant))


def test_a_missing_position_in_a_scatter_is_that_of_the_missing_dim() -> None:
    inputs = "inputs: {ids: {shape: [L], dtype: int}, m: {shape: [B, L, L]}, s: {shape: [B, L, L]}}"
    text = whole(f"{inputs}\noutputs: {{y: {{shape: [B, L]}}}}", "y[b, ids[j]] += sum[i](m[i, j]*s[b, i, j])")
    built(text.replace("m[i, j]", "m[b, i, j]"))
    assert said(text) == ["m[b, i, j]"]


@pytest.mark.parametrize(
    ("inputs", "line", "told"),
    [
        ("x: {shape: [B, D]}", "y[i] = x[i]", ["B", "D"]),
        ("x: {shape: [N, N]}", "y[n] = x[n]", ["x[n, n]"]),
        ("x: {shape: [N]}", "y[i, j] = x[i, j]", ["N"]),
        ("x: {shape: [B, D]}", "y[b, t, d] = x[b, t - 1, d]", ["B", "D"]),
        ("x: {shape: [B, L, L]}, m: {shape: [B, L]}", "y[b, i, j] = x[b, i, j] + m[b]", ["m[b, i]", "m[b, j]"]),
    ],
)
def test_where_nothing_tells_the_dims_are_named_or_all_ways(inputs: str, line: str, told: list[str]) -> None:
    assert said(whole(f"inputs: {{{inputs}}}", line)) == told


def test_positions_stay_as_they_are_written() -> None:
    line = "y[b, t, d] = mu[d]*x[b, t, d] + (1 - mu[d])*pad(x[b, t - 1, d], 0)"
    text = whole("inputs: {x: {shape: [..., T, D]}, mu: {shape: [D]}}", line)
    assert said(text) == ["x[..., t, d]", "x[..., t - 1, d]"]
    shifted = text.replace("x[b, t, d]", "x[..., t, d]").replace("x[b, t - 1, d]", "x[..., t - 1, d]")
    built(shifted.replace("y[b, t, d]", "y[..., t, d]"))


def test_positions_stay_beside_dots_that_stand_for_named_dims() -> None:
    text = whole("inputs: {x: {shape: [B, T]}, w: {shape: [B]}}", "y[b, t < T] = w[b]*pad(x[..., t - 1], 0)")
    assert "x[b, t - 1]" in said(text)
    built(text.replace("...", "b"))


@pytest.mark.parametrize("shape", ["", "{shape: []}"])
def test_what_is_read_at_moved_positions_has_a_dim(shape: str) -> None:
    text = whole(f"inputs: {{x: {shape}}}", "y[t < 4] = x[t] - pad(x[t - 1], 0)")
    assert said(text) == ["x: {shape: [T]}"] * 2
    built(text.replace(f"{{x: {shape}}}", "{x: {shape: [T]}}").replace("t < 4", "t"))


WINDOW = (
    "inputs: {x: {shape: [..., T]}, m: {shape: [..., T], dtype: bool},"
    " k: {shape: [..., T], dtype: int}, h: {shape: [R]}}"
    "\nparams: {w: {type: int, default: 3, domain: w > 0}}"
)


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("max[r < w](x[..., t + r])", "pad(x[..., t + r], -inf)"),
        ("min[r < w](x[..., t + r])", "pad(x[..., t + r], inf)"),
        ("prod[r < w](x[..., t + r])", "pad(x[..., t + r], 1)"),
        ("logsumexp[r < w](x[..., t + r])", "pad(x[..., t + r], -inf)"),
        ("sum[r](h[r]*x[..., t + r])", "pad(x[..., t + r], 0)"),
        ("any[r < w](m[..., t + r])", "pad(m[..., t + r], false)"),
        ("all[r < w](m[..., t + r])", "pad(m[..., t + r], true)"),
        ("count[r < w](m[..., t + r])", "pad(m[..., t + r], false)"),
        ("argmax[r < w](x[..., t + r])", "pad(x[..., t + r], -inf)"),
        ("max[r < w](x[..., t + r] + w)", "pad(x[..., t + r], -inf)"),
        ("max[r < w](-x[..., t + r])", "max[r < w](where(t + r < T, -x[..., t + r], -inf))"),
        ("max[r < w](x[..., t + r - w])", "pad(x[..., t + r - w], -inf)"),
        ("any[r < w](x[..., t - r] > 0)", "any[r < w](where(t - r >= 0, x[..., t - r] > 0, false))"),
        ("sum[r](exp(h[r]*x[..., t + r]))", "sum[r](where(t + r < T, exp(h[r] * x[..., t + r]), 0))"),
        (
            "mean[r < w](x[..., t + r])",
            "sum[r < w](where(t + r < T, x[..., t + r], 0))/count[r < w](t + r < T)",
        ),
    ],
)
def test_what_is_outside_of_a_window_is_passed_over_by_the_reduction(body: str, meant: str) -> None:
    text = whole(WINDOW, f"y[..., t < T] = {body}")
    first, *more = said(text)
    assert first == meant
    access = re.search(r"\b[xm]\[[^\]]*\]", body)
    assert access is not None
    built(text.replace(access[0] if meant.startswith("pad(") else body, meant))
    for end in more:
        if end.startswith("t <"):
            built(text.replace("t < T", end))


@pytest.mark.parametrize(
    "body", ["var[r < w](x[..., t + r])", "median[r < w](x[..., t - r])", "max[r < w](k[..., t + r])"]
)
def test_no_value_is_proposed_where_none_is_passed_over(body: str) -> None:
    assert all(", 0)" not in line for line in said(whole(WINDOW, f"y[..., t < T] = {body}")))


def test_a_window_may_also_end_where_its_tensor_does() -> None:
    text = whole(WINDOW, "y[..., t < T] = max[r < w](x[..., t + r])")
    assert said(text)[1:] == ["t", "t < T + 1 - w"]
    built(text.replace("t < T", "t < T + 1 - w"))


def test_what_is_passed_over_is_said_where_an_extent_is_lacking_or_a_window_has_a_fixed_size() -> None:
    lacking = whole(WINDOW, "y[..., t] = max[r < 3](x[..., t - r])")
    assert said(lacking) == ["x", "pad(x[..., t - r], -inf)", "t < T"]
    fixed = whole(WINDOW, "y[..., t < T] = max[r < 3](x[..., t + r])")
    assert "pad(x[..., t + r], -inf)" in said(fixed)
    assert "t < T - 2" in said(fixed)


def test_how_far_a_recurrence_over_several_statements_runs_is_asked_once() -> None:
    fields = "inputs: {q: {shape: []}, r: {shape: []}, z: {shape: [..., T]}}\noutputs: [m, p]"
    gain = "k[..., t] = (p[..., t - 1] + q)/(p[..., t - 1] + q + r)"
    steps = ("m[..., t] = m[..., t - 1] + k[..., t]*z[..., t]", "p[..., t] = (1 - k[..., t])*(p[..., t - 1] + q)")
    text = whole(fields, gain, *steps)
    (found,) = diagnosed(text)
    assert found.hints == ("state its extent: `t < T`",)
    built(text.replace("k[..., t] = (p", "k[..., t < T] = (p"))


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (
            "where(t < T - 1, 1, 0)",
            ["at[b, t < T - 1] = seq[b, t] * 4 + seq[b, t + 1]", "y[b, at[b, t]] += where(t < T - 1, 1, 0)"],
        ),
        ("x[b, t]", []),
    ],
)
def test_no_extent_is_proposed_in_the_position_of_a_scatter(value: str, lines: list[str]) -> None:
    inputs = "inputs: {seq: {shape: [B, T], dtype: int, domain: 0 <= seq < 4}, x: {shape: [B, T]}}"
    fields = f"{inputs}\noutputs: {{y: {{shape: [B, 16]}}}}"
    text = whole(fields, f"y[b, seq[b, t]*4 + seq[b, t + 1]] += {value}")
    told = said(text)
    assert "t < T - 1" not in told
    assert [line for line in told if "=" in line] == lines
    if lines:
        built(whole(fields.replace(", x: {shape: [B, T]}", ""), *lines))


def test_a_divisor_of_an_index_is_how_many_share_an_element() -> None:
    inputs = "inputs: {q: {shape: [B, L, H, E]}, k: {shape: [B, S, M, E]}}"
    text = whole(inputs, "s[b, h, i, j] = sum[e](q[b, i, h, e]*k[b, j, h // G, e])")
    assert "dims: {G: H//M}" in said(text)
    assert "dims: {G: num_g}" in said(text)
    built(text.replace("forward:", "dims: {G: H//M}\nforward:"))
