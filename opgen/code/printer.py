"""Scalar expressions as source text, with no more parentheses than the language needs.

In goes a scalar expression and a `Dialect` (tables: operators, spellings, literals); out comes a `Text`: the source,
how tightly its outermost operator binds, and what kind of number it is. How an access, a parameter, a size or an
index is spelled belongs to whoever lays out the loops, so those leaves go through a callback. Dialects: `NATIVE` here
(C++ and CUDA, whose headers spell functions alike), the torch one in `opgen.torch.dialect`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.numbers import is_beyond
from opgen.ir.program import Kind
from opgen.ir.scalar import INF, NEG_INF, Apply, Cast, Const, Dim, Index, Lit, Param, Read, Scalar, children

Leaf = Read | Param | Dim | Index


@dataclass(frozen=True, slots=True)
class Text:
    """Printed source. `level`: precedence of its outermost operator. `number`: known on the host, not a tensor."""

    text: str
    level: int
    kind: Kind = Kind.FLOAT
    number: bool = False

    def at(self, level: int) -> str:
        """The text where an operand of at least this precedence is needed."""
        return self.text if self.level >= level else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Infix:
    """An operator: its sign with spaces, its precedence, and the least precedence of its left and right operand."""

    sign: str
    level: int
    left: int
    right: int

    @staticmethod
    def of(sign: str, level: int) -> Infix:
        """Left-associative."""
        return Infix(f" {sign} ", level, level, level + 1)

    @staticmethod
    def single(sign: str, level: int) -> Infix:
        """Without association: comparisons."""
        return Infix(f" {sign} ", level, level + 1, level + 1)


Special = Callable[["Printer", tuple[Scalar, ...]], Text]
Parts = Callable[["Printer", tuple[Scalar, ...]], tuple[Scalar, ...]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language, as tables. `special` rows win over `infix` rows, those over the spellings of the function table."""

    infix: Mapping[str, Infix]
    special: Mapping[str, Special]
    literal: Callable[[int | Fraction | bool], Text]
    constants: Mapping[str, str]
    spelling: Callable[[ScalarFunction, tuple[Text, ...]], str]
    as_float: Callable[[Text], Text]  # an int or a condition where a float is needed
    as_int: Callable[[Text], Text]  # a literal or a condition where a function takes ints
    elsewhere: Callable[[str, tuple[Text, ...]], Text]  # a call of a function that another library computes
    unary: int  # precedence of a sign
    atom: int
    parts: Mapping[str, Parts] = field(default_factory=dict)  # what functions are printed with, if not their operands


def _no_cast(text: Text, like: str) -> Text:
    raise AssertionError(f"no spelling for a cast to the dtype of {like} ({text.text})")


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints scalars of one program. `leaf` spells accesses and names, `cast` rounds to the dtype of a tensor."""

    dialect: Dialect
    leaf: Callable[[Leaf], Text]
    cast: Callable[[Text, str], Text] = _no_cast
    known: dict[Scalar, Text] | None = None  # what was printed before, where the same is printed again and again
    held: Container[Scalar] = ()  # what of that is the name of a local: nothing in it is looked at

    def __call__(self, e: Scalar) -> str:
        return self.text(e).text

    def text(self, e: Scalar) -> Text:
        if self.known is None:
            return self._text(e)
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self._text(e)
        return found

    def _text(self, e: Scalar) -> Text:
        if isinstance(e, Apply):  # most are
            return self._apply(e.fn, e.args)
        match e:
            case Lit(value) if is_beyond(value):
                return self.text(INF if value > 0 else NEG_INF)
            case Lit(value):
                return self.dialect.literal(_held(value))
            case Const(name):
                return Text(self.dialect.constants[name], self.dialect.atom, number=True)
            case Read() | Param() | Dim() | Index():
                return self.leaf(e)
            case Cast(arg, like):
                return self.cast(self.text(arg), like)
            case _:
                assert_never(e)

    def at(self, e: Scalar, level: int) -> str:
        return self.text(e).at(level)

    def parts(self, e: Scalar) -> tuple[Scalar, ...]:
        """The values whose texts are in that of another: its operands, or what its function takes in their place."""
        if isinstance(e, Apply) and e.fn in self.dialect.parts:
            return self.dialect.parts[e.fn](self, e.args)
        return children(e)

    def _apply(self, fn: str, args: tuple[Scalar, ...]) -> Text:
        special = self.dialect.special.get(fn)
        if special is not None:
            return special(self, args)
        texts = tuple(self.text(a) for a in args)
        if fn not in FUNCTIONS:
            return self.dialect.elsewhere(fn, texts)
        row = FUNCTIONS[fn]
        infix = self.dialect.infix.get(fn)
        if infix is not None:
            return join(infix, texts, result_kind(row, texts))
        return self.call(row, texts)

    def call(self, row: ScalarFunction, texts: tuple[Text, ...]) -> Text:
        """A spelling of the table; a variadic row of two arguments is folded from the left."""
        kind = result_kind(row, texts)
        if row.of_bits:
            texts = tuple(self.dialect.as_int(t) for t in texts)
        elif kind is Kind.FLOAT or row.result == "bool":
            texts = tuple(t if t.kind is Kind.FLOAT else self.dialect.as_float(t) for t in texts)
        else:
            texts = tuple(self.dialect.as_int(t) for t in texts)
        number = all(t.number for t in texts)
        if not row.variadic or len(texts) <= len(row.args):
            return self._spell(row, texts, kind, number)
        folded = texts[0]
        for t in texts[1:]:
            folded = self._spell(row, (folded, t), kind, folded.number and t.number)
        return folded

    def _spell(self, row: ScalarFunction, texts: tuple[Text, ...], kind: Kind, number: bool) -> Text:
        if row.variadic and len(texts) == 1:
            return texts[0]
        spelling = self.dialect.spelling(row, texts)
        return Text(spelling.format(*(t.text for t in texts)), self.dialect.atom, kind, number)


def result_kind(row: ScalarFunction, args: tuple[Text, ...]) -> Kind:
    """The kind of a function's value: its row's, or the widest of its arguments (a condition counts as an int)."""
    if row.result != "same":
        return Kind(row.result)
    return Kind.FLOAT if any(a.kind is Kind.FLOAT for a in args) else Kind.INT


def join(infix: Infix, texts: tuple[Text, ...], kind: Kind) -> Text:
    """Operands joined by an operator; `a + -b` is written `a - b`."""
    out = texts[0].at(infix.left)
    for t in texts[1:]:
        right = t.at(infix.right)
        if infix.sign == " + " and _is_negative(right) and t.level >= infix.right:
            out += f" - {right[1:]}"
        else:
            out += infix.sign + right
    level = infix.level if len(texts) > 1 else texts[0].level
    return Text(out, level, kind, all(t.number for t in texts))


def _is_negative(term: str) -> bool:
    """Whether a term is its text without the sign, negated: `-a*b` is, `-a % b` and `-a // b` are not."""
    if not term.startswith("-"):
        return False
    if "%" not in term and "//" not in term:
        return True
    depth, outside = 0, ""
    for c in term:
        depth += (c in "([") - (c in ")]")
        outside += c if depth == 0 else ""
    return "%" not in outside and "//" not in outside


def decimal(value: Fraction) -> str | None:
    """A fraction as the shortest decimal, where that is exactly it or the quotient would round more than once."""
    text = repr(float(value)).replace("e+", "e")
    exact = max(abs(value.numerator), value.denominator) <= 2**53
    return None if exact and Fraction(text) != value else text


def whole(e: Scalar) -> int | None:
    """The value of an integer literal."""
    return e.value if isinstance(e, Lit) and isinstance(e.value, int) and not isinstance(e.value, bool) else None


# --- C++ and CUDA ----------------------------------------------------------------------------------------------------
#
# Everything is computed in `opmath_t`. Functions of the shipped headers: `rt::<row>` as the function table spells them,
# `rt::powi<3>(x)`, `rt::pow`, `rt::floordiv`, `rt::mod` (ints and floats), `rt::inf<T>()`, `rt::nan<T>()`.

_ADD, _MUL, _UNARY, _ATOM = 9, 10, 11, 13


def _held(value: int | Fraction | bool) -> int | Fraction | bool:
    """A literal as code can hold it: an integer beyond 64 bits comes from a decimal such as `1e30`, and is a float."""
    return value if -(2**63) <= value < 2**63 else Fraction(value)


def _native_literal(value: int | Fraction | bool) -> Text:
    if isinstance(value, bool):
        return Text("true" if value else "false", _ATOM, Kind.BOOL, number=True)
    if isinstance(value, int):
        if value == -(2**63):  # its magnitude is no literal
            return Text("INT64_MIN", _ATOM, Kind.INT, number=True)
        return Text(str(value), _UNARY if value < 0 else _ATOM, Kind.INT, number=True)
    short = decimal(value) or f"{value.numerator}.0 / {value.denominator}.0"
    return Text(f"opmath_t({short})", _ATOM, number=True)


def _native_float(t: Text) -> Text:
    literal = t.number and t.level >= _UNARY and t.text.lstrip("-").isdigit()
    return Text(f"opmath_t({t.text})" if literal else f"static_cast<opmath_t>({t.text})", _ATOM, number=t.number)


def _native_int(t: Text) -> Text:
    if t.kind is Kind.BOOL or (t.kind is Kind.INT and "?" in t.text):
        return Text(f"static_cast<int64_t>({t.text})", _ATOM, Kind.INT, number=t.number)
    literals = t.number and not any(c.isalpha() for c in t.text)
    return Text(f"int64_t{{{t.text}}}", _ATOM, Kind.INT, number=True) if literals else t


def _native_where(p: Printer, args: tuple[Scalar, ...]) -> Text:
    condition, a, b = (p.text(x) for x in args)
    kind = Kind.BOOL if a.kind is b.kind is Kind.BOOL else Kind.INT
    if Kind.FLOAT in (a.kind, b.kind):
        kind = Kind.FLOAT
        a, b = (t if t.kind is Kind.FLOAT else _native_float(t) for t in (a, b))
    return Text(f"{condition.at(1)} ? {a.at(1)} : {b.at(0)}", 0, kind)


def _native_div(p: Printer, args: tuple[Scalar, ...]) -> Text:
    texts = tuple(p.text(a) for a in args)
    if all(t.kind is not Kind.FLOAT for t in texts):
        texts = tuple(_native_float(t) for t in texts)
    return join(Infix.of("/", _MUL), texts, Kind.FLOAT)


LARGEST_POWER = 2**31 - 1


def _as_native_float(t: Text) -> Text:
    return t if t.kind is Kind.FLOAT else _native_float(t)


def _native_pow(p: Printer, args: tuple[Scalar, ...]) -> Text:
    base, exponent = p.text(args[0]), whole(args[1])
    if exponent is None or abs(exponent) > LARGEST_POWER:
        texts = (base, p.text(args[1]))
        kind = Kind.FLOAT if any(t.kind is Kind.FLOAT for t in texts) else Kind.INT
        left, right = map(_native_int if kind is Kind.INT else _as_native_float, texts)
        return Text(f"rt::pow({left.text}, {right.text})", _ATOM, kind)
    if exponent == 2 and base.level == _ATOM and base.text.isidentifier():
        return Text(f"{base.text} * {base.text}", _MUL, base.kind)
    if base.kind is not Kind.FLOAT:
        base = _native_int(base)
    return Text(f"rt::powi<{exponent}>({base.text})", _ATOM, base.kind)


def _native_neg(p: Printer, args: tuple[Scalar, ...]) -> Text:
    t = p.text(args[0])
    operand = t.at(_UNARY)
    kind = Kind.FLOAT if t.kind is Kind.FLOAT else Kind.INT
    return Text(f"-({operand})" if operand.startswith("-") else f"-{operand}", _UNARY, kind, t.number)


def _native_not(p: Printer, args: tuple[Scalar, ...]) -> Text:
    return Text(f"!{p.at(args[0], _UNARY)}", _UNARY, Kind.BOOL)


def _native_call(name: str) -> Special:
    """An arithmetic row that C++ has no operator for."""

    def special(p: Printer, args: tuple[Scalar, ...]) -> Text:
        texts = tuple(p.text(a) for a in args)
        kind = result_kind(FUNCTIONS[name], texts)
        if kind is Kind.FLOAT:
            texts = tuple(t if t.kind is Kind.FLOAT else _native_float(t) for t in texts)
        return Text(f"rt::{name}({', '.join(t.text for t in texts)})", _ATOM, kind)

    return special


def _native_elsewhere(name: str, texts: tuple[Text, ...]) -> Text:
    values = (t if t.kind is Kind.FLOAT else _native_float(t) for t in texts)
    return Text(f"{native_function(name)}({', '.join(t.text for t in values)})", _ATOM)


def native_function(name: str) -> str:
    """What a function that another library computes is called in C++, on numbers of type `opmath_t`."""
    return f"elsewhere_{name}"


NEAR = "near"  # what a kernel calls the functions of the type that it stores, `rt::Near<scalar_t>`


def near(names: Container[str]) -> Callable[[ScalarFunction, tuple[Text, ...]], str]:
    """Spellings in which those functions are as accurate as what a kernel stores."""
    return lambda row, _: row.cpp.replace("rt::", f"{NEAR}::", 1) if row.name in names else row.cpp


NATIVE = Dialect(
    infix={
        # `&&` in `||` is written with its parentheses, which compilers ask for.
        "or": Infix(" || ", 1, 3, 3),
        "and": Infix(" && ", 2, 2, 3),
        "eq": Infix.single("==", 6),
        "ne": Infix.single("!=", 6),
        "lt": Infix.single("<", 7),
        "le": Infix.single("<=", 7),
        "gt": Infix.single(">", 7),
        "ge": Infix.single(">=", 7),
        "add": Infix.of("+", _ADD),
        "sub": Infix.of("-", _ADD),
        "mul": Infix.of("*", _MUL),
    },
    special={
        "where": _native_where,
        "div": _native_div,
        "pow": _native_pow,
        "neg": _native_neg,
        "not": _native_not,
        "floordiv": _native_call("floordiv"),
        "mod": _native_call("mod"),
    },
    literal=_native_literal,
    constants={
        "pi": "opmath_t(3.14159265358979323846)",
        "inf": "rt::inf<opmath_t>()",
        "nan": "rt::nan<opmath_t>()",
    },
    spelling=lambda row, _: row.cpp,
    as_float=_native_float,
    as_int=_native_int,
    elsewhere=_native_elsewhere,
    unary=_UNARY,
    atom=_ATOM,
)
