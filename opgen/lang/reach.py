"""How far an index runs at most that stands in positions beside something else: `e` of `val[ptr[r] + e]`.

Where it begins at 0, the first place that it reads is one of the axis, so its size is a bound whatever stands beside.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import names_read, nodes, operands


def reached_under(words: Vocabulary, index: str, condition: Compare | None, body: Expr) -> Expr | None:
    """How far an index runs at most that data limit, `e < ptr[r + 1] - ptr[r]`; None where no axis says it."""
    match condition:
        case Compare(operands=(Name(), end), ops=("<" | "<=",)):
            pass
        case Compare(operands=(Number(value=0), Name(), end), ops=("<=", "<" | "<=")):
            pass
        case _:
            return None
    return _reached(words, index, body) if reads_data(words, end) and not stands_alone(body, index) else None


def reads_data(words: Vocabulary, e: Expr) -> bool:
    return any(isinstance(n, Access) or (isinstance(n, Name) and n.name in words.shapes) for n in nodes(e))


def stands_alone(e: Expr, index: str) -> bool:
    """Whether an index is a position by itself anywhere, which says how far it runs."""
    return any(isinstance(i, Name) and i.name == index for a in nodes(e) if isinstance(a, Access) for i in a.items)


def _reached(words: Vocabulary, index: str, e: Expr) -> Expr | None:
    """The size of the first axis along which an expression reads with an index, in any case; None where none is."""
    for a in _always(e, index):
        shape = words.shapes.get(a.name, ())
        for size, i in zip(shape, a.items, strict=True) if len(shape) == len(a.items) else ():
            if size != "..." and not isinstance(i, Dots) and _once(i, index):
                return Number(int(size), i.span) if size.isdigit() else Name(size, i.span)
    return None


def _always(e: Expr, index: str) -> Iterator[Access]:
    """What an expression reads whatever its conditions say, and within its range."""
    if isinstance(e, Access):
        yield e
    if isinstance(e, Reduction) and any(isinstance(b, Binder) and b.name == index for b in e.binders):
        return
    parts = operands(e)
    if isinstance(e, Logic) or (isinstance(e, Call) and e.name == "where"):
        parts = parts[:1]
    elif isinstance(e, Call) and e.name in ("pad", "given"):
        parts = ()
    for part in parts:
        yield from _always(part, index)


def _once(e: Expr, index: str) -> bool:
    """Whether a position is an index, or a multiple of it, plus or minus what does not depend on it."""
    match e:
        case Name(name=name):
            return name == index
        case Unary(op="-", operand=operand):
            return _once(operand, index)
        case Sum(terms=terms):
            with_it = [t for _, t in terms if index in names_read(t)]
            return len(with_it) == 1 and _once(with_it[0], index)
        case Product(factors=factors) if all(op == "*" for op, _ in factors):
            own = [f for _, f in factors if not isinstance(f, Number)]
            whole = all(f.value != 0 for _, f in factors if isinstance(f, Number))
            return whole and len(own) == 1 and _once(own[0], index)
        case _:
            return False
