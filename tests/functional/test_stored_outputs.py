"""Outputs that state the dtype they are stored in: values, gradients and every transform."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from tests.lower.specs import attempt

Build = Callable[[str], ModuleType]

LOSS = """
op: wide_loss
inputs: {x: {shape: [N, C]}, t: {shape: [N], dtype: int}}
outputs: {loss: {dtype: float32}}
forward: |
  logp[n, c] = log_softmax[c](x[n, c])
  loss = -mean[n](logp[n, t[n]])
"""
SEVERAL = """
op: several
inputs: {x: {shape: [K]}, w: {shape: [K], optional: true, absent: 1}}
outputs: {y: {dtype: float32}, z: {}, u: {dtype: half}, v: {dtype: float64}}
forward: |
  y[k] = 2*x[k]*w[k]
  z[k] = 3*x[k]
  u[k] = x[k]
  v[k] = x[k]**2
"""
DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_loss_in_float32(build_operator: Build, dtype: torch.dtype) -> None:
    loss = build_operator(LOSS).wide_loss
    x, t = (8 * torch.randn(64, 10)).to(dtype).requires_grad_(), torch.arange(64) % 10
    found, exact = loss(x, t), F.cross_entropy(x.double(), t)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), exact, rtol=1e-6, atol=0)
    (grad,) = torch.autograd.grad(found, x, torch.tensor(2.5))
    assert grad.dtype == dtype
    torch.testing.assert_close(grad, torch.autograd.grad(exact, x, torch.tensor(2.5).double())[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_several_outputs(build_operator: Build, dtype: torch.dtype) -> None:
    several = build_operator(SEVERAL).several
    x, w = torch.tensor([1.5, -2.0, 3.0]).to(dtype), torch.tensor([0.5, 2.0, 1.0]).to(dtype)
    stored = (torch.float32, dtype, torch.float16, torch.float64)
    for given in ((x,), (x, w)):
        plain = [2 * x * (w if len(given) > 1 else 1), 3 * x, x, x**2]
        made = several(*given)
        assert [o.dtype for o in made] == [*stored]
        torch.testing.assert_close(made, tuple(p.to(t) for p, t in zip(plain, stored, strict=True)))
        leaves = [g.clone().requires_grad_() for g in given]
        for k, slope in enumerate((2 * (w if len(given) > 1 else 1), 3, 1, 2 * x)):
            (grad,) = torch.autograd.grad(several(*leaves)[k].sum(), leaves[:1])
            torch.testing.assert_close(grad, (slope * torch.ones_like(x)).to(dtype))
        _, tangents = torch.func.jvp(several, given, given)
        assert [t.dtype for t in tangents] == [*stored]
        batched = torch.func.vmap(several)(*(torch.stack([g, 2 * g]) for g in given))
        torch.testing.assert_close([o[0] for o in batched], [*made])
        fake = several(*(g.to("meta") for g in given))
        assert [o.dtype for o in fake] == [*stored]


@pytest.mark.parametrize("stored", ["half", "bfloat16", "float32", "int16", "uint8"])
def test_gradients_read_what_an_output_was_before_it_was_rounded(build_operator: Build, stored: str) -> None:
    total = "count[m](x[n, m] > -9)*1000" if "int" in stored else "sum[m](x[n, m]**2)"
    scaled = build_operator(
        f"op: scaled\ninputs: {{x: {{shape: [N, M]}}}}\noutputs: {{s: {{dtype: {stored}}}, y: {{}}}}\n"
        f"forward: |\n  s[n] = {total}\n  y[n, m] = x[n, m]*s[n]\n"
    ).scaled
    x = torch.randn(2, 70, dtype=torch.float64, requires_grad=True)
    s, y = scaled(x)
    whole = x.square().sum(1, keepdim=True) if s.is_floating_point() else torch.tensor(70000.0)
    torch.testing.assert_close(y, x * whole)
    found, wanted = (torch.autograd.grad(e.sin().sum(), x)[0] for e in (y / 1e3, x * whole / 1e3))
    torch.testing.assert_close(found, wanted)


def test_a_position_that_is_stored_with_few_bits(build_operator: Build) -> None:
    largest = build_operator(
        "op: largest\ninputs: {x: {shape: [N, M]}}\noutputs: {at: {dtype: int16}, y: {}}\n"
        "forward: |\n  at[n] = argmax[m](x[n, m])\n  y[n] = x[n, at[n]]**2\n"
    ).largest
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    at, y = largest(x)
    assert at.dtype == torch.int16
    (grad,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(grad, torch.autograd.grad(x.amax(1).square().sum(), x)[0])


def test_second_order(build_operator: Build) -> None:
    several = build_operator(SEVERAL).several
    x = torch.randn(3, dtype=torch.float64)
    hessian = torch.func.hessian(lambda x: sum(o.double().sum() for o in several(x)))(x)
    torch.testing.assert_close(hessian, 2 * torch.eye(3, dtype=torch.float64))


def test_an_output_that_is_an_input_has_memory_of_its_own(build_operator: Build) -> None:
    same = build_operator("op: same\ninputs: [x]\noutputs: {y: {dtype: float32}}\nforward: y = x").same
    x = torch.zeros(3)
    same(x).add_(1)
    assert not x.any()


def test_compiled_and_exported(build_operator: Build) -> None:
    loss = build_operator(LOSS).wide_loss

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            return loss(x, t)  # type: ignore[no-any-return]

    x, t = torch.randn(5, 3).bfloat16(), torch.arange(5) % 3
    exported = torch.export.export(Model(), (x, t))
    for program in (exported.module(), torch.compile(Model(), backend="aot_eager", fullgraph=True)):
        torch.testing.assert_close(program(x, t), loss(x, t))


@pytest.mark.parametrize(
    ("dtype", "told"),
    [
        pytest.param("int4", "there is no int4", id="int4"),
        pytest.param("float16", "expected half", id="float16"),
        pytest.param("complex64", "expected complex", id="complex64"),
        pytest.param("float8_e4m3fnuz", "float64, float32, half", id="float8_e4m3fnuz"),
    ],
)
def test_other_dtypes_are_refused(dtype: str, told: str) -> None:
    _, (mistake, *_) = attempt(f"op: f\ninputs: [x]\noutputs: {{y: {{dtype: {dtype}}}}}\nforward: y = 2*x\n")
    assert mistake.code == "OPG114"
    assert told in mistake.message.replace("`", "")


def test_inputs_of_other_float_dtypes_are_promoted(build_operator: Build) -> None:
    made = build_operator("op: f\ninputs: {x: {dtype: float32}, z: {}}\nforward: y = 2*x*z\n").f
    wide, narrow = torch.tensor([1.5]), torch.tensor([2.0]).bfloat16()
    assert [made(a, b).dtype for a, b in ((wide, narrow), (narrow, narrow))] == [torch.float32, torch.bfloat16]
