"""The line that a message proposes for a formula of PyTorch computes what PyTorch computes."""

from __future__ import annotations

import re

import pytest
import torch
from torch.nn.functional import softmax

from opgen.diagnostics.model import Bag, Source
from opgen.ir.interp import array, run
from opgen.lower.operator import lower
from opgen.schema.load import load

SIZES = {"N": 4, "K": 6, "M": 5, "B": 3, "T": 7}
X = {"x": "[..., N, K]", "w": "[K]"}
SEQUENCE = {"x": "[..., T]"}
IMAGE = {"x": "[B, N, K]"}
PRODUCT = {"a": "[N, K]", "b": "[K, M]", "c": "[M, K]", "v": "[K]"}
BATCHED = {"q": "[B, N, K]", "k": "[B, M, K]", "w": "[K, M]"}

# Shapes of tensors, and a formula of them in Python; `left`, where there is one, is the target.
CASES = [
    (SEQUENCE, "y", "x[..., 1:] - x[..., :-1]"),
    (SEQUENCE, "y[..., i]", "x[..., 1:] - x[..., :-1]"),
    (SEQUENCE, "y", "(x[..., 2:] - x[..., :-2])/2"),
    (SEQUENCE, "y", "x[..., 2:-1]"),
    (SEQUENCE, "y", "x[..., -3:]"),
    (SEQUENCE, "y", "x[..., -3:-1]"),
    (SEQUENCE, "y", "x[..., ::2]"),
    (SEQUENCE, "y", "x[..., 1::2]"),
    (SEQUENCE, "y", "x[..., 1:6:2]"),
    (SEQUENCE, "y", "x[..., ::3]"),
    (SEQUENCE, "y[..., i]", "x[..., :3]*x[..., 3:6]"),
    (SEQUENCE, "y", "x[..., -3:].mean(dim=-1)"),
    (SEQUENCE, "y", "x - x[..., 1:].sum(-1, keepdim=True)"),
    (SEQUENCE, "y", "softmax(x[..., :4], dim=-1)"),
    (X, "y", "x[..., 1:, :] - x[..., :-1, :]"),
    (X, "y", "x[..., :, 1:] - x[..., :, :-1]"),
    (X, "y[..., i, j]", "x[..., 1:-1, 2:]"),
    (X, "y", "x[..., 0, :]*w"),
    (X, "y", "x[..., 1:]*w[1:]"),
    (X, "y[..., n, k]", "x*w[None, :]"),
    ({"x": "[N]", "w": "[K]"}, "y[i, j]", "x[:, None] - w[None, :]"),
    (IMAGE, "y", "x[:, 1:]"),
    (IMAGE, "y", "x[1:]"),
    (IMAGE, "y", "x[:, 0, :3]"),
    (IMAGE, "y", "x[:, :, ::2] + x[:, :, 1::2]"),
    (PRODUCT, "y", "a @ b"),
    (PRODUCT, "y[i, j]", "torch.exp(a @ b)"),
    (PRODUCT, "y", "a @ v"),
    (PRODUCT, "y", "v @ b"),
    (PRODUCT, "y", "v @ v"),
    (PRODUCT, "y", "a @ c.T"),
    (PRODUCT, "y[i, j]", "a @ c.T"),
    (PRODUCT, "y", "b.T @ a.T"),
    (PRODUCT, "y", "a @ b @ c"),
    (PRODUCT, "y", "a @ b + a @ c.T"),
    (PRODUCT, "y", "a[:, 1:] @ b[1:, :]"),
    (PRODUCT, "y", "torch.einsum('ij,jk->ki', a, b)"),
    (PRODUCT, "y[p, q]", "torch.einsum('ij,jk->ki', a, b)"),
    (BATCHED, "y", "q @ k.mT"),
    (BATCHED, "y", "softmax(q @ k.mT, dim=-1)"),
    (BATCHED, "y", "torch.matmul(q, k.transpose(-1, -2))"),
    (BATCHED, "y", "q @ w"),
    (BATCHED, "y[b, i, j]", "torch.tanh(q @ w)"),
    (BATCHED, "y", "q @ w @ k"),
    (BATCHED, "y", "w.T @ q.mT"),
]


def proposed(fields: str, statement: str) -> str | None:
    """The line that the one message about a statement proposes."""
    bag = Bag()
    spec = load(Source("spec.yaml", f"op: f\n{fields}\nforward: |\n  {statement}\n"), bag)
    assert spec is not None
    lower(spec, bag)
    (found,) = bag.items
    lines = [m[1] for hint in found.hints if (m := re.fullmatch(r"write `(.* = .*)`", hint))]
    return lines[0] if lines else None


@pytest.mark.parametrize(("shapes", "left", "formula"), CASES, ids=[formula for _, _, formula in CASES])
def test_a_proposal_computes_what_was_written(shapes: dict[str, str], left: str, formula: str) -> None:
    fields = f"inputs: {{{', '.join(f'{name}: {{shape: {shape}}}' for name, shape in shapes.items())}}}"
    line = proposed(fields, f"{left} = {formula}")
    assert line is not None
    bag = Bag()
    spec = load(Source("spec.yaml", f"op: f\n{fields}\nforward: |\n  {line}\n"), bag)
    operator = None if spec is None else lower(spec, bag)
    assert operator is not None, (line, bag.items)
    torch.manual_seed(0)
    tensors = {
        name: torch.randn([2 if d == "..." else SIZES[d] for d in shape.strip("[]").split(", ")])
        for name, shape in shapes.items()
    }
    expected = eval(formula, {"torch": torch, "softmax": softmax, **tensors})
    (variant,) = operator.variants
    found = run(variant.program, {name: array(t.tolist()) for name, t in tensors.items()})["y"]
    torch.testing.assert_close(torch.tensor(found.data).reshape(found.shape).float(), expected, msg=line)
