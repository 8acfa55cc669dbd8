"""What it takes to compute a value again, and what must not be: in go statements and programs, out come answers."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.diff.laziness import GIVEN
from opgen.diff.structure import tensors_of
from opgen.ir.growth import Growth
from opgen.ir.program import (
    Compute,
    Kind,
    Program,
    Role,
    Scatter,
    Statement,
    Tensor,
    statement_reads,
    statement_scalars,
    targets,
)
from opgen.ir.scalar import ONE, ZERO, Apply, Batch, Lit, Param, Read, Scalar, walk


def independent(gradient: Program) -> list[Statement]:
    """The statements of the gradient that no cotangent enters, nor which cotangents there are, in order."""
    late = {t.name: None for t in gradient.inputs if t.role is Role.COTANGENT}
    early: list[Statement] = []
    for s in gradient.statements:
        if any(t in late for t in tensors_of(s)) or any(map(asks_what_is_given, statement_scalars(s))):
            late.update(dict.fromkeys(targets(s)))
        else:
            early.append(s)
    return early


def asks_what_is_given(e: Scalar) -> bool:
    """Whether an expression asks which cotangents there are, which only backward knows."""
    return any(isinstance(n, Param) and n.name == GIVEN for n in walk(e))


def compared(p: Program) -> dict[str, None]:
    """Tensors that some statement tests for equality: a rounded copy would not do."""
    found: dict[str, None] = {}
    for s in p.statements:
        for e in statement_scalars(s):
            for n in walk(e):
                if isinstance(n, Apply) and n.fn in ("eq", "ne"):
                    found.update((a.tensor, None) for a in n.args if isinstance(a, Read) and _float_test(n.args))
    return found


def _float_test(args: tuple[Scalar, ...]) -> bool:
    """A comparison with a literal (or infinity) does not depend on the last bit."""
    return all(not isinstance(a, Lit) and any(isinstance(n, Read) for n in walk(a)) for a in args)


def is_copy(s: Statement, inputs: Sequence[Tensor]) -> bool:
    """A selection among elements of an input, which no rounding changes."""
    if not isinstance(s, Compute) or s.op not in (None, "max", "min") or not isinstance(s.body, Read):
        return False
    return s.body.tensor in {t.name for t in inputs}


def is_dear(s: Statement) -> bool:
    """Whether a statement reduces over anything that is not a small constant."""
    if not isinstance(s, Compute):
        return True
    return any(isinstance(a, Batch) or not isinstance(a.extent, Lit) for a in s.over)


def counted(s: Statement) -> tuple[Scalar, ...]:
    """The conditions of which a statement counts those that hold; none where it does anything else.

    Where they are kept it is not worth keeping: it takes a byte of each, and less than what it would come to besides.
    """
    match s:
        case Compute(op="count"):
            return (s.body,)
        case Scatter(op="sum", kind=Kind.INT):
            given = [_indicated(e) for e in (s.body, s.base) if e != ZERO]
            return tuple(c for c in given if c is not None) if None not in given else ()
        case _:
            return ()


def _indicated(e: Scalar) -> Scalar | None:
    """The condition under which an expression is 1, where it is 0 otherwise."""
    return e.args[0] if isinstance(e, Apply) and e.fn == "where" and e.args[1:] == (ONE, ZERO) else None


def again(s: Statement, growth: Growth) -> bool:
    """Whether a reduction may be done again, since keeping what it gives would take more than all there is."""
    return isinstance(s, Compute) and s.op == "sum" and growth.outgrows(s.shape) and growth.narrow(s.over)


def rounded(p: Program) -> frozenset[str]:
    """The outputs that are stored with less than was computed: who reads the value cannot read those."""
    whole = {Kind.FLOAT: "float64", Kind.INT: "int64", Kind.BOOL: "bool"}
    return frozenset(o.value for o in p.outputs if o.dtype and o.dtype != whole.get(o.kind))


def read_outside(s: Statement) -> tuple[str, ...]:
    """What a statement reads of others; one whose dtype alone it asks for it need not have."""
    own = frozenset(targets(s))
    return tuple(r.tensor for r in statement_reads(s) if r.tensor not in own)
