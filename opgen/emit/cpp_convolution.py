"""Convolutions in the binding: the calls that hand one to torch (`templates/csrc/opgen_convolution.h`).

In goes a step of the plan, out come lines for a block of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir.scalar import Scalar
from opgen.opt.convolution import Part
from opgen.plan.model import Convolve

HEADER = "opgen_convolution.h"
CLASS = "opgen::Convolution"
_LETTERS = {Part.OUTPUT: "y", Part.DATA: "x", Part.WEIGHT: "w"}  # in the order of the arguments


def convolution_lines(op: str, step: Convolve, element: str, number: Callable[[Scalar], str]) -> list[str]:
    """`number` prints a size, `element` is the type that is computed in."""
    form = step.form
    lines = [f'{CLASS} convolution("{op}");']
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
        lines.append(f'convolution.plus(call.whole("{step.bias}", {element}));')
    arguments = [letter for p, letter in _LETTERS.items() if p is not form.part]
    lines += [
        f'const Tensor {letter} = call.whole("{form.reads[p].tensor}", {element});'
        for p, letter in _LETTERS.items()
        if p is not form.part
    ]
    if form.part is not Part.OUTPUT:
        arguments.append(number(form.channels))
    return [*lines, f'call.set("{step.name}", convolution.{form.part}({", ".join(arguments)}));']
