"""Statements of a CUDA kernel: what a thread computes, keeps and stores, and the loops that it runs through.

In go nodes of a kernel and the scope that they stand in, out come lines of CUDA C++.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.code.cuda_scope import Scope
from opgen.code.long_values import held_places, hoisted
from opgen.code.native_layout import LIMIT, function, indented
from opgen.code.native_scope import mentions, value_type
from opgen.code.printer import NATIVE, Text
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Batch, Scalar
from opgen.kernel.model import PLACES, Acc, Atomic, Body, For, If, Join, Node, Role, Store, Tile
from opgen.kernel.walk import chain, inside, loop_of
from opgen.plan.model import Fold, Let

_FOLDS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "argmax": "ArgMax", "argmin": "ArgMin"}
_CONDITIONS = {"any": "rt::Any", "all": "rt::All"}
_LONG_CELL = 40  # a place with a longer text gets a line of its own
_DEEP = 4  # columns before the statements of a kernel's function


# --- loops -----------------------------------------------------------------------------------------------------------


def decoded(
    scope: Scope, loops: Sequence[Loop], flat: str, body: Sequence[str], left: str = "rest", *, vectors: bool = False
) -> list[str]:
    """A body after the indices it mentions were split off the flattened index `flat`; `left` holds what remains.

    Where points are counted in `vectors`, the last index is that of the first of V.
    """
    names = ["place" if isinstance(a, Batch) else scope.loops[a.name] for a in loops]
    used = [mentions(name, body) for name in names]
    if not any(used):
        return list(body)
    first = used.index(True)
    rest = left if len(loops) > 1 else flat
    if len(loops) > 1 and first == 0 and isinstance(loops[0], Axis):
        rest = left = names[0]  # what remains is the first one
    lines = [f"int64_t {left} = {flat};"] if len(loops) > 1 else []
    for i in range(len(loops) - 1, max(first, 1) - 1, -1):
        if vectors and i == len(loops) - 1:
            split = f"rt::split_first<V>(&{left}, {_divider(scope, loops[i], vectors=True)})"
        else:
            split = f"rt::split(&{left}, {_divider(scope, loops[i])})"
        lines.append(_define(scope, loops[i], names[i], split) if used[i] else f"{split};")
    if first == 0 and rest != names[0]:
        rest = f"rt::first_of<V, rank>({rest})" if vectors and len(loops) == 1 else rest
        lines.append(_define(scope, loops[0], names[0], rest))
    return [*lines, *body]


def counted(scope: Scope, loops: Sequence[Loop], flat: str) -> str:
    """What the number of a point is called: where there is one loop, that is its index."""
    match loops:
        case (Axis(name),):
            return scope.loops[name]
        case _:
            return flat


def indexed(
    scope: Scope, loops: Sequence[Loop], flat: str, body: Sequence[str], left: str = "rest", *, vectors: bool = False
) -> tuple[str, list[str]]:
    """The same as the body of a function, and its parameter, which has no name where the body has no use for it."""
    name = flat if vectors else counted(scope, loops, flat)
    lines = list(body) if name != flat else decoded(scope, loops, flat, body, left, vectors=vectors)
    return (f"int64_t {name}" if mentions(name, lines) else f"int64_t /* {name} */"), lines


def _divider(scope: Scope, loop: Loop, *, vectors: bool = False) -> str:
    if vectors:
        return scope.vectors(loop)
    return scope.batch_divider() if isinstance(loop, Batch) else scope.divider(loop)


def _define(scope: Scope, loop: Loop, name: str, value: str) -> str:
    if isinstance(loop, Batch):
        scope.need_batch()
        return f"const rt::Place<rank> {name} = batch.place({value});"
    return f"const int64_t {name} = {value};"


def shared(scope: Scope, loops: tuple[Loop, ...], body: Sequence[str], sums: Sequence[str]) -> list[str]:
    """The lines of a pass, shared out among the team."""
    count = " * ".join(scope.size(a) for a in loops)
    if len(loops) == 1 and isinstance(loops[0], Axis):
        inner = scope.loops[loops[0].name]
        lines = [f"const int64_t {inner} = at;", *body] if mentions(inner, body) else list(body)
    else:
        lines = decoded(scope, loops, "rt::first(at)" if loops in scope.rows.nests else "at", body, "inner_rest")
    settled = f"rt::settled({', '.join(f'&{n}' for n in sums)})"
    place = "auto at" if mentions("at", lines) else "auto /* at */"

    def head(*given: str) -> str:
        return f"rt::each<Team>({', '.join([count, *given, f'[&]({place}) {{'])}"

    if not sums or len(head(settled)) + _DEEP <= LIMIT:
        return [head(*([settled] if sums else [])), *indented(lines), "});"]
    name = scope.fresh("sums")
    return [f"const auto {name} = {settled};", head(name), *indented(lines), "});"]


def nested(scope: Scope, loops: Sequence[Loop], body: Sequence[str], *, reverse: bool = False) -> list[str]:
    """Plain loops around a body."""
    lines = list(body)
    for a in reversed(loops):
        assert isinstance(a, Axis)
        name, size = scope.loops[a.name], scope.size(a)
        head = f"for (int64_t {name} = 0; {name} < {size}; ++{name})"
        if reverse:
            head = f"for (int64_t {name} = {size} - 1; {name} >= 0; --{name})"
        lines = function(head, lines)
    return lines


def summed(scope: Scope, loops: Sequence[Loop], body: Sequence[str], *folds: str) -> list[str]:
    """Loops whose body adds once to sums of floats, which settle after a block of points and after every inner loop."""
    last = loops[-1]
    assert isinstance(last, Axis)
    settled = [f"{fold}.settle();" for fold in folds]
    due = f"if ({scope.loops[last.name]} % rt::block_adds == rt::block_adds - 1)"
    full = [f"{due} {settled[0]}"] if len(settled) == 1 else function(due, settled)
    lines = nested(scope, (last,), [*body, *full])
    for a in reversed(loops[:-1]):
        lines = nested(scope, (a,), [*lines, *settled])
    return lines


# --- accumulators ----------------------------------------------------------------------------------------------------


def accumulator(scope: Scope, a: Acc | Fold, value: Scalar) -> str:
    """The type of an accumulator that takes such values."""
    if a.op in _CONDITIONS:
        return _CONDITIONS[a.op]
    kind = scope.printer.text(value).kind if a.op in PLACES else a.kind
    return f"rt::{_FOLDS[a.op]}<{value_type(Kind.INT if kind is Kind.BOOL else kind)}>"


def added(scope: Scope, value: Scalar, accumulator: str, place: Scalar | None = None) -> list[str]:
    """A value on its way into an accumulator; `place` is where it stands, for those that hold a place."""
    parts, text = hoisted(scope, value, len(f"{accumulator}.add(, );") + 10)
    if place is None:
        return [*parts, f"{accumulator}.add({text.text});"]
    if text.kind is Kind.BOOL:
        text = Text(f"static_cast<int64_t>({text.text})", NATIVE.atom, Kind.INT)
    return [*parts, f"{accumulator}.add({text.text}, {scope.print(place)});"]


def is_rounded(a: Acc | Fold) -> bool:
    """Whether something is summed up in floats, which is done in blocks."""
    return a.op == "sum" and a.kind is Kind.FLOAT


def result(scope: Scope, a: Acc | Fold, accumulator: str) -> str:
    value = f"{accumulator}.value != 0" if a.op in _CONDITIONS else f"{accumulator}.value"
    return f"const {value_type(a.kind)} {scope.bind(a.name, a.kind)} = {value};"


def finished(scope: Scope, a: Acc, accumulator: str) -> list[str]:
    """The same of an accumulator that nothing changes any more: a number is read where it stands."""
    if a.op in _CONDITIONS:
        return [result(scope, a, accumulator)]
    scope.locals[a.name] = f"{accumulator}.value", a.kind
    return []


# --- statements ------------------------------------------------------------------------------------------------------


def thread_lines(scope: Scope, body: Body, folds: Mapping[str, str]) -> list[str]:
    """A body with loops of its own, by one thread; `folds` spells the accumulators around it."""
    lines: list[str] = []
    accs: list[Acc] = []
    for node in body:
        if (found := loop_of(node)) is not None:
            lines += _looped(scope, *found, accs)
            accs = []
        elif isinstance(node, Acc):
            accs.append(node)
        else:
            lines += _statement(scope, node, folds)
    return lines


def _statement(scope: Scope, node: Node, folds: Mapping[str, str]) -> list[str]:
    match node:
        case Let():
            return let_lines(scope, (node,))
        case Join(acc, value, place):
            return added(scope, value, folds[acc], place)
        case Store():
            return _tiled(scope, node) if node.slot in scope.tiles else store_lines(scope, node)
        case Atomic():
            return _atomic(scope, node)
        case If(condition, body):
            return _guarded(scope, condition, body, folds)
        case Tile(name, _, kind, wide):
            scope.tiles[name] = scope.fresh(name)
            scope.locals[name] = (f"static_cast<opmath_t>({scope.tiles[name]})" if wide else scope.tiles[name], kind)
            return [f"{'double' if wide else value_type(kind)} {scope.tiles[name]};"]
        case _:
            raise AssertionError(f"{node} stands where only values are computed")


def let_lines(scope: Scope, lets: Sequence[Let]) -> list[str]:
    lines = []
    for let in lets:
        head = f"const {value_type(let.kind)} {let.name} = ;"
        parts, value = hoisted(scope, let.value, len(head))
        lines += [*parts, f"const {value_type(let.kind)} {scope.bind(let.name, let.kind)} = {value.text};"]
    return lines


def store_lines(scope: Scope, store: Store) -> list[str]:
    if store.slot in scope.rows.kept:
        return [f"{scope.rows.kept[store.slot]};"]
    near = (store.slot, store.at) in scope.rows.near
    positions = scope.first_positions(store.slot, store.at) if near else scope.positions(store.at, store.slot)
    target = scope.rows.written[store.slot] if near else scope.tensor(store.slot)
    parts, value = hoisted(scope, store.value, len(f"{target}.store(, {positions});"))
    row = scope.rows.name(store.slot, store.at)
    if row is not None:
        return [*parts, f"{row}.set(at, {value.text});"]
    if near:
        return [*parts, f"{target}.set(at, {value.text}, {positions});"]
    return [*parts, f"{target}.store({', '.join(filter(None, (value.text, positions)))});"]


def _tiled(scope: Scope, store: Store) -> list[str]:
    """A value of its own, which is read here as it is held."""
    name, (read, kind) = scope.tiles[store.slot], scope.locals[store.slot]
    scope.locals[store.slot] = (name, kind)
    parts, value = hoisted(scope, store.value, len(f"{name} = ;"))
    scope.locals[store.slot] = (read, kind)
    return [*parts, f"{name} = {value.text};"]


def _guarded(scope: Scope, condition: Scalar, body: Body, folds: Mapping[str, str]) -> list[str]:
    """What happens under a condition."""
    parts, text = hoisted(scope, condition, len("if () {"))
    scope.depth += 2
    lines = thread_lines(scope, body, folds)
    scope.depth -= 2
    return [*parts, *function(f"if ({text.text})", lines)]


def _atomic(scope: Scope, a: Atomic) -> list[str]:
    """A value on its way into a place that others share."""
    type_ = value_type(scope.formal.slots[a.slot].kind)
    line = scope.rows.name(a.slot, a.at)
    if line is not None:
        return _added_to(scope, a, type_, f"{line} + at")
    with held_places(scope, a.slot, a.at) as places:
        return [*places, *_added_to(scope, a, type_, f"{scope.tensor(a.slot)}.at({scope.positions(a.at, a.slot)})")]


def _added_to(scope: Scope, a: Atomic, type_: str, cell: str) -> list[str]:
    placed: list[str] = []
    if len(cell) > _LONG_CELL:
        name = scope.fresh("cell")
        placed, cell = [f"{type_}* const {name} = {cell};"], name
    parts, value = hoisted(scope, a.value, len(f"rt::atomic_{a.op}({cell}, );"))
    value = NATIVE.as_int(value) if type_ == value_type(Kind.INT) else value
    text = value.text if value_type(value.kind) == type_ else f"static_cast<{type_}>({value.text})"
    return [*placed, *parts, f"rt::atomic_{a.op}({cell}, {text});"]


def _looped(scope: Scope, loop: For, condition: Scalar | None, accs: Sequence[Acc]) -> list[str]:
    """A plain loop, perhaps under a condition, and what it joins."""
    parts, text = ([], None) if condition is None else hoisted(scope, condition, len("if () {"))
    loops, body = ((loop.loop,), loop.body) if loop.reverse else chain((loop,), (Role.SERIAL,))
    before = scope.enter(loops)
    folds = {a.name: scope.fresh(f"{a.name}_fold") for a in accs}
    deeper = 2 * (len(loops) + (condition is not None))
    scope.depth += deeper
    lines = thread_lines(scope, body, folds)
    scope.depth -= deeper
    defined = [f"{accumulator(scope, a, joined(body, a))} {folds[a.name]};" for a in accs]
    sums = [folds[a.name] for a in accs if is_rounded(a)]
    if sums:
        lines = [*summed(scope, loops, lines, *sums), *(f"{n}.finish();" for n in sums)]
    else:
        lines = nested(scope, loops, lines, reverse=loop.reverse)
    scope.leave(before, loops)
    lines = lines if text is None else function(f"if ({text.text})", lines)
    return [*parts, *defined, *lines, *(result(scope, a, folds[a.name]) for a in accs)]


def joined(body: Body, a: Acc) -> Scalar:
    """What an accumulator takes in."""
    return next(n.value for n in inside(body) if isinstance(n, Join) and n.acc == a.name)
