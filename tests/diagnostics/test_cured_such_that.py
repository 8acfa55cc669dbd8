"""Conditions in the brackets of a reduction, however they are set apart from its index: one message with the line."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

GRAPH = (
    "inputs: {x: {shape: [V, D]}, source: {shape: [E], dtype: int, domain: 0 <= source < V}, "
    "target: {shape: [E], dtype: int, domain: 0 <= target < V}}"
)
SQUARE = "inputs: {x: {shape: [N, N]}, m: {shape: [N], dtype: bool}}"


@pytest.mark.parametrize(
    "below",
    [
        "e | target[e] == v",
        "e|target[e] = v",
        "e; target[e] == v",
        "e, target[e] == v",
        "e, target[e] = v",
        "e, (target[e] == v)",
        "e such that target[e] == v",
        "e with target[e] == v",
        "e if target[e] = v",
        "target[e] == v",
    ],
)
@pytest.mark.parametrize(("name", "nothing"), [("max", "-inf"), ("sum", "0")])
def test_edges_of_a_node(below: str, name: str, nothing: str) -> None:
    written = f"y[v, d] = {name}[{below}](x[source[e], d] - x[v, d])"
    line = f"y[v, d] = {name}[e](where(target[e] == v, x[source[e], d] - x[v, d], {nothing}))"
    follow(whole(GRAPH, written), {written: line})


@pytest.mark.parametrize(
    ("reduction", "meant"),
    [
        ("sum[e | target[e] == v](x[source[e], d])", "sum[e](where(target[e] == v, x[source[e], d], 0))"),
        ("sum[target[e] == v](x[source[e], d])", "sum[e](where(target[e] == v, x[source[e], d], 0))"),
        ("sum[e < E | target[e] == v](x[source[e], d])", "sum[e < E](where(target[e] == v, x[source[e], d], 0))"),
        ("sum[e for e in range(E) if target[e] == v](x[source[e], d])",
         "sum[e < E](where(target[e] == v, x[source[e], d], 0))"),
        ("mean[e, target[e] == v](x[source[e], d])",
         "sum[e](where(target[e] == v, x[source[e], d], 0)) / max(count[e](target[e] == v), 1)"),
        ("any[e | target[e] == v](x[source[e], d] > 0)", "any[e](target[e] == v and x[source[e], d] > 0)"),
        ("sum[e | target[e] == v, source[e] != v](x[source[e], d])",
         "sum[e](where(target[e] == v and source[e] != v, x[source[e], d], 0))"),
        ("sum[e, target[e] == v, source[e] != v](x[source[e], d])",
         "sum[e](where(target[e] == v and source[e] != v, x[source[e], d], 0))"),
    ],
)  # fmt: skip
def test_a_node_that_only_a_condition_reads_has_its_extent(reduction: str, meant: str) -> None:
    written = f"y[v, d] = {reduction}"
    follow(whole(GRAPH, written), {written: f"y[v < V, d] = {meant}"})


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("y[i] = sum[j, m[j]](x[i, j])", "y[i] = sum[j](where(m[j], x[i, j], 0))"),
        ("y[i] = sum[j | m[j]](x[i, j])", "y[i] = sum[j](where(m[j], x[i, j], 0))"),
        ("y[i] = sum[j, not m[j]](x[i, j])", "y[i] = sum[j](where(not m[j], x[i, j], 0))"),
        ("y = sum[i, j | i != j](x[i, j])", "y = sum[i, j](where(i != j, x[i, j], 0))"),
        ("y[i] = sum[j | j < i](x[i, j])", "y[i] = sum[j](where(j < i, x[i, j], 0))"),
        ("y[i] = sum[j | j != i, j > 2](x[i, j])", "y[i] = sum[j](where(j != i and j > 2, x[i, j], 0))"),
        ("y[i] = max[x[i, j] > 0](x[i, j])", "y[i] = max[j](where(x[i, j] > 0, x[i, j], -inf))"),
        ("y[i] = sum[i <= j + 1](x[i, j])", "y[i] = sum[j](where(i <= j + 1, x[i, j], 0))"),
        ("y[i] = sum[j | x[i, j] > 0](x[i, j]) + sum[j | m[j]](x[j, i])",
         "y[i] = sum[j](where(x[i, j] > 0, x[i, j], 0)) + sum[j](where(m[j], x[j, i], 0))"),
    ],
)  # fmt: skip
def test_conditions_on_what_is_reduced(written: str, line: str) -> None:
    fields = SQUARE if "m[" in written else "inputs: {x: {shape: [N, N]}}"
    follow(whole(fields, written), {written: line})


def test_a_bar_between_positions_is_no_condition() -> None:
    found = diagnosed(whole("inputs: {x: {shape: [N]}}", "y[i] = sum[j](x[i | j]) + sum[j](x[j])"))
    assert "`|` is not an operator of the formula language" in {told.message for told in found}


@pytest.mark.parametrize(
    ("reduction", "meant"),
    [
        ("sum[u in N(v)](x[u, d])", "sum[e](where(dst[e] == v, x[src[e], d], 0))"),
        ("max[u in neighbors(v)](x[u, d] - x[v, d])", "max[e](where(dst[e] == v, x[src[e], d] - x[v, d], -inf))"),
        ("mean[u in N(v)](x[u, d])", "sum[e](where(dst[e] == v, x[src[e], d], 0))/max(count[e](dst[e] == v), 1)"),
    ],
)
def test_neighbours_are_edges(reduction: str, meant: str) -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [V, D]}}", f"y[v, d] = {reduction}"))
    line, declared, other = re.findall(r"`([^`]*)`", " ".join(found.hints))
    assert (line, other) == (meant, "dst")
    inputs = f"inputs: {{x: {{shape: [V, D]}}, {declared}, {declared.replace('src', 'dst')}}}"
    built(whole(inputs, f"y[v < V, d] = {line}"))
