"""Cases that a spec states under `tests`: each is a call as it was written, or it is told why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.package.sample_cases import sample_cases
from opgen.pipeline import Artefacts, SpecFile, Stage, run

LINEAR = """
op: linear
inputs: {input: {shape: [N, K]}, weight: {shape: [K]}, bias: {shape: [3]}}
forward: y[n] = sum[k](input[n, k]*weight[k]) + bias[0]
"""
GROUPS = """
op: groups_sum
inputs: {x: {shape: [N, C]}}
params: {groups: {type: int, default: 2, domain: groups >= 1}}
dims: {C: groups*S}
forward: y[n, g < groups] = sum[s < S](x[n, g*S + s])
"""
WINDOW = """
op: window
inputs: {x: {shape: [..., L]}, weight: {shape: [W]}}
params: {scale: {type: [int, int], default: 1, domain: scale >= 1}}
dims: {M: L - W + 1}
forward: y[..., m < M] = scale[0]*scale[1]*sum[w](x[..., m + w]*weight[w])
"""
ROWS = """
op: rows
inputs: {table: {shape: [V, D]}, ids: {shape: [...], dtype: int, domain: 0 <= ids < V}}
forward: y[..., d] = table[ids[...], d]
"""
PLACES = ROWS.replace(", domain: 0 <= ids < V", "")


def made(spec: str, tests: str, until: Stage = Stage.FILES) -> Artefacts:
    return run(SpecFile(Path("spec.yaml"), f"{spec}tests: {tests}\n".encode(), "spec.yaml"), until)


@pytest.mark.parametrize(
    ("spec", "case", "why"),
    [
        (GROUPS, "x: [[1, 2, 3]]", "`C = groups*S` must be a multiple of 2, and `C` is 3"),
        (GROUPS, "C: 5", "`C = groups*S` must be a multiple of 2, and `C` is 5"),
        (GROUPS, "groups: 3, C: 7", "`C = groups*S` must be a multiple of 3, and `C` is 7"),
        (GROUPS, "groups: 0", "`groups >= 1` must hold, and `groups` is 0"),
        (WINDOW, "x: [1, 2], weight: [1, 2, 3, 4]", "`M` is -1"),
        (WINDOW, "L: 4, W: 7", "`M` is -2"),
        (WINDOW, "scale: [2, 0]", "`scale >= 1` must hold, and `scale` is 0"),
        (ROWS, "table: [[1, 2]], ids: [0, 1]", "`0 <= ids < V` must hold, and `ids` is 1"),
        (PLACES, "V: 3, ids: [0, 5]", "index 5 is out of range for size 3"),
    ],
)
def test_a_case_that_is_no_call_is_told_at_its_line(spec: str, case: str, why: str) -> None:
    found = made(spec, f"{{cases: [{{{case}}}]}}")
    assert found.files
    (warning,) = found.diagnostics
    assert warning.code == "OPG402"
    assert warning.message.endswith(f"cannot be called so: {why}")
    assert warning.span is not None
    assert warning.span.text == case.partition(":")[0]


def test_where_sizes_that_were_tried_fail_for_several_reasons_none_is_told() -> None:
    (warning,) = made(PLACES, "{cases: [{ids: [100]}]}").diagnostics
    assert warning.message == "this case is left out, `rows` cannot be called so"


@pytest.mark.parametrize(
    ("spec", "tests"),
    [
        (WINDOW, "{sizes: {L: 3, W: 3}}"),
        (WINDOW, "{cases: [{L: 3, W: 3}]}"),
        (GROUPS, "{cases: [{C: 2, groups: 2}]}"),
    ],
)
def test_sizes_that_are_stated_are_those_of_the_call(spec: str, tests: str) -> None:
    found = made(spec, tests, Stage.DERIVED)
    assert found.operator is not None
    stated = [*found.operator.tests.sizes, *(s for c in found.operator.tests.cases for s in c.sizes)]
    case = sample_cases(found.operator, found.derived or ())[-1]
    assert {*stated} <= {*case.sizes}


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("input: [[1, 2, 3]], weight: [1, 2]", "`K` is 3 in `input`, and 2 here"),
        ("input: [[1, 2, 3]], K: 4", "`K` is 3 in `input`, and 4 here"),
        ("K: 4, input: [[1, 2, 3]]", "`K` is 4, and 3 here"),
        ("bias: [1, 2]", "`bias` has shape [3], and these values have 2 in the place of 3"),
    ],
)
def test_sizes_that_contradict_are_told_with_where_they_are_from(case: str, told: str) -> None:
    (error,) = made(LINEAR, f"{{cases: [{{{case}}}]}}").diagnostics
    assert (error.code, error.message) == ("OPG120", told)
