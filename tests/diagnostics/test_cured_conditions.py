"""Conditions of sets and of whole statements, steps in place, numbers as sizes, first places: what is said builds."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

GRAPH = (
    "inputs: {x: {shape: [V, C]}, src: {shape: [E], dtype: int, domain: 0 <= src < V}, "
    "dst: {shape: [E], dtype: int, domain: 0 <= dst < V}}"
)
BAG = "inputs: {ids: {shape: [B, L], dtype: int, domain: 0 <= ids < V}, table: {shape: [V, D]}}"


def told(text: str) -> list[str]:
    """What the one message about a spec has between its signs for code."""
    (found,) = diagnosed(text)
    return re.findall(r"`([^`]*)`", " ".join(found.hints))


@pytest.mark.parametrize(
    ("reduction", "meant"),
    [
        ("sum[e: dst[e] == v](x[src[e], c])", "sum[e](where(dst[e] == v, x[src[e], c], 0))"),
        ("max[e: dst[e] == v](x[src[e], c])", "max[e](where(dst[e] == v, x[src[e], c], -inf))"),
        ("sum[e: dst[e] == v and src[e] != v](x[src[e], c])",
         "sum[e](where(dst[e] == v and src[e] != v, x[src[e], c], 0))"),
    ],
)  # fmt: skip
def test_a_condition_behind_the_colon_of_a_set_stands_in_the_body(reduction: str, meant: str) -> None:
    out = f"{GRAPH}\noutputs: {{y: {{shape: [V, C]}}}}"
    assert told(whole(out, f"y[v, c] = {reduction}"))[-1] == f"y[v, c] = {meant}"
    built(whole(out, f"y[v, c] = {meant}"))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("sum[l](table[ids[b, l], d]) if ids[b, l] != 0", "sum[l](where(ids[b, l] != 0, table[ids[b, l], d], 0))"),
        ("2*max[l](table[ids[b, l], d]) if ids[b, l] > 0", "2*max[l](where(ids[b, l] > 0, table[ids[b, l], d], -inf))"),
    ],
)
def test_a_condition_on_what_a_reduction_binds_stands_in_its_body(line: str, meant: str) -> None:
    assert told(whole(BAG, f"y[b, d] = {line}"))[-1].replace(" ", "") == f"y[b, d] = {meant}".replace(" ", "")
    built(whole(BAG, f"y[b, d] = {meant}"))


def test_all_that_steps_in_place_is_returned() -> None:
    text = "op: cured\ninputs: [pos, vel]\nforward: |\n  vel = vel - 0.1*pos\n  pos = pos + 0.1*vel\n"
    first, _ = diagnosed(text)
    assert first.hints[-1] == "what is read is no output by itself; to return it: `outputs: [vel2, pos2]`"
    built(
        "op: cured\ninputs: [pos, vel]\noutputs: [vel2, pos2]\n"
        "forward: |\n  vel2 = vel - 0.1*pos\n  pos2 = pos + 0.1*vel2\n"
    )


def test_a_float_that_is_a_size_and_a_step_is_told_once_where_it_is_declared() -> None:
    text = (
        "op: cured\ninputs: {x: {shape: [..., T]}}\nparams: {season: {type: float, default: 24}}\n"
        "dims: {P: T - season}\noutputs: {y: {shape: [..., P]}}\n"
        "forward: 'y[..., t] = x[..., t + season] - x[..., t]'\n"
    )
    assert told(text) == ["season: {…, type: int}"]
    built(text.replace("type: float", "type: int"))


@pytest.mark.parametrize("size", ["3", "k"])
def test_a_reduction_over_the_first_places_says_so(size: str) -> None:
    spec = (
        "params: {k: {type: int, default: 3}}\n"
        "inputs: {d: {shape: [M, N]}, order: {shape: [M, N], dtype: int, domain: 0 <= order < N}, f: {shape: [N, C]}}"
    )
    lines = f"w[m, i < {size}] = d[m, order[m, i]]\n  y[m, c] = sum[i](w[m, i]*f[order[m, i], c])"
    spec = spec if size == "k" else spec.partition("\n")[2]
    assert told(whole(spec, lines))[-1] == f"sum[i < {size}](…)"
    built(whole(spec, lines.replace("sum[i]", f"sum[i < {size}]")))


def test_a_square_that_is_read_at_one_position_may_be_meant_along_its_diagonal() -> None:
    fields = "inputs: {u: {shape: [B, D]}, v: {shape: [B, D]}}"
    scores = ("s[i, j] = sum[d](u[i, d]*v[j, d])", "p[i, j] = log_softmax[j](s[i, j])")
    assert told(whole(fields, *scores, "loss = -mean[i](p[i])")) == ["p[i, i]"]
    built(whole(fields, *scores, "loss = -mean[i](p[i, i])"))


BACKWARDS = "inputs: {x: {shape: [..., T]}, e: {shape: [T, 2]}}"


@pytest.mark.parametrize(
    ("start", "step", "meant"),
    [
        ("y[..., T - 1] = x[..., T - 1]", "y[..., t < T - 1] = y[..., t + 1]/2 + x[..., t]",
         "y[..., t < T] = where(t == T - 1, x[..., T - 1], y[..., t + 1] / 2 + x[..., t])"),
        ("y[T - 1] = argmax[k](e[T - 1, k])", "y[t < T - 1] = y[t + 1] + argmax[k](e[t, k])",
         "y[t < T] = where(t == T - 1, argmax[k](e[T - 1, k]), y[t + 1] + argmax[k](e[t, k]))"),
    ],
)  # fmt: skip
def test_a_last_element_that_only_starts_is_told_with_the_line_that_has_it(start: str, step: str, meant: str) -> None:
    (found,) = (w for w in diagnosed(whole(BACKWARDS, start, step)) if w.code == "OPG291")
    assert found.severity is Severity.WARNING
    assert re.findall(r"`([^`]*)`", found.hints[0]) == ["T", meant]
    built(whole(BACKWARDS, meant), warned=True)


@pytest.mark.parametrize(
    ("start", "step"),
    [
        ("y[..., T - 1] = 0", "y[..., t < T - 1] = y[..., t + 1] + x[..., t]"),
        ("y[..., T - 1] = x[..., 0]", "y[..., t < T - 1] = y[..., t + 1] + x[..., t]"),
        ("y[..., T - 1] = x[..., T - 1]", "y[..., t < T - 1] = y[..., t + 1] + x[..., t + 1]"),
        ("y[..., T] = x[..., T - 1]", "y[..., t < T] = y[..., t + 1] + x[..., t]"),
    ],
)
def test_what_starts_outside_of_what_is_read_is_not_told(start: str, step: str) -> None:
    fields = "inputs: {x: {shape: [..., T]}}"
    assert not [w for w in diagnosed(whole(fields, start, step)) if w.code == "OPG291"]
