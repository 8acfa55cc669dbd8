"""The device functions of one nest: what a thread or a team does at a point, as lines of CUDA C++.

Three forms, chosen by the structure of the nest: `point` (and `flat`, over neighbouring elements) where nothing is
folded, `fold` and `finish` where one pass folds across points, `row` for everything else. The kernels that call them
are in the runtime header.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from opgen.code.cuda_scope import Scope, element_type
from opgen.code.long_values import hoisted
from opgen.code.native_layout import function, indented
from opgen.code.native_scope import mentions, needed, value_type
from opgen.code.printer import NATIVE, Text
from opgen.ir.point import positions
from opgen.ir.polynomial import same_shape
from opgen.ir.program import Kind, Loop
from opgen.ir.scalar import Batch, Index, Position, Read, Scalar, children, walk
from opgen.plan.model import Fold, KernelPlan, Let, Nest, Pass, Schedule, Store, extent

_FOLDS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "argmax": "ArgMax", "argmin": "ArgMin"}
_POSITIONAL = ("argmax", "argmin")
_CONDITIONS = {"any": "rt::Any", "all": "rt::All"}


class Form(StrEnum):
    """How the points of a nest are given to threads."""

    MAP = "map"
    ROWS = "rows"
    COLUMNS = "columns"


def form_of(nest: Nest) -> Form:
    """The structure decides, the schedule only between two that both fit."""
    looped = [p for p in nest.passes if p.loops]
    if not looped:
        return Form.MAP
    single = len(looped) == 1 and bool(looped[0].folds)
    return Form.COLUMNS if single and nest.schedule in (Schedule.COLUMN, Schedule.WHOLE) else Form.ROWS


def _index(name: str, body: Sequence[str]) -> str:
    """An index parameter, left without a name where the body has no use for it."""
    return f"int64_t {name}" if mentions(name, body) else f"int64_t /* {name} */"


# --- loops -----------------------------------------------------------------------------------------------------------


def decoded(scope: Scope, loops: Sequence[Loop], flat: str, body: Sequence[str], left: str = "rest") -> list[str]:
    """A body after the indices it mentions were split off the flattened index `flat`; `left` holds what remains."""
    names = ["place" if isinstance(a, Batch) else scope.loops[a.name] for a in loops]
    used = [mentions(name, body) for name in names]
    if not any(used):
        return list(body)
    first = used.index(True)
    rest = left if len(loops) > 1 else flat
    lines = [f"int64_t {left} = {flat};"] if len(loops) > 1 else []
    for i in range(len(loops) - 1, max(first, 1) - 1, -1):
        split = f"rt::split(&{left}, {_divider(scope, loops[i])})"
        lines.append(_define(scope, loops[i], names[i], split) if used[i] else f"{split};")
    if first == 0:
        lines.append(_define(scope, loops[0], names[0], rest))
    return [*lines, *body]


def _divider(scope: Scope, loop: Loop) -> str:
    return scope.batch_divider() if isinstance(loop, Batch) else scope.divider(loop)


def _define(scope: Scope, loop: Loop, name: str, value: str) -> str:
    if isinstance(loop, Batch):
        scope.need_batch()
        return f"const rt::Place {name} = batch.place({value});"
    return f"const int64_t {name} = {value};"


def _each(scope: Scope, loops: Sequence[Loop], body: Sequence[str], settled: Sequence[str]) -> list[str]:
    """The lines of a pass, shared out among the team; `settled` follow every block of points."""
    count = " * ".join(scope.size(a) for a in loops)
    if len(loops) == 1 and not isinstance(loops[0], Batch):
        inner, lines = scope.loops[loops[0].name], list(body)
    else:
        inner, lines = "inner", decoded(scope, loops, "inner", body, "inner_rest")
    if not settled:
        return function(f"for (int64_t {inner} = Team::rank(); {inner} < {count}; {inner} += Team::size)", lines)
    stop = scope.fresh("stop")
    next_stop = f"{stop} = rt::next_stop<Team>({stop}, {count});"
    turn = [next_stop, *function(f"for (; {inner} < {stop}; {inner} += Team::size)", lines), *settled]
    return function(f"for (int64_t {inner} = Team::rank(), {stop} = 0; {stop} < {count};)", turn)


# --- statements ------------------------------------------------------------------------------------------------------


def let_lines(scope: Scope, lets: Sequence[Let]) -> list[str]:
    lines = []
    for let in lets:
        head = f"const {value_type(let.kind)} {let.name} = ;"
        parts, value = hoisted(scope, let.value, len(head))
        lines += [*parts, f"const {value_type(let.kind)} {scope.bind(let.name, let.kind)} = {value.text};"]
    return lines


def store_lines(scope: Scope, store: Store) -> list[str]:
    positions = scope.positions(store.at, store.buffer)
    target = scope.tensor(store.buffer)
    parts, value = hoisted(scope, store.value, len(f"{target}.store(, {positions});"))
    return [*parts, f"{target}.store({', '.join(filter(None, (value.text, positions)))});"]


def _stores(scope: Scope, p: Pass) -> list[str]:
    return [line for s in p.stores for line in store_lines(scope, s)]


def accumulator(scope: Scope, fold: Fold) -> str:
    """The type of a fold's accumulator."""
    if fold.op in _CONDITIONS:
        return _CONDITIONS[fold.op]
    kind = scope.printer.text(fold.value).kind if fold.op in _POSITIONAL else fold.kind
    return f"rt::{_FOLDS[fold.op]}<{value_type(Kind.INT if kind is Kind.BOOL else kind)}>"


def added(scope: Scope, fold: Fold, accumulator: str, loops: Sequence[Loop]) -> list[str]:
    parts, value = hoisted(scope, fold.value, len(f"{accumulator}.add(, );") + 10)
    if fold.op not in _POSITIONAL:
        return [*parts, f"{accumulator}.add({value.text});"]
    (loop,) = loops
    assert not isinstance(loop, Batch)
    if value.kind is Kind.BOOL:
        value = Text(f"static_cast<int64_t>({value.text})", NATIVE.atom, Kind.INT)
    return [*parts, f"{accumulator}.add({value.text}, {scope.loops[loop.name]});"]


def is_rounded(fold: Fold) -> bool:
    """Whether a fold is a sum of floats, which is kept in blocks."""
    return fold.op == "sum" and fold.kind is Kind.FLOAT


def result(scope: Scope, fold: Fold, accumulator: str) -> str:
    value = f"{accumulator}.value != 0" if fold.op in _CONDITIONS else f"{accumulator}.value"
    return f"const {value_type(fold.kind)} {scope.bind(fold.name, fold.kind)} = {value};"


# --- map -------------------------------------------------------------------------------------------------------------


def _values(nest: Nest) -> list[Scalar]:
    return [e for p in nest.passes for e in (*(x.value for x in p.lets), *(s.value for s in p.stores))]


def is_flat(plan: KernelPlan, nest: Nest) -> bool:
    """Whether every tensor is met at the same point of loops over all of it (or is 0-dim): order does not matter."""
    here = positions(nest.outer)
    sizes = [extent(a) for a in nest.outer]
    dims = {d.name: d.value for d in plan.dims}

    def whole(name: str, at: tuple[Position, ...]) -> bool:
        return at == here and same_shape(sizes, plan.buffer(name).shape, dims)

    def fits(e: Scalar) -> bool:
        if isinstance(e, Read) and e.at:
            return e.fill is None and whole(e.tensor, e.at)
        return not isinstance(e, Index) and all(map(fits, children(e)))

    stores = (s for p in nest.passes for s in p.stores)
    return bool(here) and all(map(fits, _values(nest))) and all(whole(s.buffer, s.at) for s in stores)


def map_lines(scope: Scope, nest: Nest) -> list[str]:
    """`point`, and where possible `compute` and `flat`."""
    if is_flat(scope.plan, nest):
        return _flat_lines(scope, nest)
    before = scope.enter(nest.outer)
    body = []
    for p in nest.passes:
        body += [*let_lines(scope, p.lets), *_stores(scope, p)]
    body = decoded(scope, nest.outer, "point", body)
    scope.leave(before, nest.outer)
    return point_function(body)


def _flat_lines(scope: Scope, nest: Nest) -> list[str]:
    here = positions(nest.outer)
    read = dict.fromkeys(n.tensor for e in _values(nest) for n in walk(e) if isinstance(n, Read) and n.at)
    stores = [s for p in nest.passes for s in p.stores]
    ins = {name: scope.tensor(name) for name in read}
    outs = {s.buffer: scope.tensor(s.buffer) for s in stores}
    scope.packed = ins
    compute = []
    for p in nest.passes:
        compute += let_lines(scope, p.lets)
        for s in p.stores:
            parts, value = hoisted(scope, s.value, len(f"*{outs[s.buffer]} = ;"))
            compute += [*parts, f"*{outs[s.buffer]} = {value.text};"]
    scope.packed = None

    def type_of(name: str) -> str:
        return value_type(scope.plan.buffer(name).kind)

    values = {name: scope.fresh(f"{text}_value") for name, text in outs.items()}
    packs = {name: scope.fresh(f"{scope.tensor(name)}_pack") for name in (*ins, *outs)}
    before = scope.enter(nest.outer)
    taken = [*(f"{type_of(n)} {t}" for n, t in ins.items()), *(f"{type_of(n)}* {t}" for n, t in outs.items())]
    pointers = [f"&{values[n]}" for n in outs]
    define = [f"{type_of(n)} {values[n]};" for n in outs]
    loads = [scope.load(Read(n, here)).text for n in ins]
    point = [*define, f"compute({', '.join([*loads, *pointers])});"]
    point += [f"{t}.store({values[n]}, {scope.positions(here, n)});" for n, t in outs.items()]
    point = decoded(scope, nest.outer, "point", point)
    scope.leave(before, nest.outer)
    got = [f"{packs[n]}.get(i)" for n in ins]
    flat = [f"const auto {packs[n]} = rt::load_pack<V>({t}, first);" for n, t in ins.items()]
    flat += [f"rt::Pack<{element_type(scope.plan.buffer(n).storage)}, V> {packs[n]};" for n in outs]
    loop = [*define, f"compute({', '.join([*got, *pointers])});"]
    loop += [f"{packs[n]}.set(i, {values[n]});" for n in outs]
    flat += ["OPGEN_UNROLL", *function("for (int i = 0; i < V; ++i)", loop)]
    flat += [f"rt::store_pack({t}, first, {packs[n]});" for n, t in outs.items()]
    return [
        *function(f"OPGEN_DEVICE void compute({', '.join(taken)}) const", compute),
        *point_function(point),
        "template <int V>",
        *function("OPGEN_DEVICE void flat(int64_t first) const", flat),
    ]


def point_function(body: Sequence[str]) -> list[str]:
    """The device function of a map."""
    return function(f"OPGEN_DEVICE void point({_index('point', body)}) const", body)


# --- rows ------------------------------------------------------------------------------------------------------------


def row_lines(scope: Scope, nest: Nest) -> list[str]:
    """`row`: all passes of one outer point, by a team."""
    before = scope.enter(nest.outer)
    body: list[str] = []
    for p in nest.passes:
        body += _looped(scope, p) if p.loops else _once(scope, p)
    body = decoded(scope, nest.outer, "point", body)
    scope.leave(before, nest.outer)
    return ["template <typename Team>", *function(f"OPGEN_DEVICE void row({_index('point', body)}) const", body)]


def _once(scope: Scope, p: Pass) -> list[str]:
    assert not p.folds, "a fold without loops"
    lines = let_lines(scope, p.lets)
    stores = _stores(scope, p)
    return lines + (function("if (Team::rank() == 0)", stores) if stores else [])


def _looped(scope: Scope, p: Pass) -> list[str]:
    before = scope.enter(p.loops)
    names = {f.name: scope.fresh(f"{f.name}_fold") for f in p.folds}
    body = let_lines(scope, p.lets)
    types = {f.name: accumulator(scope, f) for f in p.folds}
    body += [line for f in p.folds for line in added(scope, f, names[f.name], p.loops)]
    body += _stores(scope, p)
    lines = [f"{types[f.name]} {names[f.name]};" for f in p.folds]
    sums = [names[f.name] for f in p.folds if is_rounded(f)]
    lines += _each(scope, p.loops, body, [f"{n}.settle();" for n in sums])
    lines += [f"{n}.finish();" for n in sums]
    if p.folds:
        lines.append(f"rt::join<Team>({', '.join(f'&{n}' for n in names.values())});")
    scope.leave(before, p.loops)
    return lines + [result(scope, f, names[f.name]) for f in p.folds]


# --- columns ---------------------------------------------------------------------------------------------------------


def column_lines(scope: Scope, nest: Nest) -> list[str]:
    """`Folds`, `fold` (one inner point of one outer point) and `finish` (what follows once everything is folded)."""
    at = next(i for i, p in enumerate(nest.passes) if p.loops)
    looped = nest.passes[at]
    before = scope.enter(nest.outer)
    prefix = [line for p in nest.passes[:at] for line in let_lines(scope, p.lets)]
    inner_before = scope.enter(looped.loops)
    body = let_lines(scope, looped.lets)
    types = {f.name: accumulator(scope, f) for f in looped.folds}
    names = {f.name: scope.fresh(f"{f.name}_fold") for f in looped.folds}
    body += [line for f in looped.folds for line in added(scope, f, f"folds->{names[f.name]}", looped.loops)]
    body += _stores(scope, looped)
    body = [*prefix, *decoded(scope, looped.loops, "inner", body, "inner_rest")]
    fold = decoded(scope, nest.outer, "point", needed(body))
    scope.leave(inner_before, looped.loops)
    finish = [*prefix, *(line for p in nest.passes[:at] for line in _stores(scope, p))]
    finish += [result(scope, f, f"folds.{names[f.name]}") for f in looped.folds]
    finish += [line for p in nest.passes[at + 1 :] for line in (*let_lines(scope, p.lets), *_stores(scope, p))]
    finish = decoded(scope, nest.outer, "point", needed(finish))
    scope.leave(before, nest.outer)
    indices = f"{_index('point', fold)}, {_index('inner', fold)}"
    fields = [f"{types[f.name]} {names[f.name]};" for f in looped.folds]
    sums = [names[f.name] for f in looped.folds if is_rounded(f)]
    merge = function("OPGEN_DEVICE void merge(const Folds& other)", [f"{n}.merge(other.{n});" for n in names.values()])
    for name in ("settle", "finish"):
        merge += function(f"OPGEN_DEVICE void {name}()", [f"{n}.{name}();" for n in sums])
    return [
        "struct Folds {",
        *indented([*fields, *merge]),
        "};",
        *function(f"OPGEN_DEVICE void fold({indices}, Folds* folds) const", fold),
        *function(f"OPGEN_DEVICE void finish({_index('point', finish)}, const Folds& folds) const", finish),
    ]
