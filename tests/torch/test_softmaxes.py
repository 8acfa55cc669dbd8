"""A softmax of which statistics are kept is one call in torch, and they are read off its values."""

from __future__ import annotations

import pytest
import torch

from opgen.ir.operator import Flags
from opgen.opt.derive import derive_variant
from opgen.torch.functions import torch_function
from tests.lower.specs import built, elementwise
from tests.torch.execute import function


@pytest.mark.parametrize(
    ("op", "called"), [("log_softmax", ".log_softmax(-1)"), ("softmax", ".softmax(-1)")], ids=["log", "plain"]
)
def test_one_call_and_the_statistics_that_it_implies(op: str, called: str) -> None:
    formula = f"p[n, c] = {op}[c](x[n, c])\ny[n] = sum[c](p[n, c]**2*w[c])"
    operator = built(elementwise(formula, "{x: {shape: [N, C]}, w: {shape: [C]}}", "outputs: [y]"))
    d = derive_variant(operator.variants[0], Flags())
    assert [n.split("_")[-1] for n in d.residuals[:2]] == ["max", "log" if op == "log_softmax" else "scale"]
    made = torch_function("forward", [(d.variant, d.forward)], operator)
    assert called in "\n".join(made.lines)
    assert "torch.exp" not in "\n".join(made.lines)
    x, w = torch.tensor([[1000.0, -1000.0, 0.0], [0.5, 2.0, -1.0]], dtype=torch.double), torch.ones(3).double()
    _, top, other, *_ = function(made)(x, w)
    total = torch.exp(x - x.amax(-1, keepdim=True)).sum(-1)
    torch.testing.assert_close(top, x.amax(-1))
    torch.testing.assert_close(other, total.log() if op == "log_softmax" else 1 / total)
