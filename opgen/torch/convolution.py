"""Convolutions in torch code: one call of the runtime, which hands them to torch.

In goes a statement that is a convolution (`opgen.opt.convolution`); out comes its value over the axes of its target.
"""

from __future__ import annotations

from opgen.code.printer import Text
from opgen.ir.program import Axis, Compute
from opgen.ir.scalar import BATCH, Batch
from opgen.opt.convolution import Convolution, Part, convolution
from opgen.torch.body import expanded
from opgen.torch.dialect import ATOM
from opgen.torch.scope import Scope, batch_leading
from opgen.torch.values import Value, aligned, batch_first, permuted

_SHORT = 16  # code of axes that stays in the call

_CALLS = {
    Part.OUTPUT: ("convolution", (Part.DATA, Part.WEIGHT)),
    Part.DATA: ("convolution_data", (Part.OUTPUT, Part.WEIGHT)),
    Part.WEIGHT: ("convolution_weight", (Part.OUTPUT, Part.DATA)),
}


def convolved(scope: Scope, s: Compute) -> Value | None:
    """The value of a statement that is a convolution."""
    found = convolution(s, scope.known)
    if found is None:
        return None
    name, parts = _CALLS[found.part]
    reverse = ", ".join(str(k) for k, tie in enumerate(found.ties, 2) if tie.reverse)
    turned = f".flip({reverse})" if reverse else ""
    weight = f"{'.transpose(0, 1)' if found.swapped else ''}{turned}"
    arguments = [_whole(scope, found.reads[part].tensor) + (weight if part is Part.WEIGHT else "") for part in parts]
    arguments += _axes(scope, found)
    if found.width is not None:
        if found.part is not Part.OUTPUT:
            arguments.append(f"channels={scope.number(found.channels).text}")
        width = scope.number(found.width).text
        arguments.append(f"width={width if width.isalnum() else scope.named_line('width', width)}")
    loops = s.axes
    if found.swapped and found.part is Part.WEIGHT:
        loops = (s.axes[1], s.axes[0], *s.axes[2:])
    loops = batch_leading(loops)
    batch = frozenset(t.name for t in scope.carriers()) if BATCH in loops else frozenset()
    made = f"{name}({', '.join(arguments)}){turned if found.part is Part.WEIGHT else ''}"
    return permuted(Value(Text(made, ATOM), loops, batch), batch_leading(s.axes))


def _whole(scope: Scope, name: str) -> str:
    """A tensor with every dim at its full size, batch first."""
    stored = scope.tensor(name)
    dims = tuple(x if isinstance(x, Batch) else Axis(f"@{k}", x) for k, x in enumerate(stored.shape))
    value = Value(Text(stored.name, ATOM, stored.kind), tuple(dims[k] for k in stored.axes), stored.batch, stored.view)
    space = tuple(dims[k] for k in batch_first(stored.shape))
    full = expanded(scope, aligned(value, space), space).text
    return full.at(ATOM) if full.text == stored.name else scope.named_line(f"whole_{stored.name}", full.text)


def _axes(scope: Scope, found: Convolution) -> list[str]:
    """Size, stride, dilation and start along every spatial axis; on a line of their own where they are long."""
    rows = [
        f"({', '.join(scope.number(e).text for e in (size, tie.stride, tie.dilation, tie.start))})"
        for size, tie in zip(found.sizes, found.ties, strict=True)
    ]
    if sum(map(len, rows)) <= _SHORT:
        return rows
    whole = f"({', '.join(rows)}{',' if len(rows) == 1 else ''})"
    return [f"*{scope.named_line('axes', whole)}"]
