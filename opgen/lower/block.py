"""A block of statements in one variant: what each name becomes over its statements.

A name may have an assignment, or components that are joined, and then scatters. Only its last statement defines the
name itself; earlier ones define versions under fresh names, which nothing but the next version reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Label
from opgen.diagnostics.suggest import counted
from opgen.ir.point import positions
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop, Scatter, Shape, Statement
from opgen.ir.scalar import Batch, Dim, Index, Lit, Read, Scalar, call, where
from opgen.lang.circles import circles, in_order
from opgen.lang.nodes import Assign, Number
from opgen.lang.unparse import unparse_target
from opgen.lower.declare import Declarations
from opgen.lower.joined import joined
from opgen.lower.kept import kept_dims
from opgen.lower.kinds import promote
from opgen.lower.parts import as_one
from opgen.lower.recurrence import lower_recurrence
from opgen.lower.recurrence_next import next_elements
from opgen.lower.scatter import Version, look_at_scatter, lower_scatter
from opgen.lower.scope import Known, Variation, same_extent
from opgen.lower.statement import Wanted, frame_of, lower_statement


@dataclass(slots=True)
class _Assembly:
    """One name on its way: the statements it still gets, its value so far, its components."""

    left: int
    assignments: int
    version: Version | None = None
    components: list[tuple[int, Assign, Compute]] = field(default_factory=list)
    position: int = 0
    failed: bool = False


def component_of(s: Assign) -> tuple[int, int] | None:
    """`(position, constant)` of an assignment to one component."""
    if s.op != "=":
        return None
    found = [(k, i.value) for k, i in enumerate(s.target.items or ()) if isinstance(i, Number)]
    if len(found) != 1 or not isinstance(found[0][1], int):
        return None
    return found[0][0], found[0][1]


def lower_block(
    d: Declarations, state: Variation, chosen: Sequence[Assign], wanted: Callable[[Assign], Wanted], bag: Bag
) -> list[Statement]:
    """The statements of a block that hold in a variant. Every name is known to `state` afterwards."""
    parts: dict[str, _Assembly] = {}
    chosen = in_order(chosen)
    groups = {n: names for names in circles(chosen) for n in names}
    waiting: dict[tuple[str, ...], list[Assign]] = {}
    for s in chosen:
        name = s.target.name
        state.later.setdefault(name, s.target.name_span)
        part = parts.setdefault(name, _Assembly(0, 0, failed=name in d.lost))
        part.left += 1
        part.assignments += s.op == "="
    found: list[Statement] = []
    for s in chosen:
        name = s.target.name
        part = parts[name]
        if name in groups:
            names = groups[name]
            together = waiting.setdefault(names, [])
            together.append(s)
            if len(together) == sum(other.target.name in names for other in chosen):
                found.extend(lower_recurrence(d, state, names, together, wanted, bag))
            continue
        made = _step(d, state, s, part, chosen, wanted(s), bag)
        part.failed = part.failed or not made
        found.extend(made)
        if not part.left:
            state.later.pop(name, None)
            v = None if part.failed else part.version
            shape, kind = (None, Kind.FLOAT) if v is None else (v.shape, v.kind)
            state.tensors[name] = Known(name, shape, kind, s.target.name_span)
    return found


def _step(
    d: Declarations,
    state: Variation,
    s: Assign,
    part: _Assembly,
    chosen: Sequence[Assign],
    wanted: Wanted,
    bag: Bag,
) -> tuple[Statement, ...]:
    part.left -= 1
    name = s.target.name
    if s.op != "=":
        if part.assignments:
            bag.error(
                "OPG219", f"`{name}` is scattered into before it is assigned", s.target.span,
                hints=("move its assignment up",),
            )  # fmt: skip
            return ()
        if part.failed:
            if name in d.lost:
                look_at_scatter(d, state, s, bag)
            return ()
        target = state.fresh(f"{name}_part") if part.left else name
        made: tuple[Compute | Scatter, ...] = lower_scatter(d, state, s, target, part.version, wanted, bag)
    else:
        part.assignments -= 1
        component = component_of(s)
        message = f"`{name}` is assigned as a whole and by components"
        if any(told.message == message for told in bag.items):
            return ()
        if late := next_elements(d, [o for o in chosen if o.target.name == name]):
            hints = joined(frame_of(d, state, bag), late[0]) or late[1]
            bag.error("OPG217", message, late[0].target.span, hints=hints)
            return ()
        if (component is None and part.components) or (part.version is not None and component is not None):
            hints = joined(frame_of(d, state, bag), s) or _as_one(d, s, chosen) or ("use two names",)
            bag.error("OPG217", message, s.target.span, hints=hints)
            return ()
        if component is not None:
            return _component(d, state, s, part, component, wanted, bag)
        target = state.fresh(f"{name}_start") if part.left else name
        made = lower_statement(d, state, s, wanted, bag)
        if made and target != name:
            made = (*made[:-1], replace(made[-1], target=target))
    if made:
        _remember(part, made[-1])
    return made


def _as_one(d: Declarations, s: Assign, chosen: Sequence[Assign]) -> tuple[str, ...]:
    """The statement of a whole whose components are overwritten behind it, where it stands in front of them."""
    own = [o for o in chosen if o.target.name == s.target.name]
    plain = all(o.op == "=" for o in own) and component_of(own[0]) is None
    return as_one(d, own[0], own[1:]) if plain else ()


def _remember(part: _Assembly, last: Compute | Scatter) -> None:
    part.version = Version(last.target, last.axes, last.kind)


# --- components ------------------------------------------------------------------------------------------------------


def _component(
    d: Declarations, state: Variation, s: Assign, part: _Assembly, where_: tuple[int, int], wanted: Wanted, bag: Bag
) -> tuple[Statement, ...]:
    """One component; the last one is followed by the statement that joins them."""
    position, constant = where_
    name, items = s.target.name, s.target.items
    assert items is not None
    if part.components and part.position != position:
        first = part.components[0][1].target.span
        bag.error(
            "OPG244", f"the components of `{name}` stand at different positions", s.target.span,
            related=(Label(first, "the first one"),),
        )  # fmt: skip
        return ()
    part.position = position
    inner = wanted
    if wanted.shape is not None and len(wanted.shape) == len(items):
        inner = replace(wanted, shape=wanted.shape[:position] + wanted.shape[position + 1 :])
    plain = replace(s, target=replace(s.target, items=items[:position] + items[position + 1 :]))
    made = lower_statement(d, state, plain, inner, bag)
    if not made:
        part.failed = True
        return ()
    last = replace(made[-1], target=state.fresh(f"{name}_{constant}"))
    part.components.append((constant, s, last))
    statements: tuple[Statement, ...] = (*made[:-1], last)
    if part.assignments or part.failed:
        return statements
    joined = _joined(d, state, s, part, wanted, bag)
    if joined is None:
        return ()
    _remember(part, joined)
    return (*statements, joined)


def _joined(d: Declarations, state: Variation, s: Assign, part: _Assembly, wanted: Wanted, bag: Bag) -> Compute | None:
    name = s.target.name
    parts = sorted(part.components, key=lambda c: c[0])
    extent = _extent(parts, part.position, wanted)
    count = None if isinstance(extent, Batch) else polynomial(extent, state.dims).constant
    if count is None or isinstance(extent, Batch):
        bag.error(
            "OPG249", f"the components of `{name}` do not cover a dim of unknown size", s.target.span,
            hints=("declare the dim as a number: `shape: [..., 2]`",),
        )  # fmt: skip
        return None
    missing = [k for k in range(count) if k not in [c for c, _, _ in parts]]
    beyond = [a for c, a, _ in parts if c >= count]
    if missing or beyond:
        left = ", ".join(map(str, missing[:4]))
        message, wrong, hints = f"the component {left} of `{name}` is not assigned", s, kept_dims(d, s)
        fits = bool(beyond) or wanted.shape is None
        lines = _counted_from_0(parts, part.position, missing) if len(parts) > 1 and fits else ""
        if lines:
            hints = (f"components count from 0: write {lines}", *hints)
        if missing and not beyond and (missing != [0] or not hints):
            targets = (_at(parts[0][1], part.position, k) for k in missing)
            hints = (f"add {', '.join(f'`{t} = …`' for t in targets)}", *hints)
        if beyond:
            message, wrong = f"`{name}` has {counted(count, 'component')}, which count from 0", beyond[0]
        label = "there is no such component" if beyond else "its components"
        bag.error("OPG249", message, wrong.target.span, label=label, hints=hints)
        return None
    first = parts[0][2]
    for _, a, c in parts[1:]:
        if not _same_shape(first.shape, c.shape, state):
            bag.error(
                "OPG244", f"the components of `{name}` have different shapes", a.target.span,
                related=(Label(parts[0][1].target.span, "another shape"),),
            )  # fmt: skip
            return None
    axis = Axis(_axis_name(first.axes, extent if wanted.shape is None else wanted.shape[part.position]), extent)
    at = positions(first.axes)
    body: Scalar = Read(parts[-1][2].target, at)
    for k, _, c in reversed(parts[:-1]):
        body = where(call("eq", Index(axis.name), Lit(k)), Read(c.target, at), body)
    kind = promote(c.kind for _, _, c in parts)
    assert kind is not None
    target = state.fresh(f"{name}_start") if part.left else name
    axes = (*first.axes[: part.position], axis, *first.axes[part.position :])
    return Compute(target, axes, body, kind=kind, span=s.span)


def _counted_from_0(parts: Sequence[tuple[int, Assign, Compute]], position: int, missing: Sequence[int]) -> str:
    """The targets with positions that fit: all one less, or those that are missing in the place of those beyond."""
    places = [k for k, _, _ in parts]
    fitting = [k for k in places if k < len(places)]
    moved = [k - 1 for k in places] if missing == [0] else [*fitting, *missing]
    if sorted(moved) != list(range(len(places))):
        return ""
    lines = []
    for k, (old, a, _) in zip(moved, parts, strict=True):
        if k != old:
            lines.append(f"`{_at(a, position, k)}`")
    return ", ".join(lines)


def _at(a: Assign, position: int, component: int) -> str:
    """The target of another component."""
    items = a.target.items or ()
    span = items[position].span
    return unparse_target(replace(a.target, items=(*items[:position], Number(component, span), *items[position + 1 :])))


def _extent(parts: Sequence[tuple[int, Assign, Compute]], position: int, wanted: Wanted) -> Scalar | Batch:
    if wanted.shape is not None and position < len(wanted.shape):
        return wanted.shape[position]
    return Lit(parts[-1][0] + 1)


def _same_shape(a: Shape, b: Shape, state: Variation) -> bool:
    return len(a) == len(b) and all(
        x == y or (not isinstance(x, Batch) and not isinstance(y, Batch) and same_extent(x, y, state.dims))
        for x, y in zip(a, b, strict=True)
    )


def _axis_name(axes: Sequence[Loop], extent: Scalar | Batch) -> str:
    wish = extent.name.lower() if isinstance(extent, Dim) else "c"
    taken = [a.name for a in axes if isinstance(a, Axis)]
    name, n = wish, 2
    while name in taken:
        name, n = f"{wish}{n}", n + 1
    return name
