"""Elements that a mask picks, as NumPy and torch write it: the line that is said computes what these do."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = (
    "inputs: {x: {shape: [N, K]}, z: {shape: [N]}, r: {shape: [N], dtype: bool}, w: {shape: [N, K], dtype: bool},"
    " c: {shape: [K], dtype: bool}}"
)
N, K = 4, 3


def numbers() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    x, z = torch.randn(N, K, dtype=torch.float64), torch.randn(N, dtype=torch.float64)
    return {
        "x": x,
        "z": z,
        "r": torch.tensor([True, False, True, True]),
        "w": x < 0.3,
        "c": torch.tensor([True, False, True]),
    }


def followed(statement: str) -> torch.Tensor:
    """What the one line computes that a message about a statement says to write."""
    hints = [hint for found in diagnosed(whole(FIELDS, statement)) for hint in found.hints]
    (line,) = [line for hint in hints for line in re.findall(r"^write `(\w+(?:\[[^`=]*\])? = [^`]*)`", hint)]
    return computed(line)


def computed(line: str) -> torch.Tensor:
    (variant,) = built(whole(FIELDS, line), warned=True).variants
    (made,) = run(variant.program, {n: array(v.tolist()) for n, v in numbers().items()}).values()
    return torch.tensor(made.data, dtype=torch.float64).reshape(made.shape)


@pytest.mark.parametrize(
    "formula",
    [
        "z[r].sum()",
        "z[r].mean()",
        "z[~r].sum()",
        "z[z > 0].max()",
        "exp(z[z > 0].min())",
        "z[r & (z > 0)].sum()",
        "x[r].sum(0)",
        "x[r].mean(0)",
        "x[r].amax(dim=0)",
        "x[r].sum()",
        "x[w].mean()",
        "x[x > 0].mean()",
        "x[r].prod(0) + x[0]",
        "x.prod(0) + x[0]",
        "x.sum(0) * x[1]",
        "x[w].sum() / z[r].sum()",
        "torch.masked_select(x, w).sum()",
        "x.masked_select(w).mean()",
        "x.masked_fill(~w, 0).sum(1)",
    ],
)
def test_a_reduction_of_what_a_mask_picks_has_a_condition(formula: str) -> None:
    expected = eval(formula, {**numbers(), "torch": torch, "exp": torch.exp})
    torch.testing.assert_close(followed(f"y = {formula}"), expected)


@pytest.mark.parametrize(
    "statement",
    [
        "z[r] = 0", "z[~r] = -1", "z[z > 0] = 0", "z[z < 0] = 0.1*z[z < 0]", "z[r] += 1", "z[z > 0] += 1", "z[r] *= 2",
        "x[w] = 0", "x[x > 0] *= 2", "x[w] += 1",
    ],
)  # fmt: skip
def test_elements_of_an_input_that_are_replaced_are_one_choice(statement: str) -> None:
    names = numbers()
    exec(statement, names)
    torch.testing.assert_close(followed(statement), names[statement[0]])


@pytest.mark.parametrize("formula", ["exp(z[r].T)", "(z[r] - z[r].mean()).sum()", "x[r].mean()", "x[r].mean(1)"])
def test_no_line_is_said_where_what_is_picked_is_no_part_of_a_whole(formula: str) -> None:
    hints = [hint for found in diagnosed(whole(FIELDS, f"y = {formula}")) for hint in found.hints]
    assert hints
    assert not [hint for hint in hints if hint.startswith("write `y")]


@pytest.mark.parametrize(
    "formula",
    [
        "x[:, c].mean(1)", "x[r, :].mean(0)", "x[:, c].sum(-1)", "x[:, c].sum()", "x[:, c].amax(dim=1)",
        "x[:, c].sum(1) / x[:, c].mean(1)", "2*x[r, :].prod(0)",
    ],
)  # fmt: skip
def test_a_mask_beside_whole_axes_is_a_condition(formula: str) -> None:
    torch.testing.assert_close(followed(f"y = {formula}"), eval(formula, numbers()))


@pytest.mark.parametrize("statement", ["x[:, c] = 0", "x[r, :] = 0", "x[r] = 0", "x[~r] += 1", "x[:, c] *= 2"])
def test_rows_and_columns_of_an_input_that_are_replaced_are_one_choice(statement: str) -> None:
    names = numbers()
    exec(statement, names)
    torch.testing.assert_close(followed(statement), names[statement[0]])


@pytest.mark.parametrize(
    "statements",
    [
        ("y = x", "y[w] = 0"), ("y = x.clone()", "y[x > 0] = 0"), ("y = x", "y[r] = 0"), ("y = x", "y[:, c] = 0"),
        ("y = x*2", "y[y > 1] = 1"), ("y = exp(x)", "y[x > 0] *= 2"), ("y = z", "y[z < 0] = 0.1*z[z < 0]"),
        ("y = x", "y[r, :] += 1", "y[:, c] = 3"), ("y = x", "y[x < 0] = 0", "y[y > 1] = 1"),
    ],
)  # fmt: skip
def test_a_value_that_masks_change_below_is_told_with_them_in_one(statements: tuple[str, ...]) -> None:
    names = {**numbers(), "exp": torch.exp}
    for statement in statements:
        exec(statement.replace("= x", "= 1*x").replace("= z", "= 1*z"), names)
    (found,) = diagnosed(whole(FIELDS, *statements))
    (line,) = re.findall(r"write `([^`]*)`", " ".join(found.hints))
    torch.testing.assert_close(computed(line), names["y"])


def test_rows_of_a_value_at_indices_that_a_mask_changes_are_one_choice() -> None:
    (found,) = diagnosed(whole(FIELDS, "y[n, k] = x[n, k]", "y[r] = 0"))
    assert found.hints == ("write all of it as one: `y[n, k] = where(r[n], 0, x[n, k])`",)
