"""The input that a result overwrites, by `inplace: x`: whether the result fits into it."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.diagnostics.model import Bag, Label
from opgen.diagnostics.suggest import listed
from opgen.ir.operator import Variant
from opgen.ir.polynomial import same_shape
from opgen.ir.program import Kind, Program
from opgen.lower.declare import Declarations
from opgen.lower.kinds import ARTICLES, WIDER
from opgen.lower.readings import shape_text


def check_in_place(d: Declarations, variants: Sequence[Variant], bag: Bag) -> None:
    """What overwrites an input is the one result, of its shape and of a kind that it holds, in all variants."""
    name = d.spec.inplace
    if name is None or name not in d.inputs:
        return
    if len(d.outputs) > 1:
        message = f"several results cannot overwrite `{name}`"
        hints = (f"leave out `inplace`: {listed(d.outputs, 'and')} are tensors of their own",)
        bag.error("OPG123", message, name.span, label="one tensor", hints=hints)
        return
    for v in variants:
        if found := _misfit(d, str(name), v.program):
            output, what, message = found
            related = (Label(d.inputs[name].span, f"the input, of {_told(d, name, what)}"),)
            hints = (f"leave out `inplace`: `{output}` is a tensor of its own",)
            bag.error("OPG123", message, name.span, label=f"another {what}", related=related, hints=hints)
            return


def _misfit(d: Declarations, name: str, p: Program) -> tuple[str, str, str] | None:
    """The result, in what it differs from an input, and what is said of it; None where it fits."""
    shape, kind = d.shapes[name], Kind(d.inputs[name].kind)
    sizes = {s.name: s.value for s in p.dims}
    for o in p.outputs:
        if not same_shape(o.shape, shape, sizes):
            return o.name, "shape", f"`{o.name}` has the shape {shape_text(o.shape)} and cannot overwrite `{name}`"
        if WIDER.index(o.kind) > WIDER.index(kind):
            message = f"`{o.name}` is {ARTICLES[o.kind]} and cannot overwrite `{name}`, which is {ARTICLES[kind]}"
            return o.name, "kind", message
    return None


def _told(d: Declarations, name: str, what: str) -> str:
    """The shape of an input, or its kind."""
    return f"shape {shape_text(d.shapes[name])}" if what == "shape" else f"dtype {d.inputs[name].kind}"
