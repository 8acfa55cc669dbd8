"""Numbers that are written and that float32, in which operators run by default, does not tell from 0: a warning.

`log(p + 1e-50)` is `log(p)`, and `6.626e-34**2*nu` is 0. In: the statements as they are written. A sum or a bound
counts where an input is read beside the number. The numbers of a product are multiplied first, so that one counts where
nothing else in the spec may make up for it. Where float64 is asked for, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import Assign, Call, Expr, Number, Power, Product, Sum, Unary
from opgen.lang.unparse import respelled
from opgen.lang.walk import integer, names_read, nodes, operands
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt

_LEAST = Fraction(1, 2**150)  # half of the least number of float32; what is not above it rounds to 0
_POWERS = 100  # no further out are exponents looked at
_SMALL = "1e-12"  # a number that counts beside 0


def tiny(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each such number that is added, a bound or a factor."""
    stored = (*(t.stored for t in d.inputs.values()), *(o.stored for o in d.spec.outputs or ()))
    if "float64" in stored:
        return
    numbers = _Numbers(d, (*d.forward, *d.backward))
    for a in numbers.statements:
        for e in nodes(a.value):
            if isinstance(e, Product):
                yield from numbers.of_product(e)
            elif numbers.is_read(e):
                yield from (_beside(d, a, e, t, label) for t, label in _beside_others(d, e) if is_tiny(t))


def _beside_others(d: Declarations, e: Expr) -> Iterator[tuple[Expr, str]]:
    """What is added, or a bound from below, with what it does if it is 0."""
    match e:
        case Sum(terms=terms):
            yield from ((t, "adds nothing") for _, t in terms)
        case Call(name="max" | "clamp" as name, args=args) if name not in d.functions:
            yield from ((t, "a bound of 0") for t in (args if name == "max" else args[1:2]))


def value(e: Expr) -> Fraction | None:
    """What an expression of literals alone is: `6.626e-34**2`."""
    match e:
        case Number(value=number):
            return Fraction(number)
        case Unary(op="-", operand=of):
            inner = value(of)
            return None if inner is None else -inner
        case Power(base=base, exponent=exponent):
            inner, n = value(base), integer(exponent)
            return None if not inner or n is None or abs(n) > _POWERS else Fraction(inner) ** n
        case Product(factors=factors):
            return _product(factors)
        case _:
            return None


def _product(factors: tuple[tuple[str, Expr], ...]) -> Fraction | None:
    """The product of literals, and quotients by them."""
    total = Fraction(1)
    for op, f in factors:
        inner = value(f)
        if not inner or op not in ("*", "/"):
            return None
        total = total * inner if op == "*" else total / inner
    return total


def is_tiny(e: Expr) -> bool:
    """Whether an expression is a number that rounds to 0."""
    number = value(e)
    return number is not None and 0 < abs(number) <= _LEAST


def _told(e: Expr, label: str, *hints: str) -> Diagnostic:
    message = f"`{respelled(e)}` is 0 in float32, in which operators run by default: its least number is 1.4e-45"
    return doubt("OPG289", message, e, label, *hints)


def _beside(d: Declarations, a: Assign, e: Expr, number: Expr, label: str) -> Diagnostic:
    """What is said of a number that is added, or a bound."""
    instead = f"`{respelled(e, (number, _SMALL))}`"
    if any(t.kind == "complex" for t in d.inputs.values()) or (share := _share(a, e)) is None:
        return _told(number, label, f"write {instead}, or another number that counts")
    p = respelled(share)
    hint = f"for `{p}*log({p})` write `xlogy({p}, {p})`, which is 0 where `{p}` is 0"
    return _told(number, label, hint, f"or take a number that counts: {instead}")


def _share(a: Assign, e: Expr) -> Expr | None:
    """The `p` of `p*log(p + 1e-50)`."""
    for p in (n for n in nodes(a.value) if isinstance(n, Product)):
        for (_, left), (op, right) in pairwise(p.factors):
            of = left.operand if isinstance(left, Unary) and left.op == "-" else left
            if op == "*" and isinstance(right, Call) and right.name == "log" and right.args == (e,):
                return of if of in operands(e) and len(operands(e)) == 2 else None
    return None


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What is multiplied in a spec."""

    d: Declarations
    statements: Sequence[Assign]

    def is_read(self, e: Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is of inputs, perhaps by the names of others."""
        names = names_read(e)
        made = [a.value for a in self.statements if a.target.name in names and a.target.name not in seen]
        given = any(n in self.d.inputs or n.startswith("grad_") for n in names)
        return given or any(self.is_read(v, seen | {*names}) for v in made)

    def of_product(self, p: Product) -> Iterator[Diagnostic]:
        """What is said of the numbers that a product begins with, or of one further on."""
        count = next((k for k in range(len(p.factors), 0, -1) if _product(p.factors[:k]) is not None), 0)
        first = p.factors[0][1]
        whole = Product(p.factors[:count], first.span.to(p.factors[count - 1][1].span)) if count > 1 else first
        found = [e for e in (whole, *(f for op, f in p.factors[count:] if op == "*")) if is_tiny(e)]
        if count == len(p.factors) or not found or not self.is_read(p) or self.may_count(p):
            return
        hints = ["take units in which it is closer to 1"]
        floats = [n for n in names_read(p) if n in self.d.inputs and self.d.inputs[n].dtype == "float"]
        hints += [f"or say that float64 is passed: `{floats[0]}: {{…, dtype: float64}}`"] if floats else []
        yield _told(found[0], "the product is 0", *hints)

    def may_count(self, p: Product) -> bool:
        """Whether numbers and sizes in the spec may make up for those of a product, where they are multiplied first."""
        own = [(op, f) for op, f in p.factors if value(f) is not None]
        inner = {id(n) for _, f in own for n in nodes(f)}
        every = [a.value for a in self.statements]
        every += [e for f in self.d.functions.values() for e in (f.value, *(f.partials or ())) if e is not None]
        if any(n in self.d.known_dims() for e in every for n in names_read(e)):
            return True
        total = abs(_product(tuple(own)) or Fraction(0))
        for n in (n for e in every for n in nodes(e) if isinstance(n, Number) and n.value and id(n) not in inner):
            total *= max(abs(Fraction(n.value)), 1 / abs(Fraction(n.value)))
        return total > _LEAST or any(p.type == "float" for p in self.d.params.values())
