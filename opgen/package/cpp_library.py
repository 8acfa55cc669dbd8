"""Steps of a plan that a binding hands on to torch: matrix products, convolutions and sorts.

In goes a step with the condition that its result is asked for (empty: always); out come lines of C++.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from opgen.code.cpp_convolution import convolution_lines
from opgen.code.cpp_layout import block, under
from opgen.code.printer import Printer
from opgen.plan.contract import equation, linear_form
from opgen.plan.kernels import instead
from opgen.plan.model import Contract, Convolve, KernelPlan, Library, Sort, Storage

ELEMENTS = {Storage.SCALAR: "scalar", Storage.COMPUTE: "compute", Storage.INT64: "int64", Storage.BOOL: "boolean"}


def element(storage: Storage) -> str:
    """What a binding calls the type that a buffer holds."""
    return f"Element::{ELEMENTS[storage]}"


@dataclass(frozen=True, slots=True)
class LibrarySteps:
    """What torch does for a plan; the printer knows what the binding calls sizes and params."""

    op: str
    plan: KernelPlan
    printer: Printer

    def lines(self, step: Library, condition: str, own: list[str]) -> list[str]:
        """`own`: what runs on a CPU instead where a kernel of ours is faster."""
        form = self._form(step)
        found = instead(step)
        if found is not None:
            same = [f"{self.printer(a)} == {self.printer(b)}" for a, b in found.pairs]
            either = block(f"if ({' && '.join(('opgen::on_cpu', *same))}) {{", own, "} else {")
            either += block("", form)[1:]
            return block(f"if ({condition}) {{", either) if condition else either
        if len(form) == 1:
            return under(condition, *form)
        return block(f"if ({condition}) {{" if condition else "{", form)

    def _form(self, step: Library) -> list[str]:
        """What torch does, in a block of its own where it takes more than a line."""
        match step:
            case Contract():
                return [f'call.set("{step.out.buffer}", {self._contract(step)});']
            case Convolve():
                return convolution_lines(self.op, step, element(self.plan.buffer(step.name).storage), self.printer)
            case Sort():
                return [f'call.set("{step.name}", {self._sort(step)});']
            case _:
                assert_never(step)

    def _contract(self, c: Contract) -> str:
        held = element(self.plan.buffer(c.out.buffer).storage)
        form = linear_form(c)
        if form is not None:
            bias = f'"{c.bias.buffer}"' if c.bias is not None else "nullptr"
            return f'call.rows_by_rows("{form[0].buffer}", "{form[1].buffer}", {bias}, {held})'
        return f'call.contract("{equation(c)}", "{c.a.buffer}", "{c.b.buffer}", {held})'

    def _sort(self, s: Sort) -> str:
        buffer = self.plan.buffer(s.keys)
        held = element(Storage.COMPUTE if buffer.storage is Storage.SCALAR else buffer.storage)
        return f'opgen::argsort(call.whole("{s.keys}", {held}), {s.along})'
