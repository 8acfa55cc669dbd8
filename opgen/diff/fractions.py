"""Fractions of a total: `y = w/T`, where `T` adds up the `w` of all points that go to one place.

Step by step, `w` gets `g/T` from the quotient and the sum of `-g w/T**2` from the total. Taken together that is
`(g - D)/T`, with `D` the sum of `g y`: it needs the fractions in place of what they are made of. Where `w = exp(z)`,
`z` gets `y (g - D)`, as in a softmax. What a total starts from gets `-D/T`.

In go a statement and its program, out comes what is divided, and by what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opgen.diff.contribution import rename
from opgen.ir.program import Axis, Compute, Program, Scatter
from opgen.ir.scalar import ZERO, Apply, Batch, Index, Read, Scalar, walk


@dataclass(frozen=True, slots=True)
class Fraction:
    """`part` divided by its total, which stands at `at` in the scatter."""

    part: Scalar
    total: Scatter
    at: tuple[Scalar | Batch, ...]

    def dot(self, target: str, s: Compute, body: Scalar) -> Scatter:
        """The sums, over the points that share a total, of a body over the axes of the statement."""
        return replace(self.total, target=target, loops=s.axes, at=self.at, body=body, base=ZERO)

    def exponent(self, p: Program) -> Scalar | None:
        """What the part is the exponential of, over the same axes."""
        if isinstance(self.part, Apply):
            return self.part.args[0] if self.part.fn == "exp" else None
        made = p.tensor(self.part.tensor) if isinstance(self.part, Read) and self.part.fill is None else None
        if not isinstance(made, Compute) or made.op is not None:
            return None
        assert isinstance(self.part, Read)
        places = list(zip(made.axes, self.part.at, strict=True))
        if not all(a == q or (isinstance(a, Axis) and isinstance(q, Index)) for a, q in places):
            return None
        z = made.body.args[0] if isinstance(made.body, Apply) and made.body.fn == "exp" else None
        mapping = {a.name: q.name for a, q in places if isinstance(a, Axis) and isinstance(q, Index)}
        return None if z is None else rename(z, mapping)


def fraction(p: Program, s: Compute) -> Fraction | None:
    """What a statement divides by the total of the same, if that is what it does."""
    if s.op is not None or not isinstance(s.body, Apply) or s.body.fn != "div":
        return None
    part, below = s.body.args
    if not isinstance(below, Read) or below.fill is not None:
        return None
    total = p.tensor(below.tensor)
    if not isinstance(total, Scatter) or total.op != "sum" or total.padded:
        return None
    mapping = dict(zip(_order(total.body), _order(part), strict=False))
    loops = [Axis(mapping.get(a.name, ""), a.extent) if isinstance(a, Axis) else a for a in total.loops]
    at = tuple(q if isinstance(q, Batch) else rename(q, mapping) for q in total.at)
    same = len(loops) == len(s.axes) and all(a in s.axes for a in loops)
    if not same or rename(total.body, mapping) != part or at != below.at:
        return None
    return Fraction(part, total, at)


def _order(e: Scalar) -> list[str]:
    """The indices of a scalar in order of appearance."""
    return list(dict.fromkeys(n.name for n in walk(e) if isinstance(n, Index)))
