"""What is written with signs of other languages: `i = j` for an equality, `k & 15`, `a ^ b` and `k << 4` for bits.

Both sides in, what is meant out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.conversions import is_condition
from opgen.lang.nodes import Access, Call, Compare, Expr, Logic, Name, Number, Power, Product, Sum, Unary
from opgen.lang.unparse import bracketed, respelled, unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer, nodes

SHIFTS = {
    "<<": "a shift to the left is a product with a power of 2",
    ">>": "a shift to the right is a quotient by a power of 2, rounded down",
}


def equal(left: Expr, right: Expr) -> Expr:
    """What is meant by `a > 0 and i = j`: the sides of a `=` are the nearest ones."""
    match left, right:
        case Logic(operands=(*others, last)), _:
            return replace(left, operands=(*others, equal(last, right)))
        case _, Logic(operands=(first, *others)):
            return replace(right, operands=(equal(left, first), *others))
        case _:
            return Compare((left, right), ("==",), left.span.to(right.span))


def of_bits(signs: Sequence[Span], sides: Sequence[Expr], words: Vocabulary) -> Expr | None:
    """`k & 15` and `a[n] & b[n] << 1`, which no condition can be; None where conditions may be meant.

    What is compared behind them is compared last, as in Python.
    """
    name = {"&": "bitand", "|": "bitor"}.get(signs[0].text)
    if name is None or any(sign.text != signs[0].text for sign in signs):
        return None
    last = sides[-1]
    if isinstance(last, Compare) and not is_condition(last.operands[0]):
        whole = of_bits(signs, (*sides[:-1], last.operands[0]), words)
        return whole and replace(last, operands=(whole, *last.operands[1:]), span=sides[0].span.to(last.span))
    if not any(_is_integer(side, words.integers) for side in sides) or any(_may_hold(e, words.masks) for e in sides):
        return None
    made = sides[0]
    for sign, side in zip(signs, sides[1:], strict=True):
        made = Call(name, (made, side), made.span.to(side.span), sign)
    return made


def _is_integer(e: Expr, integers: Collection[str]) -> bool:
    """Whether an expression is an integer for certain: a literal, what is shifted, or made of elements of integers."""
    read = {n.name for n in nodes(e) if isinstance(n, Access | Name)}
    made = isinstance(e, Number | Product | Call) and any(sign in e.span.text for sign in SHIFTS)
    return isinstance(e, Number) or made or (_is_whole(e, integers) and not read.isdisjoint(integers))


def _may_hold(e: Expr, masks: Collection[str]) -> bool:
    return is_condition(e) or (isinstance(e, Access | Name) and e.name in masks)


def shifted(value: Expr, sign: Span, by: Expr) -> Product:
    """`k << 4` and `k >> 4`: a product with a power of 2, or a quotient by it that is rounded down."""
    power: Expr = Power(Number(2, by.span), by, by.span)
    if integer(by) is None and not (isinstance(by, Name) and by.name[0].isupper()):
        power = Call("int", (power,), by.span, by.span)  # elsewhere a power of integers is a float
    return Product((("*", value), ("*" if sign.text == "<<" else "//", power)), value.span.to(by.span))


def inverted(sign: Span, of: Expr) -> tuple[Call, str]:
    """`~k[n]` of an integer, and how it is written."""
    one = Unary("-", Number(1, sign), sign)
    return Call("bitxor", (of, one), sign.to(of.span), sign), f"bitxor({respelled(of)}, -1)"


def exclusive_or(base: Expr, exponent: Expr, at: Span, integers: Collection[str]) -> Call | Compare | None:
    """`a[n] ^ b[n]` of two elements of integers or two conditions, which is no power; None where one is as likely."""
    if is_condition(base) and is_condition(exponent):
        return Compare((base, exponent), ("!=",), base.span.to(exponent.span))
    read = ({n.name for n in nodes(e) if isinstance(n, Access | Name)} for e in (base, exponent))
    if not all(_is_whole(e, integers) for e in (base, exponent)) or any(r.isdisjoint(integers) for r in read):
        return None
    return Call("bitxor", (base, exponent), base.span.to(exponent.span), at)


def said_of(either: Call | Compare) -> tuple[str, ...]:
    """What is said of it: how it is written, where it is certain what it takes, and how a power is."""
    if isinstance(either, Compare):
        return (f"of two conditions, one of which holds, write `{unparse(either)}`",)
    text, (first, last) = either.span.source.text, either.args
    before, behind = text[: bracketed(first)[0]].rstrip()[-1:], text[bracketed(last)[1] :].lstrip()[:1]
    clear = before not in {*"+-*/%"} and behind not in {*"+-*/%"}  # elsewhere these bind more tightly
    shown = _shown(either) if clear else "bitxor(a, b)"
    return f"exclusive or of integers is written `{shown}`", "a power is written `**`: `x**2`"


def _shown(e: Expr) -> str:
    """An expression in the spacing of the spec, as far as no `^` stands in it."""
    if isinstance(e, Call) and e.name == "bitxor" and e.name_span.text == "^":
        return f"bitxor({', '.join(map(_shown, e.args))})"
    return unparse(e) if any(sign in e.span.text for sign in ("^", "&", "|", "~", *SHIFTS)) else respelled(e)


def _is_whole(e: Expr, integers: Collection[str]) -> bool:
    """Whether an expression is an integer by what stands in it: elements of integers, sizes, and literals."""
    match e:
        case Number(value=value):
            return isinstance(value, int)
        case Access(name=name):
            return name in integers
        case Name(name=name):
            return name in integers or name[0].isupper()
        case Power(base=base, exponent=exponent):
            return _is_whole(base, integers) and (integer(exponent) or 0) > 0
        case Call(name="int"):
            return True
        case Call(name="bitand" | "bitor" | "bitxor", args=args):
            return all(_is_whole(a, integers) for a in args)
        case Unary(op="-", operand=operand):
            return _is_whole(operand, integers)
        case Sum(terms=terms):
            return all(_is_whole(t, integers) for _, t in terms)
        case Product(factors=factors):
            return all(op != "/" and _is_whole(f, integers) for op, f in factors)
        case _:
            return False
