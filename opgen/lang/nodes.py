"""The expression tree of formulas as the user wrote it, every node with its span.

Nothing is resolved here: a `Name` may turn out to be a tensor, a param, a dim, an index or a constant. Sums and
products are n-ary so that a formula of many thousand terms does not recurse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from opgen.diagnostics.model import Span


@dataclass(frozen=True, slots=True)
class Number:
    """A literal: an int, or an exact decimal kept as a fraction."""

    value: int | Fraction
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted or bare string in a guard (`reduction == "mean"`)."""

    value: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    op: str  # "-" or "not"
    operand: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """`a + b - c`: terms with their signs."""

    terms: tuple[tuple[str, Expr], ...]  # ("+" | "-", term)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Product:
    """`a * b / c`: factors with the operator that stands before them, applied left to right."""

    factors: tuple[tuple[str, Expr], ...]  # ("*" | "/" | "//" | "%", factor); the first has "*"
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Power:
    base: Expr
    exponent: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain `a < b <= c`: one operator more than it has operands less one."""

    operands: tuple[Expr, ...]
    ops: tuple[str, ...]  # == != < <= > >=
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Logic:
    op: str  # "and" | "or"
    operands: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arg, …)`: a scalar function, a local function, `where`, `cast`, `detach`, `given`, `pad`, `int`."""

    name: str
    args: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Dots:
    """`...` inside brackets."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """`name[item, …]`."""

    name: str
    items: tuple[Expr | Dots, ...]
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binder:
    """An index that a reduction or a target introduces, perhaps with its extent (`r < R`)."""

    name: str
    extent: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reduction:
    """`name[i, j < J, ...](body)`: a reduction, an index operator, or a choices param standing for one.

    `further` is what follows the body: the `q` of a quantile.
    """

    name: str
    binders: tuple[Binder | Dots, ...]
    body: Expr
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)
    further: Expr | None = None


Expr = Number | Text | Name | Unary | Sum | Product | Power | Compare | Logic | Call | Access | Reduction


@dataclass(frozen=True, slots=True)
class Target:
    """The left side: `items` is None for a bare name; an item is a binder, a constant or (for scatters) a position."""

    name: str
    items: tuple[Binder | Dots | Expr, ...] | None
    span: Span = field(compare=False, repr=False)
    name_span: Span = field(compare=False, repr=False)
    padded: bool = False


@dataclass(frozen=True, slots=True)
class Assign:
    """One statement: `target op value [if guard]`; `op` is `=`, `+=`, `*=`, `max=` or `min=`."""

    target: Target
    op: str
    value: Expr
    guard: Expr | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionHead:
    """The key of a local function: `swish(x)`."""

    name: str
    params: tuple[str, ...]
    span: Span = field(compare=False, repr=False)
