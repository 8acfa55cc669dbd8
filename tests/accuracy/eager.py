"""A formula as a user of torch would write it: one call of torch for every step, in float32, with torch's autograd.

In goes a `Scalar` over the inputs, out comes a function of tensors. It is what an operator is compared with when torch
has no function of its own for it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from opgen.ir.scalar import Apply, Cast, Const, Lit, Param, Read, Scalar

Value = torch.Tensor | float


def torch_own(name: str) -> Callable[..., Any] | None:
    """What torch itself has under a name of the language."""
    if name in _OWN:
        return _OWN[name]
    return getattr(torch, name, None) or getattr(torch.special, name, None) or getattr(torch.nn.functional, name, None)


_OWN: dict[str, Callable[..., Any] | None] = {
    "max": torch.maximum,
    "min": torch.minimum,
    # What a user of torch writes.
    "cbrt": lambda x: torch.copysign(torch.abs(x) ** (1 / 3), x),
    "relu": torch.relu,
}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{n: getattr(operator, n) for n in ("neg", "sub", "pow", "lt", "le", "gt", "ge", "eq", "ne")},
    "div": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
    "and": operator.and_, "or": operator.or_, "not": operator.invert,
}  # fmt: skip
_FOLDED: dict[str, Callable[..., Any]] = {"add": operator.add, "mul": operator.mul}
_CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}


def composed(body: Scalar, inputs: Sequence[str], params: Mapping[str, Any]) -> Callable[..., torch.Tensor]:
    """The formula as a function of its inputs; a part that stands at several places is computed once."""

    def call(*args: torch.Tensor) -> torch.Tensor:
        known: dict[Scalar, Value] = {}
        leaves = dict(zip(inputs, args, strict=True))

        def value(e: Scalar) -> Value:
            if e not in known:
                known[e] = _value(e, leaves, params, value)
            return known[e]

        found = value(body)
        assert isinstance(found, torch.Tensor)
        return found.expand(torch.broadcast_shapes(*(a.shape for a in args)))

    return call


def _value(
    e: Scalar, leaves: Mapping[str, torch.Tensor], params: Mapping[str, Any], value: Callable[[Scalar], Value]
) -> Value:
    match e:
        case Lit(number):
            return number if isinstance(number, bool) else float(number)
        case Const(name):
            return _CONSTANTS[name]
        case Param(name):
            return float(params[name])
        case Read(tensor):
            return leaves[tensor]
        case Cast(arg):
            return value(arg)
        case Apply(fn, args):
            return _applied(fn, [value(a) for a in args])
    raise AssertionError(f"no number: {e}")


def _applied(fn: str, args: Sequence[Value]) -> Value:
    if fn in _FOLDED:
        found = args[0]
        for a in args[1:]:
            found = _FOLDED[fn](found, a)
        return found
    if fn in _OPERATORS:
        return _whole(_OPERATORS[fn](*args))
    f = torch_own(fn)
    assert f is not None, fn
    if any(isinstance(a, torch.Tensor) for a in args):
        return _whole(f(*(a if isinstance(a, torch.Tensor) else torch.tensor(a) for a in args)))
    return float(f(*(torch.tensor(a, dtype=torch.float64) for a in args)))


def _whole(x: Any) -> Value:
    assert isinstance(x, torch.Tensor | float | bool)
    return x
