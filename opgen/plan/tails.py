"""Products that vanish in a tail, kept from being nan there: `x*exp(-x*x)` at infinity, or where `x*x*x` has overflown.

In go bodies, out come the same ones with `where(s == 0, 0, s*x)` for such a product: a factor `s` of the kind that gets
smaller faster than any power grows is 0 in the tail, and what else depends on the same value and nothing more is of no
account there. A coordinate over its distance, `x/hypot(x, y)`, is treated alike. A comparison is nothing beside an
exponential in a register; over a whole tensor it would be two more passes through memory, so that torch code has its
own form of such a product (`opgen.torch.tails`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from opgen.ir.functions import row
from opgen.ir.program import Compute, Statement
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import (
    INF,
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
from opgen.opt.simplify import inlined

_ZERO_AT_ZERO = ("tanh", "square", "expm1", "erf", "sqrt")  # and nowhere else
_DISTANCES = ("hypot", "modulus")
_LIMITED = ("sigmoid", "tanh", "sin", "cos", "erf", "erfc", "atan", "sign")


@dataclass(frozen=True, slots=True)
class Vanishing:
    """A product that vanishes in a tail of one value: its small factors, the others, and all written out over it."""

    small: Scalar
    large: Scalar
    written: tuple[Scalar, Scalar]
    source: Read


Form = Callable[[Vanishing], Scalar]


def chosen(v: Vanishing) -> Scalar:
    """The product as a kernel has it."""
    gone, whole = call("eq", v.small, ZERO), mul(v.small, v.large)
    if any(isinstance(n, Apply) and not row(n.fn).infix for n in walk(v.large)):
        # Read twice it gets a name, and is computed outside of the choice: a loop stays vectorised.
        gone = call("and", call("isnan", whole), gone)
    return where(gone, ZERO, whole)


def calm(s: Statement, maps: Mapping[str, Compute], form: Form = chosen) -> Statement:
    """The statement with such products in it in another form; contractions are left as they are recognised.

    `maps` are the values that may be factors under a name of their own.
    """
    if not isinstance(s, Compute) or s.op is not None:
        return s
    return map_scalars(s, lambda e: transform(e, lambda n: _guarded(n, maps, form)))


def _guarded(e: Scalar, maps: Mapping[str, Compute], form: Form) -> Scalar:
    match e:
        case Apply("mul", args):
            return _product(e, args, maps, form)
        case Apply("div", (top, bottom)):
            return _quotient(e, top, bottom, _written_out(bottom, maps))
        case _:
            return e


def _quotient(e: Scalar, top: Scalar, bottom: Scalar, distance: Scalar) -> Scalar:
    """A coordinate over a distance that it is infinite with is its sign."""
    if not (isinstance(distance, Apply) and distance.fn in _DISTANCES):
        return e
    factors = top.args if isinstance(top, Apply) and top.fn == "mul" else (top,)
    part = next((f for f in factors if f in distance.args), None)
    if part is None:
        return e
    endless = call("eq", call("abs", part), INF)
    return mul(*(f for f in factors if f != part), where(endless, call("sign", part), call("div", part, bottom)))


def _product(e: Scalar, factors: tuple[Scalar, ...], maps: Mapping[str, Compute], form: Form) -> Scalar:
    written = {a: _written_out(a, maps) for a in factors}
    vanishing = [a for a in factors if _vanishes(written[a])]
    sources = dict.fromkeys(r for a in vanishing for r in _sources(written[a]))
    if len(sources) != 1:
        return e
    (source,) = sources
    rest = [a for a in factors if a not in vanishing]
    near = [a for a in rest if _is_calmed(a, source) or _is_calmed(written[a], source)]
    if not near:
        return e
    far = mul(*(written[a] for a in vanishing)), mul(*(_over(source, a, written[a]) for a in near))
    calmed = form(Vanishing(mul(*vanishing), mul(*near), far, source))
    front = [a for a in rest if isinstance(a, Lit)]
    return mul(*front, calmed, *(a for a in rest if a not in near and a not in front))


def _over(source: Read, e: Scalar, written: Scalar) -> Scalar:
    """A factor as it depends on the value: as it stands, unless it is named."""
    return e if _is_calmed(e, source) else written


def _written_out(e: Scalar, maps: Mapping[str, Compute]) -> Scalar:
    match e:
        case Read(tensor, fill=None) if tensor in maps:
            return inlined(maps[tensor], e)
        case _:
            return e


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
        case Apply("pow", (base, exponent)):
            return not any(r in reads(base) for r in reads(exponent)) and bool(reads(exponent))
        case Apply(fn):
            return row(fn).vanishes
        case _:
            return False


def _sources(e: Scalar) -> tuple[Read, ...]:
    """What a factor vanishes in a tail of; a power, in its exponent."""
    return reads(e.args[1]) if isinstance(e, Apply) and e.fn == "pow" else reads(e)


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
