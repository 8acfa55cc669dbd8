"""What a definition says of switches that are decided in the call: how missing operands are filled, what params tell.

In goes a `Surface`; out come fields of the definition.
"""

from __future__ import annotations

from opgen.code.layout import quoted, tupled
from opgen.ir.operator import Fill
from opgen.ir.program import Chosen
from opgen.ir.scalar import BATCH, Apply, Batch, Const, Dim, Lit, Scalar
from opgen.package.view import Surface


def fold_fields(s: Surface) -> list[str]:
    """`fills=…` and `tells=…`, where there are any."""
    tells = [
        f"({quoted(a.tells.name if isinstance(a.tells, Chosen) else s.operator.shown(a.tells.name))}, "
        f"{quoted(str(a.tells.value)) if isinstance(a.tells, Chosen) else None})"
        for a in s.operator.params
        if a.tells is not None
    ]
    fills = [_fill(s, f) for f in s.operator.fills]
    return [f"{n}={tupled(x)}" for n, x in (("fills", fills), ("tells", tells)) if x]


def _fill(s: Surface, f: Fill) -> str:
    shape = next(t.shape for t in s.operator.inputs if t.name == f.name)
    sizes = [_size(s, x) for x in shape if not isinstance(x, Batch)]
    arguments = [quoted(s.operator.shown(f.name)), _number(f.value), *([tupled(sizes)] if sizes else [])]
    return f"Fill({', '.join(arguments)})"


def _size(s: Surface, size: Scalar) -> str:
    if isinstance(size, Lit):
        return str(size.value)
    missing = {f.name for f in s.operator.fills}
    t = next(t for t in s.operator.operands if size in t.shape and t.name not in (*missing, *s.operator.maybe_none))
    place = t.shape.index(size)
    behind = BATCH in t.shape and place > t.shape.index(BATCH)
    assert isinstance(size, Dim)
    return f"({quoted(s.operator.shown(t.name))}, {place - len(t.shape) if behind else place})"


def _number(e: Scalar) -> str:
    match e:
        case Lit(value):
            return str(value if isinstance(value, int) else float(value))
        case Const(name):
            return f'float("{name}")'
        case Apply(_, (a,)):
            return f"-{_number(a)}"
    raise AssertionError(f"{e} is no number")
