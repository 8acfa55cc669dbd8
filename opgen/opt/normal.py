"""A softmax opened into the statistics of its rows, from which its values are computed again, and closed again.

What a softmax is of is usually there for the backward pass, or cheap to have again; its values are as many as their
argument has, its maximum and its scale only one per row. In go statements, out come the same values under the same
names, in several statements. Where a softmax is one call (plain torch), they are closed: that call computes the values,
and the other statistic is read off them, for the greatest value of a row is the scale, or minus the logarithm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

from opgen.ir.names import Names
from opgen.ir.point import positions, read_of
from opgen.ir.program import Compute, Loop, Program, Statement, names, statement_reads
from opgen.ir.scalar import ONE, Apply, Read, Scalar, call, div, mul, neg, sub

_OPS = ("softmax", "log_softmax")


def is_normal(s: Statement) -> bool:
    """Whether a statement is a softmax or its logarithm."""
    return isinstance(s, Compute) and s.op in _OPS


def opened(statements: Iterable[Statement], chosen: Collection[str], names: Names) -> tuple[Statement, ...]:
    """The statements with those chosen opened; equal statements are given equal names."""
    out: list[Statement] = []
    for s in statements:
        if isinstance(s, Compute) and s.target in chosen:
            out.extend(_opened(s, partial(_fresh, names, s.target)))
        else:
            out.append(s)
    return tuple(out)


def _fresh(names: Names, target: str, suffix: str) -> str:
    return names.fresh(f"{target}_{suffix}")


def _opened(s: Compute, named: Callable[[str], str]) -> tuple[Compute, Compute, Compute, Compute]:
    """Maximum, sum, scale or logarithm, and values."""
    rows = tuple(a for a in s.axes if a not in s.over)

    def row(suffix: str, body: Scalar, op: str | None = None, over: tuple[Loop, ...] = ()) -> tuple[Compute, Read]:
        made = Compute(named(suffix), rows, body, op, over, span=s.span)
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


def closed(p: Program) -> Program:
    """The program with every softmax closed that stands opened in it, if nothing else reads the sum."""
    made = {s.target: s for s in p.statements if isinstance(s, Compute)}
    uses = Counter(r.tensor for s in p.statements for r in statement_reads(s))
    uses.update(o.value for o in p.outputs)
    found = [f for s in made.values() if (f := _found(s, made)) is not None and uses[f[1].target] == 1]
    gone = {s.target for _, *rest in found for s in rest}
    fresh = Names((*names(p), *(d.name for d in p.dims)))
    instead = {point.target: tuple(_closed(s, point, fresh)) for s, _, point, _ in found}
    out: list[Statement] = []
    for s in p.statements:
        if isinstance(s, Compute) and s.target in gone:
            out.extend(instead.get(s.target, ()))
        else:
            out.append(s)
    return replace(p, statements=tuple(out)) if found else p


def _found(value: Compute, made: dict[str, Compute]) -> tuple[Compute, Compute, Compute, Compute] | None:
    """The softmax of which a statement gives the values, and the sum, the statistic and the values that it was."""
    match value.body:
        case Apply(args=(_, Read(tensor=last))) if value.op is None and last in made:
            point = made[last]
        case _:
            return None
    match point.body:
        case Apply(fn="log", args=(Read(tensor=total),)) if total in made:
            op, summed = "log_softmax", made[total]
        case Apply(fn="div", args=(_, Read(tensor=total))) if total in made:
            op, summed = "softmax", made[total]
        case _:
            return None
    match summed.body:
        case Apply(fn="exp", args=(Apply(fn="sub", args=(body, Read(tensor=top))),)) if top in made:
            whole = replace(value, body=body, op=op, over=summed.over)
        case _:
            return None
    there = (made[top], summed, point, value)
    called = {"max": top, "sum": total, "log" if op == "log_softmax" else "scale": last}
    alike = zip(_opened(whole, called.__getitem__), there, strict=True)
    return (whole, summed, point, value) if all(replace(a, span=b.span) == b for a, b in alike) else None


def _closed(s: Compute, point: Compute, fresh: Names) -> Iterator[Statement]:
    yield s
    greatest = replace(point, body=read_of(s), op="max", over=s.over)
    if s.op == "softmax":
        yield greatest
    else:
        most = replace(greatest, target=fresh.fresh(f"{s.target}_top"))
        yield most
        yield replace(point, body=neg(read_of(most)))
