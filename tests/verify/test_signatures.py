"""A reference takes what the operator takes, or lint says so."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.ir.operator import Operator
from opgen.lower.operator import lower
from opgen.schema.load import load
from opgen.verify.callables import not_found

TAU = "params: {tau: {type: float, default: 1.0}}\n"


@pytest.mark.parametrize(
    ("reference", "fields", "fault"),
    [
        ("torch.softmax", TAU, "cannot be called like `tried(x, tau)`: missing a required argument: 'dim'"),
        ("torch.nn.functional.layer_norm", TAU, "'normalized_shape'"),
        ("torch.nn.functional.relu", TAU, "unexpected keyword argument 'tau'"),
        ("torch.nn.functional.relu", "", ""),
        ("torch.lerp", TAU, "missing a required argument"),
        ("torch.exp", "", ""),
        ("torch.exp", TAU, "unexpected keyword argument 'tau'"),
        ("torch.nn.functional.softplus", "params: {beta: {type: float, default: 1.0}}\n", ""),
        ("torch.nn.functional.softplus", "params: {threshold: {type: float, default: null}}\n", ""),
        ("torch.sum", "", ""),
    ],
)
def test_a_reference_that_takes_other_arguments_is_a_warning(reference: str, fields: str, fault: str) -> None:
    read = "".join(f" + {n}" for n in ("tau", "beta") if f"{n}:" in fields)
    read += " + where(given(threshold), 1, 0)" if "threshold" in fields else ""
    text = f"op: tried\nreference: {reference}\ninputs: {{x: {{shape: [K]}}}}\n{fields}forward: y[k] = x[k]{read}\n"
    found = not_found(_lowered(text))
    assert [d.code for d in found] == (["OPG122"] if fault else [])
    assert all(fault in d.message for d in found)


SLOPE = "params: {slope: {type: float, default: 1.0, domain: slope > 0}}\n"


@pytest.mark.parametrize(
    ("reference", "name", "taken", "meant"),
    [
        ("torch.nn.functional.celu", "input", "celu(input, alpha, inplace)", "alpha"),
        ("torch.nn.functional.celu", "x", "celu(input, alpha, inplace)", "alpha"),
        ("torch.nn.functional.hardshrink", "x", "hardshrink(input, lambd)", "lambd"),
        ("torch.nn.functional.softplus", "x", "softplus(input, beta, threshold)", ""),
        ("torch.nn.functional.gelu", "x", "gelu(input, approximate)", ""),
        ("torch.softmax", "x", "softmax(input, dim, *, dtype)", ""),
    ],
)
def test_what_a_reference_takes_is_told(reference: str, name: str, taken: str, meant: str) -> None:
    text = f"op: tried\nreference: {reference}\ninputs: [{name}]\n{SLOPE}forward: y = slope*{name}\n"
    (found,) = not_found(_lowered(text))
    assert found.notes == (f"it takes `{taken}`",)
    assert [hint.rpartition("call it ")[2] for hint in found.hints[:-1]] == ([f"`{meant}`"] if meant else [])
    if meant:
        assert not not_found(_lowered(text.replace("slope", meant)))


def _lowered(text: str) -> Operator:
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    assert spec is not None
    operator = lower(spec, bag)
    assert operator is not None, bag.items
    return operator
