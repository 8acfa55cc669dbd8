"""Entries that stand within another one, and extents that are tensors: told once, with the line that builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


@pytest.mark.parametrize(
    ("wrong", "meant", "line"),
    [
        ("inputs: {x: {shape: [..., N], w: {shape: [N]}}}", "inputs: {%s}", "y[..., n] = x[..., n]*w[n]"),
        ("inputs:\n  x:\n    shape: [..., N]\n    w:\n      shape: [N]", "inputs: {%s}", "y[..., n] = x[..., n]*w[n]"),
        (
            "inputs: {x: {shape: [N], w: {shape: [N]}, v: {shape: [N], dtype: int}}}",
            "inputs: {%s}",
            "y[n] = x[n]*w[n]*v[n]",
        ),
        (
            "inputs: [x]\nparams: {p: {type: float, default: 1, q: {type: int, default: 2}}}",
            "inputs: [x]\nparams: {%s}",
            "y = p*q*x",
        ),
    ],
)
def test_an_entry_within_another_one_is_told_with_all_of_them(wrong: str, meant: str, line: str) -> None:
    text = whole(wrong, line)
    assert {d.code for d in diagnosed(text)} == {"OPG110"}
    written = list(dict.fromkeys(part for part in said(text) if ": {" in part))
    assert len(written) == 1
    built(whole(meant % written[0], line))


@pytest.mark.parametrize("body", ["x[e, d]", "x[e, d]*x[e, 0]"])
def test_a_place_without_indices_leaves_open_which_indices_a_scatter_has(body: str) -> None:
    fields = "inputs: {x: {shape: [E, D]}, dst: {shape: [E], dtype: int}}\nparams: {n: int}\ndims: {N: n}"
    text = whole(f"{fields}\noutputs: {{y: {{shape: [N, D]}}}}", f"y[dst, d] += {body}")
    (found,) = diagnosed(text)
    assert (found.code, said(text)) == ("OPG242", ["dst[e]"])
    built(text.replace("y[dst,", "y[dst[e],"))


@pytest.mark.parametrize("line", ["y[n] = sum[r < w](x[n, r])", "y[n, r < w] = x[n, r]"])
def test_an_extent_that_is_a_tensor_is_told_the_dim_that_counts_it(line: str) -> None:
    text = whole("inputs: {x: {shape: [N, K]}, w: {shape: [K]}}", line)
    (found,) = diagnosed(text)
    assert (found.code, said(text)[-1]) == ("OPG226", "K")
    built(text.replace("r < w", "r < K"), warned=True)


def test_a_letter_that_is_nothing_may_be_a_number_or_an_index() -> None:
    text = whole("inputs: [x]\nparams: {p: float}", "y = x**q + p")
    (found,) = diagnosed(text)
    assert said(text)[0] == "params: {…, q: float}"
    assert len(found.hints) == 2
    built(text.replace("p: float", "p: float, q: float"))
