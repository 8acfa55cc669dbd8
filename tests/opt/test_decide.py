"""Conditions beside an access that is out of range where they do not hold; what they are made into: tests/passes."""

from __future__ import annotations

import pytest

from opgen.ir.program import Program, statement_scalars
from opgen.ir.scalar import Apply, walk
from opgen.opt.decide import decide
from tests.lower.specs import program

GROUPED = """
op: grouped
inputs: {{x: {{shape: [C]}}, b: {{shape: [G]}}}}
dims: {{S: C // G}}
forward: |
  m[g < G] = sum[s < S](x[g*S + s])
  y[c] = x[c]*where(c // S < G, m[c // S], 0)*{access}
outputs: [y]
"""


def chooses(p: Program) -> bool:
    """Whether a comparison with the number of groups decides a value."""
    calls = (a for s in p.statements for e in statement_scalars(s) for a in walk(e) if isinstance(a, Apply))
    return any(a.fn == "where" and "m" in str(a.args[1]) for a in calls)


@pytest.mark.parametrize("access", ["pad(b[c // S], 0)", "where(c > 2, b[c // S], 1)", "b[c // G]", "max[g](b[g])"])
def test_an_access_that_does_not_fail_there_decides_nothing(access: str) -> None:
    p = program(GROUPED.format(access=access))
    assert chooses(p)
    assert decide(p) == p


def test_one_that_fails_decides() -> None:
    p = program(GROUPED.format(access="b[c // S]"))
    assert chooses(p)
    assert not chooses(decide(p))
    assert decide(p, ("y",)) == p
