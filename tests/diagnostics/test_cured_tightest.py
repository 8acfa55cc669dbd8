"""An index that nothing bounds runs as far as all that a statement reads by it allows, and what is offered builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

FIELDS = "inputs: {x: {shape: [..., N]}}\nparams: {s: {type: int, default: 2, domain: s > 0}}"


@pytest.mark.parametrize(
    ("value", "end"),
    [
        ("x[..., 2*i] + x[..., 2*i + 1]", "N//2"),
        ("x[..., 2*i + 1] - x[..., 2*i]", "N//2"),
        ("x[..., 3*i] + x[..., 3*i + 2] + x[..., 3*i + 1]", "N//3"),
        ("max(x[..., 2*i], x[..., 2*i + 1])", "N//2"),
        ("x[..., 2*i] + x[..., 3*i]", "(N + 2)//3"),
        ("x[..., i + 1] + x[..., i + 3]", "N - 3"),
        ("sum[r < 3](x[..., 2*i + r]) + x[..., 2*i + 4]", "(N - 3)//2"),
        ("where(x[..., 2*i] > 0, x[..., 2*i], x[..., 2*i + 1])", "N//2"),
        ("where(s > 1, x[..., i + 1], x[..., i + 2])", "N - 2"),
        ("where(2*i + 1 < N, x[..., 2*i + 1], 0) + x[..., 2*i]", "(N + 1)//2"),
        ("where(i > 0, x[..., 2*i - 1], 0) + x[..., 2*i + 1]", "N//2"),
    ],
)
def test_the_shortest_of_all_that_is_read_says_where_an_index_ends(value: str, end: str) -> None:
    assert said(whole(FIELDS, f"y[..., i] = {value}")) == [f"i < {end}"]
    built(whole(FIELDS.split("\n", maxsplit=1)[0] if "s >" not in value else FIELDS, f"y[..., i < {end}] = {value}"))


def test_windows_end_before_the_last_element_that_they_read() -> None:
    value = "x[..., s*i] - x[..., s*i + 1]"
    assert said(whole(FIELDS, f"y[..., i] = {value}")) == ["i < I", "dims: {I: (N - 2)//s + 1}"]
    built(whole(f"{FIELDS}\ndims: {{I: (N - 2)//s + 1}}", f"y[..., i < I] = {value}"))


@pytest.mark.parametrize(
    ("value", "end"),
    [("x[..., 2*i - 1] + x[..., 2*i + 1]", "N//2"), ("x[..., 2*i - 1]", "(N + 2)//2")],
)
def test_thinned_places_from_before_the_start_end_with_the_tensor(value: str, end: str) -> None:
    assert said(whole(FIELDS, f"y[..., i] = {value}"))[-2:] == ["pad(x[..., 2*i - 1], 0)", f"i < {end}"]
    padded = value.replace("x[..., 2*i - 1]", "pad(x[..., 2*i - 1], 0)")
    built(whole(FIELDS.split("\n", maxsplit=1)[0], f"y[..., i < {end}] = {padded}"))
