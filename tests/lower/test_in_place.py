"""Results that overwrite an input: what fits, and what does not."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

FITTING = [
    ("x: {shape: [...]}, b: {shape: [...]}", "y = x*b"),
    ("x: {shape: [..., K]}, b: {shape: [K]}", "y[..., k] = x[..., k]*b[k]"),
    ("x: {shape: [N, 2]}", "y[n, m < 2] = x[n, 1 - m]"),
    ("x: {shape: [N]}", "y[n] = cumsum[n](x[n])"),
    ("x: {shape: [N]}", "y[n] = x[n] > 0"),
    ("x: {shape: [N], dtype: complex}", "y[n] = x[n]**2"),
]
OTHERS = [
    ("x: {shape: [N]}", "loss = mean[n](x[n])", "`loss` has the shape [] and cannot overwrite `x`"),
    ("x: {shape: [...]}", "loss = mean[...](x)", "`loss` has the shape [] and cannot overwrite `x`"),
    ("x: {shape: [N, K]}", "y[k, n] = x[n, k]", "`y` has the shape [K, N] and cannot overwrite `x`"),
    ("x: {shape: [N]}", "y[n, m < 2] = x[n]*m", "`y` has the shape [N, 2] and cannot overwrite `x`"),
    ("x: {shape: [..., N]}", "y[..., i < 2*N] = x[..., i//2]", "`y` has the shape [..., 2*N] and cannot overwrite `x`"),
    ("x: {shape: [N], dtype: int}", "y[n] = x[n]/2", "`y` is a float and cannot overwrite `x`, which is an integer"),
]


@pytest.mark.parametrize(("inputs", "line"), FITTING)
def test_a_result_that_fits_overwrites_an_input(inputs: str, line: str) -> None:
    assert built(whole(f"inputs: {{{inputs}}}\ninplace: x", line)).inplace == "x"


def test_sizes_that_are_the_same_number_fit() -> None:
    fields = "inputs: {x: {shape: [N]}}\ndims: {M: N - 1, K: M + 1}\ninplace: x"
    assert built(whole(fields, "y[k < K] = 2*x[k]")).inplace == "x"


@pytest.mark.parametrize(("inputs", "line", "message"), OTHERS)
def test_a_result_of_another_shape_or_kind_does_not(inputs: str, line: str, message: str) -> None:
    text = whole(f"inputs: {{{inputs}}}\ninplace: x", line)
    (found,) = diagnosed(text)
    assert (found.code, found.message) == ("OPG123", message)
    assert found.span is not None
    assert text[found.span.start - 9 : found.span.end] == "inplace: x"
    assert not diagnosed(text.replace("\ninplace: x", ""))


def test_a_result_has_to_fit_in_all_variants() -> None:
    fields = "inputs: {x: {shape: [...]}}\nparams: {reduction: {choices: [mean, none]}}\ninplace: x"
    (found,) = diagnosed(whole(fields, "y = reduction[...](x*x)"))
    assert found.message == "`y` has the shape [] and cannot overwrite `x`"


def test_several_results_overwrite_nothing() -> None:
    text = whole("inputs: {x: {shape: [N]}}\ninplace: x", "y[n] = 2*x[n]", "z[n] = 3*x[n]")
    (found,) = diagnosed(text)
    assert (found.code, found.message) == ("OPG123", "several results cannot overwrite `x`")
    assert not diagnosed(text.replace("\ninplace: x", ""))
