"""Means that are scattered, as messages say them."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole

FIELDS = """inputs:
  x: {shape: [U, D]}
  src: {shape: [E], dtype: int, domain: 0 <= src < U}
  dst: {shape: [E], dtype: int, domain: 0 <= dst < V}
params: {num_nodes: int}
dims: {V: num_nodes}
outputs: {out: {shape: SHAPE}}"""
GIVEN = {"x": [[1.0, 2.0], [3.0, 6.0], [5.0, 4.0]], "src": [0, 1, 2, 1], "dst": [1, 0, 1, 1]}


@pytest.mark.parametrize(
    ("line", "shape", "meant"),
    [
        ("out[dst[e], d] mean= x[src[e], d]", "[V, D]", [3.0, 6.0, 3.0, 4.0, 0.0, 0.0]),
        ("out[d, dst[e]] avg= 2*x[src[e], d]  # of all", "[D, V]", [6.0, 6.0, 0.0, 12.0, 8.0, 0.0]),
        ("out[dst[n]] mean= x[src[n], 1]", "[V]", [6.0, 4.0, 0.0]),
        ("out[dst[v]] mean= x[src[v], 0]", "[V]", [3.0, 3.0, 0.0]),
    ],
)
def test_a_mean_is_a_sum_by_a_count(line: str, shape: str, meant: list[float]) -> None:
    fields = FIELDS.replace("SHAPE", shape)
    lines = [s for s in said(whole(fields, line)) if "=" in s]
    assert len(lines) == 5
    program = built(whole(fields, *lines)).variants[0].program
    found = run(program, {k: array(v) for k, v in GIVEN.items()}, {"num_nodes": 3})["out"]
    assert list(found.data) == meant


@pytest.mark.parametrize(
    ("line", "shape", "meant"),
    [
        ("out[dst[e], d] mean= x[src[e], d]", "[U, D]", [3.0, 6.0, 3.0, 4.0, 0.0, 0.0]),
        ("out[..., dst[e]] mean= x[..., src[e]]", "[..., U]", [2.0, 4 / 3, 0.0]),
    ],
)
def test_without_a_shape_domains_and_reads_say_the_extents(line: str, shape: str, meant: list[float]) -> None:
    fields = FIELDS.replace("\noutputs: {out: {shape: SHAPE}}", "").replace("[U, D]", shape)
    lines = [s for s in said(whole(fields, line)) if "=" in s]
    assert len(lines) == 5
    program = built(whole(fields, *lines)).variants[0].program
    given = GIVEN if shape == "[U, D]" else GIVEN | {"x": [1.0, 2.0, 1.0]}
    found = run(program, {k: array(v) for k, v in given.items()}, {"num_nodes": 3})["out"]
    assert list(found.data) == meant


def test_without_a_domain_the_form_is_said() -> None:
    fields = FIELDS.replace("\noutputs: {out: {shape: SHAPE}}", "").replace(", domain: 0 <= dst < V", "")
    assert "n[…] += 1" in said(whole(fields.replace("\ndims: {V: num_nodes}", ""), "out[dst[e], d] mean= x[src[e], d]"))
