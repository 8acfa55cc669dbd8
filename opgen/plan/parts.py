"""Sums that share a part: what one of them adds up within another one's terms is summed once.

The gradient of a weight of each channel sums over samples and positions what that of a scale of each group sums over
positions, each with factors of its own that positions have no part in. In place of two runs through all elements there
is one, and short sums of what it gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from opgen.ir import text
from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Compute, Kind, Loop, Statement
from opgen.ir.scalar import (
    ONE,
    TRUE,
    ZERO,
    Batch,
    Dim,
    Lit,
    Scalar,
    both,
    call,
    div,
    is_number,
    mentions,
    mul,
    reads,
    where,
)
from opgen.opt.patterns import factors_of
from opgen.plan.model import is_written_out, label

Key = tuple[frozenset[Loop], frozenset[Loop], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Way:
    """A sum as one over some of its loops, of `moving`, times `still`, which these have no part in."""

    sum: Compute
    over: frozenset[Loop]
    moving: Scalar
    still: Scalar

    @property
    def is_own(self) -> bool:
        """Whether these are all of its loops."""
        return self.over == frozenset(self.sum.over)


def shared(statements: tuple[Statement, ...], names: Names) -> tuple[Statement, ...]:
    """The statements with such parts as statements of their own."""
    sums = [s for s in statements if isinstance(s, Compute) and s.op == "sum" and s.kind is Kind.FLOAT]
    ways: dict[Key, list[_Way]] = {}
    for over in dict.fromkeys(frozenset(s.over) for s in sums):
        for s in sums:
            if over <= frozenset(s.over):
                key, way = _way(s, over)
                ways.setdefault(key, []).append(way)
    made: dict[str, tuple[Statement, ...]] = {}
    for alike in ways.values():
        own = [w for w in alike if w.sum.target not in made]
        first = next((w for w in own if w.is_own), None)
        if first is None or all(w.is_own for w in own) or not _is_of_every_point(first):
            continue
        whole = first.still == ONE  # the part is all of that sum
        name = first.sum.target if whole else names.fresh(f"{first.sum.target}_part")
        part = replace(first.sum, target=name, body=first.moving)
        for w in own:
            done = () if whole and w is first else (_of_part(w, part),)
            made[w.sum.target] = (part, *done) if w is own[0] else done
    return tuple(part for s in statements for part in (made.get(s.target, (s,)) if isinstance(s, Compute) else (s,)))


def _way(s: Compute, over: frozenset[Loop]) -> tuple[Key, _Way]:
    coefficient, above, below = factors_of(s.body)
    moving = [[f for f in side if _moves(f, over)] for side in (above, below)]
    still = [[f for f in side if not _moves(f, over)] for side in (above, below)]
    body, rest = (div(mul(*side[0]), mul(*side[1])) if side[1] else mul(*side[0]) for side in (moving, still))
    around = frozenset((*s.axes, *s.over)) - over
    names, divisors = (tuple(sorted(map(text.scalar, side))) for side in moving)
    key = around, over, names, divisors
    return key, _Way(s, over, body, mul(Lit(coefficient), rest))


def _moves(e: Scalar, loops: frozenset[Loop]) -> bool:
    names, batch = mentions(e)
    return any(batch if isinstance(a, Batch) else a.name in names for a in loops)


def _is_of_every_point(w: _Way) -> bool:
    """Does a part read a tensor that has an element for each point, so that a second run through them costs?"""
    loops = (*w.sum.axes, *w.sum.over)
    return any(all(_moves(r, frozenset((a,))) for a in loops) for r in reads(w.moving))


def _of_part(w: _Way, part: Compute) -> Compute:
    """The sum of what is known of it: a sum of nothing is 0, whatever the factor."""
    rest = tuple(a for a in w.sum.over if a not in w.over)
    body = mul(read_of(part), w.still)
    if not is_number(w.still):
        sizes = (Dim(label(a)) if isinstance(a, Batch) else a.extent for a in part.over if not is_written_out(a))
        body = where(reduce(both, (call("ne", n, ZERO) for n in sizes), TRUE), body, ZERO)
    return replace(w.sum, body=body, op="sum" if rest else None, over=rest)
