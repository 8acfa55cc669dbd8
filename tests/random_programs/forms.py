"""The small pieces random formulas are made of: calls, literals, what tames a value, and indices to bind."""

from __future__ import annotations

from tests.random_programs.scope import ATOM, UNARY, Expr, Index, Scope, Size, World, number

LIMIT = 6.0  # on absolute values
LETTERS = "ijklmnpqrs"


def call(name: str, *args: Expr, low: float = -LIMIT, high: float = LIMIT) -> Expr:
    return Expr(f"{name}({', '.join(a.text for a in args)})", ATOM, low, high)


def literal(value: float) -> Expr:
    return Expr(number(value), ATOM if value >= 0 else UNARY, value, value)


def tamed(w: World, e: Expr, limit: float = LIMIT) -> Expr:
    if e.width <= limit:
        return e
    name = w.choose.pick(("tanh", "sin", "atan"))
    return call(name, e, low=-1.6, high=1.6)


def new_indices(w: World, scope: Scope, count: int, taken: tuple[str, ...] = ()) -> list[Index]:
    """Distinct indices; one may hide an index that is bound outside."""
    c = w.choose
    outside = [i.name for i in scope.indices]
    free = [x for x in LETTERS if x not in outside and x not in taken]
    made: list[Index] = []
    for _ in range(count):
        names = free
        if outside and c.chance(12):
            w.mark("hidden index")
            names = [n for n in outside if n not in [m.name for m in made]] or free
        name = next(n for n in names if n not in [m.name for m in made])
        made.append(Index(name, any_size(w)))
    return made


def any_size(w: World) -> Size:
    c = w.choose
    if c.chance(80) and w.sizes:
        return c.pick(w.sizes)
    value = c.pick((2, 3, 1))
    return Size(str(value), value)


def written(w: World, i: Index, statable: bool = True) -> str:
    """An index where it is bound, with its extent where that is needed or wanted."""
    if i.must_be_stated or (statable and w.choose.chance(15)):
        w.mark("stated extent")
        return f"{i.name} < {i.size.text}"
    return i.name
