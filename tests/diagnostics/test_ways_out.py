"""What people bring with them gets one message, at the right place, that says what to write."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.lower.operator import lower
from opgen.schema.load import load

ROW = "inputs: {x: {shape: [..., N]}}\n"
DRAWN = "inputs: {x: {shape: [..., N]}, s: {dtype: seed}}\n"

# fields, a statement, what is marked, what the message says to write
CASES = [
    (ROW + "params: {eps: {type: float, default: 0.0, domain: eps > 0}}", "y = max[n](x[..., n]) + eps", "0.0",
     "eps > 0"),
    (ROW + "params: {p: {type: float, default: 3/2, domain: 0 <= p < 1}}", "y = max[n](x[..., n])*p", "3/2",
     "0 <= p < 1"),
    (ROW + "params: {k: {type: [int, int], default: [1, 0], domain: k >= 1}}", "y = max[n](x[..., n])*k[0]*k[1]", "0",
     "k >= 1"),
    (ROW, "y = quantile[n](x[..., n], 95)", "95", "write `0.95`"),
    (ROW, "y = quantile[n](x[..., n], -0.1)", "-0.1", "`0.5`"),
    (ROW, "y = kth[n](x[..., n], 0)", "0", "`1`"),
    (ROW, "y = kth[n](x[..., n], -2)", "-2", "`-kth[n](-x[..., n], 2)`"),
    (ROW, "y[..., n] = x[..., n] .* 2 .+ exp.(x[..., n])", ".", "leave the `.` away"),
    (ROW, "y[..., n] = where(training, x[..., n], 0)", "training", "`params: {training: {type: bool, default: true}}`"),
    (ROW, 'y[..., n] = cast(x[..., n], "torch.int8")', '"torch.int8"', "`cast(x[..., n], int8)`"),
    (ROW, "y[..., n] = cast(x[..., n], torch.int8)", "torch.int8", "`y[..., n] = cast(x[..., n], int8)`"),
    (ROW, "y[..., n] = x[..., n].to(int8)", "x[..., n].to", "`y[..., n] = cast(x[..., n], int8)`"),
    (ROW, "y[..., n] = uint8(x[..., n])", "uint8", "`cast(x[..., n], uint8)`"),
    (ROW, "y[..., n] = x[..., n]*uniform(key)", "uniform(key)", "`inputs: {key: {dtype: seed}}`"),
    (ROW + "params: {seed: int}", "y[..., n] = x[..., n]*uniform(seed)", "uniform(seed)", "a seed is no param"),
    (DRAWN, "y[..., n] = x[..., n]*uniform(s, n)", "uniform(s, n)", "no index is named"),
    (DRAWN, "y[..., n] = x[..., n]*uniform(-1, 1)", "uniform(-1, 1)", "`-1 + (1 - (-1))*uniform(s)`"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "statement", "marked", "way_out"), CASES)
def test_one_message_says_what_to_write(fields: str, statement: str, marked: str, way_out: str) -> None:
    bag = Bag()
    spec = load(Source("spec.yaml", f"op: tried\n{fields.rstrip()}\nforward: |\n  {statement}\n"), bag)
    if spec is not None:
        lower(spec, bag)
    (found,) = bag.items
    assert found.span is not None
    assert found.span.text == marked
    assert way_out in " ".join(found.hints)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("fp16", "half"), ("bf16", "bfloat16"), ("f32", "float32"), ("fp64", "float64"), ("i32", "int32"),
        ("u8", "uint8"), ("torch.int8", "int8"), ("e4m3", "float8_e4m3fn"), ("torch.float8_e5m2", "float8_e5m2"),
    ],
)  # fmt: skip
def test_dtypes_have_other_names_elsewhere(written: str, meant: str) -> None:
    bag = Bag()
    load(Source("spec.yaml", f"op: tried\ninputs: {{x: {{dtype: {written}}}}}\nforward: y = 2*x\n"), bag)
    (found,) = bag.items
    assert found.code == "OPG114"
    assert found.hints == (f"write `{meant}`",)
