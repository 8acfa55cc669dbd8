"""Programs as text, in the notation of the spec language: for `opgen show`, golden tests and fingerprints.

In goes any Program, out comes its canonical text; equal programs give equal text.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from opgen.ir.program import (
    Argument,
    Axis,
    Chosen,
    Compute,
    Condition,
    DimSource,
    Function,
    Given,
    Kind,
    Loop,
    Output,
    Program,
    Recurrence,
    Scatter,
    Shape,
    Statement,
    Tensor,
)
from opgen.ir.scalar import Apply, Batch, Cast, Const, Dim, Index, Lit, Param, Position, Read, Scalar

INFIX = {
    "or": (" or ", 1),
    "and": (" and ", 2),
    "lt": (" < ", 4),
    "le": (" <= ", 4),
    "gt": (" > ", 4),
    "ge": (" >= ", 4),
    "eq": (" == ", 4),
    "ne": (" != ", 4),
    "add": (" + ", 5),
    "sub": (" - ", 5),
    "mul": ("*", 6),
    "div": ("/", 6),
    "floordiv": ("//", 6),
    "mod": ("%", 6),
    "pow": ("**", 8),
}
NOT, UNARY, _ATOM = 3, 7, 9
CHAINS = frozenset(("or", "and", "add", "mul"))  # of any number of operands


def number(value: int | Fraction | bool) -> str:
    """A literal as a person writes it: a decimal where it is exact, else a quotient."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    decimal = repr(float(value))
    return decimal if Fraction(decimal) == value else f"{value.numerator}/{value.denominator}"


def scalar(e: Scalar) -> str:
    """A scalar expression with no more parentheses than it needs."""
    return _print(e, exact=False)[0]


def exact(e: Scalar) -> str:
    """The same for dumps, where scalars that differ differ in text (`opgen.ir.parse`): `a + -b` is not `a - b`."""
    return _print(e, exact=True)[0]


@lru_cache(maxsize=1 << 16)
def _print(e: Scalar, *, exact: bool) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds; passes print what they measure again and again."""
    match e:
        case Lit(Fraction() as value) if exact and "/" in number(value):
            return f"fraction({value.numerator}, {value.denominator})", _ATOM
        case Lit(value):
            text = number(value)
            return text, 6 if "/" in text else UNARY if text.startswith("-") else _ATOM
        case Index("..."):
            return "place(...)", _ATOM
        case Const(name) | Dim(name) | Index(name):
            return (f"size({name})" if name == "..." else name), _ATOM
        case Param(name, item):
            return (name if item is None else f"{name}[{item}]"), _ATOM
        case Read(tensor, at, fill):
            access = f"{tensor}[{', '.join('...' if isinstance(p, Batch) else _text(p, exact) for p in at)}]"
            return (access if fill is None else f"pad({access}, {_text(fill, exact)})"), _ATOM
        case Cast(arg, like):
            return f"cast({_text(arg, exact)}, {like})", _ATOM
        case Apply(fn, args):
            return _apply(fn, args, exact)
        case _:
            assert_never(e)


def _text(e: Scalar, exact: bool) -> str:
    return _print(e, exact=exact)[0]


def _apply(fn: str, args: tuple[Scalar, ...], exact: bool) -> tuple[str, int]:
    if fn == "neg":
        apart = exact and isinstance(args[0], Lit)  # the negative of a literal is no negative literal
        return "-" + _wrap(args[0], _ATOM + 1 if apart else UNARY, exact), UNARY
    if fn == "not":
        return "not " + _wrap(args[0], NOT, exact), NOT
    if fn not in INFIX:
        return f"{fn}({', '.join(_text(a, exact) for a in args)})", _ATOM
    sign, level = INFIX[fn]
    if fn == "pow":
        return _wrap(args[0], level + 1, exact) + sign + _wrap(args[1], UNARY, exact), level
    nested = exact and fn in CHAINS and isinstance(args[0], Apply) and args[0].fn == fn
    first = _wrap(args[0], level + 1 if nested or 3 <= level <= 4 else level, exact)
    if fn == "add" and not exact:
        return first + "".join(_added(a, level) for a in args[1:]), level
    return first + "".join(sign + _wrap(a, level + 1, exact) for a in args[1:]), level


def _added(term: Scalar, level: int) -> str:
    """A further term of a sum; a minus sign is part of the sum."""
    match term:
        case Apply("neg", (inner,)):
            return " - " + _wrap(inner, level + 1, exact=False)
        case Lit(value) if not isinstance(value, bool) and value < 0:
            return " - " + number(-value)
        case _:
            return " + " + _wrap(term, level + 1, exact=False)


def _wrap(e: Scalar, level: int, exact: bool) -> str:
    text, own = _print(e, exact=exact)
    return text if own >= level else f"({text})"


def position(p: Position) -> str:
    return "..." if isinstance(p, Batch) else scalar(p)


def shape(s: Shape) -> str:
    return f"[{', '.join(position(p) for p in s)}]"


def _loop(a: Loop, *, extent: bool, exact: bool) -> str:
    if isinstance(a, Batch):
        return "..."
    return f"{a.name} < {_text(a.extent, exact)}" if extent else a.name


def _loops(loops: tuple[Loop, ...], *, extent: bool, exact: bool) -> str:
    return f"[{', '.join(_loop(a, extent=extent, exact=exact) for a in loops)}]"


def statement(s: Statement, *, exact: bool = False) -> str:
    """One statement on one line; `exact`: as a dump, which `opgen.ir.parse_statement` reads back."""
    match s:
        case Compute():
            body = _text(s.body, exact)
            if s.op is not None:
                fresh = any(isinstance(a, Axis) and a not in s.axes for a in s.over)
                body = f"{s.op}{_loops(s.over, extent=fresh, exact=exact)}({body})"
            return f"{_target(s, exact)} = {body}"
        case Scatter():
            at = f"{s.target}[{', '.join('...' if isinstance(p, Batch) else _text(p, exact) for p in s.at)}]"
            at = f"pad({at})" if s.padded else at
            loops = _loops(s.loops, extent=True, exact=exact)
            return f"{_target(s, exact)} = {_text(s.base, exact)}; {at} {s.op}= over {loops} of {_text(s.body, exact)}"
        case Recurrence():
            down = " down" if s.reverse else ""
            steps = "; ".join(statement(step, exact=exact) for step in s.steps)
            return f"along {_loop(s.along, extent=True, exact=exact)}{down}: {steps}"
        case _:
            assert_never(s)


def _target(s: Compute | Scatter, exact: bool) -> str:
    kind = f": {s.kind}" if exact and s.kind is not Kind.FLOAT else ""
    return f"{s.target}{_loops(s.axes, extent=True, exact=exact)}{kind}"


def program(p: Program, *, exact: bool = False) -> str:
    """The whole program; `exact`: as a dump with all there is to it, which `opgen.ir.parse_program` reads back."""
    lines = [f"program {p.name}"]
    lines += [_tensor(t, exact) for t in p.inputs]
    lines += [f"  param {a.name}: {a.type}{_argument(a) if exact else ''}" for a in p.params]
    lines += [_dim(d, exact) for d in p.dims if exact or d.value is not None]
    lines += [f"  function {_function(f, exact)}" for f in p.functions]
    lines += [f"  {statement(s, exact=exact)}" for s in p.statements]
    if exact:
        lines += [
            f"  override of {n}{_shape(s, exact)}" for n, s in zip(p.override.inputs, p.override.shapes, strict=True)
        ]
    lines += [f"  override {statement(s, exact=exact)}" for s in p.override.statements]
    lines += [_output(o, exact) for o in p.outputs]
    return "\n".join(lines) + "\n"


def _shape(s: Shape, exact: bool) -> str:
    return f"[{', '.join('...' if isinstance(p, Batch) else _text(p, exact) for p in s)}]"


def _tensor(t: Tensor, exact: bool) -> str:
    origin = f" of {t.of}" if t.of else ""
    constant = "" if t.differentiable else ", constant"
    more = _stored(t.dtype) + _doc(t.doc) if exact else ""
    return f"  {t.role} {t.name}{_shape(t.shape, exact)}: {t.kind}{origin}{constant}{more}"


def _output(o: Output, exact: bool) -> str:
    like = f", summed to the shape of {o.like}" if o.like else ""
    origin = f" of {o.of}" if o.of else ""
    more = ""
    if exact:
        marks = ((not o.differentiable, "constant"), (o.kept, "kept"))
        more = "".join(f", {mark}" for on, mark in marks if on) + _stored(o.dtype) + _doc(o.doc)
    return f"  output {o.name}{_shape(o.shape, exact)} = {o.value}: {o.kind}{origin}{like}{more}"


def _stored(dtype: str) -> str:
    return f", as {dtype}" if dtype else ""


def _doc(doc: str) -> str:
    return f", doc {_quoted(doc)}" if doc else ""


def _quoted(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _dim(d: DimSource, exact: bool) -> str:
    source = f" of {d.tensor} at {d.position}" if exact and d.tensor is not None else ""
    return f"  dim {d.name}{source}{'' if d.value is None else f' = {_text(d.value, exact)}'}"


def _argument(a: Argument) -> str:
    """What a dump says of an argument beside its type."""
    length = "" if a.length is None else f"[{a.length}]"
    default = "" if a.default is None else f" = {_value(a.default)}"
    choices = f", one of {', '.join(map(_quoted, a.choices))}" if a.choices else ""
    marks = f"{', null' if a.null else ''}{', positive' if a.positive else ''}"
    return (
        length + default + marks + ("" if a.tells is None else f", tells {_condition(a.tells)}") + choices + _doc(a.doc)
    )


def _value(value: object) -> str:
    """A default: a number, a word, a list, or in parentheses a formula."""
    match value:
        case str():
            return _quoted(value)
        case tuple():
            return f"[{', '.join(map(_value, value))}]"
        case bool() | int() | Fraction():
            return _text(Lit(value), exact=True)
        case _:
            assert isinstance(value, Scalar)
            return f"({_text(value, exact=True)})"


def _condition(c: Condition) -> str:
    match c:
        case Given(name, present):
            return f"{name} {'given' if present else 'absent'}"
        case Chosen(name, value):
            return f"{name} is {_value(value)}"
        case _:
            assert_never(c)


def _function(f: Function, exact: bool) -> str:
    head = f"{f.name}({', '.join(f.params)})"
    if exact:
        value = [] if f.value is None else [f"value {_text(f.value, exact)}"]
        partials = [f"partials {', '.join(_text(e, exact) for e in f.partials)}"] if f.partials else []
        return "; ".join([head, *value, *partials, *(f"{back_end} {_quoted(name)}" for back_end, name in f.spellings)])
    names = "; ".join(f"{back_end} {name}" for back_end, name in f.spellings)
    return f"{head} = {' or '.join([*([] if f.value is None else [scalar(f.value)]), *([names] if names else [])])}"
