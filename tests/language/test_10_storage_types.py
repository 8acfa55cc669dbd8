"""Section 10 of the language page: storage types.

- the dtype of an input or an output: test_what_is_given_in_few_bits, test_wider_dtypes, test_a_module_…;
  test_what_few_bits_are_not_for
- rounded to the nearest even, saturates: test_…_are_rounded_to_even_and_stay_in_range, test_wide_integers_…,
  test_wider_dtypes
- `cast(e, int8)` rounds inside a formula: test_…_are_rounded_to_even_and_stay_in_range;
  test_what_few_bits_are_not_for
- no gradient; with `detach` one that goes straight through: test_what_was_rounded_is_a_constant;
  test_what_few_bits_are_not_for
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

import pytest
import torch

from opgen.ir.storage import nearest
from tests.lower.specs import attempt

Build = Callable[[str], ModuleType]

ROUNDED = """
op: rounded
inputs: {x: {shape: [..., K]}}
outputs: {y: {dtype: DTYPE}}
forward: y[..., k] = 2*x[..., k]
"""
INSIDE = """
op: inside
inputs: {x: {shape: [K]}}
forward: |
  y[k] = cast(x[k], DTYPE)
"""
THROUGH = """
op: through
inputs: {x: {shape: [K]}}
forward: y[k] = x[k]*x[k] + detach(cast(x[k], float8_e5m2) - x[k])
"""
LINEAR = """
op: few_bits
inputs:
  x: {shape: [..., K]}
  weight: {shape: [N, K], dtype: WEIGHT}
  scale: {shape: [N]}
forward: y[..., n] = scale[n]*sum[k](x[..., k]*weight[n, k])
module: {name: FewBits, buffers: {weight: ones}, parameters: {scale: ones}}
"""
INTEGERS = ("int8", "uint8", "int16", "int32")
FLOATS = ("float8_e4m3fn", "float8_e5m2")
ENDS = [0.5, 1.5, 2.5, -0.5, -1.5, 100.0, 63.7, 1e4, -1e4, 1e12, -1e12, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_rounded_to_even_and_stay_in_range(build_operator: Build, name: str) -> None:
    x, dtype = torch.tensor(ENDS, dtype=torch.float64) / 2, getattr(torch, name)
    ends = torch.iinfo(dtype)
    exact = (2 * x).round().nan_to_num(0.0).clamp(ends.min, ends.max).to(torch.int64)
    stored = build_operator(ROUNDED.replace("DTYPE", name)).rounded(x)
    assert stored.dtype == dtype
    assert torch.equal(stored.long(), exact)
    read = build_operator(INSIDE.replace("DTYPE", name)).inside(2 * x)
    assert read.dtype == torch.int64
    assert torch.equal(read, exact)


def test_wide_integers_are_rounded_as_well(build_operator: Build) -> None:
    stored = build_operator(ROUNDED.replace("DTYPE", "int64")).rounded(torch.tensor([0.25, 0.75, 1.25, -1e9]))
    assert torch.equal(stored, torch.tensor([0, 2, 2, -2_000_000_000]))


@pytest.mark.parametrize("name", ["half", "bfloat16", "float32", "float64"])
def test_wider_dtypes(build_operator: Build, name: str) -> None:
    """They are rounded once, overflow to infinity as in torch, and have gradients; inputs are promoted."""
    spec = f"op: wide\ninputs: {{x: {{shape: [K], dtype: {name}}}}}\noutputs: {{y: {{dtype: {name}}}}}\n"
    wide = build_operator(f"{spec}forward: 'y[k] = x[k]/3'\n").wide
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([1.0, -2.0, 1e38, 65519.0 * 3, 65520.0 * 3], dtype=dtype, requires_grad=True)
        y = wide(x)
        assert y.dtype == getattr(torch, name)
        assert torch.equal(y, (x / 3).to(y.dtype))
        assert torch.autograd.grad(y, x, torch.ones_like(y))[0].dtype == dtype


@pytest.mark.parametrize("name", FLOATS)
def test_floats_of_8_bits_are_rounded_to_even_and_stay_in_range(build_operator: Build, name: str) -> None:
    spread = torch.randn(4000, generator=torch.Generator().manual_seed(0)) * 10 ** torch.linspace(-7, 5, 4000)
    x, dtype = torch.cat([spread, torch.tensor(ENDS)]), getattr(torch, name)
    most = torch.finfo(dtype).max
    exact = (2 * x).clamp(-most, most).to(dtype).double()
    stored = build_operator(ROUNDED.replace("DTYPE", name)).rounded(x)
    assert stored.dtype == dtype
    torch.testing.assert_close(stored.double(), exact, rtol=0, atol=0, equal_nan=True)
    read = build_operator(INSIDE.replace("DTYPE", name)).inside(2 * x)
    assert read.dtype == torch.float32
    torch.testing.assert_close(read.double(), exact, rtol=0, atol=0, equal_nan=True)
    oracle = torch.tensor([nearest(v, name) for v in (2 * x).double().tolist()], dtype=torch.float64)
    torch.testing.assert_close(oracle, exact, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_given_in_few_bits(build_operator: Build, name: str, dtype: torch.dtype) -> None:
    made = build_operator(LINEAR.replace("WEIGHT", name))
    weight = torch.tensor([[1, 2, 0], [3, 1, 2]]).to(getattr(torch, name))
    x = torch.tensor([[1.0, -2.0, 0.5]], dtype=dtype, requires_grad=True)
    scale = torch.tensor([0.5, 2.0], dtype=dtype, requires_grad=True)
    y = made.few_bits(x, weight, scale)
    assert y.dtype == dtype
    assert y.tolist() == [[-1.5, 4.0]]
    grads = torch.autograd.grad(y.sum(), (x, scale))
    assert [g.tolist() for g in grads] == [[[6.5, 3.0, 4.0]], [-3.0, 2.0]]
    batched = torch.vmap(made.few_bits, in_dims=(0, None, None))(x.expand(3, 1, 3), weight, scale)
    assert torch.equal(batched, y.expand(3, 1, 2))
    with pytest.raises(TypeError, match=f"few_bits: weight must be torch.{name}, not torch.float64"):
        made.few_bits(x, weight.double(), scale)


@pytest.mark.parametrize("name", ["int8", "float8_e4m3fn"])
def test_a_module_keeps_its_buffer_in_few_bits(build_operator: Build, name: str) -> None:
    module = build_operator(LINEAR.replace("WEIGHT", name)).FewBits(2, 3)
    assert module.weight.dtype == getattr(torch, name)
    assert [n for n, _ in module.named_parameters()] == ["scale"]
    assert module(torch.ones(1, 3)).tolist() == [[3.0, 3.0]]
    state = module.state_dict()
    assert state["weight"].dtype == getattr(torch, name)


def test_what_was_rounded_is_a_constant(build_operator: Build) -> None:
    x = torch.tensor([0.3, -1.7, 100.0], dtype=torch.float64, requires_grad=True)
    y = build_operator(THROUGH).through(x)
    assert torch.equal(torch.autograd.grad(y.sum(), x)[0], 2 * x.detach())
    assert not build_operator(ROUNDED.replace("DTYPE", "float8_e5m2")).rounded(x).requires_grad
    read = build_operator(INSIDE.replace("DTYPE", "float8_e5m2")).inside(x)
    assert torch.equal(torch.autograd.grad(read.sum(), x)[0], torch.zeros(3))


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("inputs: {x: {dtype: int8, differentiable: true}}\nforward: y = 2*x\n", "OPG117"),
        ("inputs: {x: {dtype: float8_e5m2, differentiable: true}}\nforward: y = 2*x\n", "OPG117"),
        ("inputs: {x: {dtype: complex}}\noutputs: {y: {dtype: int8}}\nforward: y = 2*x\n", "OPG223"),
        ("inputs: {x: {dtype: complex}}\nforward: y = cast(x, int8)\n", "OPG223"),
        (
            "inputs: {x: {shape: [N]}}\noutputs: {y: {shape: [N], dtype: float32}}\nforward: {torch: torch.sin}\n",
            "OPG117",
        ),
        ("inputs: {x: {dtype: int4}}\nforward: y = 2*x\n", "OPG114"),
        ("inputs: [x]\noutputs: {y: {dtype: float8_e4m3}}\nforward: y = 2*x\n", "OPG114"),
        ("inputs: [x]\nforward: 'y = cast(x, int4)'\n", "OPG205"),
        ("inputs: [x]\nforward: 'y = cast(x, half)'\n", "OPG205"),
        ("inputs: [x]\noutputs: {y: {dtype: int8, differentiable: true}}\nforward: y = 2*x\n", "OPG117"),
        ("inputs: [x]\noutputs: {y: {dtype: float8_e5m2, differentiable: true}}\nforward: y = 2*x\n", "OPG117"),
        (
            "inputs: {x: {shape: [K]}, w: {shape: [K], dtype: int8}}\nforward: y[k] = x[k]*w[k]\n"
            "module: {parameters: {w: ones}}\n",
            "OPG117",
        ),
        (
            "inputs: {x: {shape: [K]}, w: {shape: [K], dtype: int8}}\nforward: y[k] = x[k]*w[k]\n"
            "module: {buffers: {w: uniform(0, 1)}}\n",
            "OPG121",
        ),
    ],
)
def test_what_few_bits_are_not_for(spec: str, code: str) -> None:
    assert code in [d.code for d in attempt(f"op: a\n{spec}")[1]]
