"""A group of statements as a `Nest`: passes in dependency order, values shared, row constants hoisted.

Folds that do not need each other run in one pass; a map over more than the outer axes joins the pass over its loops
once everything it reads is there. What later steps or the caller need is stored, the rest stays local.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opgen.ir.names import Names
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Shape
from opgen.ir.ranges import derived_sizes
from opgen.ir.scalar import BATCH, Batch, Dim, Index, Param, Position, Read, Scalar, mentions, walk
from opgen.opt.ranges import Ranges
from opgen.plan.group import Group, Member, inner_names
from opgen.plan.model import Fold, Let, Nest, Pass, Schedule, Store
from opgen.plan.terms import together
from opgen.plan.values import Values


@dataclass(slots=True)
class _Draft:
    """A pass in the making: the stretch of nodes made for it and the expressions that root in it."""

    loops: tuple[Loop, ...]
    first: int
    last: int = 0
    folds: list[tuple[str, str, Scalar, Kind]] = field(default_factory=list)
    stores: list[tuple[str, tuple[Position, ...], Scalar]] = field(default_factory=list)
    points: list[Scalar] = field(default_factory=list)

    @property
    def level(self) -> int:
        return 1 if self.loops else 0


@dataclass(slots=True)
class Surroundings:
    """What a nest needs to know of the rest of the plan."""

    program: Program
    maps: dict[str, Compute]
    kinds: dict[str, Kind]
    stored: frozenset[str]
    names: Names
    ranges: Ranges
    shapes: Mapping[str, Shape]

    def values(self) -> Values:
        params = {a.name: _param_kind(a.type) for a in self.program.params}
        memory = self.stored - {t.name for t in self.program.inputs}
        return Values(self.kinds.__getitem__, params.__getitem__, self.maps, self.names.fresh, self.ranges, memory)


def _param_kind(type_: str) -> Kind:
    return {"int": Kind.INT, "bool": Kind.BOOL}.get(type_, Kind.FLOAT)


class _Builder:
    def __init__(self, g: Group, around: Surroundings) -> None:
        self.g = g
        self.around = around
        self.values = around.values()
        self.bindings = inner_names(g, around.names)
        self.along = () if any(m.inner for m in g.members) else g.outer[-1:]
        self.drafts: list[_Draft] = []

    def build(self) -> tuple[Pass, ...]:
        stages = self._stages()
        for stage in range(max(stages) + 2):
            self._outer([k for k, s in enumerate(stages) if s == stage], stage, stages)
            self._inner([k for k, s in enumerate(stages) if s == stage])
        return self._finish()

    def _stages(self) -> list[int]:
        """How many folds deep each member is."""
        of: dict[str, tuple[int, bool]] = {}
        out: list[int] = []
        for m in self.g.members:
            deps = [of[r.tensor] for r in m.reads if r.tensor in of]
            stage = max((s + (1 if fold else 0) for s, fold in deps), default=0)
            of[m.statement.target] = (stage, m.statement.op is not None)
            out.append(stage)
        return out

    def _point(self, k: int) -> dict[str, Scalar]:
        return {own: Index(name) for own, name in self.bindings[k].items()}

    def _at(self, k: int, axes: tuple[Loop, ...]) -> tuple[Position, ...]:
        b = self.bindings[k]
        return tuple(BATCH if isinstance(a, Batch) else Index(b[a.name]) for a in axes)

    def _outer(self, members: list[int], stage: int, stages: list[int]) -> None:
        """Point values of a stage, and the stores of the folds of the stage before."""
        draft = self._start(())
        for k, s in enumerate(stages):
            m = self.g.members[k].statement
            if m.op is not None and s == stage - 1 and m.target in self.around.stored:
                draft.stores.append((m.target, self._at(k, m.axes), self.values.locals[m.target]))
        for k in members:
            member = self.g.members[k]
            if member.statement.op is None and not member.inner:
                self._point_value(draft, k, member)
        self._stop(draft)

    def _point_value(self, draft: _Draft, k: int, member: Member) -> None:
        s = member.statement
        wish = f"{s.target}_value" if s.target in self.around.stored else s.target
        value = self.values.value(s.body, self._point(k), wish)
        self.values.locals[s.target], self.values.places[s.target] = value, self._at(k, s.axes)
        if s.target in self.around.stored:
            draft.stores.append((s.target, self._at(k, s.axes), value))
        else:
            draft.points += [value, value]  # named even when used once, so that long chains stay flat

    def _inner(self, members: list[int]) -> None:
        """Passes with loops: members of a stage that loop alike run together."""
        waiting = [k for k in members if self.g.members[k].inner]
        while waiting:
            loops = self._loops(waiting[0])
            draft = self._start(loops)
            for k in [k for k in waiting if self._loops(k) == loops]:
                self._body(draft, k, self.g.members[k].statement)
            waiting = [k for k in waiting if self._loops(k) != loops]
            self._stop(draft)

    def _loops(self, k: int) -> tuple[Loop, ...]:
        b = self.bindings[k]
        return tuple(a if isinstance(a, Batch) else Axis(b[a.name], a.extent) for a in self.g.members[k].inner)

    def _body(self, draft: _Draft, k: int, s: Compute) -> None:
        value = self.values.value(s.body, self._point(k))
        if s.op is None:
            draft.stores.append((s.target, self._at(k, s.axes), value))
            return
        same = next((name for name, op, v, _ in draft.folds if op == s.op and v == value), None)
        if same is not None:
            self.values.locals[s.target] = Read(same, ())
            return
        local = self.around.names.fresh(f"{s.target}_value" if s.target in self.around.stored else s.target)
        draft.folds.append((local, s.op, value, s.kind))
        self.values.locals[s.target] = Read(local, ())
        self.values.local_kinds[local] = s.kind

    def _start(self, loops: tuple[Loop, ...]) -> _Draft:
        self.values.enter(self.g.outer, loops, self.along)
        return _Draft(loops, len(self.values.nodes))

    def _stop(self, draft: _Draft) -> None:
        draft.last = len(self.values.nodes)
        self.drafts.append(draft)

    def _finish(self) -> tuple[Pass, ...]:
        needed = self._needed()
        for d in self.drafts:
            d.folds = [f for f in d.folds if f[0] in needed]
            d.points = [e for e in d.points if not isinstance(e, Read) or e.tensor in needed]
            for e in (*d.points, *(v for _, _, v, _ in d.folds), *(v for _, _, v in d.stores)):
                self.values.use(e, d.level)
        self.values.settle()
        passes: list[Pass] = []
        for d in self.drafts:
            passes.extend(self._passes(d))
        return tuple(_merge_points(passes))

    def _needed(self) -> dict[str, None]:
        """The values and folds that what is stored comes down to: a choice decided at a place may leave one out."""
        folds = {name: v for d in self.drafts for name, _, v, _ in d.folds}
        found: dict[str, None] = {}
        waiting = [v for d in self.drafts for _, _, v in d.stores]
        while waiting:
            for n in walk(waiting.pop()):
                if not isinstance(n, Read) or n.tensor in found:
                    continue
                found[n.tensor] = None
                known = self.values.node(n)
                if known is not None:
                    waiting.append(known.value)
                elif n.tensor in folds:
                    waiting.append(folds[n.tensor])
        return found

    def _passes(self, d: _Draft) -> list[Pass]:
        show = self.values.expression
        outer = self.values.lets(d.first, d.last, 0)
        inner = self.values.lets(d.first, d.last, 1)
        folds = tuple(Fold(name, op, show(v), kind) for name, op, v, kind in d.folds)
        stores = tuple(Store(name, at, show(v)) for name, at, v in d.stores)
        if not d.loops:
            return [Pass((), outer, (), stores)]
        return [Pass((), outer), Pass(d.loops, inner, folds, stores)]


def _merge_points(passes: list[Pass]) -> list[Pass]:
    """Neighbouring passes without loops as one, empty ones dropped."""
    out: list[Pass] = []
    for p in passes:
        if not (p.lets or p.folds or p.stores):
            continue
        if out and not p.loops and not out[-1].loops:
            out[-1] = Pass((), out[-1].lets + p.lets, (), out[-1].stores + p.stores)
        else:
            out.append(p)
    return out


def _schedule(g: Group, dims: Mapping[str, Scalar | None]) -> Schedule:
    """Row or column by the innermost axis of what the folds read most of, or else what goes along rows.

    Along an axis that both move with, as windows do, neighbouring outer points go together: windows are short, and so
    are loops whose extents params state. Where the size of the fold is what is left of an axis by the outer one, this
    is the window. `dims`: what sizes are computed from.
    """
    folds = [m for m in g.members if m.statement.op is not None]
    along = folds or [m for m in g.members if m.inner and g.folds]
    if not along:
        return Schedule.MAP
    if not g.outer:
        return Schedule.WHOLE
    if all(map(_is_stated, along[0].inner)) and all(m.inner == along[0].inner for m in along):
        return Schedule.COLUMN
    row = column = 0
    for m in along:
        inner = frozenset(map(_name, m.inner))
        names = inner | frozenset(map(_name, m.statement.axes))
        found = [r for r in m.reads if len(r.at) > 1]
        most = max((len(_moving(r.at) & names) for r in found), default=0)
        for r in found:
            last = _moving(r.at[-1:])
            if len(_moving(r.at) & names) == most and last:
                along_rows = last <= inner or _leaves_rest(last, m, dims)
                row, column = (row + 1, column) if along_rows else (row, column + 1)
    return Schedule.COLUMN if column > row else Schedule.ROW


def _leaves_rest(last: frozenset[str], m: Member, dims: Mapping[str, Scalar | None]) -> bool:
    """Whether each outer loop that moves along an axis is a window of it, and an inner one has as many places as it."""
    loops = [a for a in (*m.statement.axes, *m.inner) if isinstance(a, Axis) and a.name in last]
    rests = [dims.get(a.extent.name) if isinstance(a.extent, Dim) else a.extent for a in loops if a in m.inner]
    sizes = {n for e in rests if e is not None for n in walk(e)}
    windows = [a.extent for a in loops if a not in m.inner]
    return bool(windows) and all(isinstance(e, Dim) and e in sizes for e in windows)


def _is_stated(a: Loop) -> bool:
    """Whether params alone say how long a loop is."""
    parts = () if isinstance(a, Batch) else tuple(walk(a.extent))
    return any(isinstance(n, Param) for n in parts) and not any(isinstance(n, Dim) for n in parts)


def _name(a: Loop) -> str:
    return "..." if isinstance(a, Batch) else a.name


def _moving(at: Iterable[Position]) -> frozenset[str]:
    """The loops that positions move with."""
    parts = [(frozenset[str](), True) if isinstance(p, Batch) else mentions(p) for p in at]
    return frozenset[str]().union(*(names | {"..."} if batch else names for names, batch in parts))


_REASONS = {
    Schedule.MAP: "one value per point, nothing shared between points",
    Schedule.ROW: "reduces along memory: a row is read and kept in cache by all passes",
    Schedule.COLUMN: "reduces across memory: neighbouring columns together, rows in fixed order",
    Schedule.WHOLE: "reduces everything to one value, in chunks of fixed size and order",
}


def nest(g: Group, around: Surroundings) -> Nest:
    """The kernel of a group."""
    schedule = _schedule(g, derived_sizes(around.program))
    name = next((m.statement.target for m in reversed(g.members) if m.statement.target in around.stored), "")
    return together(Nest(name, g.outer, _Builder(g, around).build(), schedule, reason=_REASONS[schedule]))


def scatter_values(
    around: Surroundings, loops: tuple[Loop, ...], body: Scalar, at: tuple[Position, ...]
) -> tuple[tuple[Let, ...], Scalar, tuple[Position, ...]]:
    """The lets, value and positions of a scatter."""
    v = around.values()
    v.enter(loops)
    value = v.value(body, {})
    places = tuple(p if isinstance(p, Batch) else v.value(p, {}) for p in at)
    for e in (value, *(p for p in places if not isinstance(p, Batch))):
        v.use(e, 0)
    v.settle()
    lets = v.lets(0, len(v.nodes), 0)
    return lets, v.expression(value), tuple(p if isinstance(p, Batch) else v.expression(p) for p in places)
