"""Convolutions in the binding: the calls that hand one to torch (`templates/csrc/opgen_convolution.h`).

In goes a step of the plan, out come lines for a block of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir.scalar import Scalar
from opgen.opt.convolution import Part
from opgen.plan.model import Convolve

_ORDER = (Part.OUTPUT, Part.DATA, Part.WEIGHT)  # in which operands are taken


def convolution_lines(op: str, step: Convolve, element: str, number: Callable[[Scalar], str]) -> list[str]:
    """`number` prints a size, `element` is the type that is computed in."""
    form = step.form
    lines = [f'opgen::Convolution convolution("{op}");']
    for size, tie in zip(form.sizes, form.ties, strict=True):
        entries = ", ".join(map(number, (size, tie.stride, tie.dilation, tie.start)))
        lines.append(f"convolution.along({entries});")
        if tie.reverse:
            lines.append("convolution.reversed();")
    if form.width is not None:
        lines.append(f"convolution.grouped({number(form.width)});")
    if form.swapped:
        lines.append("convolution.channels_first();")
    if step.bias:
        lines.append(f'convolution.plus(call.given("{step.bias}", {element}));')
    operands = [form.reads[p].tensor for p in _ORDER if p is not form.part]
    lines += [f'convolution.take(call.whole("{name}", {element}));' for name in operands]
    channels = "" if form.part is Part.OUTPUT else number(form.channels)
    return [*lines, f'call.set("{step.name}", convolution.{form.part}({channels}));']
