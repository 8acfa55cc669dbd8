"""Formulas that are something else than they look like: warnings.

`x**1/2` is half of `x`, the root of a squared sum is its magnitude, and `a / 2*b` is `(a/2)*b`: nobody writes these on
purpose, or the spaces in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.lang.nodes import Access, Call, Expr, Name, Number, Power, Product, Reduction, Sum, Unary
from opgen.lang.unparse import unparse
from opgen.lang.walk import literal, nodes, transform
from opgen.lower.declare import Declarations

_ROOTS = ("sqrt", "rsqrt")
_SUMS = ("sum", "mean")


def roots(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each such part of whatever formula."""
    values = [s.value for s in (*d.forward, *d.backward)]
    values += [e for f in d.functions.values() for e in (f.value, *(f.partials or ())) if e is not None]
    found = [n for e in values for n in nodes(e)]
    yield from _divided([n for n in found if isinstance(n, Product)])
    seen: set[int] = set()
    for node in found:
        told = _of_squared(node) if isinstance(node, Call) else _spaced(node) if isinstance(node, Product) else None
        if told is not None and node.span.start not in seen:
            seen.add(node.span.start)
            yield told


def _of_squared(e: Call) -> Diagnostic | None:
    """`sqrt(sum[d](x[n, d])**2)`, where the squares are to be added."""
    terms = e.args[0].terms if e.args and isinstance(e.args[0], Sum) else tuple(("+", a) for a in e.args)
    squares = [t for sign, t in terms if sign == "+" and isinstance(t, Power) and t.exponent == Number(2, t.span)]
    square = squares[0] if e.name in _ROOTS and len(squares) == 1 else None
    others = [n for _, t in terms if t is not square for n in nodes(t)]
    if square is None or any(isinstance(n, Access | Reduction | Call) for n in others):
        return None
    of = square.base
    if not isinstance(of, Reduction) or of.name not in _SUMS:
        return None
    meant = replace(of, body=Power(of.body, square.exponent, square.span))
    whole = transform(e, lambda n: meant if n is square else None)
    message = f"this is the root of one square, the magnitude of the {of.name}"
    hints = (f"for the {of.name} of squares write `{unparse(whole)}`", f"or `abs({unparse(of)})`, if that is meant")
    return Diagnostic("OPG263", message, e.span, "squared as a whole", hints=hints, severity=Severity.WARNING)


def _spaced(e: Product) -> Diagnostic | None:
    """`a / 2*b`, whose spaces say that `2*b` is the divisor."""
    text = e.span.source.text
    for k, ((sign, divisor), (after, factor)) in enumerate(zip(e.factors[1:], e.factors[2:], strict=False), 1):
        before = text[e.factors[k - 1][1].span.end : divisor.span.start]
        between = text[divisor.span.end : factor.span.start]
        if (sign, after, before, between) != ("/", "*", " / ", "*") or _is_fraction(e, k):
            continue
        below = [divisor, factor]
        for n, (following, more) in enumerate(e.factors[k + 2 :], k + 2):
            if (following, text[e.factors[n - 1][1].span.end : more.span.start]) != ("*", "*"):
                break
            below.append(more)
        at = divisor.span.to(below[-1].span)
        whole = Product(tuple(("*", x) for x in below), at)
        meant = Product((*e.factors[:k], ("/", whole), *e.factors[k + len(below) :]), e.span)
        message = "`/` and `*` bind alike, from the left: this is divided by the first factor alone"
        hints = (f"write `{unparse(meant)}`", f"or `{unparse(e)}`, with spaces around both, if that is meant")
        return Diagnostic("OPG264", message, at, "not the divisor", hints=hints, severity=Severity.WARNING)
    return None


def _is_fraction(e: Product, k: int) -> bool:
    """`1 / 2*m`, a number times what follows; `1 / 2*pi` is hardly `pi/2`."""
    (_, above), (_, below), (_, factor) = e.factors[k - 1 : k + 2]
    literals = k == 1 and literal(above) is not None and literal(below) is not None
    return literals and factor != Name("pi", factor.span)


def _divided(products: Sequence[Product]) -> Iterator[Diagnostic]:
    """`x**1/2`, `x**-1/2`: powers of a literal 1 or -1 that are divided."""
    seen: set[int] = set()
    for product in products:
        for (_, factor), (sign, divisor) in zip(product.factors, product.factors[1:], strict=False):
            power = factor.operand if isinstance(factor, Unary) and factor.op == "-" else factor
            ones = (Number(1, factor.span), Unary("-", Number(1, factor.span), factor.span))
            if sign != "/" or not isinstance(power, Power) or power.exponent not in ones:
                continue
            if power.span.start not in seen:
                seen.add(power.span.start)
                yield _warning(power, divisor)


def _warning(power: Power, divisor: Expr) -> Diagnostic:
    base, at = power.base, power.span.to(divisor.span)
    meant = replace(power, exponent=Product((("*", power.exponent), ("/", divisor)), at))
    hint = f"write `{unparse(meant)}`"
    inverse = isinstance(power.exponent, Unary)
    if divisor == Number(2, at):
        hint += f", or `{'rsqrt' if inverse else 'sqrt'}({unparse(base)})`"
    message = "`**` binds tighter than `/`: this divides a power of one"
    above, below = (Number(1, at), (divisor, base)) if inverse else (base, (divisor,))
    written = Product((("*", above), *(("/", e) for e in below)), at)
    hints = (hint, f"or `{unparse(written)}`, if that is meant")
    label = f"`{unparse(power)}`, divided"
    return Diagnostic("OPG257", message, at, label, hints=hints, severity=Severity.WARNING)
