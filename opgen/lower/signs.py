"""What is 0 for all values, or no number, because of the sign of what is in it: a warning.

`relu(-abs(x) - dead)` is 0 where `dead >= 0`, `log(sigmoid(x) - 1)` is no number, and `x - x` is 0. In: the statements
as they are written, and domains. A sum has a sign if all its terms have that one, or if it lies between numbers that
are exact, so that rounding does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from opgen.diagnostics.model import Diagnostic
from opgen.ir.operator import Variant
from opgen.ir.program import Kind, Program, statement_scalars
from opgen.ir.scalar import Apply, walk
from opgen.lang.nodes import Assign, Call, Expr, Number, Product, Reduction, Sum, Unary
from opgen.lang.unparse import respelled
from opgen.lang.walk import literal, names_read, nodes, operands
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.between import Between
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.draw import is_drawn
from opgen.lower.multiples import Known
from opgen.lower.other_index import elsewhere, extents

_KEEPING = ("sum", "mean")  # what of values of one sign has that sign
_SQUARES = ("norm", "var", "std", "count", "softmax")
_LOGARITHMS = ("log", "log2", "log10")  # of products; `log1p` is of a sum
_ROOTS = {"sqrt": "is nan, or 0", **dict.fromkeys((*_LOGARITHMS, "log1p"), "is nan, or -inf")}
_DIVIDED = {  # by what may round to 0
    "sqrt": "is 0, or no finite number",
    **dict.fromkeys((*_LOGARITHMS, "log1p"), "is no finite number"),
}


def signs(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each of them; squares of complex numbers have any sign."""
    known, within = signs_of(d), signs_of(d, within=True)
    found = [w for a in d.forward for e in nodes(a.value) for w in _at(a, e, known, within, variants)]
    yield from () if found and any(_is_complex(v.program) for v in variants) else found


def signs_of(d: Declarations, *, within: bool = False) -> Signs:
    """What is known of the signs in a spec, perhaps for inputs within their domains."""
    once, known = assigned_once(d), Known(d)
    return Signs(d, once, known, Between(d, once, known, within))


def _is_complex(p: Program) -> bool:
    """Whether there are complex numbers in a program."""
    inner = (e for s in p.statements for e in statement_scalars(s))
    made = (n for e in (*inner, *(e for f in p.functions for e in f.scalars)) for n in walk(e))
    return any(t.kind is Kind.COMPLEX for t in p.inputs) or any(
        isinstance(n, Apply) and n.fn == "complex" for n in made
    )


def _at(a: Assign, e: Expr, known: Signs, within: Signs, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """What is said of an expression in a statement; a bound may be there for what is beyond a domain, a root is not."""
    match e:
        case Call(name="relu" | "max" | "min"):
            yield from _lost(a, e, known)
        case Call(name=name) if name in _ROOTS:
            yield from _lost(a, e, within)
        case Sum(terms=(("+", x), ("-", y))) if x == y and known.is_read(x) and not is_drawn(x):
            moved = elsewhere(a, y, extents(variants, a))
            hints = (f"write `{respelled(e, (y, moved))}`",) if moved else ()
            yield doubt("OPG284", f"`{respelled(e)}` is 0 wherever it is a number", e, "the same twice", *hints)


def _lost(a: Assign, c: Call, known: Signs) -> Iterator[Diagnostic]:
    """What is said of a function of what has the wrong sign for it."""
    inner = [e for e in c.args if literal(e) != 0]
    if len(inner) != 1 or len(c.args) - len(inner) != (c.name in ("max", "min")) or not known.is_read(inner[0]):
        return
    (e,) = inner
    sign, end = (1 if c.name == "min" else -1), (-1 if c.name == "log1p" else 0)
    away = Sum((("+", e), ("+", Number(-end, e.span))), e.span) if end else e
    plain = known.has(away, sign)
    if plain or replace(known, divides=True).has(away, sign):
        what = _ROOTS.get(c.name, "is 0 everywhere") if plain else _DIVIDED.get(c.name, "is 0 wherever it is finite")
        never = f"never {'below' if sign > 0 else 'above'} {end}"
        turned = () if end else (respelled(c, (e, t)) for t in _meant(c, e, known))
        hints = tuple(f"`{t}`" for t in (*_outside(a, c), *turned))
        hint = (f"write {', or '.join(hints)}",) if hints else ()
        finite = "" if plain else " where it is finite"
        yield doubt("OPG284", f"`{respelled(c)}` {what}: what is in it is {never}{finite}", e, never, *hint)


def _outside(a: Assign, c: Call) -> Iterator[str]:
    """The logarithm of a negative multiple as that multiple of the logarithm: `-2.5*log10(flux)`."""
    e = c.args[0]
    if c.name not in _LOGARITHMS or not isinstance(e, Product) or e.factors[1][0] != "*":
        return
    factor, rest = e.factors[0][1], respelled(e).removeprefix(respelled(e.factors[0][1])).lstrip()
    if (literal(factor) or 0) < 0 and rest.startswith("*"):
        made = f"{respelled(factor)}*{respelled(c, (e, rest.removeprefix('*').lstrip()))}"
        yield made if _is_apart(a, c) else f"({made})"


def _is_apart(a: Assign, e: Expr) -> bool:
    """Whether a product in place of an expression is still one operand."""
    around = next((n for n in nodes(a.value) if any(o is e for o in operands(n))), None)
    match around:
        case Sum(terms=((_, first), *_)) | Product(factors=((_, first), *_)):
            return first is e
        case _:
            return around is None or isinstance(around, Call | Reduction)


def _meant(c: Call, e: Expr, known: Signs) -> Iterator[str]:
    """What a function may be meant of: a bound at 0 of nothing that is always beyond it, but of the part beside it."""
    match e:
        case Unary(op="-", operand=Call(name="abs", args=(a,))) if c.name not in _ROOTS:
            yield f"-({respelled(a)})" if isinstance(a, Sum) else f"-{respelled(a)}"
        case Unary(op="-") | Product() if c.name not in _ROOTS and respelled(e).startswith("-"):
            return
        case _:
            yield from _turned(e, known)


def _turned(e: Expr, known: Signs) -> Iterator[str]:
    """An expression with the sign of one of its terms turned: of `-a - b` both `a - b` and `b - a`.

    Of a bounded value less its bound, that bound less the value.
    """
    text = respelled(e)
    match e:
        case Unary(op="-", operand=a):
            yield respelled(a)
        case Product() if text.startswith("-"):
            yield text.removeprefix("-").lstrip()
        case Sum(terms=(("+", first), ("-", second))) if text.startswith("-"):
            minuend, rest = text.removeprefix("-").lstrip(), respelled(second)
            one = respelled(first).removeprefix("-").lstrip()
            yield minuend
            if minuend.startswith(one) and minuend.endswith(rest):
                yield rest + minuend[len(one) : -len(rest)] + one
        case Sum(terms=(("+", first), ("-", second))):
            one, rest = respelled(first), respelled(second)
            if text.startswith(one) and text.endswith(rest):
                yield rest + text[len(one) : -len(rest)] + one
        case Product(factors=factors):
            for f in (f for _, f in factors if isinstance(f, Sum) and known.has(f, -1)):
                yield from (respelled(e, (f, turned)) for turned in _turned(f, known))


@dataclass(frozen=True, slots=True)
class Signs:
    """Which expressions are never below 0, or never above, as far as that is plain to see."""

    d: Declarations
    once: Mapping[str, Assign]
    known: Known
    between: Between
    divides: bool = False  # whether quotients count whose divisors may round to 0
    met: dict[tuple[Expr, int, bool], bool] = field(default_factory=dict)

    def is_read(self, e: Expr) -> bool:
        """Whether an expression is of values that are passed."""
        return any(n in self.d.inputs or n in self.d.targets() for n in names_read(e))

    def has(self, e: Expr, sign: int) -> bool:
        """Whether an expression times 1, or -1, is never below 0; each is looked at once."""
        key = e, sign, self.divides
        if key not in self.met:
            self.met[key] = self.looked_up(e, sign)
        return self.met[key]

    def looked_up(self, e: Expr, sign: int) -> bool:
        """The same of an expression that has not been met."""
        e = written_out(e, self.once)
        match e:
            case Number(value=value):
                return value * sign >= 0
            case Unary(op="-", operand=a):
                return self.has(a, -sign)
            case Sum(terms=terms):
                each = all(self.has(t, sign if op == "+" else -sign) for op, t in terms)
                return each or self.is_beyond(e, sign)
            case Product(factors=factors):
                return self.of_product(factors, sign)
            case Call(name="cast" | "detach", args=(a, *_)):
                return self.has(a, sign)
            case Call(name="where", args=(_, a, b)):
                return self.has(a, sign) and self.has(b, sign)
            case Call(name="clamp", args=(_, a, b)):
                return self.plain().has(a, sign) and self.plain().has(b, sign)
            case Call(name="min" | "max" as name, args=args):
                some = any if (name == "max") == (sign > 0) else all
                return some(self.plain().has(a, sign) for a in args)
            case Reduction(name=name, body=body):
                return (name in _SQUARES and sign > 0) or (name in _KEEPING and self.has(body, sign))
            case _:
                return self.known.shown({e: Fraction(sign)}, strict=False) or self.is_beyond(e, sign)

    def is_beyond(self, e: Expr, sign: int) -> bool:
        """Whether the numbers that an expression lies between have a sign."""
        return self.between.ends(e).is_signed(sign)

    def plain(self) -> Signs:
        """What is known where infinity is a number like others, as in front of a bound."""
        return replace(self, divides=False)

    def of_product(self, factors: Sequence[tuple[str, Expr]], sign: int) -> bool:
        """Whether a product has a sign; quotients by numbers, which are not 0, or by anything if those count."""
        for op, f in factors:
            if op not in ("*", "/") or (op == "/" and not literal(f) and not self.divides):
                return False
            if self.has(f, -1):
                sign = -sign
            elif not self.has(f, 1):
                return False
        return sign > 0
