"""A backward pass that is asked for few gradients computes no others, as torch's own operations do not."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

SPEC = """
op: blended
inputs: {x: {shape: [..., N]}, y: {shape: [..., N]}, w: {shape: [N], optional: true, absent: 1}}
forward: z[..., n] = w[n]*sin(x[..., n])*y[..., n]
"""


@pytest.fixture
def blended(build_operator: Callable[[str], ModuleType]) -> Callable[..., Tensor]:
    op: Callable[..., Tensor] = build_operator(SPEC).blended
    return op


class Masks(TorchDispatchMode):
    """Of the backward ops that run: which gradients they are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[bool]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if "blended_backward" in str(func):
            self.seen.append(list(args[-1]))
        return func(*args, **(kwargs or {}))


def operands() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    x, y, w = torch.randn(2, 3), torch.randn(2, 3), torch.rand(3)
    return x.requires_grad_(), y.requires_grad_(), w.requires_grad_()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [((0,), [True, False, False]), ((1,), [False, True, False]), ((2, 0), [True, False, True])],
)
def test_gradients_that_a_pass_does_not_lead_on_are_not_computed(
    blended: Callable[..., Tensor], wanted: tuple[int, ...], expected: list[bool]
) -> None:
    given = operands()
    with Masks() as masks:
        z = blended(*given)
        found = torch.autograd.grad(z.sum(), [given[k] for k in wanted])
    assert masks.seen == [expected]
    reference = torch.autograd.grad((given[2] * torch.sin(given[0]) * given[1]).sum(), [given[k] for k in wanted])
    torch.testing.assert_close(found, reference)


def test_gradients_that_come_to_leaves_are_all_computed(blended: Callable[..., Tensor]) -> None:
    given = operands()
    with Masks() as masks:
        blended(given[0] * 2, given[1], None).sum().backward()
    assert masks.seen == [[True, True, False]]
    assert given[0].grad is not None
    assert given[1].grad is not None


def test_an_operand_that_is_not_differentiated_moves_no_other(blended: Callable[..., Tensor]) -> None:
    x, y, w = operands()
    with Masks() as masks:
        (found,) = torch.autograd.grad(blended(x.detach(), y * 1, w).sum(), y)
    assert masks.seen == [[False, True, False]]
    torch.testing.assert_close(found, w.detach() * torch.sin(x.detach()))


def test_the_gradient_of_a_gradient_is_asked_for_what_is_wanted(blended: Callable[..., Tensor]) -> None:
    x, y, w = operands()
    (first,) = torch.autograd.grad(blended(x, y, w).sum(), x, create_graph=True)
    found = torch.autograd.grad(first.sum(), (x, w))
    (first,) = torch.autograd.grad((w * torch.sin(x) * y).sum(), x, create_graph=True)
    torch.testing.assert_close(found, torch.autograd.grad(first.sum(), (x, w)))
