"""Shapes of inputs in `tests`, under whatever name: the sizes of their dims are offered at once, and build."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [N, 3, H, W]}, w: {shape: [C]}}"
PLANE = whole(FIELDS, "y[n, h, v] = sum[k < 3](x[n, k, h, v])*sum[c](w[c])")
SIZES = "sizes: {N: 2, H: 8, W: 8}"


@pytest.mark.parametrize(
    ("tests", "line"),
    [
        ("shapes: {x: [2, 3, 8, 8]}", SIZES),
        ("shapes: [2, 3, 8, 8]", SIZES),
        ("input_shape: [2, 3, 8, 8]", SIZES),
        ("x: [2, 3, 8, 8]", SIZES),
        ("inputs: {x: {shape: [2, 3, 8, 8]}}", SIZES),
        ("arrays: {x: [2, 3, 8, 8]}", SIZES),
        ("shapes: {x: [2, 3, 8, 8], w: [4]}", "sizes: {N: 2, H: 8, W: 8, C: 4}"),
        ("shapes: [[2, 3, 8, 8], [4]]", "sizes: {N: 2, H: 8, W: 8, C: 4}"),
        ("x: [2, 3, 8, 8], w: [4]", "sizes: {N: 2, H: 8, W: 8, C: 4}"),
        ("shapes: {x: [2, 3, 8, 8], C: 5}", "sizes: {N: 2, H: 8, W: 8, C: 5}"),
        ("sizes: {C: 5}, shapes: {x: [2, 3, 8, 8]}", "sizes: {C: 5, N: 2, H: 8, W: 8}"),
    ],
)
def test_shapes_in_tests_are_sizes_of_their_dims(tests: str, line: str) -> None:
    (found,) = diagnosed(f"{PLANE}tests: {{{tests}}}\n")
    assert found.hints == (f"sizes are written by dims: `{line}`",)
    built(f"{PLANE}tests: {{{line}}}\n")


def test_shapes_alone_are_replaced_as_a_whole() -> None:
    (found,) = diagnosed(f"{PLANE}tests:\n  shapes: {{x: [2, 3, 8, 8]}}\n  tolerances: {{rtol: 1e-4}}\n")
    assert found.edit is not None
    assert (found.edit.span.text, found.edit.text) == ("shapes: {x: [2, 3, 8, 8]}", SIZES)


@pytest.mark.parametrize("field", ["shapes", "sizes"])
def test_batch_dims_have_no_sizes(field: str) -> None:
    (hint,) = diagnosed(f"{whole('inputs: [x]', 'y = 2*x')}tests: {{{field}: {{x: [2, 3]}}}}\n")[0].hints
    assert hint.startswith("leave it away: no dim of the inputs has a name")


def test_sizes_under_another_name_stay_so() -> None:
    assert said(f"{PLANE}tests: {{shapes: {{N: 2}}}}\n") == ["sizes"]
