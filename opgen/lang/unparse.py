"""Expression trees back to text, with no more parentheses than needed: `parse(unparse(e)) == e`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import assert_never

from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Target,
    Text,
    Unary,
)

_COMMENT = re.compile(r"#[^\n]*")
_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(1, 10)


def unparse(e: Expr) -> str:
    """The text of an expression."""
    return _print(e)[0]


def unparse_assign(s: Assign) -> str:
    """The text of a statement."""
    guard = "" if s.guard is None else f" if {unparse(s.guard)}"
    return f"{unparse_target(s.target)} {s.op} {unparse(s.value)}{guard}"


def unparse_target(t: Target) -> str:
    text = t.name if t.items is None else f"{t.name}[{', '.join(_item(i) for i in t.items)}]"
    return f"pad({text})" if t.padded else text


def respelled(e: Expr, *parts: tuple[Expr, str]) -> str:
    """An expression in the spacing of the spec, on one line, with other text in place of some parts, in their order."""
    text, (at, end), found = e.span.source.text, bracketed(e), ""
    for part, new in parts:
        start, after = bracketed(part)
        found, at = found + text[at:start] + new, after
    return " ".join(_COMMENT.sub("", found + text[at:end]).split())


def bracketed(e: Expr) -> tuple[int, int]:
    """Where the text of an expression begins and ends, with the brackets around its first and last part."""
    text = _COMMENT.sub(lambda m: " " * len(m[0]), e.span.source.text)
    start, end, depths = e.span.start, e.span.end, [0]
    for c in text[start:end]:
        depths.append(depths[-1] + (c == "(") - (c == ")"))
    for _ in range(-min(depths)):
        start = text.rindex("(", 0, start)
    for _ in range(depths[-1] - min(depths)):
        end = text.index(")", end) + 1
    return start, end


def number(value: int | Fraction) -> str:
    """An exact literal as the lexer reads it: digits for ints, a decimal for fractions."""
    if isinstance(value, int):
        return str(value)
    shift = 0
    while (value * 10**shift).denominator != 1:
        shift += 1
    digits = (value * 10**shift).numerator
    if 0 < shift <= 6:
        text = str(digits).rjust(shift + 1, "0")
        return f"{text[:-shift]}.{text[-shift:]}"
    return f"{digits}e-{shift}" if shift else f"{digits}.0"


def _item(item: Binder | Dots | Expr) -> str:
    match item:
        case Dots():
            return "..."
        case Binder(name=name, extent=extent):
            return name if extent is None else f"{name} < {_wrap(extent, _SUM)}"
        case _:
            return unparse(item)


def _wrap(e: Expr, level: int) -> str:
    text, own = _print(e)
    return text if own >= level else f"({text})"


def _print(e: Expr) -> tuple[str, int]:
    match e:
        case Number(value=value):
            return number(value), _ATOM
        case Text(value=value):
            quote = "'" if '"' in value else '"'
            return f"{quote}{value}{quote}", _ATOM
        case Name(name=name):
            return name, _ATOM
        case Unary(op="-", operand=operand):
            return f"-{_wrap(operand, _UNARY)}", _UNARY
        case Unary(operand=operand):
            return f"not {_wrap(operand, _NOT)}", _NOT
        case Sum(terms=terms):
            rest = "".join(f" {sign} {_wrap(t, _PRODUCT)}" for sign, t in terms[1:])
            return _wrap(terms[0][1], _PRODUCT) + rest, _SUM
        case Product(factors=factors):
            rest = "".join(f" {op} {_wrap(f, _UNARY)}" for op, f in factors[1:])
            return _wrap(factors[0][1], _UNARY) + rest, _PRODUCT
        case Power(base=base, exponent=exponent):
            return f"{_wrap(base, _ATOM)}**{_wrap(exponent, _UNARY)}", _POWER
        case Compare(operands=operands, ops=ops):
            rest = "".join(f" {op} {_wrap(o, _SUM)}" for op, o in zip(ops, operands[1:], strict=True))
            return _wrap(operands[0], _SUM) + rest, _COMPARE
        case Logic(op=op, operands=operands):
            level = _OR if op == "or" else _AND
            return f" {op} ".join(_wrap(o, level + 1) for o in operands), level
        case Call(name=name, args=args):
            return f"{name}({', '.join(unparse(a) for a in args)})", _ATOM
        case Access(name=name, items=items):
            return f"{name}[{', '.join(_item(i) for i in items)}]", _ATOM
        case Reduction(name=name, binders=binders, body=body, further=further):
            inside = unparse(body) if further is None else f"{unparse(body)}, {unparse(further)}"
            return f"{name}[{', '.join(_item(b) for b in binders)}]({inside})", _ATOM
        case _:
            assert_never(e)
