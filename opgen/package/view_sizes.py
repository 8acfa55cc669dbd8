"""The sizes and params that doubtful positions stand on, for the words of an error: a formula, and what it returns.

In goes a `Surface`; out come the function `sizes`, which finds the numbers of a call by their names, and fields of the
definition: how derived sizes are computed, and what whole numbers are divided by that may be 0.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from opgen.code.layout import quoted, tupled
from opgen.ir.program import Program, definitions, statement_scalars
from opgen.ir.ranges import derived_sizes, divisors
from opgen.ir.scalar import Apply, Dim, Lit, Param, Scalar, walk
from opgen.package.shapes import Sizes
from opgen.package.view import Surface
from opgen.package.view_checks import branched
from opgen.package.view_flops import CountView, count_view
from opgen.package.view_params import size_text
from opgen.package.view_positions import Doubt, doubts, moving

_DOC = "The sizes and params that positions stand on, for the words of an error."


def sizes_view(s: Surface, typed: Sequence[str]) -> CountView | None:
    """The function that finds them, of those arguments that it takes; None where no position is in doubt."""
    branches = [_branch(s, p) for _, p in s.programs("forward")]
    if all(b == ("return {}",) for b in branches):
        return None
    return count_view("sizes", _DOC, typed, branched(s, branches, returns=True), "dict[str, float]")


def size_fields(s: Surface) -> list[str]:
    """`derived`: sizes, how they are computed, and the two numbers of a quotient. Then `divisors`."""
    derived: dict[str, None] = {}
    divisors: dict[str, None] = {}
    for _, p in s.programs("forward"):
        values, whole = derived_sizes(p), _quotients(p)
        for name in (e.name for e in _numbers(p) if isinstance(e, Dim)):
            if (value := values.get(name)) is not None:
                parts = [quoted(size_text(s, n)) for n in whole.get(name, ())]
                derived[tupled([quoted(name), quoted(size_text(s, value)), *parts])] = None
        divisors.update(dict.fromkeys(quoted(size_text(s, e)) for e in _divisors(p)))
    rows = {"derived": derived, "divisors": divisors}
    return [f"{name}={tupled([*found])}" for name, found in rows.items() if found]


def _branch(s: Surface, p: Program) -> tuple[str, ...]:
    sizes = Sizes(p)
    items = [f"{quoted(size_text(s, e))}: {sizes.number(e)}" for e in _numbers(p)]
    return (*sizes.lines, f"return {{{', '.join(items)}}}")


def _numbers(p: Program) -> tuple[Scalar, ...]:
    """What is told of a call: dims of operands, params, then what is computed from these, each after its parts."""
    stated: dict[Scalar, None] = {}
    for d in doubts(p):
        stated.update(dict.fromkeys(_stands_on(d)))
    for e in _divisors(p):
        stated.update(dict.fromkeys(_leaves(e)))
    values, words = derived_sizes(p), {a.name for a in p.params if a.type == "str"}
    found = _with_parts(p, stated)
    by = (*(divisor for _, divisor in _quotients(p).values()), *_divisors(p))
    quotients = [e for e in by if not isinstance(e, Dim | Param | Lit)]
    first = [e for e in found if isinstance(e, Dim) and values.get(e.name) is None]
    params = [e for e in found if isinstance(e, Param) and e.name not in words]
    later = [e for e in found if isinstance(e, Dim) and values.get(e.name) is not None]
    return tuple(dict.fromkeys((*first, *params, *quotients, *later)))


def _with_parts(p: Program, stated: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Dims and params, and before each dim those that it is computed from."""
    values, found = derived_sizes(p), dict[Scalar, None]()

    def visit(e: Scalar) -> None:
        value = values.get(e.name) if isinstance(e, Dim) else None
        for part in () if value is None or e in found else _leaves(value):
            visit(part)
        found[e] = None

    for e in stated:
        visit(e)
    return tuple(found)


def _leaves(e: Scalar) -> tuple[Scalar, ...]:
    """The dims and params of an expression; of a list the element that is meant."""
    return tuple(n for n in walk(e) if (isinstance(n, Dim) and n.name != "...") or isinstance(n, Param))


def _stands_on(d: Doubt) -> Iterator[Scalar]:
    """The dims and params that decide whether a position is in range."""
    yield from _leaves(d.position)
    yield from _leaves(d.extent)
    for a in moving(d.position, d.loops):
        yield from _leaves(a.extent)


def _quotients(p: Program) -> dict[str, tuple[Scalar, Scalar]]:
    """The derived dims that are one size or param divided by another, where sizes alone lead out of range."""
    stated = dict.fromkeys(e for d in doubts(p) if not d.source for e in _stands_on(d))
    values, found = derived_sizes(p), dict[str, tuple[Scalar, Scalar]]()
    for e in _with_parts(p, stated):
        match values.get(e.name) if isinstance(e, Dim) else None:
            case Apply("floordiv", (Dim() | Param() as a, b)) if isinstance(e, Dim):
                found[e.name] = (a, b)
    return found


def _divisors(p: Program) -> tuple[Scalar, ...]:
    """What statements divide whole numbers by, where sizes and params tell it and it may be 0."""
    integers = {a.name for a in p.params if a.type == "int"}
    found = divisors(p, (e for st in definitions(p) for e in statement_scalars(st)))
    return tuple(e for e in found if all(_is_told(n, integers) for n in walk(e)))


def _is_told(n: Scalar, integers: Container[str]) -> bool:
    return n.name in integers if isinstance(n, Param) else isinstance(n, Dim | Lit | Apply)
