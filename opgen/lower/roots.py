"""`x**1/2`, which is half of `x`: a warning, since nobody writes a power of one on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.lang.nodes import Expr, Number, Power, Product, Unary
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations


def roots(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each power of a literal 1 that is divided, in whatever formula."""
    values = [s.value for s in (*d.forward, *d.backward)]
    values += [e for f in d.functions.values() for e in (f.value, *(f.partials or ())) if e is not None]
    seen: set[int] = set()
    for product in (n for e in values for n in nodes(e) if isinstance(n, Product)):
        for (_, factor), (sign, divisor) in zip(product.factors, product.factors[1:], strict=False):
            power = factor.operand if isinstance(factor, Unary) and factor.op == "-" else factor
            if sign != "/" or not isinstance(power, Power) or power.exponent != Number(1, power.span):
                continue
            if power.span.start not in seen:
                seen.add(power.span.start)
                yield _warning(power, divisor)


def _warning(power: Power, divisor: Expr) -> Diagnostic:
    base, at = power.base, power.span.to(divisor.span)
    meant = replace(power, exponent=Product((("*", power.exponent), ("/", divisor)), at))
    hint = f"write `{unparse(meant)}`"
    if divisor == Number(2, at):
        hint += f", or `sqrt({unparse(base)})`"
    message = "`**` binds tighter than `/`: this divides a power of one"
    hints = (hint, f"or `{unparse(Product((('*', base), ('/', divisor)), at))}`, if that is meant")
    label = f"`{unparse(power)}`, divided"
    return Diagnostic("OPG257", message, at, label, hints=hints, severity=Severity.WARNING)
