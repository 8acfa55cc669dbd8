"""Index operators and composite reductions, rewritten into core reductions and maps.

In go the statements of a Program, out come statements whose reductions are all `core` rows of the table. The forms are
the stable ones: maxima are subtracted before exponentials, variances take two passes, one reciprocal replaces a
division per element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opgen.ir.errors import UnplannableError
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Recurrence, Statement
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Batch,
    Dim,
    Read,
    Scalar,
    add,
    call,
    div,
    mul,
    sub,
    where,
)
from opgen.opt.scans import SCANS, scan


def count(loops: tuple[Loop, ...]) -> Scalar:
    """How many points some loops have."""
    sizes = [Dim("...") if isinstance(a, Batch) else a.extent for a in loops]
    return mul(*sizes) if len(sizes) > 1 else sizes[0]


class _Expansion:
    """One statement being expanded: `fold` and `point` append statements and give back how to read them."""

    def __init__(self, s: Compute, names: Names) -> None:
        self.s = s
        self.names = names
        self.out: list[Statement] = []
        self.rows = tuple(a for a in s.axes if a not in s.over)

    def fold(self, suffix: str, op: str, body: Scalar, kind: Kind = Kind.FLOAT) -> Scalar:
        name = self.names.fresh(f"{self.s.target}_{suffix}")
        self.out.append(Compute(name, self.rows, body, op, self.s.over, kind, self.s.span))
        return Read(name, positions(self.rows))

    def point(self, suffix: str, body: Scalar) -> Scalar:
        name = self.names.fresh(f"{self.s.target}_{suffix}")
        self.out.append(Compute(name, self.rows, body, span=self.s.span))
        return Read(name, positions(self.rows))

    def finish(self, body: Scalar) -> None:
        self.out.append(Compute(self.s.target, self.s.axes, body, kind=self.s.kind, span=self.s.span))


def _mean(x: _Expansion) -> None:
    x.finish(div(x.fold("sum", "sum", x.s.body), count(x.s.over)))


def _var(x: _Expansion) -> None:
    mean = x.point("mean", div(x.fold("sum", "sum", x.s.body), count(x.s.over)))
    deviation = sub(x.s.body, mean)
    x.finish(div(x.fold("squares", "sum", mul(deviation, deviation)), count(x.s.over)))


def _norm(x: _Expansion) -> None:
    x.finish(call("sqrt", x.fold("squares", "sum", mul(x.s.body, x.s.body))))


def _count(x: _Expansion) -> None:
    s = x.s
    x.out.append(Compute(s.target, s.axes, where(s.body, ONE, ZERO), "sum", s.over, Kind.INT, s.span))


def _logsumexp(x: _Expansion) -> None:
    top = x.fold("max", "max", x.s.body)
    shift = x.point("shift", where(call("isfinite", top), top, ZERO))  # all -inf: log(0), not inf - inf
    total = x.fold("sum", "sum", call("exp", sub(x.s.body, shift)))
    x.finish(add(shift, call("log", total)))


def _softmax(x: _Expansion) -> None:
    top = x.fold("max", "max", x.s.body)
    weight = call("exp", sub(x.s.body, top))
    scale = x.point("scale", div(ONE, x.fold("sum", "sum", weight)))
    x.finish(mul(weight, scale))


def _log_softmax(x: _Expansion) -> None:
    top = x.fold("max", "max", x.s.body)
    total = x.point("log", call("log", x.fold("sum", "sum", call("exp", sub(x.s.body, top)))))
    x.finish(sub(sub(x.s.body, top), total))


_RULES: dict[str, Callable[[_Expansion], None]] = {
    "mean": _mean,
    "var": _var,
    "norm": _norm,
    "count": _count,
    "logsumexp": _logsumexp,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
}


def expandable(op: str) -> bool:
    """Whether kernels can compute a reduction or index operator, by themselves or after expansion."""
    return REDUCTIONS[op].core or op in _RULES or op in SCANS


def expand(statements: tuple[Statement, ...], names: Names, p: Program) -> tuple[Statement, ...]:
    """The same values of maps, core reductions, scatters and `argsort` of tensors only; `p` knows what is read."""
    out: list[Statement] = []
    for s in statements:
        match s:
            case Compute():
                out.extend(_expanded(s, names, p))
            case Recurrence():
                steps = [made for step in s.steps for made in _expanded(step, names, p)]
                if any(not isinstance(made, Compute) or made.op == "argsort" for made in steps):
                    raise UnplannableError(f"{s.target}: a recurrence with an index operator in its steps")
                out.append(replace(s, steps=tuple(made for made in steps if isinstance(made, Compute))))
            case _:
                out.append(s)
    return tuple(out)


def _expanded(s: Compute, names: Names, p: Program) -> list[Statement]:
    if s.op is None or REDUCTIONS[s.op].core:
        return [s]
    if s.op in SCANS:
        return scan(s, names.fresh, p)
    x = _Expansion(s, names)
    _RULES[s.op](x)
    return x.out


def axis_names(loops: tuple[Loop, ...]) -> tuple[str, ...]:
    """The index names of some loops."""
    return tuple(a.name for a in loops if isinstance(a, Axis))
