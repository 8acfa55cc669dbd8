"""Sums of products taken apart into groups of factors, and which of them are matrix products.

In goes a `sum` statement, out come its factors by the loops they run over. Two groups make a matrix product where each
has an index the other lacks and one index is summed in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from opgen.ir.program import Compute, Kind, Loop
from opgen.ir.scalar import Apply, Batch, Lit, Scalar, mentions, mul


@dataclass(frozen=True, slots=True)
class Group:
    """Factors over the same loops, as one operand."""

    loops: tuple[Loop, ...]
    body: Scalar


def loops_of(e: Scalar, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    names, batch = mentions(e)
    return tuple(a for a in loops if (batch if isinstance(a, Batch) else a.name in names))


def factors_in(e: Scalar) -> list[Scalar]:
    """The factors of a product; a sign is a factor of its own."""
    if isinstance(e, Apply) and e.fn == "mul":
        return [f for a in e.args for f in factors_in(a)]
    if isinstance(e, Apply) and e.fn == "neg":
        return [Lit(-1), *factors_in(e.args[0])]
    return [e]


def groups_of(factors: list[Scalar], loops: tuple[Loop, ...]) -> tuple[list[Group], list[Scalar]]:
    """Factors by the loops they use, a group within another one merged into it; and those that use none."""
    found: list[Group] = []
    constant: list[Scalar] = []
    for f in factors:
        own = loops_of(f, loops)
        if not own:
            constant.append(f)
            continue
        same = next((k for k, g in enumerate(found) if g.loops == own), None)
        if same is None:
            found.append(Group(own, f))
        else:
            found[same] = Group(own, mul(found[same].body, f))
    found.sort(key=lambda g: len(g.loops))
    merged: list[Group] = []
    for k, g in enumerate(found):
        wider = next((i for i in range(k + 1, len(found)) if set(g.loops) < set(found[i].loops)), None)
        if wider is None:
            merged.append(g)
        else:
            found[wider] = Group(found[wider].loops, mul(g.body, found[wider].body))
    return merged, constant


def is_product(a: Group, b: Group, over: tuple[Loop, ...]) -> bool:
    """Whether a sum of a * b is a matrix product: a loop of its own on each side, and one summed on both."""
    left, right = set(a.loops), set(b.loops)
    summed = left & right & set(over)
    return bool(summed and left - right and right - left)


def factors_of_product(s: Compute) -> int:
    """How many factors a sum of products multiplies where it is a matrix product or a convolution, else 0."""
    if s.op != "sum" or s.kind is not Kind.FLOAT:
        return 0
    groups, _ = groups_of(factors_in(s.body), s.loops)
    return len(groups) if any(is_product(a, b, s.over) for a, b in combinations(groups, 2)) else 0
