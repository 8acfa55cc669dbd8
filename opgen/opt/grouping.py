"""Which factors of a product meet first: those of one argument, before anything else has made one of them infinite.

`g*u*x*sigmoid(-x)` overflows on its way to 0 where `g*u*x` does; `sigmoid(-x)*x*g*u` has become small before `u` comes
in. In goes a program, out comes the same one with such products in that order.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from opgen.ir.functions import row
from opgen.ir.program import Program
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Lit, Read, Scalar, reads, transform_rounded


def group_factors(p: Program, keep: Collection[str] = ()) -> Program:
    """The program with products reordered; statements in `keep` stay as they were written."""
    kept = dict.fromkeys(keep)
    return replace(
        p,
        statements=tuple(
            s if s.target in kept else map_scalars(s, lambda e: transform_rounded(e, _grouped)) for s in p.statements
        ),
    )


def _grouped(e: Scalar) -> Scalar:
    """What vanishes first, then what depends on the same, then the others; a coefficient stays in front."""
    if not (isinstance(e, Apply) and e.fn == "mul"):
        return e
    front = tuple(a for a in e.args if isinstance(a, Lit))
    others = tuple(a for a in e.args if not isinstance(a, Lit))
    vanishing = tuple(a for a in others if _vanishes(a))
    of: dict[Read, None] = dict.fromkeys(r for a in vanishing for r in reads(a))
    near = tuple(a for a in others if a not in vanishing and any(r in of for r in reads(a)))
    if not near and len(vanishing) < 2:
        return e
    rest = tuple(a for a in others if a not in vanishing and a not in near)
    return replace(e, args=(*front, *vanishing, *near, *rest))


def _vanishes(e: Scalar) -> bool:
    return isinstance(e, Apply) and row(e.fn).vanishes
