"""What an extreme is taken over, and what is compared with it, as one tensor.

The gradient of a maximum goes to the elements that are equal to it. Computed a second time they may differ in the last
bit: a compiler contracts a product and a sum in one loop and not in another, and a function of a vector is not that of
a number. Then nobody is equal, and the gradient is lost. In goes a program that compares extremes with what they are
taken over, out comes one in which that is a statement which both read. What is the same wherever it is computed stays
where it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeGuard

from opgen.diff.structure import alone
from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Axis, Compute, Plain, Program, Recurrence, Scatter, Statement, names, statement_scalars
from opgen.ir.rewrite import map_scalars
from opgen.ir.rounding import is_reproducible
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Batch,
    Index,
    Position,
    Read,
    Scalar,
    children,
    reads,
    rebuild,
    transform,
    walk,
)
from opgen.opt.simplify import inlined


def alike(p: Program) -> Program:
    """The program with such values as statements in front of the extremes over them."""
    fresh, out = Names(tuple(names(p))), p.statements
    tests = _tests(out)
    maps = {s.target: s for s in out if isinstance(s, Compute) and s.op is None}
    for s in p.statements:
        asked = tests.get(s.target, ())
        if asked and _may_differ(s) and any(_place(s, t, maps) is not None for t in asked):
            out = _read_by_both(out, s, fresh, maps)
            tests = _tests(out)
    return replace(p, statements=out)


def _read_by_both(
    statements: tuple[Statement, ...], s: Plain, fresh: Names, maps: Mapping[str, Compute]
) -> tuple[Statement, ...]:
    """The statements with the values of one, or those that it is an extreme of, as a tensor."""
    if isinstance(s, Compute) and s.op is None:
        return tuple(_with(t, s, s, maps) for t in statements)
    values = replace(alone(s.body, s.loops), target=fresh.fresh(f"{s.target}_values"))
    out: list[Statement] = []
    for t in statements:
        made = _with(t, s, values, maps)
        if t.target == s.target and not isinstance(made, Recurrence):
            out.append(values)
            made = replace(made, body=read_of(values))
        out.append(made)
    return tuple(out)


def _tests(statements: Iterable[Statement]) -> dict[str, list[Apply]]:
    """The tests for equality with each tensor."""
    found: dict[str, list[Apply]] = defaultdict(list)
    for s in statements:
        for e in statement_scalars(s):
            for n in walk(e):
                if isinstance(n, Apply) and n.fn == "eq":
                    for name in dict.fromkeys(a.tensor for a in n.args if isinstance(a, Read)):
                        found[name].append(n)
    return found


def _may_differ(s: Statement) -> TypeGuard[Plain]:
    """Whether it is a value or an extreme of some that may come out otherwise elsewhere, at any point of its loops."""
    if isinstance(s, Compute):
        return s.op in (None, "max", "min") and not is_reproducible(s.body)
    if not isinstance(s, Scatter) or s.op not in ("max", "min") or is_reproducible(s.body):
        return False
    return not s.padded or all(isinstance(at, Index | Batch) for r in reads(s.body) for at in r.at)


def _with(t: Statement, s: Plain, values: Compute, maps: Mapping[str, Compute]) -> Statement:
    """A statement in which what is compared with another reads the values that this is of."""

    def step(n: Scalar) -> Scalar:
        if not isinstance(n, Apply) or n.fn != "eq" or (place := _place(s, n, maps)) is None:
            return n
        result = next(a for a in n.args if isinstance(a, Read) and a.tensor == s.target)
        if values is s:  # it may have more loops than its values
            place = {a.name: p for a, p in zip(s.axes, result.at, strict=True) if isinstance(a, Axis)} | place
        at = tuple(a if isinstance(a, Batch) else place[a.name] for a in values.axes)
        return Apply("eq", tuple(a if a is result else Read(values.target, at) for a in n.args))

    return map_scalars(t, lambda e: transform(e, step))


def _place(s: Plain, test: Apply, maps: Mapping[str, Compute]) -> dict[str, Position] | None:
    """Where a test for equality with a statement has what it is of: the index for each of its loops.

    It is computed there, or read of a map that does.
    """
    others = [a for a in test.args if not _is_result(s, a)]
    if len(others) != 1:
        return None
    if isinstance(others[0], Read) and others[0].tensor in maps and others[0].fill is None:
        others = [inlined(maps[others[0].tensor], others[0])]
    found: dict[str, Position] = {}
    loops = {a.name for a in s.loops if not isinstance(a, Batch)}
    return found if _matched(s.body, others[0], loops, found) else None


def _is_result(s: Plain, e: Scalar) -> bool:
    return isinstance(e, Read) and e.tensor == s.target


def _matched(pattern: Scalar, e: Scalar, loops: set[str], found: dict[str, Position]) -> bool:
    """Whether an expression is a pattern with other indices, which go into `found`."""
    if isinstance(pattern, Index) and pattern.name in loops:
        return isinstance(e, Index) and found.setdefault(pattern.name, e) == e
    mine, others = children(pattern), children(e)
    if len(mine) != len(others) or rebuild(pattern, lambda _: ZERO) != rebuild(e, lambda _: ZERO):
        return False
    return all(_matched(a, b, loops, found) for a, b in zip(mine, others, strict=True))
