"""The device functions of one kernel: what a thread or a team does at a point, as lines of CUDA C++.

In goes a part of a kernel whose loops have the roles of a device (`opgen.kernel.teams`). Its form follows from them:
`point` (and `flat`, over neighbouring elements) where a thread does all there is at a point, `fold` and `finish` where
the inner loop is folded in chunks across points, `row` where a team shares the inner loops out. The kernels that call
these functions are in the runtime header.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum

from opgen.code.cuda_columns import columns, whole
from opgen.code.cuda_nests import in_lanes, nests_along
from opgen.code.cuda_once import once
from opgen.code.cuda_rows import across, any_read, candidates, kept_along, lines_across, rows_along
from opgen.code.cuda_scope import Scope
from opgen.code.cuda_statements import (
    accumulator,
    indexed,
    is_rounded,
    joined,
    result,
    shared,
    store_lines,
    thread_lines,
)
from opgen.code.long_values import hoisted
from opgen.code.native_layout import block, function, indented
from opgen.code.native_scope import mentions, value_type
from opgen.code.printer import NEAR
from opgen.ir.point import positions
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import BATCH, Read, Scalar, walk
from opgen.kernel.apart import fed
from opgen.kernel.cases import borders, cases, leaves
from opgen.kernel.model import Acc, Body, For, If, Join, Role, Store, Tile
from opgen.kernel.powers import Powers, powers
from opgen.kernel.sides import sides
from opgen.kernel.terms import apart
from opgen.kernel.walk import chain, inside, loop_of, values
from opgen.plan.model import Let

_SHARED = (Role.TEAM, Role.CHUNKS)


class Form(StrEnum):
    """How the points of a part are given to threads."""

    MAP = "map"
    FLAT = "flat"
    ROWS = "rows"
    COLUMNS = "columns"
    WHOLE = "whole"


def form_of(body: Body, flat: bool) -> Form:
    """`flat`: whether the points lie in memory in their order, those of a fold of all there is included."""
    roles = [n.role for n in inside(body) if isinstance(n, For)]
    if Role.CHUNKS in roles:
        return Form.WHOLE if flat else Form.COLUMNS
    if Role.TEAM in roles:
        return Form.ROWS
    return Form.FLAT if flat else Form.MAP


def inner_loops(body: Body) -> list[tuple[Loop, ...]]:
    """The loops that are shared out among the threads of a team or a block."""
    return [chain((loop,), _SHARED)[0] for loop, _ in filter(None, map(loop_of, body))]


def device_lines(scope: Scope, form: Form, outer: Sequence[Loop], body: Body) -> list[str]:
    """The device functions of a part."""
    forms = {Form.MAP: _map, Form.FLAT: _flat, Form.ROWS: _rows, Form.COLUMNS: columns, Form.WHOLE: whole}
    return forms[form](scope, outer, body)


# --- map -------------------------------------------------------------------------------------------------------------


def _map(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """`point`, or as many neighbouring ones as there are elements in a vector."""
    before = scope.enter(outer)
    ranges = cases(outer, body)
    ends = list(borders(ranges)) if ranges != body else []
    if not all(map(scope.takes, ends)):
        ends = []
    parts = list(leaves(ranges)) if ends else [body]
    by_lines = any(any_read(scope, outer, (), part) for part in parts)
    if not by_lines:
        lines = thread_lines(scope, body, {})
    elif ends:
        for end in ends:  # a vector is in one case
            scope.rows.apart(end)
        lines = _case(scope, outer, ranges)
    else:
        lines = _side_by_side(scope, outer, body)
    point = point_function(*indexed(scope, outer, "point", lines, vectors=by_lines))
    scope.leave(before, outer)
    return [*(["template <int V>"] if by_lines else []), *point]


def _case(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """Neighbouring points, case by case."""
    match body:
        case (If(condition, then, otherwise),):
            first, other = _case(scope, outer, then), _case(scope, outer, otherwise)
            chained = isinstance(otherwise[0], If)
            other = [f"}} else {other[0]}", *other[1:]] if chained else ["} else {", *indented(other), "}"]
            return [f"if ({scope.print(condition)}) {{", *indented(first), *other]
        case _:
            return _side_by_side(scope, outer, body)


def _side_by_side(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """What neighbouring points compute; what one reads of others is named for all of them."""
    named = lines_across(scope, outer, (), body, wanted=True)
    known = dict(scope.locals)
    ahead, body = once(scope, outer[-1], body)
    with across(scope, outer, named):
        lines = thread_lines(scope, body, {})
    scope.locals = known
    scope.rows.names.clear()
    scope.ahead.clear()
    return [*named, *ahead, "rt::lanes<V>([&](int at) {", *indented(lines), "});"]


def _flat(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """`compute`, what happens with values; `map`, what they come from and go to; `point`, where that is."""
    here = positions(outer)
    read = dict.fromkeys(n.tensor for e in values(body) for n in walk(e) if isinstance(n, Read) and n.at)
    stores = [n for n in body if isinstance(n, Store)]
    ins = {name: scope.tensor(name) for name in read}
    outs = {s.slot: scope.tensor(s.slot) for s in stores}
    scope.packed = ins
    compute = []
    for node in body:
        if isinstance(node, Store):
            parts, value = hoisted(scope, node.value, len(f"*{outs[node.slot]} = ;"))
            compute += [*parts, f"*{outs[node.slot]} = {value.text};"]
        else:
            compute += thread_lines(scope, (node,), {})
    scope.packed = None

    def type_of(name: str) -> str:
        return value_type(scope.formal.slots[name].kind)

    asked = dict.fromkeys(ins, "") | _asked(scope, body, outs)
    ports = [
        f"{scope.reader('in_if' if asked[n] else 'in', n)}({f'{asked[n]}, ' * bool(asked[n])}{t})"
        for n, t in ins.items()
    ]
    ports += [f"rt::{'spare_' * (n in scope.formal.spare)}out({t})" for n, t in outs.items()]
    taken = [*(f"{type_of(n)} {t}" for n, t in ins.items()), *(f"{type_of(n)}* {t}" for n, t in outs.items())]
    before = scope.enter(outer)
    point: list[str] = []
    if here == (BATCH,):
        scope.need_batch()
    else:
        point = [f"rt::map_point(*this, {scope.positions(here, next(iter(outs)))});"]
        point = point_function(*indexed(scope, outer, "point", point))
    scope.leave(before, outer)
    return [
        *function(f"OPGEN_DEVICE void compute({', '.join(taken)}) const", compute),
        "template <typename Points>",
        *function("OPGEN_DEVICE auto map(const Points& points) const", [f"return points(*this, {', '.join(ports)});"]),
        *point,
    ]


def _asked(scope: Scope, body: Body, outs: Mapping[str, str]) -> dict[str, str]:
    """Of each tensor that is read: the condition that somebody wants what it goes into; empty where that is sure, as
    it is of the outputs together."""
    found = {}
    for name, into in fed(body).items():
        sure = into == outs.keys() or not into <= scope.formal.spare
        found[name] = "" if sure else " || ".join(f"{t}.given()" for n, t in outs.items() if n in into)
    return found


def point_function(taken: str, body: Sequence[str]) -> list[str]:
    """The device function of a map."""
    return function(f"OPGEN_DEVICE void point({taken}) const", body)


# --- rows ------------------------------------------------------------------------------------------------------------


def _rows(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """`row`: all of one outer point, by a team."""
    before = scope.enter(outer)
    rows = candidates(body)
    lines = [*rows_along(scope, outer, rows), *nests_along(scope, outer, body)]
    tiles = {n.name for n in body if isinstance(n, Tile)}
    accs: list[Acc] = []
    stores: list[str] = []
    known: list[str] = []
    for node in powers(body):
        if isinstance(node, Tile):
            continue
        if stores and not isinstance(node, Store):
            lines += function("if (Team::rank() == 0)", stores)
            stores = []
        if isinstance(node, Powers):
            lines += _powers(scope, node)
        elif (found := loop_of(node)) is not None:
            lines += _passed(scope, *found, accs, tiles)
            accs = []
        elif isinstance(node, Acc):
            accs.append(node)
        elif isinstance(node, Store):
            stores += store_lines(scope, node)
        else:
            lines += thread_lines(scope, (node,), {})
            if isinstance(node, Let):
                known.append(node.name)
                lines += rows_along(scope, outer, (r for r in rows if node.name in r.locals), known)
    lines += function("if (Team::rank() == 0)", stores) if stores else []
    taken, lines = indexed(scope, outer, "point", lines)
    scope.leave(before, outer)
    template = "template <typename Team>"
    if scope.rows.sums:
        template, taken = "template <typename Team, typename Across>", f"{taken}, Across* across"
    return [template, *function(f"OPGEN_DEVICE void row({taken}) const", lines)]


def _passed(
    scope: Scope, loop: For, condition: Scalar | None, accs: Sequence[Acc], tiles: Collection[str]
) -> list[str]:
    """A pass, or two of which the team takes one."""
    stored = {n.slot for n in inside((loop,)) if isinstance(n, Store)}
    both = None if accs or condition is not None or not stored.isdisjoint(tiles) else sides(loop)
    if both is None:
        return _shared_out(scope, loop, condition, accs, tiles)
    (then,), (otherwise,) = ([n for n in side if isinstance(n, For)] for side in (both.body, both.otherwise))
    first, second = (indented(_shared_out(scope, side, None, (), tiles)) for side in (then, otherwise))
    return [f"if ({scope.print(both.condition)}) {{", *first, "} else {", *second, "}"]


def _shared_out(
    scope: Scope, loop: For, condition: Scalar | None, accs: Sequence[Acc], tiles: Collection[str]
) -> list[str]:
    loops, body = chain((loop,), _SHARED)
    before = scope.enter(loops)
    names = {a.name: scope.fresh(f"{a.name}_fold") for a in accs}
    scope.rows.loop = loops[0] if len(loops) == 1 and isinstance(loops[0], Axis) else None
    scope.rows.shared = True
    made: list[str] = []
    if scope.rows.loop is not None:
        made, body = kept_along(scope, scope.rows.loop, body, tiles)
    sums = {name: f"across->at({k}, at)" for k, name in enumerate(scope.rows.sums)}
    row = _largest(scope, accs, body)
    with in_lanes(scope, loops):
        inner = [] if row is not None else thread_lines(scope, apart(body, accs), sums | names)
    scope.rows.kept = {n: text.replace(".keep(at)", "[at]") for n, text in scope.rows.kept.items()}
    scope.rows.loop, scope.rows.shared = None, False
    lines = made + [f"{accumulator(scope, a, joined(body, a))} {names[a.name]};" for a in accs]
    rounded = [names[a.name] for a in accs if is_rounded(a)]
    if row is None:
        passed = shared(scope, loops, inner, rounded)
    else:
        passed = [f"rt::largest<Team>({scope.size(loops[0])}, {row}, &{names[accs[0].name]});"]
    lines += passed if condition is None else function(f"if ({scope.print(condition)})", passed)
    lines += [f"{n}.finish();" for n in rounded]
    if accs:
        lines.append(f"rt::join<Team>({', '.join(f'&{n}' for n in names.values())});")
    scope.leave(before, loops)
    return lines + [result(scope, a, names[a.name]) for a in accs]


def _largest(scope: Scope, accs: Sequence[Acc], body: Body) -> str | None:
    """The row whose maximum is all that a pass is there for."""
    match accs, body:
        case (Acc(name, "max", Kind.FLOAT),), (Join(acc, value),) if acc == name:
            return _row(scope, value)
        case _:
            return None


def _powers(scope: Scope, pair: Powers) -> list[str]:
    """A maximum and a sum of exponentials, of what is read or of what is computed."""
    accs = (pair.most, pair.total)
    folds = [scope.fresh(f"{a.name}_fold") for a in accs]
    lines = [f"{accumulator(scope, a, pair.value)} {n};" for a, n in zip(accs, folds, strict=True)]
    given = ", ".join(f"&{n}" for n in folds)
    values, made = _valued(scope, pair.loop, pair.value)
    lines += [
        *made,
        f"rt::powers<Team, {NEAR}, {str(pair.finite).lower()}>({scope.size(pair.loop.loop)}, {values}, {given});",
    ]
    return lines + [result(scope, a, n) for a, n in zip(accs, folds, strict=True)]


def _valued(scope: Scope, loop: For, value: Scalar) -> tuple[str, list[str]]:
    """What has a value at every place of a loop, by name, and the lines that define it."""
    assert isinstance(loop.loop, Axis)
    with _along(scope, loop.loop):
        if (row := _row(scope, value)) is not None:
            return row, []
        parts, text = hoisted(scope, value, len("return ;"))
        body, inner = [*parts, f"return {text.text};"], scope.loops[loop.loop.name]
    if mentions(inner, body):
        body.insert(0, f"const int64_t {inner} = at;")
    name = scope.fresh("values")
    return name, block(f"const auto {name} = rt::valued([&](auto at) {{", body, "});")


def _row(scope: Scope, value: Scalar) -> str | None:
    """The row that a value is read from as it is."""
    return scope.rows.name(value.tensor, value.at) if isinstance(value, Read) and value.fill is None else None


@contextmanager
def _along(scope: Scope, loop: Axis) -> Iterator[None]:
    """Within: places are those of a loop that a team shares out."""
    before = scope.enter((loop,))
    scope.rows.loop, scope.rows.shared = loop, True
    yield
    scope.rows.loop, scope.rows.shared = None, False
    scope.leave(before, (loop,))
