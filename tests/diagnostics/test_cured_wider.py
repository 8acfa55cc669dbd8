"""Statements over fewer dims than they read, and functions of rows: what is said is all that changes, and builds."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.repeats import gathered
from tests.diagnostics.cures import built, diagnosed, whole

GRID = """inputs:
  x: {shape: [B, T, D]}
  a: {shape: [T, D]}
  v: {shape: [S, D]}
  w: {shape: [K]}
  z: {shape: [..., T, D]}
params: {alpha: {type: float, default: 0.9}}"""


def lines(text: str) -> list[str]:
    """What the one message about a spec says to write, in order."""
    (found,) = diagnosed(text)
    return re.findall(r"`([^`]*)`", " ".join(found.hints))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "h[t] = alpha*h[t - 1] + (1 - alpha)*x[t]",
            "h[b, t, d] = alpha*h[b, t - 1, d] + (1 - alpha)*x[b, t, d]",
        ),
        ("h[t] = alpha*x[t]", "h[b, t, d] = alpha*x[b, t, d]"),
        ("h[t] = pad(x[t - 1], 0) - x[t]", "h[b, t, d] = pad(x[b, t - 1, d], 0) - x[b, t, d]"),
        ("h[t, k] = alpha*x[t]*w[k]", "h[b, t, d, k] = alpha*x[b, t, d]*w[k]"),
        ("h[t < T] = x[t] + a[t]", "h[b, t < T, d] = x[b, t, d] + a[t, d]"),
        ("h[t] = h[t-1]/2 + z[t]*a[t]", "h[..., t, d] = h[..., t-1, d]/2 + z[..., t, d]*a[t, d]"),
        ("h[t] = softmax[t](x[t])", "h[b, t, d] = softmax[t](x[b, t, d])"),
    ],
)
def test_the_indices_that_a_read_lacks_stand_left_too(line: str, meant: str) -> None:
    assert lines(whole(GRID, line) + "outputs: [h]\n") == [meant]
    built(whole(GRID, meant) + "outputs: [h]\n")


@pytest.mark.parametrize(
    "line", ["h[t] = sum[d](x[t, d])", "h = mean[t](x[t])", "h[q] = x[q]*w[k]", "h[t, s] = abs(a[t] - v[s])"]
)
def test_no_statement_is_proposed_where_others_are_as_likely(line: str) -> None:
    assert not any("h[" in said for found in diagnosed(whole(GRID, line)) for said in found.hints)


def test_what_is_read_beside_more_indices_may_have_fewer() -> None:
    found = diagnosed(whole(GRID, "c[t] = x[t]", "y[b, t, d] = x[b, t, d] - c[t]"))
    assert found[0].hints == ("write `x[b, t, d]`",)


ROWS = """inputs:
  x: {shape: [N, D]}
  y: {shape: [M, D]}
  z: {shape: [..., K, D]}
params: {gamma: {type: float, default: 1.0}}
functions:
  kernel(a, b): """


def in_place(text: str) -> str:
    """A spec with what its message says in place of its function, and of the statements that call it."""
    (hints,) = {found.hints for found in diagnosed(text)}
    first, *others = (re.findall(r"`([^`]*)`", hint) for hint in hints)
    text = re.sub(r"functions:\n.*\n", f"functions:\n  {first[0]}\n" if "): " in first[0] else "", text)
    for group in others:
        target = group[-1].partition(" = ")[0]
        wrong = next(line for line in text.splitlines() if line.strip().startswith(f"{target} = "))
        text = text.replace(wrong, "\n".join(f"  {line}" for line in group))
    return text


@pytest.mark.parametrize(
    ("formula", "statements", "meant"),
    [
        (
            "exp(-gamma*sum[d](square(a[d] - b[d])))",
            ["kxx = mean[i, j](kernel(x[i], x[j]))", "kxy = mean[i, j](kernel(x[i], y[j]))", "l = kxx - kxy"],
            ["kernel(r): exp(-gamma*r)", "r2[i, j] = sum[d](square(x[i, d] - y[j, d]))", "kernel(r2[i, j])"],
        ),
        ("sum[d](a[d]*b[d])", ["y2[..., i, j] = 2*kernel(z[..., i], x[j])"], ["y2[..., i, j] = 2*r[..., i, j]"]),
        (
            "sum[d](a[d]*b[d])*rsqrt(sum[d](a[d]*a[d])*sum[d](b[d]*b[d]))",
            ["c[i, j] = kernel(x[i], y[j]) + kernel(x[i], x[i])"],
            ["kernel(r, r2, r3): r*rsqrt(r2*r3)", "r2[i] = sum[d](x[i, d] * x[i, d])", "r3[j]"],
        ),
        ("b*max[d](b*a[d])", ["c[i] = kernel(x[i], gamma)"], ["kernel(r, b): b*r", "c[i] = kernel(r[i], gamma)"]),
    ],
)
def test_a_function_of_rows_is_one_of_what_reductions_make(
    formula: str, statements: list[str], meant: list[str]
) -> None:
    made = in_place(whole(ROWS + formula, *statements))
    assert all(line in made for line in meant), made
    built(made, warned=True)


@pytest.mark.parametrize("call", ["kernel(x[i + 1], y[i])", "kernel(2*x[i], y[i])", "kernel(x[d], y[d])"])
def test_no_statement_is_proposed_where_a_row_is_not_clear(call: str) -> None:
    (found,) = diagnosed(whole(f"{ROWS}2*sum[d](a[d]*b[d])", f"c[i < 2] = {call}"))
    assert found.hints == (
        "the arguments of a local function are numbers: write `kernel(r): 2*r`, and reduce in a statement",
    )


def test_a_function_that_has_a_row_beside_its_reductions_is_told_alone() -> None:
    (found,) = diagnosed(whole(f"{ROWS}a[0]*sum[d](a[d]*b[d])", "c[i] = kernel(x[i], x[i])"))[1:]
    assert found.hints == ("reduce in a statement and pass the result",)


STARTS = ["d[0, 0] = 0", "d[i, 0] = -gap*i", "d[0, j] = -gap*j"]
TABLE = "inputs: {score: {shape: [N, M]}, a: {shape: [N]}}\nparams: {gap: {type: float, default: 1.0}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("max(d[i - 1, j - 1] + score[i - 1, j - 1], d[i - 1, j], d[i, j - 1] - gap)", "score[i, j]"),
        ("d[i - 1, j - 1] + score[i-1, j-1]*a[i - 1] + gap*i", "score[i, j] * a[i] + gap * (i + 1)"),
    ],
)
def test_a_table_with_a_border_at_0_is_told_without_it(value: str, meant: str) -> None:
    line = f"d[i, j] = {value}"
    text = whole(TABLE, *STARTS, line, "best = d[N, M] - d[1, M]")
    told = lines(text)
    assert meant in told[3]
    assert told[-1] == "best = d[N - 1, M - 1] - d[0, M - 1]"
    built(whole(TABLE, *told))


@pytest.mark.parametrize(
    ("value", "best"),
    [
        ("d[i - 1, j - 1] + score[i, j]", "d[N, M]"),
        ("d[i - 1, j - 1] + score[i - 1, j - 1]", "d[0, M]"),
        ("d[i - 1, j - 1] + score[i - 1, j - 1]", "sum[i, j](d[i, j])"),
        ("d[i - 1, j - 1] + e[i - 1, j - 1]", "d[N, M]"),
    ],
)
def test_no_table_is_told_where_it_is_not_clear_what_counts_the_border(value: str, best: str) -> None:
    more = ["e[i, j] = score[i, j] + d[i, j]"] if "e[" in value else []
    for found in diagnosed(whole(TABLE, *STARTS, f"d[i, j] = {value}", *more, f"best = {best}")):
        assert not any("write `d[i, j]" in hint for hint in found.hints), found


GRAPHS = """inputs:
  x: {shape: [N, D]}
  batch: {shape: [N], dtype: int, domain: 0 <= batch < G}
params: {num_graphs: {type: int, domain: num_graphs > 0}, w: {type: float, default: 1.0}}
dims: {G: num_graphs}"""


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("size[g] = segment_sum(1, batch, G)", ["size[g < G] = 0", "size[batch[n]] += 1"]),
        ("size[g] = scatter_add(w, batch)", ["size[g < G] = 0", "size[batch[n]] += w"]),
        (
            "y[n, d] = x[n, d]/scatter_sum(1, batch)",
            ["total[g < G] = 0", "total[batch[n]] += 1", "y[n, d] = x[n, d] / total[batch[n]]"],
        ),
    ],
)
def test_a_number_is_added_up_in_groups_for_each_element(line: str, meant: list[str]) -> None:
    assert lines(whole(GRAPHS, line)) == meant
    built(whole(GRAPHS, *meant), warned=True)


def test_two_sums_in_groups_have_statements_of_their_own() -> None:
    calls = ["total[g, d] = segment_sum(x, batch, G)", "size[g] = segment_sum(1, batch, G)"]
    mean = "y[g, d] = total[g, d]/max(size[g], 1)"
    told = [re.findall(r"`([^`]*)`", found.hints[0]) for found in diagnosed(whole(GRAPHS, *calls, mean))]
    assert [line[0] for line in told] == ["total[g < G, d < D] = 0", "size[g < G] = 0"]
    built(whole(GRAPHS, *told[0], *told[1], mean))


def test_two_positions_that_are_swapped_are_told_once() -> None:
    fields = """inputs:
  dep: {shape: [..., T, D]}
  head: {shape: [..., T, H]}
  weight: {shape: [L, D, H]}"""
    line = "s[..., t, u, l] = sum[d, h](dep[..., t, d]*weight[l, h, d]*head[..., u, h])"
    assert lines(whole(fields, line)) == ["weight[l, d, h]"]
    built(whole(fields, line.replace("l, h, d", "l, d, h")))
    assert len(diagnosed(whole(fields, line, line.replace("s[", "r[")))) == 2  # one for each line


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("p[..., t] = softmax[d](z[..., t, d]/alpha)", "p[..., t, d] = softmax[d](z[..., t, d]/alpha)"),
        ("p = softmax[d](z[..., t, d])", "p[..., t, d] = softmax[d](z[..., t, d])"),
        ("p[b, d] = cumsum[t](x[b, t, d])*a[t, d]", "p[b, t, d] = cumsum[t](x[b, t, d])*a[t, d]"),
        ("p[b] = softmax[t, d](x[b, t, d])", "p[b, t, d] = softmax[t, d](x[b, t, d])"),
    ],
)
def test_an_index_that_is_kept_stands_left(line: str, meant: str) -> None:
    assert meant in lines(whole(GRID, line))
    built(whole(GRID, meant), warned=True)


@pytest.mark.parametrize(
    "line", ["p = mean[b, t](log_softmax[d](x[b, t, d]))", "p[b] = softmax[q](x[b, 0, d])", "p[b] = softmax[d](2)"]
)
def test_no_line_is_proposed_where_the_index_may_be_reduced(line: str) -> None:
    assert not any("`p" in hint for found in diagnosed(whole(GRID, line)) for hint in found.hints)


EDGES = """inputs:
  h: {shape: [V]}
  edge_index: {shape: [2, E], dtype: int64, domain: 0 <= edge_index < V}"""


def test_reads_of_one_tensor_that_lack_positions_are_told_together_and_edited_one_by_one() -> None:
    text = whole(EDGES, "raw[e] = h[edge_index[0]]*h[edge_index[1]]")
    (shown,) = gathered(diagnosed(text))
    assert shown.hints == ("write `edge_index[0, e]`",)
    assert shown.related[-1].text == "this too: write `edge_index[1, e]`"
    for edit in sorted((d.edit for d in diagnosed(text) if d.edit is not None), key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    built(text)


def test_a_read_that_gets_an_index_which_nothing_binds_is_not_edited() -> None:
    assert all(found.edit is None for found in diagnosed(whole(GRID, "h[t] = sum[d](x[t, d])")))


@pytest.mark.parametrize(
    ("dtype", "meant"), [("long", "int64"), ("torch.float32", "float32"), ("double", "float64"), ("boolean", "bool")]
)
def test_a_dtype_under_another_name_is_told_by_its_own(dtype: str, meant: str) -> None:
    (found,) = diagnosed(whole(f"inputs: {{x: {{shape: [N], dtype: {dtype}}}}}", "y[n] = x[n]"))
    assert (found.message, found.hints[0]) == (f"expected `{meant}`, found `{dtype}`", f"write `{meant}`")


@pytest.mark.parametrize("seed", ["", ", seed: {dtype: seed}"])
def test_a_draw_without_a_seed_is_told_with_the_extent_it_needs(seed: str) -> None:
    text = whole(
        f"inputs: {{x: {{shape: [..., K]}}{seed}}}", "u[..., k] = uniform()", "y[..., k] = x[..., k]*u[..., k]"
    )
    (found,) = diagnosed(text)
    assert found.hints[-1] == "it is written `uniform(seed)`: `u[..., k < K] = uniform(seed)`"
    text = text.replace("u[..., k] = uniform()", "u[..., k < K] = uniform(seed)")
    built(text.replace("[..., K]}}", "[..., K]}, seed: {dtype: seed}}") if not seed else text)
