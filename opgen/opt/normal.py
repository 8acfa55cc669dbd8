"""A softmax opened into the statistics of its rows, from which its values are computed again.

What a softmax is of is usually there for the backward pass, or cheap to have again; its values are as many as their
argument has, its maximum and its scale only one per row. In go statements, out come the same values under the same
names, in several statements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Compute, Loop, Statement
from opgen.ir.scalar import ONE, Read, Scalar, call, div, mul, sub

_OPS = ("softmax", "log_softmax")


def is_normal(s: Statement) -> bool:
    """Whether a statement is a softmax or its logarithm."""
    return isinstance(s, Compute) and s.op in _OPS


def opened(statements: Iterable[Statement], chosen: Collection[str], names: Names) -> tuple[Statement, ...]:
    """The statements with those chosen opened; equal statements are given equal names."""
    out: list[Statement] = []
    for s in statements:
        out.extend(_opened(s, names) if isinstance(s, Compute) and s.target in chosen else (s,))
    return tuple(out)


def _opened(s: Compute, names: Names) -> tuple[Statement, ...]:
    rows = tuple(a for a in s.axes if a not in s.over)

    def row(suffix: str, body: Scalar, op: str | None = None, over: tuple[Loop, ...] = ()) -> tuple[Compute, Read]:
        made = Compute(names.fresh(f"{s.target}_{suffix}"), rows, body, op, over, span=s.span)
        return made, Read(made.target, positions(rows))

    top, shift = row("max", s.body, "max", s.over)
    weight = call("exp", sub(s.body, shift))
    summed, total = row("sum", weight, "sum", s.over)
    if s.op == "softmax":
        point, scale = row("scale", div(ONE, total))
        value = mul(weight, scale)
    else:
        point, log = row("log", call("log", total))
        value = sub(sub(s.body, shift), log)
    return top, summed, point, replace(s, body=value, op=None, over=())
