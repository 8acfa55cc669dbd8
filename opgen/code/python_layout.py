"""Statements of generated Python that are too long for a line, broken as the formatter breaks them.

In goes the text of a rendered file; out comes the text in which such statements take several lines. Brackets are
broken from the right-hand side outwards, operators and chains of calls inside parentheses, which are added where there
are none. Docstrings and comments are left as they are.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from opgen.code.layout import WIDTH
from opgen.code.python_document import Broken, Document, Group, Indent, Inner, Line, Optional, printed

_HEAD = re.compile(r"(return |if |elif |while |assert |for [\w, ()]+ in |raise |[\w.]+: [^=]+ = |[^=(\"]+ = )(?!=)")
_SIGNS: dict[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@"},
    **{ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.And: "and", ast.Or: "or"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is"},
    **{ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Not: "not ", ast.USub: "-", ast.Invert: "~"},
}
_LEVELS = ("**", "* / // % @", "+ -", "&", "^", "|", "== != < <= > >= is in not", "and", "or", "if")
_OUTSIDE = "parentheses"  # the group of the parentheses that a whole value may need


def fitted(text: str) -> str:
    """The text of a Python file with no statement beyond the width that can be broken."""
    out: list[str] = []
    prose = False
    for line in text.split("\n"):
        quotes = line.count('"""')
        inside, prose = prose or quotes > 0, prose != (quotes % 2 == 1)
        out.append(line if inside or len(line) <= WIDTH else _broken(line))
    return "\n".join(out)


def _broken(line: str) -> str:
    """One statement, or one item of a list that is broken already, on as many lines as it needs."""
    code = line.lstrip()
    indent = len(line) - len(code)
    if code.startswith(("#", "def ", "class ", "@", "from ", "import ")):
        return line
    item = code.endswith(",")
    head, code = ("", code) if item else _head(code)
    tail = code[-1] if code.endswith((":", ",")) else ""
    parsed = _parsed(f"_({code.removesuffix(tail)})")
    if parsed is None:
        return line
    reader, values = parsed
    if item and len(values) > 1:
        return line
    starred = isinstance(values[0], ast.Starred)
    document = _argument(reader, values[0], only=starred) if item else _value(reader, values)
    return " " * indent + printed((_targets(head), document, tail), indent, WIDTH)


def _targets(head: str) -> Document:
    """What is assigned to: several names in parentheses where they are too long."""
    names = head.removesuffix(" = ").split(", ")
    if len(names) == 1 or not head.endswith(" = "):
        return head
    return (Group((Broken("("), Indent((Line(), _listed(list(names)))), Line(), Broken(")"))), " = ")


def _head(code: str) -> tuple[str, str]:
    """What stands in front of the value of a statement, and the rest."""
    found = _HEAD.match(code)
    return (found[0], code[found.end() :]) if found else ("", code)


class _Parsed(NamedTuple):
    reader: _Reader
    values: tuple[ast.expr | ast.keyword, ...]


def _parsed(code: str) -> _Parsed | None:
    """The arguments of a call; None where this is none."""
    try:
        call = ast.parse(code, mode="eval").body
    except SyntaxError:
        return None
    assert isinstance(call, ast.Call)
    return _Parsed(_Reader(code.encode()), (*call.args, *call.keywords))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The text that a tree was read from."""

    code: bytes

    def text(self, node: ast.expr) -> str:
        return self.code[node.col_offset : node.end_col_offset].decode()

    def is_parenthesized(self, node: ast.expr, *, own: int = 0) -> bool:
        """Does a node stand in parentheses, beside the `own` ones of what is around it?"""
        before, after = node.col_offset, node.end_col_offset or 0
        for _ in range(own + 1):
            if self.code[before - 1 : before] != b"(" or self.code[after : after + 1] != b")":
                return False
            before, after = before - 1, after + 1
        return True


# --- expressions -----------------------------------------------------------------------------------------------------


def _value(r: _Reader, values: tuple[ast.expr | ast.keyword, ...]) -> Document:
    """What a statement is about: one expression, or several as a tuple."""
    if len(values) == 1:
        return _outermost(r, values[0])
    listed = _listed([_argument(r, v) for v in values])
    return Group((Broken("("), Indent((Line(), listed)), Line(), Broken(")")))


def _outermost(r: _Reader, value: ast.expr | ast.keyword) -> Document:
    """The value of a statement, in parentheses where that is needed to break it."""
    if isinstance(value, ast.keyword):
        return _argument(r, value)
    if r.is_parenthesized(value, own=1):
        return _in_brackets("(", _expression(r, value, "("), ")", "")
    if not _splits(value) or isinstance(value, ast.Tuple):
        return _expression(r, value, "")
    if _can_do_without(r, value):
        content = _expression(r, value, _OUTSIDE)
        parts = (Broken("(", _OUTSIDE), Indent((Line(), content), _OUTSIDE), Line(), Broken(")", _OUTSIDE))
        return Group(parts, _OUTSIDE)
    return Group((Broken("("), Indent((Line(), _expression(r, value, "("))), Line(), Broken(")")))


def _splits(e: ast.expr) -> bool:
    """Is there a place for a break outside brackets?"""
    match e:
        case ast.BinOp() | ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.UnaryOp():
            return True
        case _:
            return isinstance(e, ast.Call | ast.Attribute | ast.Subscript)


def _dots(e: ast.expr) -> int:
    """How many attributes of a chain are taken of a call or an element."""
    count = 0
    while True:
        match e:
            case ast.Attribute(value=value):
                count += isinstance(value, ast.Call | ast.Subscript)
                e = value
            case ast.Call(func=value) | ast.Subscript(value=value):
                e = value
            case _:
                return count


def _can_do_without(r: _Reader, e: ast.expr) -> bool:
    """May a value be broken in its brackets alone? Where one operator at most binds it loosest, and a bracket is at
    its beginning or end."""
    levels = list(_operators(r, e))
    if not any(isinstance(n, ast.expr) and _is_bracketed(r, n) for n in ast.walk(e)):
        return False
    loosest = max(levels, default=-2)
    if levels.count(loosest) > 1:
        return False
    if loosest <= -1:
        return True
    return _is_bracketed(r, _last(r, e)) or _is_bracketed(r, _first(r, e))


def _operators(r: _Reader, e: ast.expr) -> list[int]:
    """How loose the operators of a value bind, those in brackets aside; a dot after a call counts as -1."""
    if r.is_parenthesized(e, own=_own(r, e)):
        return []
    match e:
        case ast.BinOp(left, op, right):
            return [*_operators(r, left), _level(_SIGNS[type(op)]), *_operators(r, right)]
        case ast.BoolOp(op, values):
            signs = [_level(_SIGNS[type(op)])] * (len(values) - 1)
            return [*signs, *(n for v in values for n in _operators(r, v))]
        case ast.Compare(left, ops, comparators):
            signs = [_level(_SIGNS[type(op)]) for op in ops]
            return [*signs, *(n for v in (left, *comparators) for n in _operators(r, v))]
        case ast.IfExp(test, body, orelse):
            return [_level("if"), _level("if"), *(n for v in (body, test, orelse) for n in _operators(r, v))]
        case ast.UnaryOp(operand=operand):
            return _operators(r, operand)
        case ast.Attribute(value=value):
            bracketed = isinstance(value, ast.Call | ast.Subscript) or r.is_parenthesized(value)
            return [*_operators(r, value), *([-1] if bracketed else [])]
        case ast.Call(func=value) | ast.Subscript(value=value):
            return _operators(r, value)
        case _:
            return []


def _own(r: _Reader, e: ast.expr) -> int:
    """The parentheses of the call that a whole value was read in."""
    return int(e.col_offset == 2 and e.end_col_offset == len(r.code) - 1)


def _level(sign: str) -> int:
    """How loose a sign binds; `or` more than `and`."""
    first = sign.partition(" ")[0]
    return next(k for k, signs in enumerate(_LEVELS) if first in signs.split(" "))


def _first(r: _Reader, e: ast.expr) -> ast.expr:
    """The leftmost operand."""
    match e:
        case ast.BinOp(left=first) | ast.Compare(left=first) | ast.IfExp(body=first) | ast.BoolOp(values=[first, *_]):
            return first if r.is_parenthesized(first) else _first(r, first)
        case _:
            return e


def _last(r: _Reader, e: ast.expr) -> ast.expr:
    """The rightmost operand."""
    match e:
        case ast.BinOp(right=last) | ast.IfExp(orelse=last) | ast.UnaryOp(operand=last):
            return last if r.is_parenthesized(last) else _last(r, last)
        case ast.Compare(comparators=[*_, last]) | ast.BoolOp(values=[*_, last]):
            return last if r.is_parenthesized(last) else _last(r, last)
        case _:
            return e


def _is_bracketed(r: _Reader, e: ast.expr) -> bool:
    if r.is_parenthesized(e, own=_own(r, e)):
        return True
    match e:
        case ast.Call(args=args, keywords=keywords):
            return bool(args or keywords)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(values=items):
            return bool(items)
        case _:
            return False


# `where` a value stands: "" where it cannot be broken, "(" in brackets, or in the group `_OUTSIDE`.


def _argument(r: _Reader, value: ast.expr | ast.keyword, *, only: bool = False) -> Document:
    """An item between brackets."""
    if isinstance(value, ast.keyword):
        return (f"{value.arg}=" if value.arg else "**", _operand(r, value.value, "(", own=0))
    return _operand(r, value, "(", own=int(only))


def _operand(r: _Reader, e: ast.expr, where: str, *, own: int = 0) -> Document:
    if r.is_parenthesized(e, own=own) and not isinstance(e, ast.GeneratorExp):
        return _in_brackets("(", _expression(r, e, "("), ")", where)
    return _expression(r, e, where)


def _expression(r: _Reader, e: ast.expr, where: str) -> Document:
    match e:
        case ast.BinOp() | ast.BoolOp() | ast.Compare():
            return _group(_joined(_row(r, e, where), where), where)
        case ast.IfExp(test, body, orelse):
            parts = (_operand(r, body, where), _line(where), "if ", _operand(r, test, where))
            return _group((*parts, _line(where), "else ", _operand(r, orelse, where)), where)
        case ast.UnaryOp(op, operand):
            return (_SIGNS[type(op)], _operand(r, operand, where))
        case ast.Call() | ast.Attribute() | ast.Subscript():
            return _chain(r, e, where)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            opening, closing = ("[", "]") if isinstance(e, ast.List) else ("(", ")")
            if len(items) < 2 or not r.text(e).startswith(opening):
                return r.text(e)
            return _in_brackets(opening, _listed([_argument(r, x) for x in items]), closing, where)
        case ast.Dict(keys=keys, values=values):
            pairs = [(f"{r.text(k)}: ", _operand(r, v, "(")) for k, v in zip(keys, values, strict=True) if k]
            return _in_brackets("{", _listed([*pairs]), "}", where) if len(pairs) == len(keys) > 1 else r.text(e)
        case ast.Starred(value=value):
            return ("*", _operand(r, value, where))
        case _:
            return r.text(e)


def _listed(items: list[Document]) -> Document:
    parts: list[Document] = [items[0]]
    for item in items[1:]:
        parts += [",", Line(" "), item]
    return (*parts, Broken(","))


def _in_brackets(opening: str, content: Document, closing: str, where: str) -> Document:
    made = Group((opening, Indent((Line(), content)), Line(), closing))
    return Inner(made, where) if where == _OUTSIDE else made


def _group(content: Document, where: str) -> Document:
    """A group in brackets; in optional parentheses, only where these are there."""
    if where == "(":
        return Group(content)
    return Group(content, unless=where) if where else content


def _line(where: str) -> Document:
    """A place for a break in brackets; a blank elsewhere."""
    if where == "(":
        return Line(" ")
    return Optional(Line(" "), where) if where else " "


def _chain(r: _Reader, e: ast.expr, where: str, *, root: bool = True, fluent: bool = False) -> Document:
    """Calls, elements and attributes; a chain of several calls is broken in front of the dots."""
    fluent = _dots(e) >= 2 if root else fluent
    match e:
        case ast.Call(func=value, args=args, keywords=keywords):
            items: list[ast.expr | ast.keyword] = [*args, *keywords]
            func = _link(r, value, where, fluent=fluent)
            if not items:
                return (func, "()")
            content = _listed([_argument(r, x, only=len(items) == 1) for x in items])
            if len(items) == 1 and isinstance(items[0], ast.GeneratorExp):
                return (func, r.text(items[0]))
            called: Document = (func, _in_brackets("(", Group(content), ")", where))
            return Group(called) if root and fluent else called
        case ast.Attribute(value=value, attr=attr):
            place: Document = Line() if fluent and isinstance(value, ast.Call | ast.Subscript) else ""
            own = (_link(r, value, where, fluent=fluent), place, f".{attr}")
            return Group(own) if root and fluent else own
        case ast.Subscript(value=value, slice=index):
            text = r.text(index)
            return (_link(r, value, where, fluent=fluent), f"[{text}]")
        case _:
            return _operand(r, e, where)


def _link(r: _Reader, e: ast.expr, where: str, *, fluent: bool) -> Document:
    return _operand(r, e, where) if r.is_parenthesized(e) else _chain(r, e, where, root=False, fluent=fluent)


# --- operators -------------------------------------------------------------------------------------------------------

_Flat = list[tuple[str, "Document"]]  # the operator in front of each operand; none in front of the first


def _flat(r: _Reader, e: ast.expr, where: str) -> _Flat:
    """An operand, or several where operators stand in it without parentheses."""
    if r.is_parenthesized(e):
        return [("", _operand(r, e, where))]
    return _row(r, e, where)


def _row(r: _Reader, e: ast.expr, where: str) -> _Flat:
    """Operators of every precedence and their operands in one row."""
    match e:
        case ast.BinOp(op=ast.Pow()) if " ** " not in r.text(e):
            return [("", r.text(e))]
        case ast.BinOp(left, op, right):
            return [*_flat(r, left, where), *_after(_SIGNS[type(op)], _flat(r, right, where))]
        case ast.BoolOp(op, [first, *others]):
            rest = [_after(_SIGNS[type(op)], _flat(r, v, where)) for v in others]
            return [*_flat(r, first, where), *(x for row in rest for x in row)]
        case ast.Compare(left, ops, comparators):
            pairs = zip(ops, comparators, strict=True)
            rest = [_after(_SIGNS[type(op)], _flat(r, v, where)) for op, v in pairs]
            return [*_flat(r, left, where), *(x for row in rest for x in row)]
        case _:
            return [("", _operand(r, e, where))]


def _after(sign: str, row: _Flat) -> _Flat:
    return [(sign, row[0][1]), *row[1:]]


def _joined(row: _Flat, where: str) -> Document:
    """Broken in front of the operators that bind loosest; what stands between two of them is a group of its own."""
    if len(row) == 1:
        return row[0][1]
    loosest = max(_level(sign) for sign, _ in row[1:])
    starts = [0, *(k for k, (sign, _) in enumerate(row) if k and _level(sign) == loosest), len(row)]
    parts: list[Document] = []
    for a, b in pairwise(starts):
        part = _joined([("", row[a][1]), *row[a + 1 : b]], where)
        part = _group(part, where) if b - a > 1 else part
        parts += [part] if a == 0 else [_line(where), f"{row[a][0]} ", part]
    return tuple(parts)
