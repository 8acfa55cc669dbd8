"""Mistakes that can be read in two ways: what is said first is what was meant, and nothing else is edited."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

ROWS = "inputs: {x: {shape: [N, C]}, y: {shape: [N], dtype: int}}"
DEEP = "inputs: {x: {shape: [B, T, C]}, y: {shape: [B, T], dtype: int}}"


def proposed(text: str) -> list[str]:
    """The statements that messages propose, in order."""
    return [line for line in said(text) if re.match(r"\w+(\[[^=]*\])? = ", line)]


@pytest.mark.parametrize(
    ("fields", "line", "element", "rows"),
    [
        (ROWS, "z = -mean(log(x[y]))", "z = -mean[n](log(x[n, y[n]]))", "z = -mean[n, c](log(x[y[n], c]))"),
        (ROWS, "z = x[y]", "z[n] = x[n, y[n]]", "z[n, c] = x[y[n], c]"),
        (ROWS, "z = mean[n](x[y])", "z = mean[n](x[n, y[n]])", "z[c] = mean[n](x[y[n], c])"),
        (ROWS, "z = x - x[y]", "z[n, c] = x[n, c] - x[n, y[n]]", "z[n, c] = x[n, c] - x[y[n], c]"),
        (DEEP, "z = sum(x[y])", "z = sum[b, t](x[b, t, y[b, t]])", "z = sum[b, t, m, c](x[y[b, t], m, c])"),
    ],
)
def test_integers_over_an_axis_that_is_there_pick_along_the_other_one(
    fields: str, line: str, element: str, rows: str
) -> None:
    text = whole(fields, line)
    assert proposed(text) == [element, rows]
    assert [found.edit for found in diagnosed(text)] == [None]
    for meant in (element, rows):
        built(whole(fields, meant))


@pytest.mark.parametrize(
    ("end", "meant"), [("C", "z = mean[n](log(x[n, y[n]]))"), ("N", "z = mean[n, c](log(x[y[n], c]))")]
)
def test_the_domain_says_along_which_axis_integers_pick(end: str, meant: str) -> None:
    fields = f"inputs: {{x: {{shape: [N, C]}}, y: {{shape: [N], dtype: int, domain: 0 <= y < {end}}}}}"
    assert proposed(whole(fields, "z = mean(log(x[y]))")) == [meant]
    built(whole(fields, meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("z[n, c] = x[y]", "z[n, c] = x[y[n], c]"),
        ("z[c] = mean(x[y], dim=0)", "z[c] = mean[n](x[y[n], c])"),
        ("z[n] = x[y]", "z[n] = x[n, y[n]]"),
    ],
)
def test_the_indices_of_the_target_say_it(line: str, meant: str) -> None:
    assert proposed(whole(ROWS, line)) == [meant]


def test_rows_of_a_table_are_rows() -> None:
    fields = "inputs: {x: {shape: [V, D]}, y: {shape: [N], dtype: int}}"
    assert proposed(whole(fields, "z = x[y]")) == ["z[n, d] = x[y[n], d]"]


def test_an_element_at_integers_lacks_the_index_beside_them() -> None:
    (found,) = diagnosed(text := whole(ROWS, "z[n] = x[y[n]]"))
    assert found.edit is None
    assert said(text)[0] == "x[n, y[n]]"
    assert proposed(text) == ["z[n, c] = x[y[n], c]"]
    built(text.replace("x[y[n]]", "x[n, y[n]]"))


U = "inputs: {u: {shape: [..., N]}}\nparams: {dx: {type: float, default: 0.1}}\noutputs: {y: {shape: [..., N]}}"
GRID = "inputs: {u: {shape: [X, Y]}}"


@pytest.mark.parametrize(
    ("fields", "line", "inside"),
    [
        (U, "y[..., i] = (u[..., i+1] - u[..., i-1])/(2*dx)", "i >= 1 and i < N - 1"),
        (U, "y[..., i] = (u[..., i+1] - 2*u[..., i] + u[..., i-1])*dx", "i >= 1 and i < N - 1"),
        (U, "y[..., i] = (u[..., i+2] - u[..., i-1])*dx", "i >= 1 and i < N - 2"),
        (
            GRID,
            "y[i, j] = u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j]",
            "i >= 1 and i < X - 1 and j >= 1 and j < Y - 1",
        ),
        (GRID, "y[i, j] = u[i-1, j+1] - u[i, j]", "i >= 1 and j < Y - 1"),
        (GRID, "y[i, j] = s[i, j]*(u[i + 1, j] - u[i - 1, j])", "i >= 1 and i < X - 1"),
    ],
)
def test_neighbours_on_either_side_are_told_one_line_for_all(fields: str, line: str, inside: str) -> None:
    fields = fields.replace("[X, Y]}", "[X, Y]}, s: {shape: [X, Y]}") if "s[" in line else fields
    text = whole(fields, line)
    assert len(diagnosed(text)) == 1
    padded, chosen, ring = proposed(text)
    left, _, value = line.partition(" = ")
    assert chosen == f"{left} = where({inside}, {value}, 0)"
    assert "pad(" in padded
    assert "%" in ring
    for way in (padded, chosen, ring):
        built(whole(fields, way))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("where(i >= 1, u[i + 1] - u[i - 1], 0)", "where(i >= 1 and i < N - 1, u[i + 1] - u[i - 1], 0)"),
        ("where(i >= 1, u[i + 1], 0) + u[i]", "where(i >= 1 and i < N - 1, u[i + 1], 0) + u[i]"),
        ("where(i < N - 1, u[i - 1], 0) + u[i]", "where(i < N - 1 and i >= 1, u[i - 1], 0) + u[i]"),
        ("where(i == 0 or i > 0, u[i + 1], 0) + u[i]", "where((i == 0 or i > 0) and i < N - 1, u[i + 1], 0) + u[i]"),
        ("where(i == 0, u[0], u[i + 1]) + u[i]", ""),
    ],
)
def test_a_condition_that_does_not_concern_an_end_guards_no_read_there(value: str, meant: str) -> None:
    fields = "inputs: {u: {shape: [N]}}\noutputs: {y: {shape: [N]}}"
    (found,) = diagnosed(whole(fields, f"y[i] = {value}"))
    assert found.code == "OPG232"
    assert proposed(whole(fields, f"y[i] = {value}"))[:1] == ([f"y[i] = {meant}"] if meant else [])
    if meant:
        built(whole(fields, f"y[i] = {meant}"))


@pytest.mark.parametrize(
    "value",
    [
        "where(i >= 1, u[i - 1], 0) + u[i]",
        "where(i != N - 1, u[i + 1], 0) + u[i]",
        "where(i == 0, u[i], u[i - 1])",
        "where(m[i], u[i + 1], 0) + u[i]",
        "where(i >= 1 and m[i], u[i + 1], 0) + u[i]",
        "sum[j](where(j > i, u[j]*u[i + 1], 0)) + u[i]",
        "sum[j](where(j < i, u[j]*u[i - 1], 0)) + u[i]",
        "sum[j < N](where(j <= i, u[i - j], 0)) + u[i]",
        "where(i % 2 == 0, u[i + 1], u[i - 1]) + u[i]",
        "where(i == 0, u[i + 1] - u[i], where(i == N - 1, u[i] - u[i - 1], (u[i + 1] - u[i - 1])/2))",
        "where(i + 1 < N, u[i + 1], u[N - 1]) + u[i]",
        "where(i >= N - 1, u[i], u[i + 1])",
        "where(not (i == N - 1 or i == 0), u[i + 1], u[i])",
        "where(0 < i < N - 1, u[i - 1] + u[i + 1], 0) + u[i]",
        "where(i >= k, u[i + 1], 0) + u[i]",
    ],
)
def test_a_condition_that_may_concern_an_end_is_taken_at_its_word(value: str) -> None:
    fields = "inputs: {u: {shape: [N]}, m: {shape: [N], dtype: bool}}\nparams: {k: int}\noutputs: {y: {shape: [N]}}"
    bare = fields if "m[" in value else fields.replace(", m: {shape: [N], dtype: bool}", "")
    built(whole(bare if "k" in value else bare.replace("params: {k: int}\n", ""), f"y[i] = {value}"), warned=True)


X = "inputs: {x: {shape: [K]}}"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sum[k = 1:K](x[k]**2)", "sum[k](x[k]**2)"),
        ("sum[k=1..K](x[k])", "sum[k](x[k])"),
        ("sum[k=1,K](x[k])", "sum[k](x[k])"),
        ("sum[k in 1:K](x[k])", "sum[k](x[k])"),
        ("sum[k=2:K](abs(x[k] - x[k-1]))", "sum[k < K - 1](abs(x[k + 1] - x[k]))"),
        ("sum[k=2..K](abs(x[k] - x[k-1]))", "sum[k < K - 1](abs(x[k + 1] - x[k]))"),
        ("sum[k=1:K-1](x[k+1]*x[k])", "sum[k < K-1](x[k + 1]*x[k])"),
        ("sum[k=1:K](k*x[k])", "sum[k]((k + 1)*x[k])"),
        ("sum[k in range(1, K)](x[k])", "sum[k < K - 1](x[k + 1])"),
        ("sum[k in range(1, K)](k*x[k])", "sum[k < K - 1]((k + 1)*x[k + 1])"),
        ("sum[k=0:K](x[k])", "sum[k < K](x[k])"),
    ],
)
def test_a_range_up_to_the_dim_that_is_read_counts_from_1(written: str, meant: str) -> None:
    text = whole(X, f"y = {written}")
    assert meant in said(text)
    built(text.replace(written, meant))


def test_a_range_up_to_the_dim_of_its_coefficients_is_a_lag_elsewhere() -> None:
    fields = "inputs: {a: {shape: [P]}, x: {shape: [N]}}"
    text = whole(fields, "y[n] = sum[k=1:P](a[k]*pad(x[n - k], 0)) + x[n]")
    meant = "sum[k](a[k]*pad(x[n - (k + 1)], 0))"
    assert said(text) == [meant]
    built(text.replace("sum[k=1:P](a[k]*pad(x[n - k], 0))", meant))


def test_a_range_within_a_longer_axis_begins_behind_its_first_place() -> None:
    text = whole("inputs: {a: {shape: [Q]}}\ndims: {P: Q - 1}", "y = sum[k=1:P](a[k]**2)")
    assert said(text) == ["sum[k < P](a[(k + 1)]**2)"]
    built(text.replace("k=1:P", "k < P").replace("a[k]", "a[(k + 1)]"))


@pytest.mark.parametrize(
    ("shape", "line", "meant"),
    [
        ("[..., N]", "y = roll(x, 1) - x", "y[..., n] = x[..., (n - 1) % N] - x[..., n]"),
        ("[N]", "y[n] = roll(x[n], -1)", "y[n < N] = x[(n + 1) % N]"),
        ("[..., N]", "y = flip(x)", "y[..., n < N] = x[..., N - n - 1]"),
        ("[N]", "y[n] = flip(x)[n]", "y[n < N] = x[N - n - 1]"),
        ("[N]", "y[i] = roll(x, 2)[i]", "y[i < N] = x[(i - 2) % N]"),
    ],
)
def test_what_is_rolled_or_turned_round_is_read_where_it_was(shape: str, line: str, meant: str) -> None:
    fields = f"inputs: {{x: {{shape: {shape}}}}}"
    assert said(whole(fields, line))[0] == meant
    built(whole(fields, meant))


def test_a_roll_that_cannot_be_placed_is_told_which_way_it_goes() -> None:
    assert "x[(n - 1) % N]" in said(whole("inputs: {x: {shape: [N]}}", "y[n] = roll[n](x[n], 2)"))


SERIES = "inputs: {x: {shape: [T]}, h0: {shape: []}}\nparams: {g: {type: float, default: 0.9}}\noutputs: [h]"


@pytest.mark.parametrize(
    ("start", "step", "ways"),
    [
        ("h[T-1] = x[T-1]", "h[t] = x[t] + g*h[t+1]", ["h[T]"]),
        ("h[0] = x[0]", "h[t] = x[t] + g*h[t-1]", ["h[-1]"]),
        ("h[0] = x[0]", "h[t] = g*h[t-1] + (1 - g)*x[t]", ["h[-1] = x[0]"]),
        ("h[0] = x[0]", "h[t] = max(h[t-1], x[t])", []),
    ],
)
def test_a_start_that_is_an_element_is_told_what_comes_to_the_same(start: str, step: str, ways: list[str]) -> None:
    fields = SERIES.replace(", h0: {shape: []}", "")
    fields = fields if "g*" in step else fields.replace("params: {g: {type: float, default: 0.9}}\n", "")
    first, *others = said(text := whole(fields, start, step))
    assert others == ways
    built(text.replace(f"  {start}\n", "").replace(step, first))
    for way in others:
        built(text.replace(start, way) if "=" in way else text.replace(f"  {start}\n", ""))


def test_a_start_that_is_a_value_of_its_own_may_stand_in_front() -> None:
    assert "h[-1] = h0" in said(whole(SERIES, "h[0] = h0", "h[t] = x[t] + g*h[t-1]"))


def test_a_mask_that_is_added_is_told_what_a_softmax_leaves_out() -> None:
    fields = "inputs: {s: {shape: [L, L]}, v: {shape: [L, D]}}"
    line = "p[i, d] = sum[j](softmax[j](s[i, j] + triu(-inf, 1))*v[j, d])"
    assert "where(j <= i, x[i, j], -inf)" in said(whole(fields, line))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("inputs: {x: {shape: [..., T]}}\ndims: {P: (T - 1)/2 + 1}", "y[..., p < P] = x[..., p]"),
        ('inputs: {x: {shape: [..., T]}}\ndims: {P: "(T + 1)/(2)"}', "y[..., p < P] = pad(x[..., p], 0)"),
        ("inputs: {x: {shape: [..., T]}}", "y[..., p < (T - 1)/2] = x[..., p]"),
        ("inputs: {x: {shape: [..., T]}}", "y[..., p < T // 2] = x[..., (2*p)/1]"),
        ("inputs: {x: {shape: [..., T]}}", "y[..., p < T] = pad(x[..., 1 + (p + T/(2))], 0)"),
    ],
)
def test_a_quotient_is_replaced_with_the_brackets_at_its_ends(fields: str, line: str) -> None:
    text = whole(fields, line)
    (found,) = diagnosed(text)
    edit = found.edit
    assert edit is not None
    built(text[: edit.span.start] + edit.text + text[edit.span.end :])


def test_a_table_beside_costs_at_their_own_places_needs_other_starts_alone() -> None:
    table = ("d[i, 0] = i", "d[0, j] = j", "d[i, j] = min(min(d[i-1, j], d[i, j-1]) + 1, d[i-1, j-1] + c[i, j])")
    inputs, last = "inputs: {c: {shape: [N, M]}}\noutputs: [y]", "y = d[N - 1, M - 1]"
    assert said(whole(inputs, *table, last)) == ["d[i, -1] = i + 1", "d[-1, j] = j + 1"]
    built(whole(inputs, "d[i, -1] = i + 1", "d[-1, j] = j + 1", table[2], last))
