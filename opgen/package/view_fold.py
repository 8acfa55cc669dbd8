"""What a definition says of switches that are decided in the call: how missing operands are filled, what params tell.

In goes a `Surface`; out come fields of the definition.
"""

from __future__ import annotations

from opgen.code.layout import quoted, tupled
from opgen.ir.operator import Fill
from opgen.ir.program import Chosen, Condition, Given, Program, statement_reads
from opgen.ir.scalar import BATCH, Apply, Batch, Const, Dim, Lit, Scalar
from opgen.opt.dce import dce
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
    seeds = [_seed(s, name) for name in s.operator.seeds]
    return [f"{n}={tupled(x)}" for n, x in (("fills", fills), ("seeds", seeds), ("tells", tells)) if x]


def _seed(s: Surface, name: str) -> str:
    """A seed, and in which calls nothing is drawn from it."""
    idle = [v for v in s.operator.variants if not _is_read(v.program, name)]
    rows = [tupled([_condition(s, c) for c in v.conditions]) for v in idle]
    return f"Seed({', '.join([quoted(s.operator.shown(name)), *([tupled(rows)] if rows else [])])})"


def _is_read(p: Program, name: str) -> bool:
    stated = (*dce(p).statements, *p.override.statements)
    return any(r.tensor == name for t in stated for r in statement_reads(t))


def _condition(s: Surface, c: Condition) -> str:
    whole = {p.real: p.name for p in s.operator.pairs}
    name = quoted(s.operator.shown(whole.get(c.name, c.name)))
    if isinstance(c, Given):
        return f"({name}, {'...' if c.present else None})"
    return f"({name}, {quoted(c.value) if isinstance(c.value, str) else c.value})"


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
