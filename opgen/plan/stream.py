"""A stream as a step of the plan: sweeps in order, each with its sums, values that are shared, and what is stored.

In goes a `Flow`, out comes a `Stream`. A use that needs what another gives is a sweep later, unless it only scales by
it, or is scaled by a maximum that can be found on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from opgen.ir.program import Axis, Compute, Kind, Loop
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Index,
    Position,
    Read,
    Scalar,
    call,
    mul,
    reads,
    rebuild,
    substitute,
    where,
)
from opgen.opt.streams import factored, moves_along, renamed
from opgen.plan.flow import Flow, Member
from opgen.plan.model import Dot, Fold, Pass, Store, Stream, Sweep, Weigh
from opgen.plan.nest import Surroundings
from opgen.plan.values import Values

_REASON = "sums up what is in no memory, where it would outgrow all that is given: tile by tile along each row"


def stream(f: Flow, dots: Mapping[str, Compute], around: Surroundings) -> Stream:
    """The step of a stream."""
    return _Build(f, dots, around).stream()


def _unless_empty(along: Axis, scale: Scalar) -> Scalar:
    """What a sum along a stream is scaled by; a sum of nothing is 0, and an infinity times that would not be."""
    return scale if scale == ONE else where(call("eq", along.extent, ZERO), ONE, scale)


@dataclass(slots=True)
class _Draft:
    """The members of one sweep, and what they became."""

    members: list[Member]
    online: Member | None = None
    first: int = 0
    last: int = 0
    dots: list[Dot] = field(default_factory=list)
    folds: list[tuple[Member, str, Scalar]] = field(default_factory=list)
    sums: list[tuple[Member, Scalar]] = field(default_factory=list)
    scales: list[Scalar] = field(default_factory=list)
    shift: str = ""


class _Build:
    def __init__(self, f: Flow, dots: Mapping[str, Compute], around: Surroundings) -> None:
        self.f = f
        self.dots = dots
        self.around = around
        self.values: Values = around.values()
        self.inner: dict[tuple[str, tuple[Position, ...]], Axis] = {}  # the loops of the dots

    def stream(self) -> Stream:
        drafts = _staged(self.f)
        for d in drafts:
            self._fill(d)
        v = self.values
        for d in drafts:
            for e in (*(x for _, _, x in d.folds), *(x for _, x in d.sums), *(x for _, x in d.sums)):
                v.use(e, 1)
            for scale in d.scales:
                v.use(scale, 0)
        v.settle()
        points: list[Pass] = []
        sweeps: list[Sweep] = []
        ready: tuple[Store, ...] = ()
        ends = [*(d.first for d in drafts[1:]), len(v.nodes)]
        for d, end in zip(drafts, ends, strict=True):
            points.append(Pass((), v.lets(d.first, d.last, 0), (), ready))
            sweep = self._sweep(d)
            points.append(Pass((), v.lets(d.last, end, 0)))
            sweeps.append(replace(sweep, sums=self._sums(d)))
            ready = self._stores(d)
        points.append(Pass((), (), (), ready))
        outer = self._ordered()
        names = [m.statement.target for m in self.f.members]
        return Stream(names[-1], outer, self.f.along, tuple(_merged(points)), tuple(sweeps), reason=_REASON)

    def _ordered(self) -> tuple[Loop, ...]:
        """The outer loops with the rows last."""
        rows = self.f.rows[-1]
        last = next(a for a in self.f.outer if isinstance(a, Axis) and a.name == rows)
        return (*(a for a in self.f.outer if a != last), last)

    def _fill(self, d: _Draft) -> None:
        v = self.values
        v.enter(self.f.outer, (self.f.along,))
        d.first = len(v.nodes)
        if d.online is not None:
            d.shift = self.around.names.fresh(f"{d.online.statement.target}_shift")
            v.local_kinds[d.shift] = Kind.FLOAT
            v.locals[d.shift] = Read(d.shift, ())
        scales: list[Scalar] = []
        for m in d.members:
            body = m.body if d.online in (None, m) else _shifted(m.body, d.online, d.shift)
            if m.wide:
                rest, scale = factored(body, _free(self.f, m))
                d.sums.append((m, self._wide(self._dotted(rest, d), m.wide[0].name)))
                scales.append(_unless_empty(self.f.along, scale))
            else:
                local = self.around.names.fresh(f"{m.statement.target}_value")
                d.folds.append((m, local, v.value(self._dotted(body, d), {})))
        for m, local, _ in d.folds:
            v.locals[m.statement.target] = Read(local, ())
            v.local_kinds[local] = m.statement.kind
        d.last = len(v.nodes)
        v.enter(self.f.outer)
        d.scales = [v.value(scale, {}) for scale in scales]

    def _wide(self, e: Scalar, name: str) -> Scalar:
        """A value with all that does not move with the wide axis as values of the point."""
        if not moves_along(e, name):
            return self.values.value(e, {})
        if isinstance(e, Apply) and e.fn == "mul":
            alone = [a for a in e.args if not moves_along(a, name)]
            rest = tuple(self._wide(a, name) for a in e.args if moves_along(a, name))
            return Apply("mul", (self.values.value(mul(*alone), {}), *rest)) if alone else Apply("mul", rest)
        return e if isinstance(e, Read) else rebuild(e, lambda a: self._wide(a, name))

    def _dotted(self, e: Scalar, d: _Draft) -> Scalar:
        """Sums of pairs as locals of the point."""
        found: dict[Scalar, Scalar] = {}
        for r in reads(e):
            if r.tensor in self.dots:
                found[r] = Read(self._dot(r, d), (Index(self.f.along.name),))
        return substitute(e, found)

    def _dot(self, r: Read, d: _Draft) -> str:
        source = self.dots[r.tensor]
        (over,) = source.over
        assert isinstance(over, Axis)
        key = (r.tensor, r.at)
        if key not in self.inner:
            self.inner[key] = Axis(self.around.names.fresh(over.name), over.extent)
        pairs = zip(source.axes, r.at, strict=True)
        bound = {a.name: q for a, q in pairs if isinstance(a, Axis) and not isinstance(q, Batch)}
        value = renamed(source.body, {**bound, over.name: Index(self.inner[key].name)})
        known = next((x.name for x in d.dots if x.value == value), None)
        if known is not None:
            return known
        name = self.around.names.fresh(r.tensor)
        self.values.local_kinds[name] = Kind.FLOAT
        d.dots.append(Dot(name, self.inner[key], value))
        return name

    def _sweep(self, d: _Draft) -> Sweep:
        show = self.values.expression
        lets = self.values.lets(d.first, d.last, 1)
        folds = tuple(Fold(local, m.statement.op or "", show(e), m.statement.kind) for m, local, e in d.folds)
        online = next((local for m, local, _ in d.folds if m is d.online), "")
        return Sweep(tuple(d.dots), lets, folds, (), online, d.shift)

    def _sums(self, d: _Draft) -> tuple[Weigh, ...]:
        show = self.values.expression
        both = zip(d.sums, d.scales, strict=True)
        return tuple(Weigh(m.statement.target, m.at, m.wide[0], show(e), show(scale)) for (m, e), scale in both)

    def _stores(self, d: _Draft) -> tuple[Store, ...]:
        kept = ((m, local) for m, local, _ in d.folds if m.statement.target in self.around.stored)
        return tuple(Store(m.statement.target, m.at, Read(local, ())) for m, local in kept)


def _merged(points: list[Pass]) -> list[Pass]:
    """What runs before the first sweep, and after each."""
    out = points[:1]
    for a, b in zip(points[1::2], points[2::2], strict=True):
        out.append(Pass((), a.lets + b.lets, (), a.stores + b.stores))
    return out


# --- sweeps ----------------------------------------------------------------------------------------------------------


def _staged(f: Flow) -> list[_Draft]:
    """The members by the sweep they are computed in; a maximum and what is scaled by it share one."""
    stage: dict[str, int] = {}
    drafts: list[_Draft] = []
    for m in f.members:
        swept, scale = factored(m.body, _free(f, m)) if m.wide else (m.body, ONE)
        deps = [stage[r.tensor] + 1 for r in reads(swept) if r.tensor in stage]
        deps += [stage[r.tensor] for r in reads(scale) if r.tensor in stage]
        own = stage[m.statement.target] = max(deps, default=0)
        while len(drafts) <= own:
            drafts.append(_Draft([]))
        drafts[own].members.append(m)
    for k, (a, b) in enumerate(pairwise(drafts)):
        top = a.members[0]
        if len(a.members) == 1 and top.statement.op == "max" and all(_is_scaled(m, top, f) for m in b.members):
            return [*drafts[:k], _Draft([top, *b.members], top), *drafts[k + 2 :]]
    return drafts


def _free(f: Flow, m: Member) -> tuple[str, ...]:
    return (f.along.name, *(a.name for a in m.wide))


def _is_scaled(m: Member, top: Member, f: Flow) -> bool:
    """Whether a sum has nothing to do with a maximum but that all its terms are scaled by `exp(x - maximum)`."""
    if m.statement.op != "sum":
        return False
    rest = factored(m.body, _free(f, m))[0] if m.wide else m.body
    factors = rest.args if isinstance(rest, Apply) and rest.fn == "mul" else (rest,)
    scaled = [e for e in factors if e in _weights(top)]
    others = [e for e in factors if e not in _weights(top)]
    return len(scaled) == 1 and not any(r.tensor == top.statement.target for e in others for r in reads(e))


def _weights(top: Member) -> tuple[Scalar, ...]:
    m = Read(top.statement.target, top.at)
    finite = where(call("isfinite", m), m, ZERO)
    return tuple(call("exp", Apply("sub", (top.body, shift))) for shift in (m, finite))


def _shifted(e: Scalar, top: Member, shift: str) -> Scalar:
    weight = call("exp", Apply("sub", (top.body, Read(shift, ()))))
    return substitute(e, dict.fromkeys(_weights(top), weight))


# --- what a step holds -----------------------------------------------------------------------------------------------


def stores_of(step: Stream) -> tuple[Store, ...]:
    """What is stored once per row."""
    return tuple(s for p in step.points for s in p.stores)


def sums_of(step: Stream) -> tuple[Weigh, ...]:
    """What is stored for every point of a row."""
    return tuple(w for s in step.sweeps for w in s.sums)


def point_scalars(p: Pass) -> tuple[Scalar, ...]:
    """Every expression of what runs once per row."""
    return (*(x.value for x in p.lets), *(s.value for s in p.stores))


def sweep_scalars(s: Sweep) -> tuple[Scalar, ...]:
    """Every expression of a sweep."""
    dots, folds = (d.value for d in s.dots), (f.value for f in s.folds)
    return (*dots, *(x.value for x in s.lets), *folds, *(e for w in s.sums for e in (w.value, w.scale)))


def asked_of(step: Stream) -> frozenset[str]:
    """The numbers that something in a stream reads."""
    sweeps = (e for s in step.sweeps for e in sweep_scalars(s))
    points = (e for p in step.points for e in point_scalars(p))
    return frozenset(r.tensor for e in (*sweeps, *points) for r in reads(e))
