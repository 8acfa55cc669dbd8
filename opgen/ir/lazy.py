"""What is evaluated whatever the data are: `where` takes one of two branches, `and` and `or` stop where they can."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import TypeVar

from opgen.ir.order import outermost_first
from opgen.ir.scalar import Apply, Lit, Read, Scalar, both, children, where

Context = TypeVar("Context")
_CONTEXTS = 8  # of a part that are told apart


def lazy_arguments(fn: str, count: int) -> tuple[int, ...]:
    """The arguments that are not always evaluated."""
    match fn:
        case "where":
            return (1, 2)
        case "and" | "or":
            return tuple(range(1, count))
        case _:
            return ()


def is_lazy(e: object) -> bool:
    """Whether what follows the first operand is evaluated only where that says so."""
    return isinstance(e, Apply) and bool(lazy_arguments(e.fn, len(e.args)))


def always_read(e: Scalar) -> Iterator[Read]:
    """What is read at every point, each once."""
    seen: set[Scalar] = set()
    left = [e]
    while left:
        a = left.pop()
        if a in seen:
            continue
        seen.add(a)
        if isinstance(a, Read):
            yield a
        below = children(a)
        lazy = lazy_arguments(a.fn, len(below)) if isinstance(a, Apply) else ()
        left += [c for k, c in enumerate(below) if k not in lazy]


def in_contexts(
    e: Scalar,
    around: Context,
    inner: Callable[[Scalar, Context], Iterable[tuple[Scalar, Context]]],
    meet: Callable[[Context, Context], Context],
) -> Iterator[tuple[Scalar, Context]]:
    """Every part of a value with what is known where it is evaluated, outer ones first.

    That is `around` of the value itself, and of its parts what `inner` tells. A part that is met in more than a few
    contexts, as that of a long chain of choices is, has the one that they have in common.
    """
    known: dict[Scalar, dict[Context, None]] = {e: {around: None}}
    for a in outermost_first(e):
        contexts = tuple(known.get(a, ()))
        for context in contexts if len(contexts) <= _CONTEXTS else (reduce(meet, contexts),):
            yield a, context
            for part, told in inner(a, context):
                known.setdefault(part, {})[told] = None


def deciding(holds: Callable[[Scalar], bool]) -> Callable[[Scalar], Scalar]:
    """What takes, in a value that is rebuilt bottom-up, the side of each condition that holds for sure."""

    def step(e: Scalar) -> Scalar:
        match e:
            case Apply("where", (condition, a, b)):
                return where(condition, a, b)
            case Apply("and", args):
                return reduce(both, args)
            case _:
                return Lit(True) if holds(e) else e

    return step
