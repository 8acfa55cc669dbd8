"""A stream as the device function of a thread: the sweeps of one row, point by point; sums stand in their buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.emit.cuda_body import (
    accumulator,
    added,
    decoded,
    is_rounded,
    let_lines,
    needed,
    point_function,
    result,
    store_lines,
)
from opgen.emit.cuda_layout import function
from opgen.emit.cuda_scope import Scope, value_type
from opgen.emit.cuda_sequence import summed
from opgen.emit.long_values import hoisted
from opgen.ir.program import Axis, Kind
from opgen.ir.scalar import ONE, ZERO, Index, Read, Scalar, add, mul, reads, substitute
from opgen.plan.model import Dot, Fold, Let, Pass, Store, Stream, Sweep, Weigh


def stream_lines(scope: Scope, step: Stream) -> list[str]:
    """`point`: what happens at one row."""
    before = scope.enter(step.outer)
    body = _point(scope, step.points[0])
    for sweep, p in zip(step.sweeps, step.points[1:], strict=True):
        body += [*_sweep(scope, _local(sweep, step.along), step.along), *_point(scope, p)]
        body += [line for w in sweep.sums if w.scale != ONE for line in _stored(scope, w, mul(w.scale, _sum(w)))]
    body = decoded(scope, step.outer, "point", needed(body))
    scope.leave(before, step.outer)
    return point_function(body)


def _local(s: Sweep, along: Axis) -> Sweep:
    """A sweep whose dots are read as locals."""
    names: dict[Scalar, Scalar] = {Read(d.name, (Index(along.name),)): Read(d.name, ()) for d in s.dots}
    lets = tuple(replace(x, value=substitute(x.value, names)) for x in s.lets)
    folds = tuple(replace(f, value=substitute(f.value, names)) for f in s.folds)
    return replace(s, lets=lets, folds=folds, sums=tuple(replace(w, value=substitute(w.value, names)) for w in s.sums))


def _point(scope: Scope, p: Pass) -> list[str]:
    return [*let_lines(scope, p.lets), *(line for s in p.stores for line in store_lines(scope, s))]


def _sum(w: Weigh) -> Read:
    return Read(w.buffer, w.at)


def _stored(scope: Scope, w: Weigh, value: Scalar) -> list[str]:
    """A loop that sets the sums of a row."""
    before = scope.enter((w.over,))
    lines = store_lines(scope, Store(w.buffer, w.at, value))
    lines = _loop(scope, w.over, lines)
    scope.leave(before, (w.over,))
    return lines


def _loop(scope: Scope, a: Axis, body: Sequence[str]) -> list[str]:
    name = scope.loops[a.name]
    return function(f"for (int64_t {name} = 0; {name} < {scope.size(a)}; ++{name})", body)


def _sweep(scope: Scope, s: Sweep, along: Axis) -> list[str]:
    folds = {f.name: scope.fresh(f"{f.name}_fold") for f in s.folds}
    lines = [f"{_type(scope, f, s)} {folds[f.name]};" for f in s.folds]
    lines += [line for w in s.sums for line in _stored(scope, w, ZERO)]
    before = scope.enter((along,))
    body = [line for d in s.dots for line in _dot(scope, d)]
    rest = s.lets
    top = next((f for f in s.folds if f.name == s.online), None)
    if top is not None:
        first = _needed(s.lets, top.value)
        rest = tuple(x for x in s.lets if x not in first)
        body += [*let_lines(scope, first), *_raised(scope, s, top, folds)]
    body += let_lines(scope, rest)
    for f in s.folds:
        if f is not top:
            body += added(scope, f, folds[f.name], (along,))
    for w in s.sums:
        body += _stored(scope, w, add(_sum(w), w.value))
    sums = [folds[f.name] for f in s.folds if f is not top and is_rounded(f)]
    lines += summed(scope, (along,), body, *sums) if sums else _loop(scope, along, body)
    lines += [f"{n}.finish();" for n in sums]
    scope.leave(before, (along,))
    return lines + [result(scope, f, folds[f.name]) for f in s.folds]


def _type(scope: Scope, f: Fold, s: Sweep) -> str:
    return f"rt::Running<{value_type(f.kind)}>" if f.name == s.online else accumulator(scope, f)


def _needed(lets: Sequence[Let], value: Scalar) -> tuple[Let, ...]:
    """The lets that a value comes down to."""
    names = {r.tensor for r in reads(value)}
    for x in reversed(lets):
        if x.name in names:
            names |= {r.tensor for r in reads(x.value)}
    return tuple(x for x in lets if x.name in names)


def _raised(scope: Scope, s: Sweep, top: Fold, folds: dict[str, str]) -> list[str]:
    """The maximum so far; what was summed is brought to the new one."""
    running, factor = folds[top.name], scope.fresh("factor")
    parts, value = hoisted(scope, top.value, 40)
    scope.locals[factor] = (factor, Kind.FLOAT)
    scaled = [f"{folds[f.name]}.scale({factor});" for f in s.folds if f is not top]
    scaled += [line for w in s.sums for line in _stored(scope, w, mul(Read(factor, ()), _sum(w)))]
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
