"""Elements of an input that a statement replaces, as NumPy writes them: the result is a copy with others there."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = """inputs:
  c: {shape: [B, S]}
  new: {shape: [B]}
  pos: {shape: [B], dtype: int, domain: 0 <= pos < S}
params: {p: {type: int, default: 1, domain: 0 <= p < S}}"""
READ = "z[b] = new[b] * pos[b] * p"  # so that nothing is unused

CASES = [
    (["c[b, pos[b]] = new[b]"], "where(s == pos[b], new[b], c[b, s])", [[1.0, 2.0, 7.0], [8.0, 5.0, 6.0]]),
    (["c[b, p] = new[b]"], "where(s == p, new[b], c[b, s])", [[1.0, 7.0, 3.0], [4.0, 8.0, 6.0]]),
    (["c[b, 0] = 0"], "where(s == 0, 0, c[b, s])", [[0.0, 2.0, 3.0], [0.0, 5.0, 6.0]]),
    (["c[b, S - 1] = 2*c[b, 0]"], "where(s == S - 1, 2 * c[b, 0], c[b, s])", [[1.0, 2.0, 2.0], [4.0, 5.0, 8.0]]),
    (["c[b, p] = sum[s](c[b, s])"], "where(i == p, sum[s](c[b, s]), c[b, i])", [[1.0, 6.0, 3.0], [4.0, 15.0, 6.0]]),
    (
        ["c[b, 0] = 0", "c[b, p] = new[b]"],
        "where(s == p, new[b], where(s == 0, 0, c[b, s]))",
        [[0.0, 7.0, 3.0], [0.0, 8.0, 6.0]],
    ),
]


@pytest.mark.parametrize(("lines", "meant", "value"), CASES)
@pytest.mark.parametrize("listed", [False, True])
def test_it_is_a_choice_by_the_position(
    lines: list[str], meant: str, value: list[list[float]], *, listed: bool
) -> None:
    fields = f"{FIELDS}\noutputs: [c, z]" if listed else FIELDS
    text = whole(fields, *lines, READ)
    (found,) = diagnosed(text)
    assert found.code == "OPG236"
    line, *outputs = said(text)
    assert line.partition(" = ")[2] == meant
    assert outputs == (["outputs: [c_out, z]"] if listed else [])
    name = line.partition("[")[0]
    program = built(whole(f"{FIELDS}\noutputs: [{name}, z]", line, READ)).variants[0].program
    given = {"c": array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "new": array([7.0, 8.0]), "pos": array([2, 0])}
    assert list(run(program, given, {"p": 1})[name].data) == [v for row in value for v in row]


def test_what_reads_it_further_down_reads_the_result() -> None:
    text = whole(FIELDS, "c[b, pos[b]] = new[b]", "z[b] = sum[s](c[b, s]) * p")
    line, reader = said(text)
    assert line == "c2[b, s] = where(s == pos[b], new[b], c[b, s])"
    assert reader == "z[b] = sum[s](c2[b, s]) * p"
    built(whole(FIELDS, line, reader))


def test_several_elements_of_a_row_are_scattered_under_the_name_of_the_output() -> None:
    fields = "inputs:\n  c: {shape: [S]}\n  new: {shape: [T]}\n  at: {shape: [T], dtype: int, domain: 0 <= at < S}"
    first, then, outputs = said(whole(f"{fields}\noutputs: [c]", "c[at[t]] = new[t]"))
    assert (first, then) == ("c_out[s] = c[s]", "c_out[at[t]] += new[t] - c[at[t]]")
    built(whole(f"{fields}\n{outputs}", first, then))


def test_the_start_of_a_recurrence_is_no_element() -> None:
    text = whole("inputs: {h: {shape: [T]}, x: {shape: [T]}}", "h[-1] = 0", "h[t] = h[t - 1] + x[t]")
    assert all("where" not in line for line in said(text))
