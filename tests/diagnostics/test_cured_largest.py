"""The largest elements of a row, `topk(x[n, :], k)`: the lines that are said compute the values of torch.topk."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = "inputs: {x: {shape: [N, K]}}\nparams: {k: int}"
X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def followed(statement: str) -> torch.Tensor:
    (found,) = diagnosed(whole(FIELDS, statement))
    said = [line for hint in found.hints for line in re.findall(r"`(\w+\[[^`=]*\] = [^`]*)`", hint)]
    (variant,) = built(whole(FIELDS, *said)).variants
    made = run(variant.program, {"x": array(X.tolist())}, {"k": 2})["y"]
    return torch.tensor(made.data, dtype=torch.float64).reshape(made.shape)


@pytest.mark.parametrize(
    "statement",
    [
        "y = topk(x[n, :], k)",
        "y[n] = topk(x[n, :], k)",
        "y[n, i] = topk(x[n, :], 2)",
        "y[n, j < k] = topk(x[n, :], k)",
        "y[n, j] = topk[j](x[n, :], k)",
    ],
)
def test_the_values_of_a_row(statement: str) -> None:
    assert torch.equal(followed(statement), X.topk(2, -1).values)


def test_the_places_of_a_row() -> None:
    assert torch.equal(followed("y[n, j] = topk(x[n, :], 2)[1]"), X.topk(2, -1).indices.double())


def test_a_mask_of_the_elements_that_the_index_is_written_of() -> None:
    assert torch.equal(followed("y[n, j] = topk(x[n, j], 2)"), (X.topk(2, -1).values[:, -1:] <= X).double())
