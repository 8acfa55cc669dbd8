"""Recurrences as Python loops over their steps, whose results are stacked.

In goes a `Recurrence`; its lines go into the scope, as one step of several lines. What is read at the place of the
step is taken apart beforehand (`x.unbind(-1)`), what is read one place back is kept from the step before. Inside the
loop its index is a number, so conditions on it are decided in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from opgen.code.printer import Text
from opgen.ir.names import Names
from opgen.ir.order import occurrences
from opgen.ir.point import positions
from opgen.ir.polynomial import polynomial, same_number
from opgen.ir.program import (
    Argument,
    Compute,
    Kind,
    Loop,
    Program,
    Recurrence,
    Shape,
    Tensor,
    definitions,
)
from opgen.ir.scalar import BATCH, ONE, ZERO, Apply, Batch, Index, Lit, Param, Read, Scalar, transform
from opgen.torch.body import expanded, is_full
from opgen.torch.dialect import ATOM
from opgen.torch.lazy import lazy
from opgen.torch.liveness import live, used_names
from opgen.torch.prepare import shared
from opgen.torch.rewrite import names_beside
from opgen.torch.scope import Scope, batch_leading
from opgen.torch.values import Stored, Value, aligned, batch_first


def repeat(scope: Scope, s: Recurrence, names: Mapping[str, str], wanted: Container[str]) -> None:
    """Print a recurrence. `names`: the local names of the tensors it defines; `wanted`: those that the rest reads."""
    loop = _Loop(scope, s, names_beside(scope.program))
    inner = lazy(_program(scope.program, s, loop, [loop.inside(step) for step in s.steps]), (s.along.extent,))
    starts = [f"{loop.local[key]} = {loop.start(target)}" for target, key in loop.before.items()]
    loop.unbind()
    body = _body(scope, loop, inner)
    kept = [c for c in s.steps if c.target in wanted]
    results = [scope.stored[loop.now[c.target]].name for c in kept]
    steps = scope.fresh("steps")
    together = results[0] if len(results) == 1 else f"({', '.join(results)})"
    body.append(f"{steps}.append({together})")
    if loop.before:
        values = [scope.stored[loop.now[target]].name for target in loop.before]
        body.append(f"{', '.join(loop.local[key] for key in loop.before.values())} = {', '.join(values)}")
    count = scope.number(s.along.extent).text
    places = f"reversed(range({count}))" if s.reverse else f"range({count})"
    index = loop.index if loop.index in used_names("\n".join(body)) else "_"
    lines = [*starts, f"for {index} in {places}:", *(f"    {x}" for line in body for x in line.split("\n"))]
    lines += [f"{steps}.reverse()"] if s.reverse else []
    scope.assign(steps, "\n".join(("[]", *lines)))
    each = scope.fresh("each") if len(kept) > 1 else ""
    for k, c in enumerate(kept):
        loop.stack(c, steps, f"[{each}[{k}] for {each} in {steps}]" if each else steps, names[c.target])


def _body(scope: Scope, loop: _Loop, inner: Program) -> list[str]:
    """The lines of one step. Sizes that they ask for are found in front of the loop."""
    outer = scope.steps, scope.lines, scope.bound, scope.program
    scope.steps, scope.lines, scope.bound = [], dict(scope.lines), dict(scope.bound)
    scope.program, scope.outside = replace(scope.program, params=inner.params), outer[0]
    loop.bind_slices()
    for made in shared(inner).statements:
        assert isinstance(made, Compute)
        loop.emit(made)
    body = [step.line for step in live(scope.steps, [scope.stored[now].name for now in loop.now.values()])]
    scope.steps, scope.lines, scope.bound, scope.program = outer
    scope.outside = None
    return body


def _program(p: Program, s: Recurrence, loop: _Loop, steps: list[Compute]) -> Program:
    """One step as a program of its own; every tensor there is, is an argument of it."""
    there = [Tensor(t.name, t.shape, t.kind) for t in p.inputs]
    there += [Tensor(c.target, c.shape, c.kind) for c in definitions(p) if c.target not in s.targets]
    return replace(
        p,
        inputs=(*there, *loop.tensors),
        params=(*p.params, Argument(loop.index, "int")),
        statements=tuple(steps),
        outputs=(),
    )


def _zero(kind: Kind) -> Scalar:
    return Lit(False) if kind is Kind.BOOL else ZERO


@dataclass(slots=True)
class _Loop:
    """A recurrence on its way. `now` and `before`: what holds the value of a step at this place and one place back."""

    scope: Scope
    source: Recurrence
    names: Names
    index: str = ""
    now: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    slices: dict[tuple[str, int], str] = field(default_factory=dict)  # tensor and axis -> what holds a slice of it
    steps: dict[str, Compute] = field(default_factory=dict)
    starts: dict[str, Scalar | None] = field(default_factory=dict)  # what a step has one place back of the first
    local: dict[str, str] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.index = self.scope.fresh(self.source.along.name)
        self.steps = {c.target: c for c in self.source.steps}
        for c in self.source.steps:
            self.now[c.target] = self.names.fresh(f"{c.target}_{self.index}")
        self.starts = self._starts()

    def _axes(self, target: str) -> tuple[Loop, ...]:
        return tuple(a for a in self._step(target).axes if a != self.source.along)

    def _step(self, target: str) -> Compute:
        return self.steps[target]

    # --- what a step reads -------------------------------------------------------------------------------------------

    def inside(self, c: Compute) -> Compute:
        """A step without the axis of the loop, reading what the loop holds."""
        body = transform(transform(c.body, self._begun), self._held)
        return replace(c, target=self.now[c.target], axes=self._axes(c.target), body=body)

    def _begun(self, e: Scalar) -> Scalar:
        """`start if t == 0 else h[t - 1]` as `h[t - 1]`, where the loop begins with the start."""
        match e:
            case Apply("where", (_, _, Read(tensor) as back)) if self.starts.get(tensor) is not None:
                return back if self._start_in(e, tensor) == self.starts[tensor] else e
            case _:
                return e

    def _starts(self) -> dict[str, Scalar | None]:
        """What every read of a step one place back reads instead at the first place, if that is one thing."""
        nodes: Counter[Scalar] = Counter()
        for c in self.source.steps:
            nodes.update(occurrences(c.body))
        back: Counter[str] = Counter()  # how many reads there are, of each step, and how many of them are guarded
        guarded: Counter[str] = Counter()
        found: dict[str, dict[Scalar | None, None]] = {t: {} for t in self.steps}
        for n, k in nodes.items():
            match n:
                case Read(tensor) if tensor in found and self._is_back(n):
                    back[tensor] += k
                case Apply("where", (_, _, Read(tensor) as r)) if tensor in found and self._is_back(r):
                    guarded[tensor] += k
                    found[tensor][self._start_in(n, tensor)] = None
        sure = {t: next(iter(starts)) for t, starts in found.items() if len(starts) == 1 and guarded[t] == back[t]}
        return {t: sure.get(t) for t in self.steps}

    def _start_in(self, e: Apply, target: str) -> Scalar | None:
        """The start of a guarded read one place back, as a number or an access at the axes of the step."""
        condition, start, back = e.args
        along, place = self.source.along, self._place(target)
        first = polynomial(along.extent) - polynomial(ONE) if self.source.reverse else polynomial(ZERO)
        if not (isinstance(condition, Apply) and condition.fn == "eq" and condition.args[0] == Index(along.name)):
            return None
        if not polynomial(condition.args[1]).same(first) or not isinstance(back, Read) or not self._is_back(back):
            return None
        if isinstance(start, Lit):
            return start
        if not isinstance(start, Read) or start.fill is not None or start.at != back.at[:place] + back.at[place + 1 :]:
            return None
        axes = self._axes(target)
        pairs = list(zip(self.scope.program.shape_of(start.tensor), axes, strict=True))
        if not all(self._runs_along(a, n) for n, a in pairs):
            return None
        return Read(start.tensor, positions(axes))

    def _runs_along(self, a: Loop, extent: Scalar | Batch) -> bool:
        if isinstance(a, Batch) or isinstance(extent, Batch):
            return isinstance(a, Batch) and isinstance(extent, Batch)
        return same_number(a.extent, extent, self.scope.dims)

    def _is_back(self, r: Read) -> bool:
        at = r.at[self._place(r.tensor)]
        assert not isinstance(at, Batch)
        return at != Index(self.source.along.name)

    def _place(self, target: str) -> int:
        return self._step(target).axes.index(self.source.along)

    def _held(self, e: Scalar) -> Scalar:
        """A node below which everything is done already."""
        t = Param(self.index)
        match e:
            case Index(name) if name == self.source.along.name:
                return t
            case Read(tensor, at) if tensor in self.now:
                place = self._place(tensor)
                held = self.now[tensor] if at[place] == t else self._kept(tensor)
                return replace(e, tensor=held, at=at[:place] + at[place + 1 :])
            case Read(tensor, at) if t in at:
                place = at.index(t)
                extent = self.scope.program.shape_of(tensor)[place]
                if not self._runs_along(self.source.along, extent):
                    return e
                return replace(e, tensor=self._slice(tensor, place), at=at[:place] + at[place + 1 :])
            case _:
                return e

    def _kept(self, target: str) -> str:
        if target not in self.before:
            key, c = self.names.fresh(f"{target}_before"), self._step(target)
            self.before[target], self.local[key] = key, self.scope.fresh(key)
            shape = tuple(a if isinstance(a, Batch) else a.extent for a in self._axes(target))
            self.tensors.append(Tensor(key, shape, c.kind))
            self.scope.keep(key, Stored(self.local[key], shape, batch_first(shape), c.kind, self._whole(shape)))
        return self.before[target]

    def _slice(self, tensor: str, place: int) -> str:
        if (tensor, place) not in self.slices:
            shape, kind = self.scope.program.shape_of(tensor), self.scope.program.kind_of(tensor)
            key = self.names.fresh(f"{tensor}_{self.index}")
            self.slices[tensor, place] = key
            self.tensors.append(Tensor(key, shape[:place] + shape[place + 1 :], kind))
        return self.slices[tensor, place]

    def _whole(self, shape: Shape) -> frozenset[str]:
        """The inputs whose batch dims a tensor of the loop has: all of them, if any."""
        return frozenset(t.name for t in self.scope.carriers() if BATCH in shape)

    # --- lines -------------------------------------------------------------------------------------------------------

    def start(self, target: str) -> str:
        """What a step has one place back of the first place; zeros where nothing takes it."""
        start, axes, kind = self.starts[target], self._axes(target), self._step(target).kind
        if start is None or isinstance(start, Lit):
            number = replace(self.scope.number(start or _zero(kind)), kind=kind)
            return self.scope.filled(self.scope.shape_text(batch_leading(axes)), number)
        return self._full(self.scope.bind(Compute(f"{target}_start", axes, start, kind=kind)).tensor, axes).text.text

    def _full(self, key: str, axes: tuple[Loop, ...]) -> Value:
        """A tensor at its whole shape."""
        stored, space = self.scope.stored[key], batch_leading(axes)
        text = Text(stored.name, ATOM, stored.kind)
        value = Value(text, tuple(axes[i] for i in stored.axes), stored.batch, stored.view)
        return value if is_full(self.scope, value, space) else expanded(self.scope, aligned(value, space), space)

    def unbind(self) -> None:
        """Lines in front of the loop that take apart what is read step by step."""
        for tensor, place in self.slices:
            if place in self.scope.tensor(tensor).axes:
                self._each(tensor, place)

    def _each(self, tensor: str, place: int) -> str:
        stored = self.scope.stored[tensor]
        dim = stored.axes.index(place) - len(stored.axes)
        return self.scope.named_line(f"{tensor}_each", f"{stored.name}.unbind({dim})")

    def bind_slices(self) -> None:
        """Lines at the start of a step."""
        for (tensor, place), key in self.slices.items():
            stored = self.scope.stored[tensor]
            local = stored.name
            if place in stored.axes:
                local = self.scope.fresh(key)
                self.scope.assign(local, f"{self._each(tensor, place)}[{self.index}]")
            shape = stored.shape[:place] + stored.shape[place + 1 :]
            axes = tuple(i - (i > place) for i in stored.axes if i != place)
            self.scope.keep(key, Stored(local, shape, axes, stored.kind, stored.batch, stored.view))

    def emit(self, c: Compute) -> None:
        """The lines of a step; what the loop keeps of it has its whole shape."""
        stored = self.scope.stored[self.scope.bind(c).tensor]
        self.scope.keep(c.target, stored)
        if c.target in self.now.values():
            value = self._full(c.target, c.axes)
            if value.text.text != stored.name:
                local = stored.name if stored.name.startswith(c.target) else self.scope.fresh(c.target)
                self.scope.assign(local, value.text.text)
                stored = Stored(local, c.shape, batch_first(c.shape), stored.kind, value.batch)
            self.scope.keep(c.target, stored)

    def stack(self, c: Compute, steps: str, values: str, name: str) -> None:
        """The results of all steps as the tensor they define."""
        space = batch_leading(c.axes)
        dim = space.index(self.source.along) - len(space)
        zero = replace(self.scope.number(_zero(c.kind)), kind=c.kind)
        empty = self.scope.filled(self.scope.shape_text(space), zero)
        self.scope.assign(name, f"torch.stack({values}, {dim}) if {steps} else {empty}")
        self.scope.keep(c.target, Stored(name, c.shape, batch_first(c.shape), c.kind, self._whole(c.shape)))
