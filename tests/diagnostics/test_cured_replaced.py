"""Calls of other libraries that count, move, multiply and replace: the lines that are said compute what these do."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

INPUTS = (
    "x: {shape: [N, K]}, z: {shape: [N]}, w: {shape: [K, M]}, a: {shape: [P, P]}, src: {shape: [E, K]},"
    " sx: {shape: [N, J]}, idx: {shape: [E], dtype: int}, ix: {shape: [N, J], dtype: int},"
    " lab: {shape: [N], dtype: int}"
)
FIELDS = f"inputs: {{{INPUTS}}}"
N, K, M, P, E, J = 4, 5, 2, 3, 2, 2
CLASSES = 4


def numbers() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    shapes = {"x": (N, K), "z": (N,), "w": (K, M), "a": (P, P), "src": (E, K), "sx": (N, J)}
    drawn = {n: torch.randn(*shape, dtype=torch.float64) for n, shape in shapes.items()}
    ids = {"idx": [3, 1], "ix": [[0, 4], [1, 2], [3, 0], [4, 2]], "lab": [0, 3, 1, 3]}
    return {**drawn, **{n: torch.tensor(v) for n, v in ids.items()}}


def followed(statement: str) -> list[torch.Tensor]:
    """What the lines compute that a message about a statement says to write, with all else that it says."""
    text = " ".join(hint for found in diagnosed(whole(FIELDS, statement)) for hint in found.hints)
    lines = re.findall(r"`(\w+(?:\[[^`=]*?\])? (?:|[+*]|max|min)= [^`]*)`", text)
    fields = FIELDS
    if "`params: {num_classes: int}`" in text:
        fields += "\nparams: {num_classes: int}"
    params = {"num_classes": CLASSES} if fields != FIELDS else {}
    (variant,) = built(whole(fields, *lines), warned=True).variants
    given = {n: array(v.tolist()) for n, v in numbers().items()}
    made = run(variant.program, given, params).values()
    return [torch.tensor(m.data, dtype=torch.float64).reshape(m.shape) for m in made]


def expected(formula: str) -> list[torch.Tensor]:
    names = {**numbers(), "torch": torch, "np": np, "inf": float("inf"), **vars(torch.nn.functional), **vars(torch)}
    made = eval(formula, names)
    return [torch.as_tensor(m, dtype=torch.float64) for m in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize(
    "formula",
    [
        "x.index_fill(0, idx, 0)", "torch.index_fill(x, 1, idx, -1)", "x.index_copy(0, idx, src)",
        "x.scatter(1, ix, sx)", "z.scatter(0, idx, 1.5)", "torch.scatter(x, dim=-1, index=ix, src=sx)",
        "x.scatter(1, ix, 0)", "2*x.index_fill(0, idx, 0) + x",
        "x.scatter_reduce(1, ix, sx, 'sum')", "torch.scatter_reduce(x, 1, ix, sx, reduce='amax')",
        "x.scatter_reduce(1, ix, sx, 'prod', include_self=True)", "x.index_reduce(0, idx, src, 'amin')",
        "x.index_add(dim=0, index=idx, source=src)",
        "one_hot(lab)", "torch.nn.functional.one_hot(lab).float()", "one_hot(lab, -1)", "bincount(lab)",
        "bincount(lab, z)", "bincount(lab, weights=z, minlength=4)",
        "tensordot(x, w, 1)", "np.tensordot(x, w, axes=1)", "tensordot(x, x)", "tensordot(x, x, dims=([0], [0]))",
        "torch.tensordot(w, x, ([0], [1]))", "tensordot(x, x, dims=([0, 1], [0, 1]))",
        "np.tensordot(x, x, axes=(0, 0))",
        "matrix_power(a, 3)", "torch.linalg.matrix_power(a, 2)", "a.matrix_power(4)",
        "torch.linalg.multi_dot([src, w])",
        "cdist(x, src, p=1)", "torch.cdist(x, src, 1)", "cdist(x, src, p=inf)", "torch.cdist(x, src, p=3)",
        "np.nancumsum(x, axis=1)", "np.nancumsum(x, 0)", "np.nancumprod(x, 1)",
        "roll(x, 1)", "torch.roll(x, -7)", "x.roll(3)", "roll(a, 2)",
    ],
)  # fmt: skip
def test_a_call_gets_lines_that_compute_the_same(formula: str) -> None:
    torch.testing.assert_close(followed(f"o = {formula}"), expected(formula))


@pytest.mark.parametrize(
    "formula",
    ["torch.aminmax(z)", "torch.aminmax(x, dim=1)", "x.aminmax(dim=0)", "std_mean(x, 1)", "torch.std_mean(x)"],
)
def test_both_results_have_a_statement_each(formula: str) -> None:
    torch.testing.assert_close(followed(f"p, q = {formula}"), expected(formula))


def test_integers_of_a_known_end_need_no_param() -> None:
    fields = "inputs: {lab: {shape: [N], dtype: int, domain: 0 <= lab < C}, w: {shape: [C]}}"
    (found,) = diagnosed(whole(fields, "o = one_hot(lab)"))
    assert found.hints[-1] == "write `o[n, c < C] = where(c == lab[n], 1, 0)`"


def test_lists_of_positions_that_a_slice_parts_get_no_line() -> None:
    fields = "inputs: {v: {shape: [A, B, C, D]}, b: {shape: [E], dtype: int}, d: {shape: [E], dtype: int}}"
    hints = [hint for found in diagnosed(whole(fields, "o = v[:, b, :, d]")) for hint in found.hints]
    assert hints
    assert not [hint for hint in hints if hint.startswith("write `o")]


@pytest.mark.parametrize("formula", ["x.scatter(0, ix, sx)", "x.index_fill(0, ix, 0)", "tensordot(x, w, 2)"])
def test_no_line_is_said_where_sizes_differ(formula: str) -> None:
    hints = [hint for found in diagnosed(whole(FIELDS, f"o = {formula}")) for hint in found.hints]
    assert hints
    assert not [hint for hint in hints if hint.startswith("write `o")]


@pytest.mark.parametrize(
    "formula",
    [
        "x[:, idx]", "x[idx, :]", "2*x[:, idx] + 1", "x[:, idx].sum(1)", "x[:, ix]", "x[:, lab]", "exp(x[lab, 1:])",
        "x[lab, lab]",
    ],
)  # fmt: skip
def test_integers_beside_slices_are_positions(formula: str) -> None:
    torch.testing.assert_close(followed(f"o = {formula}"), expected(formula))
