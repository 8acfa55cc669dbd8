"""Formulas as MathML: statements of programs, typeset for a page.

In go statements and scalars; out come trees of elements, which escape what they hold when they are written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never
from xml.etree.ElementTree import Element, SubElement

from opgen.ir import text
from opgen.ir.program import Compute, Loop, Recurrence, Scatter, Statement
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import ZERO, Apply, Batch, Cast, Const, Dim, Index, Lit, Param, Position, Read, Scalar

_SIGNS = {"sum": "∑", "prod": "∏"}
_CONSTANTS = {"pi": "π", "inf": "∞", "nan": "nan"}
_COMPARED = {"lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠"}
_WORDS = {"and": "∧", "or": "∨", "floordiv": "//", "mod": "mod"}
_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "theta": "θ", "lambda": "λ", "mu": "μ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "omega": "ω",
}  # fmt: skip


def formula(statements: Sequence[Statement]) -> Element:
    """Statements below one another, their targets aligned."""
    math = Element("math", {"display": "block", "class": "formula"})
    table = SubElement(math, "mtable", {"displaystyle": "true", "class": "lines"})
    for target, value in (row for s in statements for row in _rows(s)):
        row = SubElement(table, "mtr")
        SubElement(row, "mtd").append(target)
        SubElement(row, "mtd").append(value)
    return math


def _rows(s: Statement) -> Iterator[tuple[Element, Element]]:
    match s:
        case Compute():
            yield _subscript(s.target, _loops(s.axes)), _row((_mo("="), _reduced(s)))
        case Scatter():
            if s.base != ZERO:
                yield _subscript(s.target, _loops(s.axes)), _row((_mo("="), scalar(s.base)))
            sign = {"sum": "+=", "prod": "×="}.get(s.op, f"{s.op}=")
            over = Element("mrow", {"class": "over"})
            over.extend((_text("  for every "), *_listed(_loops(s.loops))))
            yield _subscript(s.target, map(_position, s.at)), _row((_mo(sign), scalar(s.body), over))
        case Recurrence():
            for step in s.steps:
                yield from _rows(step)
        case _:
            assert_never(s)


def _reduced(s: Compute) -> Element:
    """The body of a statement, under what it is reduced by."""
    if s.op is None:
        return scalar(s.body)
    under = Element("munder")
    under.append(_mo(_SIGNS[s.op], large=True) if s.op in _SIGNS else _name(s.op))
    under.append(_row(_listed(_loops(s.over))))
    plain = s.op in _SIGNS and not (isinstance(s.body, Apply) and s.body.fn in ("add", "sub"))
    keeps = REDUCTIONS[s.op].keeps_index
    return _row((under, scalar(s.body))) if plain and not keeps else _row((under, *_bracketed(scalar(s.body))))


def scalar(e: Scalar) -> Element:
    """A scalar expression."""
    return _typeset(e)[0]


def _typeset(e: Scalar) -> tuple[Element, int]:
    """The element, and how tightly its outermost operator binds."""
    match e:
        case Lit(value):
            shown = text.number(value)
            return _leaf(
                "mtext" if isinstance(value, bool) else "mn", shown.replace("-", "−")
            ), 7 if "-" in shown else 9
        case Const(name):
            return _leaf("mi", _CONSTANTS[name]), 9
        case Dim("..."):
            return _name("batch"), 9
        case Dim(name) | Index(name) | Param(name, None):
            return _name(name), 9
        case Param(name, item):
            return _subscript(name, (_leaf("mn", str(item)),)), 9
        case Read(tensor, at, fill):
            found = _subscript(tensor, map(_position, at))
            return (found if fill is None else _row((_name("pad"), *_bracketed(found)))), 9
        case Cast(arg, _):
            return _typeset(arg)
        case Apply(fn, args):
            return _applied(fn, args)
        case _:
            assert_never(e)


def _applied(fn: str, args: tuple[Scalar, ...]) -> tuple[Element, int]:
    match fn, args:
        case "div", (a, b):
            return _pair("mfrac", scalar(a), scalar(b)), 9
        case "pow", (a, b):
            return _pair("msup", _wrapped(a, 9), scalar(b)), 8
        case "square", (a,):
            return _pair("msup", _wrapped(a, 9), _leaf("mn", "2")), 8
        case "exp", (a,):
            return _pair("msup", _leaf("mi", "e"), scalar(a)), 8
        case "reciprocal", (a,):
            return _pair("mfrac", _leaf("mn", "1"), scalar(a)), 9
        case "sqrt", (a,):
            root = Element("msqrt")
            root.append(scalar(a))
            return root, 9
        case "abs", (a,):
            return _row((_mo("|"), scalar(a), _mo("|"))), 9
        case "neg", (a,):
            return _row((_mo("−", prefix=True), _wrapped(a, 6))), 5
        case "not", (a,):
            return _row((_mo("¬", prefix=True), _wrapped(a, 9))), 7
        case "where", (condition, a, b):
            return _cases(condition, a, b), 4
        case "mul", _:
            return _row(_product(args)), 6
        case "add", _:
            return _row(_sum(args)), 5
        case "sub", (a, b):
            return _row((_wrapped(a, 5), _mo("−"), _wrapped(b, 6))), 5
    if fn in _COMPARED or fn in _WORDS:
        level = text.INFIX[fn][1]
        return _row(_joined([_wrapped(a, level + 1) for a in args], (_COMPARED | _WORDS)[fn])), level
    return _row((_name(fn), *_bracketed(_row(_listed(map(scalar, args)))))), 9


def _product(factors: Sequence[Scalar]) -> Iterator[Element]:
    """Factors with dots between them, but for a number in front."""
    for k, factor in enumerate(factors):
        if k:
            plain = k == 1 and isinstance(factors[0], Lit) and not isinstance(factor, Lit)
            yield _mo("\N{INVISIBLE TIMES}" if plain else "·")
        yield _wrapped(factor, 6)


def _sum(terms: Sequence[Scalar]) -> Iterator[Element]:
    yield _wrapped(terms[0], 5)
    for t in terms[1:]:
        if isinstance(t, Apply) and t.fn == "neg":
            yield from (_mo("−"), _wrapped(t.args[0], 6))
        elif isinstance(t, Lit) and not isinstance(t.value, bool) and t.value < 0:
            yield from (_mo("−"), _leaf("mn", text.number(-t.value)))
        else:
            yield from (_mo("+"), _wrapped(t, 6))


def _cases(condition: Scalar, a: Scalar, b: Scalar) -> Element:
    """A choice, with choices in its last case below one another."""
    table = Element("mtable", {"class": "cases"})
    while True:
        _case(table, scalar(a), _row((_text("if "), scalar(condition))))
        if not (isinstance(b, Apply) and b.fn == "where"):
            break
        condition, a, b = b.args
    _case(table, scalar(b), _text("otherwise"))
    return _row((_mo("{"), table))


def _case(table: Element, value: Element, condition: Element) -> None:
    row = SubElement(table, "mtr")
    SubElement(row, "mtd").append(value)
    SubElement(row, "mtd").append(condition)


def _wrapped(e: Scalar, level: int) -> Element:
    found, own = _typeset(e)
    return found if own >= level else _row(_bracketed(found))


def _bracketed(e: Element) -> tuple[Element, ...]:
    return _mo("("), e, _mo(")")


def _position(p: Position) -> Element:
    return _mo("…") if isinstance(p, Batch) else scalar(p)


def _loops(loops: Iterable[Loop]) -> Iterator[Element]:
    return (_mo("…") if isinstance(a, Batch) else _name(a.name) for a in loops)


def _subscript(name: str, positions: Iterable[Element]) -> Element:
    found = [*_listed(positions)]
    return _pair("msub", _name(name), _row(found)) if found else _name(name)


def _listed(items: Iterable[Element]) -> Iterator[Element]:
    return _joined(items, ",")


def _joined(items: Iterable[Element], sign: str) -> Iterator[Element]:
    for number, item in enumerate(items):
        if number:
            yield _mo(sign)
        yield item


def _name(name: str) -> Element:
    """A name: `grad_x` with its parts below one another, the Greek letters as such."""
    head, _, rest = name.partition("_")
    if head == "grad" and rest:
        return _pair("msub", _leaf("mi", "∇"), _name(rest))
    return _leaf("mi", _GREEK.get(name, name))


def _row(items: Iterable[Element]) -> Element:
    row = Element("mrow")
    row.extend(items)
    return row


def _pair(tag: str, first: Element, second: Element) -> Element:
    found = Element(tag)
    found.extend((first, second))
    return found


def _mo(sign: str, *, large: bool = False, prefix: bool = False) -> Element:
    made = _leaf("mo", sign)
    if large:
        made.set("largeop", "true")
    if prefix:
        made.set("form", "prefix")
    return made


def _text(words: str) -> Element:
    return _leaf("mtext", words.replace(" ", "\N{NO-BREAK SPACE}"))


def _leaf(tag: str, content: str) -> Element:
    found = Element(tag)
    found.text = content
    return found
