"""Products that vanish in a tail, kept from being nan there: `x*exp(-x*x)` at infinity, or where `x*x*x` has overflown.

In go bodies, out come the same ones with such products as `where(s == 0, 0, s*x)`: a factor `s` of the kind that gets
smaller faster than any power grows is 0 in the tail, and what else depends on the same value and nothing more is of no
account there. A comparison is nothing beside an exponential in a register; over a whole tensor it would be another pass
through memory, so that only kernels do this.
"""

from __future__ import annotations

from opgen.ir.functions import row
from opgen.ir.program import Compute, Statement
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Dim,
    Lit,
    Param,
    Read,
    Scalar,
    call,
    children,
    mul,
    reads,
    transform,
    walk,
    where,
)

_ZERO_AT_ZERO = ("tanh", "square", "expm1", "erf", "sqrt")  # and nowhere else
_LIMITED = ("sigmoid", "tanh", "sin", "cos", "erf", "erfc", "atan", "sign")


def calm(s: Statement) -> Statement:
    """The statement with such products in it guarded; contractions are left as they are recognised."""
    if not isinstance(s, Compute) or s.op is not None:
        return s
    return map_scalars(s, lambda e: transform(e, _guarded))


def _guarded(e: Scalar) -> Scalar:
    if not (isinstance(e, Apply) and e.fn == "mul"):
        return e
    vanishing = [a for a in e.args if _vanishes(a)]
    sources = dict.fromkeys(r for a in vanishing for r in reads(a))
    if len(sources) != 1:
        return e
    (source,) = sources
    near = [a for a in e.args if a not in vanishing and _is_calmed(a, source)]
    if not near:
        return e
    small = mul(*vanishing)
    guarded = where(call("eq", small, ZERO), ZERO, mul(small, *near))
    rest = [a for a in e.args if a not in vanishing and a not in near]
    front = [a for a in rest if isinstance(a, Lit)]
    return mul(*front, guarded, *(a for a in rest if not isinstance(a, Lit)))


def _vanishes(e: Scalar) -> bool:
    """Whether a factor tends to 0 in a tail faster than any power grows, and is 0 nowhere else."""
    match e:
        case Apply(fn, (a,)) if fn in _ZERO_AT_ZERO:
            return _vanishes(a)
        case Apply("sub", (Lit(1), Apply("square", (Apply("tanh"),)))):
            return True
        case Apply("mul", args):
            varying = [a for a in args if not _is_constant(a)]
            return len(varying) == 1 and _vanishes(varying[0])
        case Apply("div", (top, bottom)) if _is_constant(bottom):
            return _vanishes(top)
        case Apply(fn):
            return row(fn).vanishes
        case _:
            return False


def _is_calmed(e: Scalar, source: Read) -> bool:
    """Whether a factor may be infinite, and nan only where its one source is, or in the tail."""
    limited = isinstance(e, Apply) and e.fn in _LIMITED
    return not limited and tuple(dict.fromkeys(reads(e))) == (source,) and _is_tame(e)


def _is_tame(e: Scalar) -> bool:
    match e:
        case Apply("pow", (base, Lit(int(n)))) if n > 0:
            return _is_tame(base)
        case Apply("div", (top, bottom)) if _is_constant(bottom):
            return _is_tame(top)
        case Apply(fn):
            return _is_constant(e) or (row(fn).tame and all(_is_tame(a) for a in children(e)))
        case _:
            return True


def _is_constant(e: Scalar) -> bool:
    return not any(isinstance(n, Read | Param | Dim) for n in walk(e))
