"""A stream as the device function of a thread: the sweeps of one row, point by point; sums stand in their buffers.

What rounding takes from these sums is in the workspace, a row of it for each thread, until all is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from opgen.code.cuda_kernel import point_function
from opgen.code.cuda_scope import Scope
from opgen.code.cuda_statements import (
    accumulator,
    added,
    counted,
    indexed,
    is_rounded,
    let_lines,
    result,
    store_lines,
    summed,
)
from opgen.code.long_values import hoisted
from opgen.code.native_layout import function
from opgen.code.native_scope import value_type
from opgen.ir.program import Axis, Kind
from opgen.ir.scalar import ZERO, Index, Read, Scalar, mul, reads, substitute
from opgen.kernel.model import Store
from opgen.plan.model import Dot, Fold, Let, Pass, Stream, Sweep, Weigh
from opgen.plan.stream import asked_of, sums_of
from opgen.plan.unseen import bounds, within


def stream_lines(scope: Scope, step: Stream) -> list[str]:
    """`point`: what happens at one row."""
    before = scope.enter(step.outer)
    body = _point(scope, step.points[0])
    lost = _Lost.of(scope, step)
    for sweep, p in zip(step.sweeps, step.points[1:], strict=True):
        body += [*_sweep(scope, _local(sweep, step.along), step, lost), *_point(scope, p)]
        for w in sweep.sums:
            whole = Read(scope.fresh("whole"), ())
            body += _over(scope, w, lost, partial(_finished, scope, w, whole))
    taken, body = indexed(scope, step.outer, "point", [*lost.row, *body])
    scope.leave(before, step.outer)
    return point_function(taken, body)


@dataclass(frozen=True, slots=True)
class _Lost:
    """Where the lost digits of every sum stand: `row` declares the part of a thread."""

    name: str
    row: tuple[str, ...]
    first: Mapping[str, str]  # of each buffer, where its sums begin

    @staticmethod
    def of(scope: Scope, step: Stream) -> _Lost:
        sums = sums_of(step)
        if not sums:
            return _Lost("", (), {})
        room = scope.member("lost digits", "opmath_t*", "lost", "rt::workspace()")
        sizes = [scope.size(w.over) for w in sums]
        first = {w.buffer: " + ".join(("", *sizes[:k])) for k, w in enumerate(sums)}
        name, point = scope.fresh("lost_row"), counted(scope, step.outer, "point")
        return _Lost(name, (f"opmath_t* {name} = {room} + {point} * ({' + '.join(sizes)});",), first)

    def at(self, w: Weigh, index: str) -> str:
        return f"{self.name}[{index}{self.first[w.buffer]}]"


def _finished(scope: Scope, w: Weigh, whole: Read, lost: str) -> list[str]:
    scope.locals[whole.tensor] = (whole.tensor, Kind.FLOAT)
    total = f"const opmath_t {whole.tensor} = rt::total({scope.load(_sum(w)).text}, {lost});"
    return [total, *store_lines(scope, Store(w.buffer, w.at, mul(w.scale, whole)))]


def _over(scope: Scope, w: Weigh, lost: _Lost, body: Callable[[str], list[str]]) -> list[str]:
    """A loop over the sums of a row; the body knows where the lost digits of one are."""
    before = scope.enter((w.over,))
    lines = _loop(scope, w.over, body(lost.at(w, scope.loops[w.over.name])))
    scope.leave(before, (w.over,))
    return lines


def _local(s: Sweep, along: Axis) -> Sweep:
    """A sweep whose dots are read as locals."""
    names: dict[Scalar, Scalar] = {Read(d.name, (Index(along.name),)): Read(d.name, ()) for d in s.dots}
    lets = tuple(replace(x, value=substitute(x.value, names)) for x in s.lets)
    folds = tuple(replace(f, value=substitute(f.value, names)) for f in s.folds)
    return replace(s, lets=lets, folds=folds, sums=tuple(replace(w, value=substitute(w.value, names)) for w in s.sums))


def _point(scope: Scope, p: Pass) -> list[str]:
    return [
        *let_lines(scope, p.lets),
        *(line for s in p.stores for line in store_lines(scope, Store(s.buffer, s.at, s.value))),
    ]


def _sum(w: Weigh) -> Read:
    return Read(w.buffer, w.at)


def _cleared(scope: Scope, w: Weigh, lost: str) -> list[str]:
    return [*store_lines(scope, Store(w.buffer, w.at, ZERO)), f"{lost} = 0;"]


def _scaled(scope: Scope, w: Weigh, factor: str, lost: str) -> list[str]:
    return [*store_lines(scope, Store(w.buffer, w.at, mul(Read(factor, ()), _sum(w)))), f"{lost} *= {factor};"]


def _added(scope: Scope, w: Weigh, lost: str) -> list[str]:
    high = scope.fresh("high")
    parts, value = hoisted(scope, w.value, len(f"rt::add_exactly(&{high}, &{lost}, );"))
    term = value.text if value.kind is Kind.FLOAT else f"static_cast<opmath_t>({value.text})"
    place = f"{scope.tensor(w.buffer)}.store({high}, {scope.positions(w.at, w.buffer)});"
    scope.names.release(high)
    return [
        f"opmath_t {high} = {scope.load(_sum(w)).text};",
        *parts,
        f"rt::add_exactly<opmath_t>(&{high}, &{lost}, {term});",
        place,
    ]


def _loop(scope: Scope, a: Axis, body: Sequence[str]) -> list[str]:
    name = scope.loops[a.name]
    return function(f"for (int64_t {name} = 0; {name} < {scope.size(a)}; ++{name})", body)


def _sweep(scope: Scope, s: Sweep, step: Stream, lost: _Lost) -> list[str]:
    along, asked = step.along, asked_of(step)
    folds = {f.name: scope.fresh(f"{f.name}_fold") for f in s.folds}
    lines = [f"{_type(scope, f, s)} {folds[f.name]};" for f in s.folds]
    for w in s.sums:
        lines += _over(scope, w, lost, partial(_cleared, scope, w))
    before = scope.enter((along,))
    body = [f"if (!({scope.print(b.condition)})) continue;" for b in bounds(step, s)]
    s = within(step, s)
    body += [line for d in s.dots for line in _dot(scope, d)]
    rest = s.lets
    top = next((f for f in s.folds if f.name == s.online), None)
    if top is not None:
        first = _needed(s.lets, top.value)
        rest = tuple(x for x in s.lets if x not in first)
        body += [*let_lines(scope, first), *_raised(scope, s, top, folds, lost)]
    body += let_lines(scope, rest)
    for f in s.folds:
        if f is not top:
            body += added(scope, f.value, folds[f.name])
    for w in s.sums:
        body += _over(scope, w, lost, partial(_added, scope, w))
    sums = [folds[f.name] for f in s.folds if f is not top and is_rounded(f)]
    lines += summed(scope, (along,), body, *sums) if sums else _loop(scope, along, body)
    lines += [f"{n}.finish();" for n in sums]
    scope.leave(before, (along,))
    return lines + [result(scope, f, folds[f.name]) for f in s.folds if f.name in asked]


def _type(scope: Scope, f: Fold, s: Sweep) -> str:
    return f"rt::Running<{value_type(f.kind)}>" if f.name == s.online else accumulator(scope, f, f.value)


def _needed(lets: Sequence[Let], value: Scalar) -> tuple[Let, ...]:
    """The lets that a value comes down to."""
    names = {r.tensor for r in reads(value)}
    for x in reversed(lets):
        if x.name in names:
            names |= {r.tensor for r in reads(x.value)}
    return tuple(x for x in lets if x.name in names)


def _raised(scope: Scope, s: Sweep, top: Fold, folds: dict[str, str], lost: _Lost) -> list[str]:
    """The maximum so far; what was summed is brought to the new one."""
    running, factor = folds[top.name], scope.fresh("factor")
    parts, value = hoisted(scope, top.value, 40)
    scope.locals[factor] = (factor, Kind.FLOAT)
    scaled = [f"{folds[f.name]}.scale({factor});" for f in s.folds if f is not top]
    for w in s.sums:
        scaled += _over(scope, w, lost, partial(_scaled, scope, w, factor))
    return [
        *parts,
        f"const opmath_t {factor} = {running}.raise({value.text});",
        *function(f"if ({factor} != 1)", scaled),
        f"const opmath_t {scope.bind(s.shift, Kind.FLOAT)} = {running}.shift;",
    ]


def _dot(scope: Scope, d: Dot) -> list[str]:
    before = scope.enter((d.over,))
    parts, value = hoisted(scope, d.value, 40)
    name = scope.fresh(d.name)
    lines = summed(scope, (d.over,), [*parts, f"{name}.add({value.text});"], name)
    scope.leave(before, (d.over,))
    scope.locals[d.name] = (f"{name}.value", Kind.FLOAT)
    return [f"rt::Sum<opmath_t> {name};", *lines, f"{name}.finish();"]
