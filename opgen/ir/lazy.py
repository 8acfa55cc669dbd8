"""What is evaluated whatever the data are: `where` takes one of two branches, `and` and `or` stop where they can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from opgen.ir.scalar import Apply, Lit, Read, Scalar, both, children, where


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
    """What is read at every point."""
    if isinstance(e, Read):
        yield e
    below = children(e)
    lazy = lazy_arguments(e.fn, len(below)) if isinstance(e, Apply) else ()
    for k, c in enumerate(below):
        if k not in lazy:
            yield from always_read(c)


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
