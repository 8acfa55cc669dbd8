"""Products of infinity and what may be 0, such as `(1 - m)*(-inf)`, which are nan there: a warning.

In: the statements as they are written, and domains. Only what is 0 for values that may be passed is told: a mask, a
condition, an index, an input, or 1 without one of these. What `where` chooses is left alone, and what it or `isnan`
asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from opgen.diagnostics.model import Diagnostic
from opgen.ir.formula import CONSTANTS
from opgen.lang.nodes import (
    Access,
    Assign,
    Call,
    Compare,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Sum,
    Unary,
)
from opgen.lang.unparse import respelled
from opgen.lang.walk import names_read, nodes, operands
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.multiples import Known

_BOTH = 2  # factors of a product of a mask and infinity


def infinite(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each of them."""
    if d.words.knows("inf") or any(
        isinstance(e, Call) and e.name == "isnan" for a in d.forward for e in nodes(a.value)
    ):
        return
    factors = _Factors(d, assigned_once(d), Known(d))
    chosen = {name for a in d.forward for e in nodes(a.value) if _is_choice(e) for name in names_read(e)}
    for a in d.forward:
        for p in _outside_of_choices(a.value) if a.target.name not in chosen else ():
            ends = [f for op, f in p.factors if op == "*" and factors.is_infinite(f)]
            zeros = [f for op, f in p.factors if op == "*" and not factors.is_infinite(f) and factors.may_be(f, 0)]
            if ends and zeros:
                yield _told(p, ends[0], zeros, factors)


def _is_choice(e: Expr) -> bool:
    return isinstance(e, Call) and e.name == "where"


def _outside_of_choices(e: Expr) -> Iterator[Product]:
    """The products in an expression that no `where` chooses or asks about."""
    if isinstance(e, Product):
        yield e
    for part in operands(e) if not _is_choice(e) else ():
        yield from _outside_of_choices(part)


def _told(p: Product, end: Expr, zeros: list[Expr], factors: _Factors) -> Diagnostic:
    zero = respelled(zeros[0])
    message = f"`{respelled(p)}` is nan where `{zero}` is 0: `0*inf` is no number"
    several = len(zeros) > 1
    asked = [f"({factors.asked(f)})" if several and isinstance(f, Logic) else factors.asked(f) for f in zeros]
    alone = len(p.factors) == _BOTH and factors.is_positive(zeros[0])
    value = respelled(end) if alone else respelled(p)
    hint = f"write `where({' and '.join(asked)}, {value}, 0)`"
    return doubt("OPG287", message, p, f"`{zero}` may be 0", hint)


@dataclass(frozen=True, slots=True)
class _Factors:
    """What factors may be, as far as that is plain to see."""

    d: Declarations
    once: Mapping[str, Assign]
    known: Known

    def is_infinite(self, e: Expr) -> bool:
        e = written_out(e, self.once)
        return self.is_infinite(e.operand) if isinstance(e, Unary) and e.op == "-" else e == Name("inf", e.span)

    def is_mask(self, e: Expr) -> bool:
        """Whether an expression is a condition."""
        e = written_out(e, self.once)
        match e:
            case Compare() | Logic() | Unary(op="not"):
                return True
            case Call(name="int", args=(of,)):
                return self.is_mask(of)
            case Name(name=name) | Access(name=name) if name in self.d.inputs:
                return self.d.inputs[name].kind == "bool"
            case Name(name=name):
                return name in self.d.params and self.d.params[name].type == "bool"
            case _:
                return False

    def may_be(self, e: Expr, value: int) -> bool:
        """Whether an expression is exactly 0, or 1, for some values that may be passed."""
        e = written_out(e, self.once)
        if self.is_mask(e):
            return True
        match e:
            case Sum(terms=(("+", Number(value=1)), ("-", of))):
                return self.may_be(of, 1 - value)
            case Name(name=name) | Access(name=name) if name in self.d.inputs:
                return self.d.inputs[name].kind in ("int", "float") and self.fits(e, value)
            case Name(name=name) if name in self.d.params:
                p = self.d.params[name]
                return p.domain is not None and p.type in ("int", "float") and p.length is None and self.fits(e, value)
            case Name(name=name):
                named = name in self.d.targets() or name in self.d.known_dims() or name in CONSTANTS
                return not named and not value
            case _:
                return False

    def fits(self, e: Name | Access, value: int) -> bool:
        """Whether a domain that is made of bounds includes a number."""
        facts = [*self.known.domains(e)]
        domain = (self.d.inputs[e.name] if e.name in self.d.inputs else self.d.params[e.name]).domain
        rest = ((f.sum[e] * value + f.sum.get(None, Fraction(0)), f) for f in facts)
        bounds = all({*f.sum} <= {e, None} and (at > 0 or (at == 0 and not f.strict)) for at, f in rest)
        return domain is None or (bool(facts) and bounds)

    def is_positive(self, e: Expr) -> bool:
        """Whether a factor is never below 0."""
        inner = written_out(e, self.once)
        match inner:
            case Sum(terms=(("+", Number(value=1)), ("-", of))):
                of = written_out(of, self.once)
                return self.is_mask(of) or self.known.shown({None: Fraction(1), of: Fraction(-1)}, strict=False)
            case _:
                return self.is_mask(inner) or self.known.shown({inner: Fraction(1)}, strict=False)

    def asked(self, e: Expr) -> str:
        """What holds where a factor is not 0."""
        match e:
            case Call(name="int", args=(of,)) if self.is_mask(of):
                return self.asked(of)
            case Sum(terms=(("+", Number(value=1)), ("-", of))):
                if not self.is_mask(of):
                    return f"{respelled(of)} != 1"
                inner = of.args[0] if isinstance(of, Call) else of
                return f"not ({respelled(inner)})" if isinstance(inner, Compare | Logic) else f"not {respelled(inner)}"
            case _:
                return respelled(e) if self.is_mask(e) else f"{respelled(e)} != 0"
