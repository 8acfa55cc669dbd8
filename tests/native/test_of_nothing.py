"""Compiled extremes and order statistics of nothing raise in the words of plain torch."""

from __future__ import annotations

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """op: of_nothing
inputs: {x: {shape: [..., N]}, on: {shape: [...], dtype: bool}}
params: {q: {type: float, default: 0.3}}
outputs: [y]
forward: y[...] = BODY
"""


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("argmax[n](x[..., n])", "argmax"),
        ("where(on[...], median[n](x[..., n]), 7)", "median"),
        ("quantile[n](x[..., n], q)", "quantile"),
        ("kth[n](x[..., n], 1)", "kth"),
    ],
)
def test_the_same_words(body: str, name: str) -> None:
    op = opgen.load(SPEC.replace("BODY", body), compiled=True)
    told, on = dict[str, str](), torch.tensor([True, False])
    for backend in ("torch", "native"):
        with opgen.use_backend(backend):
            with pytest.raises(IndexError) as raised:
                op(torch.empty(2, 0), on)
            told[backend] = str(raised.value)
            assert op(torch.empty(0, 3), on[:0]).shape == (0,)
            if name != "argmax":  # of which torch has none there either
                x = torch.empty(0, 0, requires_grad=True)
                assert torch.autograd.grad(op(x, on[:0]).sum(), x)[0].shape == (0, 0)
            if name == "median":
                assert op(torch.empty(2, 0), torch.zeros_like(on)).tolist() == [7, 7]
    assert told == dict.fromkeys(told, f"of_nothing: {name} has no value, as x[..., N] has size 0 along N")
