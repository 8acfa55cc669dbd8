"""PyTorch's *Extending PyTorch* note, example by example, with generated operators in place of hand-written ones."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from generated.linear import Linear, LinearFunction, linear
from generated.mul_constant import MulConstantFunction, mul_constant

DOUBLE = torch.float64
OPERATORS = sorted(p.parent.name for p in (Path(__file__).parents[2] / "generated").glob("*/manifest.json"))


def doubles(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=DOUBLE, requires_grad=True)


# Extending torch.autograd ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_bias", [True, False])
def test_linear_function(with_bias: bool) -> None:
    torch.manual_seed(0)
    arguments = [doubles(5, 20), doubles(30, 20)] + ([doubles(30)] if with_bias else [])
    theirs = torch.nn.functional.linear(*arguments)
    weights = torch.randn_like(theirs)
    expected = torch.autograd.grad(theirs, arguments, weights)
    for ours in (linear(*arguments), apply_function(LinearFunction, *arguments)):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
        found = torch.autograd.grad(ours, arguments, weights)
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def apply_function(function: type[torch.autograd.Function], *arguments: Any) -> torch.Tensor:
    """`Function.apply` with absent trailing inputs as None; what comes beside the output is dropped."""
    wanted = len(inspect.signature(function.forward).parameters)
    result = function.apply(*arguments, *[None] * (wanted - len(arguments)))
    return result[0] if isinstance(result, tuple) else result


def test_alias_and_keyword_wrapper() -> None:
    alias = LinearFunction.apply
    x, w = doubles(3, 4), doubles(2, 4)
    torch.testing.assert_close(apply_function(LinearFunction, x, w), x @ w.T)
    torch.testing.assert_close(linear(input=x, weight=w, bias=None), x @ w.T)
    assert callable(alias)


@pytest.mark.thorough
def test_gradcheck_of_linear() -> None:
    torch.manual_seed(1)
    arguments = (doubles(20, 20), doubles(30, 20))
    assert gradcheck(linear, arguments, eps=1e-6, atol=1e-4)
    assert gradgradcheck(linear, (doubles(3, 4), doubles(2, 4), doubles(2)))


def test_mul_constant_takes_a_number() -> None:
    x = doubles(3, 4)
    torch.testing.assert_close(mul_constant(x, 5.5), x * 5.5)
    torch.testing.assert_close(mul_constant(x, constant=5.5), x * 5.5)
    (gradient,) = torch.autograd.grad(apply_function(MulConstantFunction, x, 5.5).sum(), x)
    torch.testing.assert_close(gradient, torch.full_like(x, 5.5))
    assert gradgradcheck(lambda t: mul_constant(t, 5.5), (x,))


def test_undefined_gradients_are_not_materialised(monkeypatch: pytest.MonkeyPatch) -> None:
    materialised: list[bool] = []
    original = torch.autograd.function.FunctionCtx.set_materialize_grads
    monkeypatch.setattr(
        torch.autograd.function.FunctionCtx,
        "set_materialize_grads",
        lambda ctx, value: (materialised.append(value), original(ctx, value)),
    )
    x, w = doubles(3, 4), doubles(2, 4)
    apply_function(LinearFunction, x, w)
    assert materialised == [False]
    assert LinearFunction.backward is not torch.autograd.Function.backward


def test_only_needed_gradients_are_computed() -> None:
    x, w = torch.randn(3, 4, dtype=DOUBLE), doubles(2, 4)
    y = linear(x, w)
    (gradient,) = torch.autograd.grad(y.sum(), w)
    torch.testing.assert_close(gradient, x.sum(0).expand(2, 4))
    assert not linear(x, w.detach()).requires_grad


def test_linear_saves_input_and_weight_only() -> None:
    saved: list[torch.Tensor] = []
    x, w, b = doubles(3, 4), doubles(2, 4), doubles(2)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        linear(x, w, b)
        assert {t.data_ptr() for t in saved} == {x.data_ptr(), w.data_ptr()}
        saved.clear()
        apply_function(LinearFunction, x, w, b)
        assert {t.data_ptr() for t in saved} == {x.data_ptr(), w.data_ptr()}


def test_mark_dirty() -> None:
    from generated.scaled_clamp import scaled_clamp_

    base = doubles(3, 4)
    x = base * 1
    version = x._version
    y = scaled_clamp_(x, scale=2.0)
    assert y is x
    assert x._version > version
    (gradient,) = torch.autograd.grad(y.sum(), base)
    inside = (base.detach() * 2).abs() <= 1
    torch.testing.assert_close(gradient, 2.0 * inside.double())
    leaf = doubles(3)
    with pytest.raises(RuntimeError, match="leaf"):
        scaled_clamp_(leaf)


def test_mark_non_differentiable() -> None:
    from generated.max_with_index import max_with_index

    x = doubles(3, 4)
    value, index = max_with_index(x)
    assert value.requires_grad
    assert not index.requires_grad
    assert index.dtype == torch.int64
    torch.testing.assert_close(index, x.argmax(-1))


def test_once_differentiable(build_operator: Callable[[str], ModuleType]) -> None:
    module = build_operator("op: cubed\ninputs: [x]\nforward: y = x**3\nonce_differentiable: true\n")
    for call in (module.cubed, lambda t: apply_function(module.CubedFunction, t)):
        x = doubles(3)
        (gradient,) = torch.autograd.grad(call(x).sum(), x, create_graph=True)
        torch.testing.assert_close(gradient.detach(), 3 * x.detach() ** 2)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            torch.autograd.grad(gradient.sum(), x)


# Extending torch.nn ---------------------------------------------------------------------------------------------------


def test_linear_module_trains() -> None:
    torch.manual_seed(2)
    module = Linear(20, 30)
    assert {n: tuple(p.shape) for n, p in module.named_parameters()} == {"weight": (30, 20), "bias": (30,)}
    target = torch.randn(64, 30)
    x = torch.randn(64, 20)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(module(x), target)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]
    assert "in_features=20" in repr(module)
    assert "out_features=30" in repr(module)


def test_linear_module_round_trips() -> None:
    module = Linear(4, 3)
    other = Linear(4, 3)
    other.load_state_dict(module.state_dict())
    x = torch.randn(2, 4)
    for copied in (other, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        torch.testing.assert_close(copied(x), module(x), rtol=0, atol=0)
    without = Linear(4, 3, bias=False)
    assert without.bias is None
    assert list(without.state_dict()) == ["weight"]
    assert Linear(4, 3, dtype=DOUBLE, device="meta").weight.is_meta


# Extending torch Python API -------------------------------------------------------------------------------------------


class DiagonalTensor:
    """The note's duck type: a multiple of the unit matrix, kept as two numbers."""

    def __init__(self, n: int, value: float) -> None:
        self.n, self.value = n, value

    def tensor(self) -> torch.Tensor:
        return self.value * torch.eye(self.n, dtype=DOUBLE)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*(a.tensor() if isinstance(a, cls) else a for a in args), **(kwargs or {}))


class MetadataTensor:
    """The note's wrapper: a tensor with metadata, which survives every function."""

    def __init__(self, data: torch.Tensor, metadata: str) -> None:
        self.data, self.metadata = data, metadata

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        carried = [a.metadata for a in args if isinstance(a, cls)]
        result = func(*(a.data if isinstance(a, cls) else a for a in args), **(kwargs or {}))
        parts = result if isinstance(result, tuple) else (result,)
        wrapped = tuple(cls(part, carried[0]) for part in parts)
        return wrapped if isinstance(result, tuple) else wrapped[0]


def test_diagonal_tensor_in_linear() -> None:
    d, w = DiagonalTensor(4, 2.0), doubles(3, 4)
    torch.testing.assert_close(linear(d, w), 2.0 * w.T)
    torch.testing.assert_close(linear(input=d, weight=w), 2.0 * w.T)


@pytest.mark.thorough
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("like", [DiagonalTensor, MetadataTensor])
def test_tensor_likes_reach_every_operator(name: str, like: type) -> None:
    package = importlib.import_module(f"generated.{name}")
    cases = importlib.import_module(f"generated.{name}.test_{name}")
    operator = getattr(package, name)
    tests = next(v for k, v in vars(cases).items() if k.startswith("Test") and k != "OperatorTests")
    case = tests.cases[0]
    plain = case.arguments()
    expected = operator(*plain, **case.params)
    if like is MetadataTensor:
        wrapped = [None if a is None else MetadataTensor(a, "metres") for a in plain]
        found = operator(*wrapped, **case.params)
        parts = found if isinstance(found, tuple) else (found,)
        assert [p.metadata for p in parts] == ["metres"] * len(parts)
        unwrapped = tuple(p.data for p in parts)
        torch.testing.assert_close(unwrapped if isinstance(expected, tuple) else unwrapped[0], expected)
        return
    seen: list[Any] = []

    class Noted(DiagonalTensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return NotImplemented if not types else "handled"

    first = next(k for k, a in enumerate(plain) if a is not None)
    likes: list[Any] = [*plain[:first], Noted(2, 1.0), *plain[first + 1 :]]
    assert operator(*likes, **case.params) == "handled"
    assert seen == [operator]
