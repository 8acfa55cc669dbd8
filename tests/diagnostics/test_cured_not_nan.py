"""Reductions of other libraries that leave out `nan`: the line that is offered builds, in the names of the spec."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [..., T]}}"
SUM, COUNT = "sum[t](where(isnan(x[..., t]), 0, x[..., t]))", "count[t](not isnan(x[..., t]))"
VAR = f"sum[t](where(isnan(x[..., t]), 0, (x[..., t] - {SUM} / {COUNT})**2)) / {COUNT}"


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("nansum", SUM),
        ("nanmean", f"{SUM} / {COUNT}"),
        ("nanmax", "max[t](where(isnan(x[..., t]), -inf, x[..., t]))"),
        ("nanmin", "min[t](where(isnan(x[..., t]), inf, x[..., t]))"),
        ("nanprod", "prod[t](where(isnan(x[..., t]), 1, x[..., t]))"),
        ("nanargmax", "argmax[t](where(isnan(x[..., t]), -inf, x[..., t]))"),
        ("nanvar", VAR),
        ("nanstd", f"sqrt({VAR})"),
    ],
)
@pytest.mark.parametrize("call", ["{}[t](x[..., t])", "{}(x, dim=-1)", "torch.{}(x, -1)"])
def test_what_is_nan_is_left_out_by_a_choice(name: str, formula: str, call: str) -> None:
    text = whole(FIELDS, f"m[...] = {call.format(name)}")
    assert len(diagnosed(text)) == 1
    assert said(text)[-1] == f"m[...] = {formula}"
    built(whole(FIELDS, f"m[...] = {formula}"))


def test_the_reduction_stands_within_a_formula() -> None:
    text = whole(FIELDS, "y = x - nanmean(x, dim=-1, keepdim=True)")
    line = f"y[..., t] = x[..., t] - {SUM} / {COUNT}"
    assert said(text)[-1] == line
    built(whole(FIELDS, line))
