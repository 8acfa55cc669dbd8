"""How scalar expressions are written in torch code: tensors and Python numbers side by side.

In goes nothing but tables; out comes the `Dialect` that `opgen.code.printer` prints with, for one function body. What
makes torch its own language: a parameter or a size is a Python number (`math.sqrt`, `and`, `a if c else b`), an
access is a tensor (`torch.sqrt`, `&`, `torch.where`), and a number must never change a tensor's dtype: an integer or
bool tensor that meets a float number is converted first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from opgen.code.printer import Dialect, Infix, Printer, Special, Text, decimal, join, result_kind, whole
from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.interp_functions import constant_value
from opgen.ir.program import Kind
from opgen.ir.scalar import ONE, ZERO, Apply, Lit, Scalar

TERNARY, OR, AND, NOT, COMPARE, BIT_OR, BIT_AND, ADD, MUL, UNARY, POWER, ATOM = 0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13


@dataclass(frozen=True, slots=True)
class Casts:
    """What the dialect asks of the function it prints in: spelling of the float dtype, and a number as a tensor."""

    dtype: Callable[[], str]  # `input.dtype`
    tensor: Callable[[str, Kind], str]  # "2.0" -> `input.new_full((), 2.0)`


def _literal(value: int | Fraction | bool) -> Text:
    if isinstance(value, bool):
        return Text(str(value), ATOM, Kind.BOOL, number=True)
    if isinstance(value, int):
        return Text(str(value), UNARY if value < 0 else ATOM, Kind.INT, number=True)
    short = decimal(value)
    if short is None:
        return Text(f"{value.numerator} / {value.denominator}", MUL, number=True)
    return Text(short, UNARY if value < 0 else ATOM, number=True)


def dialect(casts: Casts) -> Dialect:
    """The torch dialect inside one function body."""

    def as_float(t: Text) -> Text:
        return replace(t, kind=Kind.FLOAT) if t.number else Text(f"{t.at(ATOM)}.to({casts.dtype()})", ATOM)

    def as_tensor(t: Text) -> Text:
        return Text(casts.tensor(t.text, t.kind), ATOM, t.kind) if t.number else t

    def spelling(row: ScalarFunction, texts: tuple[Text, ...]) -> str:
        if all(t.number for t in texts) and row.python:
            return row.python
        if row.torch_number and len(texts) > 1 and not texts[0].number and all(t.number for t in texts[1:]):
            return row.torch_number
        return row.torch

    return Dialect(
        infix={},
        special={
            "or": _logic("or", Infix.of("or", OR), Infix.of("|", BIT_OR)),
            "and": _logic("and", Infix.of("and", AND), Infix.of("&", BIT_AND)),
            "not": _not,
            "neg": _neg,
            "where": lambda p, args: _where(p, args, as_float, as_tensor),
            "pow": lambda p, args: _power(p, args, as_float),
            "detach": _detach,
            "int": _int,
            "tofloat": lambda p, args: _tofloat(p, args, as_float),
            **{n: _of_bits(n, casts) for n, row in FUNCTIONS.items() if row.of_bits},
            **{name: _arithmetic(name, infix, as_float) for name, infix in _INFIX.items()},
            **{
                name: _call(row, as_float, as_tensor)
                for name, row in FUNCTIONS.items()
                if not (row.infix or row.of_bits) and name not in ("detach", "int", "tofloat")
            },
        },
        literal=_literal,
        constants={"pi": "math.pi", "inf": "math.inf", "nan": "math.nan"},
        spelling=spelling,
        as_float=as_float,
        as_int=lambda t: t,
        elsewhere=lambda name, texts: _elsewhere(name, _promoted(texts, Kind.FLOAT, as_float, mixes=False)),
        unary=UNARY,
        atom=ATOM,
    )


def torch_function_name(name: str) -> str:
    """The object that stands for a function in generated Python; names that differ in case only stay apart."""
    return f"ELSEWHERE_{name.upper()}" if name == name.lower() else f"Elsewhere_{name}"


def _elsewhere(name: str, texts: tuple[Text, ...]) -> Text:
    text = f"{torch_function_name(name)}({', '.join(t.text for t in texts)})"
    return Text(text, ATOM, number=all(t.number for t in texts))


_INFIX = {
    "eq": Infix.single("==", COMPARE),
    "ne": Infix.single("!=", COMPARE),
    "lt": Infix.single("<", COMPARE),
    "le": Infix.single("<=", COMPARE),
    "gt": Infix.single(">", COMPARE),
    "ge": Infix.single(">=", COMPARE),
    "add": Infix.of("+", ADD),
    "sub": Infix.of("-", ADD),
    "mul": Infix.of("*", MUL),
    "div": Infix.of("/", MUL),
    "floordiv": Infix.of("//", MUL),
    "mod": Infix.of("%", MUL),
}

Convert = Callable[[Text], Text]


def _promoted(texts: tuple[Text, ...], kind: Kind, as_float: Convert, *, mixes: bool) -> tuple[Text, ...]:
    """Operands such that torch computes in the float dtype. `mixes`: an int may stand beside a float tensor, unless a
    float number would meet it first."""
    if kind is Kind.INT:
        return tuple(Text(f"{t.at(ATOM)}.long()", ATOM, Kind.INT) if _is_mask(t) else t for t in texts)
    first = next((i for i, t in enumerate(texts) if t.kind is Kind.FLOAT and not t.number), None)
    beside = mixes and first is not None and not any(t.number and t.kind is Kind.FLOAT for t in texts[:first])
    return tuple(as_float(t) if t.kind is not Kind.FLOAT and not (beside and not _is_mask(t)) else t for t in texts)


def _is_mask(t: Text) -> bool:
    return t.kind is Kind.BOOL and not t.number


_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _constancy(text: str) -> int:
    """How much like a constant something looks: a comparison has that on the right. 2: literals, 1: `SIZES` too."""
    words = re.findall(r"[\w.]+", text)
    if "[" in text or re.search(r"[\w\])]\(", text):
        return 0
    return min((2 if w[:1].isdigit() else 1 if w.isupper() else 0 for w in words), default=0)


def _arithmetic(name: str, infix: Infix, as_float: Convert) -> Special:
    row, mirrored = FUNCTIONS[name], _INFIX.get(_MIRRORED.get(name, ""))

    def special(p: Printer, args: tuple[Scalar, ...]) -> Text:
        texts = tuple(p.text(a) for a in args)
        kind = result_kind(row, texts)
        if name in _GUARDED and kind is Kind.FLOAT and all(t.number for t in texts) and not constant_value(args[1]):
            return Text(f"numbers.{_GUARDED[name]}({texts[0].text}, {texts[1].text})", ATOM, kind, number=True)
        if kind is not Kind.BOOL:
            texts = _promoted(texts, kind, as_float, mixes=True)
        elif any(t.kind is Kind.FLOAT for t in texts):
            texts = _promoted(texts, Kind.FLOAT, as_float, mixes=True)
        if mirrored is not None and _constancy(texts[0].text) > _constancy(texts[1].text):
            return join(mirrored, texts[::-1], kind)
        return join(infix, texts, kind)

    return special


# Of numbers, what Python refuses where the divisor is 0.
_GUARDED = {"div": "ratio", "floordiv": "floordiv", "mod": "remainder"}


def _of_numbers(row: ScalarFunction, args: Sequence[Scalar], texts: Sequence[Text]) -> ScalarFunction:
    """The row as it is spelled for these numbers."""
    if row.python_whole and all(t.kind is not Kind.FLOAT for t in texts):
        return replace(row, python=row.python_whole)
    defined = row.python_constant and constant_value(Apply(row.name, tuple(args))) is not None
    return replace(row, python=row.python_constant) if defined else row


def _call(row: ScalarFunction, as_float: Convert, as_tensor: Convert) -> Special:
    """A called row: numbers stay numbers where every argument is one, or where the spelling takes them."""

    def special(p: Printer, args: tuple[Scalar, ...]) -> Text:
        texts = tuple(p.text(a) for a in args)
        kind = result_kind(row, texts)
        if row.orders:
            rest = _promoted(texts[row.orders :], Kind.FLOAT, as_float, mixes=False)
            return p.call(row, (*texts[: row.orders], *(as_tensor(t) for t in rest)))
        texts = _promoted(texts, kind if kind is Kind.INT else Kind.FLOAT, as_float, mixes=False)
        if all(t.number for t in texts) and row.python:
            return p.call(_of_numbers(row, args, texts), texts)
        if row.variadic:  # commutative: numbers last, joined first
            numbers = tuple(t for t in texts if t.number)
            given = [a for a, t in zip(args, texts, strict=True) if t.number]
            joined = (p.call(_of_numbers(row, given, numbers), numbers),) if numbers else ()
            texts = (*(t for t in texts if not t.number), *joined)
        elif texts[0].number and (not row.python or not all(t.number for t in texts)):
            texts = tuple(as_tensor(t) for t in texts)
        if not row.torch_number and row.name not in _NUMBERS and not all(t.number for t in texts):
            texts = tuple(as_tensor(t) for t in texts)
        elif row.torch_number and row.name not in _NUMBERS and not all(t.number for t in texts[1:]):
            texts = (*(as_tensor(t) for t in texts[:-1]), texts[-1])  # only a last number may stand beside tensors
        return p.call(row, texts)

    return special


# Rows whose plain spelling takes Python numbers after the first argument.
_NUMBERS = ("philox", "xlogy", "fmod", "remainder", "copysign", "clamp")


def _logic(name: str, numbers: Infix, tensors: Infix) -> Special:
    row = FUNCTIONS[name]

    def special(p: Printer, args: tuple[Scalar, ...]) -> Text:
        texts = tuple(p.text(a) for a in args)
        return join(numbers if all(t.number for t in texts) else tensors, texts, result_kind(row, texts))

    return special


def _not(p: Printer, args: tuple[Scalar, ...]) -> Text:
    t = p.text(args[0])
    opposite = {"eq": "ne", "ne": "eq"}.get(args[0].fn) if isinstance(args[0], Apply) else None
    if t.number and opposite is not None and isinstance(args[0], Apply):
        return p.text(Apply(opposite, args[0].args))
    if t.number:
        return Text(f"not {t.at(NOT)}", NOT, Kind.BOOL, number=True)
    return Text(f"~{t.at(UNARY)}", UNARY, Kind.BOOL)


def _neg(p: Printer, args: tuple[Scalar, ...]) -> Text:
    match args[0]:
        case Apply("neg", (inner,)) if not _is_mask(t := p.text(inner)):
            return t
    t = p.text(args[0])
    if _is_mask(t):
        t = Text(f"{t.at(ATOM)}.long()", ATOM, Kind.INT)
    operand = t.at(UNARY)
    kind = Kind.FLOAT if t.kind is Kind.FLOAT else Kind.INT
    return Text(
        f"-({operand})" if operand.startswith("-") or t.level == POWER else f"-{operand}", UNARY, kind, t.number
    )


def _detach(p: Printer, args: tuple[Scalar, ...]) -> Text:
    t = p.text(args[0])
    return t if t.number else Text(f"{t.at(ATOM)}.detach()", ATOM, t.kind)


def _int(p: Printer, args: tuple[Scalar, ...]) -> Text:
    t = p.text(args[0])
    if t.number:
        return Text(f"int({t.text})", ATOM, Kind.INT, number=True)
    return Text(f"{t.at(ATOM)}.long()", ATOM, Kind.INT)  # a conversion truncates


def _tofloat(p: Printer, args: tuple[Scalar, ...], as_float: Convert) -> Text:
    n = whole(args[0])
    return as_float(p.text(args[0])) if n is None else _literal(Fraction(n))


def _of_bits(name: str, casts: Casts) -> Special:
    """A function of the runtime that makes random bits a number of the dtype that is computed in."""
    return lambda p, args: Text(f"{name}({p.text(args[0]).text}, {casts.dtype()})", ATOM)


def _power(p: Printer, args: tuple[Scalar, ...], as_float: Convert) -> Text:
    base, exponent = p.text(args[0]), p.text(args[1])
    n = whole(args[1])
    if base.kind is not Kind.FLOAT and not base.number and (n is None or n < 0):
        base = as_float(base)
    elif base.number and base.kind is Kind.FLOAT and not exponent.number:
        exponent = as_float(exponent) if exponent.kind is not Kind.FLOAT else exponent
    kind = Kind.FLOAT if Kind.FLOAT in (base.kind, exponent.kind) else Kind.INT
    if base.number and exponent.number and not _is_plain_power(args, base):
        return Text(f"numbers.power({base.text}, {exponent.text})", ATOM, kind, number=True)
    left, right = base.at(ATOM), exponent.at(UNARY)
    sign = "**" if _simple(left) and _simple(right.removeprefix("-")) else " ** "
    return Text(left + sign + right, POWER, kind, base.number and exponent.number)


def _is_plain_power(args: tuple[Scalar, ...], base: Text) -> bool:
    """A power of numbers that Python computes by the rules of tensors: a whole one of a size, or a constant."""
    n = whole(args[1])
    if n is not None and 0 <= n < _WHOLE_POWER and base.kind is not Kind.FLOAT:
        return True
    return constant_value(Apply("pow", args)) is not None


_WHOLE_POWER = 64


def _simple(text: str) -> bool:
    """What formatters put a power operator beside without spaces: names, attributes and numbers."""
    return text.replace(".", "_").isidentifier() or re.fullmatch(r"[\d.]+(e[-+]?\d+)?", text) is not None


def _extreme(condition: Scalar, a: Scalar, b: Scalar) -> Scalar | None:
    """A choice of the larger or smaller of two integers as what it is."""
    match condition:
        case Apply("ge" | "gt", (x, y)) if {x, y} == {a, b}:
            return Apply("max" if a == x else "min", (x, y))
        case Apply("le" | "lt", (x, y)) if {x, y} == {a, b}:
            return Apply("min" if a == x else "max", (x, y))
    return None


def _where(p: Printer, args: tuple[Scalar, ...], as_float: Convert, as_tensor: Convert) -> Text:
    condition = p.text(args[0])
    if not condition.number and args[1:] in ((ONE, ZERO), (Lit(True), Lit(False))):
        return condition  # a condition counts as 0 or 1
    a, b = p.text(args[1]), p.text(args[2])
    kind = a.kind if a.kind is b.kind else Kind.FLOAT if Kind.FLOAT in (a.kind, b.kind) else Kind.INT
    if condition.number:
        if kind is Kind.INT and (extreme := _extreme(*args)) is not None:
            return p.text(extreme)
        if a.number != b.number:
            a, b = (as_tensor(replace(t, kind=kind)) if t.number else t for t in (a, b))
        if kind is Kind.FLOAT:  # one or the other: none takes the dtype of both
            a, b = (t if t.number or t.kind is kind else as_float(t) for t in (a, b))
        return Text(f"{a.at(OR)} if {condition.at(OR)} else {b.at(TERNARY)}", TERNARY, kind, a.number)
    if kind is Kind.FLOAT:
        a, b = (t if t.kind is Kind.FLOAT else as_float(t) for t in (a, b))
        if a.number and b.number:
            a = as_tensor(a)
    elif kind is Kind.INT:
        a, b = _promoted((a, b), kind, as_float, mixes=True)
    return Text(f"torch.where({condition.text}, {a.text}, {b.text})", ATOM, kind)
