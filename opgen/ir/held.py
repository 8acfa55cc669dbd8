"""What is at least zero where a part of a value is evaluated, by the comparisons of integers in the choices around it.

In go a value and what a single comparison tells; out come its parts, each with what holds wherever it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opgen.ir.lazy import in_contexts
from opgen.ir.polynomial import Polynomial
from opgen.ir.scalar import Apply, Scalar, children

Held = tuple[Polynomial, ...]
Told = Callable[[Scalar, bool], Iterable[Polynomial]]  # of a condition that holds, or does not


def parts_held(e: Scalar, told: Told) -> Iterator[tuple[Scalar, Held]]:
    """Every part of a value with what is at least zero there, in each of the contexts in which it stands."""

    def inner(a: Scalar, held: Held) -> Iterator[tuple[Scalar, Held]]:
        match a:
            case Apply("where", (condition, yes, no)):
                yield condition, held
                yield yes, tuple(dict.fromkeys((*held, *where_it(condition, told, holds=True))))
                yield no, tuple(dict.fromkeys((*held, *where_it(condition, told, holds=False))))
            case _:
                yield from ((part, held) for part in children(a))

    nothing: Held = ()
    return in_contexts(e, nothing, inner, in_common)


def where_it(condition: Scalar, told: Told, *, holds: bool) -> Iterator[Polynomial]:
    """What is at least zero where a condition holds, or where it does not."""
    match condition:
        case Apply("not", (a,)):
            yield from where_it(a, told, holds=not holds)
        case Apply("and" | "or" as fn, args) if holds == (fn == "and"):
            for a in args:
                yield from where_it(a, told, holds=holds)
        case _:
            yield from told(condition, holds)


def in_common(a: Held, b: Held) -> Held:
    """What holds in both of two contexts."""
    return tuple(p for p in a if p in b)
