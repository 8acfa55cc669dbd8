"""Scatters in torch code, out of place, so that autograd and vmap go through them.

In goes a `Scatter`; out comes the value of its target. The computed positions of a target are joined into one axis;
rows are added at positions that share no loop with the other axes (`add_at`), single elements at others
(`add_along`). Products, maxima and minima go the same ways (`combine_at`, `combine_along`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from opgen.code.printer import Text
from opgen.ir.program import Axis, Compute, Kind, Loop, Scatter
from opgen.ir.scalar import BATCH, ZERO, Batch, Dim, Index, Lit, Scalar, call, mul, where
from opgen.torch.body import as_kind, body_value, expanded, index_value, joined, placeholder
from opgen.torch.dialect import ATOM
from opgen.torch.positions import Place, axis_named, is_plain, proven
from opgen.torch.scope import Scope, batch_leading, loops_of
from opgen.torch.values import Value, permuted

Space = tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a scatter is carried out. `axes`: each target axis as the loop along it, or a placeholder if computed."""

    axes: Space
    computed: tuple[int, ...]
    others: Space  # loops of the axes that are not computed, batch first
    spread: Space  # loops of the computed positions
    places: tuple[Place, ...]  # the computed positions
    verb: str  # which functions of the runtime: "add" or "combine"
    options: str  # further arguments of those

    @property
    def rows(self) -> bool:
        """Whole rows go to a position: nothing the position depends on is an axis of the target."""
        return BATCH not in self.others and not any(loop in self.others for loop in self.spread)

    @property
    def joined(self) -> Space:
        return tuple(self.axes[i] for i in self.computed)


def _layout(scope: Scope, s: Scatter, computed: tuple[int, ...]) -> _Layout:
    space = batch_leading(s.loops)
    axes = tuple(placeholder(i) if i in computed else _loop(p, space) for i, p in enumerate(s.at))
    others = batch_leading(tuple(a for i, a in enumerate(axes) if i not in computed))
    places = tuple(Place(s.at[i], s.shape[i]) for i in computed)
    found = dict.fromkeys(x for p in places if not isinstance(p.at, Batch) for x in loops_of(p.at, space))
    verb = "add" if s.op == "sum" else "combine"
    spread = tuple(x for x in space if x in found)
    absent = any(proven(scope, p, space) and not proven(scope, p, (*others, *spread)) for p in places)
    padded = s.padded or absent  # without a point of some other loop there may be no such place
    options = "".join((f', "{_REDUCE[s.op]}"' if s.op != "sum" else "", ", padded=True" if padded else ""))
    return _Layout(axes, computed, others, spread, places, verb, options)


# The operators of scatters as torch calls them.
_REDUCE = {"prod": "prod", "max": "amax", "min": "amin"}


def _loop(p: Scalar | Batch, space: Space) -> Loop:
    if isinstance(p, Batch):
        return BATCH
    assert isinstance(p, Index)
    return axis_named(p.name, space)


def scatter(scope: Scope, s: Scatter, base_name: str = "") -> Value:
    """The value of a scatter's target, over its axes (batch first).

    With `base_name` what is added to gets a line of its own.
    """
    space = batch_leading(s.loops)
    pairs = zip(s.at, s.shape, strict=True)
    plain = [s.at.count(p) == 1 and is_plain(scope, Place(p, n), space) for p, n in pairs]
    plan = _layout(scope, s, tuple(i for i, p in enumerate(plain) if not p))
    if not plan.rows and BATCH in plan.spread and BATCH not in plan.others:
        plan = _layout(scope, s, tuple(range(len(s.at))))
    body = _summed_beforehand(scope, s, plan)
    with scope.within(s.axes):
        base = as_kind(scope, body_value(scope, s.base, batch_leading(s.axes)), s.kind)
    base = expanded(scope, base, batch_leading(s.axes))
    base = Value(base.text, batch_leading(plan.axes), base.batch)
    order = (*plan.joined, *plan.others) if plan.rows else (*plan.others, *plan.joined)
    base = joined(permuted(base, order), len(plan.computed), front=plan.rows)
    if base_name:
        scope.assign(base_name, base.text.text)
        base = replace(base, text=replace(base.text, text=base_name, level=ATOM))
    add = _rows if plan.rows else _elements
    text = add(scope, lambda space: _element(scope, body, space, s.kind), plan, base)
    value = Value(text, order)
    if base_name and len(plan.computed) > 1:
        scope.assign(base_name, text.text)
        value = replace(value, text=replace(text, text=base_name, level=ATOM))
    if len(plan.computed) > 1:
        sizes = ", ".join(scope.number(_extent(s, i)).text for i in plan.computed)
        value = value.method(f"unflatten({0 if plan.rows else -1}, ({sizes}))")
    value = permuted(value, batch_leading(plan.axes))
    carriers = frozenset(t.name for t in scope.carriers()) if BATCH in s.axes else frozenset[str]()
    return Value(value.text, batch_leading(s.axes), carriers)


def _extent(s: Scatter, i: int) -> Scalar:
    axis = s.axes[i]
    assert isinstance(axis, Axis)
    return axis.extent


def _summed_beforehand(scope: Scope, s: Scatter, plan: _Layout) -> Scalar:
    """The body, combined over loops that move neither position nor row; a sum multiplies where it ignores them."""
    extra = tuple(loop for loop in s.loops if loop not in plan.others and loop not in plan.spread)
    varying = tuple(loop for loop in extra if loop in loops_of(s.body, s.loops))
    if s.op != "sum":
        varying = extra
    counts = [Dim("...") if isinstance(loop, Batch) else loop.extent for loop in extra if loop not in varying]
    body = s.body
    if varying:
        axes = tuple(a for a in s.loops if a not in extra)
        body = scope.bind(Compute(f"{s.target}_rows", axes, body, s.op, varying, s.kind))
    some = [n for n in counts if not isinstance(n, Lit)]
    for n in some:  # without a point there is no element either, of which 0 would not make 0
        body = where(call("gt", n, ZERO), body, ZERO)
    return mul(body, *counts)


Body = Callable[[Space], Value]


def _element(scope: Scope, body: Scalar, space: Space, kind: Kind) -> Value:
    """What is added, as a tensor."""
    value = as_kind(scope, body_value(scope, body, space), kind)
    if value.text.number and not space:
        return Value(Text(scope.filled("()", value.text), ATOM, kind), ())
    return expanded(scope, value, space) if value.text.number else value


def _rows(scope: Scope, body: Body, plan: _Layout, base: Value) -> Text:
    index = index_value(scope, plan.places, plan.spread, packs=False)
    values = body((*plan.spread, *plan.others))
    if not _covers(scope, (index, values), plan.spread):
        index = expanded(scope, index, plan.spread)
        if base.text.text.isidentifier():  # a line too long, being taken apart
            name = scope.fresh("position")
            scope.assign(name, index.text.text)
            index = replace(index, text=Text(name, ATOM, index.text.kind))
    return _call("at", base, index, values, plan)


def _elements(scope: Scope, body: Body, plan: _Layout, base: Value) -> Text:
    along = tuple(loop for loop in plan.spread if loop not in plan.others)
    space = (*plan.others, *along)
    index, values = index_value(scope, plan.places, space, packs=False), body(space)
    if len(along) > 1:
        index, values = (expanded(scope, v, space).method(f"flatten({-len(along)})") for v in (index, values))
    return _call("along" if along else "one_along", base, index, values, plan)


def _covers(scope: Scope, values: tuple[Value, ...], space: Space) -> bool:
    """Do these values broadcast to the whole of a space?"""
    together = frozenset[str]().union(*(v.batch for v in values))
    present = all(any(loop in v.loops for v in values) for loop in space)
    return present and (BATCH not in space or scope.whole_batch(together))


def _call(where: str, base: Value, index: Value, values: Value, plan: _Layout) -> Text:
    name = f"{plan.verb}_{where}"
    code = f"{name}({base.text.text}, {index.text.text}, {values.text.text}{plan.options})"
    return Text(code, ATOM, base.text.kind)
