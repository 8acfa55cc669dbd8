"""Which kernels a plan has, and where each runs.

In goes a plan, out come its kernels in the order of its steps. Most are a step; what is handed on to torch may have a
kernel in its place on one kind of device (`Instead`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import assert_never

from opgen.plan.model import Contract, Convolve, Instead, Kernel, KernelPlan, Library, Sort


@dataclass(frozen=True, slots=True)
class Planned:
    """A kernel of a plan; on GPUs there is none where it runs `in_place` of a step that is handed on."""

    kernel: Kernel
    in_place: bool = False


def instead(step: Library) -> Instead | None:
    """What a CPU has in place of a step that is handed on."""
    return step.instead if isinstance(step, Convolve) else None


def kernels_of(plan: KernelPlan) -> tuple[Planned, ...]:
    """The kernels in the order of the steps that they are of."""
    found: list[Planned] = []
    for step in plan.steps:
        if not isinstance(step, Library):
            found.append(Planned(step))
        elif (own := instead(step)) is not None:
            found.append(Planned(own.nest, in_place=True))
    return tuple(found)


def bias_of(step: Library) -> str:
    """The buffer that torch adds to what it makes; empty: none."""
    match step:
        case Contract(bias=bias) if bias is not None:
            return bias.buffer
        case Convolve(bias=bias):
            return bias
        case _:
            return ""


def without_bias(step: Library) -> tuple[Hashable, ...]:
    """What torch is told, but for a bias: the same for two steps that it does the same for otherwise."""
    match step:
        case Contract():
            return (replace(step, bias=None),)
        case Convolve():
            pairs = () if step.instead is None else step.instead.pairs
            return step.name, step.form, pairs, step.results
        case Sort():
            return (step,)
        case _:
            assert_never(step)
