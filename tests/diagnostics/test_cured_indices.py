"""Indices of textbooks and papers: neighbours, ranges, letters that stand twice; the first message is enough."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


def proposed(text: str) -> list[str]:
    """The whole statements that the messages about a spec say to write."""
    return [line for line in said(text) if re.match(r"\w+(\[[^=]*\])? = ", line)]


U = "inputs: {u: {shape: [..., N]}}"
PLANE = "inputs: {u: {shape: [N, M]}}"


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        (
            U,
            "d[..., i] = (u[..., i+1] - u[..., i-1])/2",
            [
                "d[..., i < N] = (pad(u[..., i+1], 0) - pad(u[..., i-1], 0))/2",
                "d[..., i < N] = where(i >= 1 and i < N - 1, (u[..., i+1] - u[..., i-1])/2, 0)",
                "d[..., i < N] = (u[..., (i+1) % N] - u[..., (i-1) % N])/2",
                "d[..., i < N - 2] = (u[..., i + 2] - u[..., i]) / 2",
            ],
        ),
        (
            PLANE,
            "d[i, j] = u[i + 1, j - 2] - u[i - 1, j + 1]",
            [
                "d[i < N, j < M] = pad(u[i + 1, j - 2], 0) - pad(u[i - 1, j + 1], 0)",
                "d[i < N, j < M] = where(i >= 1 and i < N - 1 and j >= 2 and j < M - 1,"
                " u[i + 1, j - 2] - u[i - 1, j + 1], 0)",
                "d[i < N, j < M] = u[(i + 1) % N, (j - 2) % M] - u[(i - 1) % N, (j + 1) % M]",
                "d[i < N - 2, j < M - 3] = u[i + 2, j] - u[i, j + 3]",
            ],
        ),
        (
            PLANE,
            "e[j] = mean[i](abs(u[i+1, j] - u[i-1, j]))",
            [
                "e[j] = mean[i < N - 2](abs(u[i + 2, j] - u[i, j]))",
                "e[j] = mean[i < N](abs(pad(u[i+1, j], 0) - pad(u[i-1, j], 0)))",
                "e[j] = mean[i < N](abs(u[(i+1) % N, j] - u[(i-1) % N, j]))",
            ],
        ),
    ],
)
def test_neighbours_without_the_element_between_them_are_told_all_ways_at_once(
    fields: str, line: str, meant: list[str]
) -> None:
    assert [found.code for found in diagnosed(whole(fields, line))] == ["OPG214"]
    assert proposed(whole(fields, line)) == meant
    for made in meant:
        built(whole(fields, made))


def test_neighbours_under_a_guard_keep_it_and_their_length() -> None:
    fields = f"{PLANE}\nparams: {{flag: {{type: bool}}}}"
    other = "d[i, j] = u[i, j] if not flag"
    told = proposed(whole(fields, "d[i, j] = u[i+1, j] - u[i-1, j] if flag", other))
    assert len(told) == 3
    for made in told:
        built(whole(fields, made, other))


MASK = "inputs: {s: {shape: [..., T, T]}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("softmax[j](s[..., i, j] + triu(-inf, 1))", "softmax[j](s[..., i, j] + where(j >= i + 1, -inf, 0))"),
        ("s[..., i, j] + triu(full((T, T), -inf), diagonal=1)", "s[..., i, j] + where(j >= i + 1, -inf, 0)"),
        (
            "s[..., i, j] + torch.triu(torch.full((T, T), float('-inf')), diagonal=1)",
            "s[..., i, j] + where(j >= i + 1, -inf, 0)",
        ),
        ("s[..., i, j] + triu(ones(T, T)*(-inf), 1)", "s[..., i, j] + where(j >= i + 1, 1 * -inf, 0)"),
        ("s[..., i, j]*tril(1)", "s[..., i, j] * where(j <= i, 1, 0)"),
        ("where(tril(ones(T, T)), s[..., i, j], -inf)", "where(j <= i, s[..., i, j], -inf)"),
        ("where(eye(T), s[..., i, j], 0)", "where(i == j, s[..., i, j], 0)"),
        ("s[..., i, j] + full_like(s, 0.5)", "s[..., i, j] + 0.5"),
    ],
)
def test_a_matrix_of_one_number_is_told_within_its_line(value: str, meant: str) -> None:
    text = whole(MASK, f"p[..., i, j] = {value}")
    assert proposed(text) == [f"p[..., i, j] = {meant}"]
    built(text.replace(value, meant))


def test_a_mask_within_a_sum_is_not_spelt_with_the_indices_of_the_target() -> None:
    """`[i, e]` are not those of the mask."""
    fields = "inputs: {s: {shape: [T, T]}, v: {shape: [T, E]}}"
    for mask in ("triu(-inf, 1)", "triu(full(T, T, -inf), 1)", "tril(ones(T, T))"):
        assert proposed(whole(fields, f"y[i, e] = sum[j](softmax[j](s[i, j] + {mask})*v[j, e])")) == []


X = "inputs: {x: {shape: [N, K]}}"
DECLARED = f"{X}\noutputs: {{g: {{shape: [K, K]}}}}"


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        (
            X,
            "g[k, k] = sum[n](x[n, k]*x[n, k])",
            [
                "g[k, j] = sum[n](x[n, k] * x[n, j])",
                "g[k, j < K] = where(k == j, sum[n](x[n, k] * x[n, k]), 0)",
            ],
        ),
        (
            DECLARED,
            "g[k, k] = sum[j](x[j, k]*x[j, k]) - sum[j](x[j, k])*sum[j](x[j, k])",
            [
                "g[k, l] = sum[j](x[j, k] * x[j, l]) - sum[j](x[j, k]) * sum[j](x[j, l])",
                "g[k, l] = where(k == l, sum[j](x[j, k] * x[j, k]) - sum[j](x[j, k]) * sum[j](x[j, k]), 0)",
            ],
        ),
        (X, "g[n, n] = sum[k]((x[n, k] - x[n, k])**2)", ["g[n, j] = sum[k]((x[n, k] - x[j, k])**2)"]),
        (
            "inputs: {x: {shape: [N, K]}, w: {shape: [K, M]}}",
            "g[n, n] = sum[k](x[n, k]*w[k, n])",
            ["g[n, j] = sum[k](x[n, k] * w[k, j])"],
        ),
        (
            "inputs: {x: {shape: [N, N]}}",
            "g[n, n] = x[n, n]",
            ["g[n, j] = x[n, j]", "g[n, j < N] = where(n == j, x[n, n], 0)"],
        ),
        (X, "g[k, k] = x[0, k]", ["g[k, j < K] = where(k == j, x[0, k], 0)"]),
        (X, "g[K, K] = sum[n](x[n, K]*x[n, K])", ["g[k, m] = sum[n](x[n, k] * x[n, m])"]),
        (DECLARED, "g[k] = sum[n](x[n, k]*x[n, k])", ["g[k, j] = sum[n](x[n, k] * x[n, j])"]),
        (DECLARED, "g = sum[n](x[n, k]*x[n, k])", ["g[k, j] = sum[n](x[n, k] * x[n, j])"]),
        (DECLARED, "g[k] = x[0, k]", []),
    ],
)
def test_rows_and_columns_over_one_dim_have_two_letters(fields: str, line: str, meant: list[str]) -> None:
    assert proposed(whole(fields, line)) == meant
    for made in meant:
        built(whole(fields, made))


STEP = "d[b, t] = r[b, t] + 0.9*v[b, t+1] - v[b, t]"
ENDED = "d[b, t < T] = r[b, t] + 0.9*v[b, t+1] - v[b, t]"


@pytest.mark.parametrize(
    ("inputs", "line", "cured", "dims", "meant"),
    [
        ('r: {shape: [B, T]}, v: {shape: [B, "T+1"]}', STEP, "r: {shape: [B, T]}, v: {shape: [B, R]}", "R: T+1", ENDED),
        ('r: {shape: [B, "T+1"]}, v: {shape: [B, "T+1"]}', STEP, "r: {shape: [B, R]}, v: {shape: [B, R]}",
         "T: R - 1", ENDED),
        ('v: {shape: ["T + 2", B]}', "y[b] = sum[t](v[t + 2, b]*v[t, b])", "v: {shape: [R, B]}", "T: R - 2",
         "y[b] = sum[t < T](v[t + 2, b]*v[t, b])"),
        ("r: {shape: [B, T]}, v: {shape: [B, T]}", STEP, "r: {shape: [B, T]}, v: {shape: [B, R]}", "R: T + 1", ENDED),
        ("r: {shape: [T]}, v: {shape: [T]}", "y = sum[t]((r[t] + v[t + 1] - v[t])**2)",
         "r: {shape: [T]}, v: {shape: [R]}", "R: T + 1", "y = sum[t < T]((r[t] + v[t + 1] - v[t])**2)"),
    ],
)  # fmt: skip
def test_a_step_more_is_told_with_the_end_of_the_index(
    inputs: str, line: str, cured: str, dims: str, meant: str
) -> None:
    told = said(whole(f"inputs: {{{inputs}}}", line))
    assert meant in told
    assert f"dims: {{{dims}}}" in told
    built(whole(f"inputs: {{{cured}}}\ndims: {{{dims}}}", meant))


def test_no_end_is_told_where_an_index_has_one_anyway() -> None:
    told = said(whole('inputs: {r: {shape: [T]}, v: {shape: ["T+1"]}}', "d[t] = r[t]*v[t + 1]"))
    assert told == ["T+1", "R", "dims: {R: T+1}"][1:]
    built(whole("inputs: {r: {shape: [T]}, v: {shape: [R]}}\ndims: {R: T+1}", "d[t] = r[t]*v[t + 1]"))


PQ = "inputs: {x: {shape: [P, Q]}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("sum[k=1:P, l=1:Q](x[k, l])", "sum[k, l](x[k, l])"),
        ("sum[k=0:P-1, l=0:Q-1](x[k, l]*l)", "sum[k < P, l < Q](x[k, l]*l)"),
        ("sum[k=1:P, l=1:Q](x[k, l]*k*l)", "sum[k, l](x[k, l]*(k + 1)*(l + 1))"),
        ("sum[k=1:P, l](x[k, l])", "sum[k, l](x[k, l])"),
        ("sum[k, l=2:Q](x[k, l])", "sum[k, l < Q - 1](x[k, l + 1])"),
        ("sum[k=1:P, l=1:k](x[k, l])", "sum[k, l](where(l <= k, x[k, l], 0))"),
        ("2*max[k=1:P](sum[l=1:Q](x[k, l])) + 1", "2*max[k](sum[l](x[k, l])) + 1"),
        ("sum[k=1:P](x[k, 0]) - mean[k=1:P](x[k, 1])", "sum[k](x[k, 0]) - mean[k](x[k, 1])"),
    ],
)
def test_several_ranges_are_told_as_one_line(value: str, meant: str) -> None:
    text = whole(PQ, f"y = {value}")
    assert proposed(text) == [f"y = {meant}"]
    built(text.replace(value, meant))


def test_a_range_over_one_of_two_dims_states_its_end() -> None:
    fields = "inputs: {x: {shape: [N, P]}, w: {shape: [Q]}}"
    value = "sum[k < P](x[n, k]*w[k])"
    assert value in said(whole(fields, "y[n] = sum[k=1:P](x[n, k]*w[k])"))
    built(whole(fields, f"y[n] = {value}"))


def test_a_range_beside_a_condition_is_not_guessed() -> None:
    assert proposed(whole(PQ, "y = sum[k=1:P, l=1:Q, k != l](x[k, l])")) == []
