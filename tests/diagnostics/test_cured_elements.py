"""Elements of a product, as the line that its message says reads them: what is computed then."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import follow, whole

VALUES = {
    name: torch.randn(shape, generator=torch.Generator().manual_seed(1))
    for name, shape in {"a": (4, 3), "b": (3, 5), "q": (2, 4, 3), "k": (2, 4, 3)}.items()
}
MATRICES = "inputs: {a: {shape: [M, K]}, b: {shape: [K, N]}}"
BATCHES = "inputs: {q: {shape: [B, T, D]}, k: {shape: [B, T, D]}}"

CASES: list[tuple[str, str, str, Callable[..., torch.Tensor]]] = [
    (MATRICES, "y[m, n] = (a @ b)[m, n] + 1", "y[m, n] = sum[k](a[m, k] * b[k, n]) + 1", lambda a, b: a @ b + 1),
    (MATRICES, "y[n, m] = 2*(a @ b)[m, n]", "y[n, m] = 2 * sum[k](a[m, k] * b[k, n])", lambda a, b: 2 * (a @ b).T),
    (
        BATCHES,
        "y[c, i, j] = (q[c] @ k[c].transpose(-1, -2))[i, j]",
        "y[c, i, j] = sum[d](q[c, i, d] * k[c, j, d])",
        lambda q, k: q @ k.mT,
    ),
    (
        BATCHES,
        "y[c, i, j] = (q[c] @ k[c].transpose(-1, -2))[j, i]",
        "y[c, i, j] = sum[d](q[c, j, d] * k[c, i, d])",
        lambda q, k: (q @ k.mT).mT,
    ),
]


@pytest.mark.parametrize(("inputs", "line", "cured", "meant"), CASES)
def test_elements_of_a_product_are_those_that_were_meant(
    inputs: str, line: str, cured: str, meant: Callable[..., torch.Tensor]
) -> None:
    operator = follow(whole(inputs, line), {line: cured})
    (variant,) = operator.variants
    given = {t.name: VALUES[t.name] for t in operator.inputs}
    found = run(variant.program, {name: array(t.tolist()) for name, t in given.items()})["y"]
    torch.testing.assert_close(torch.tensor(found.data).reshape(found.shape).float(), meant(**given))
