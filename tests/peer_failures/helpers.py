"""Inputs and checks of the peer-failure tests."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import torch
from torch.autograd import gradcheck, gradgradcheck

Build = Callable[[str], ModuleType]


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


def plain(*shape: int, seed: int = 0) -> torch.Tensor:
    return randn(*shape, seed=seed).detach()


def check_derivatives(f: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...]) -> None:
    """First and second order against finite differences."""
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)
