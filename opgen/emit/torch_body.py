"""The body of a statement as one torch expression over the statement's loops, and accesses as the tensors they read.

In goes a scalar body and the space it is computed in (its loops, in order); out comes a `Value`: code whose dims line
up with the space from the right, and which of the loops it really varies along. Accesses with a plain index at every
axis are renamed dims; others pick positions (`take`, `pick`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from opgen.emit.printer import Leaf, Printer, Text
from opgen.emit.torch_dialect import ATOM
from opgen.emit.torch_scope import Scope, loops_of
from opgen.emit.torch_values import Value, aligned, permuted
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import BATCH, Batch, Index, Lit, Position, Read, Scalar, add, mul

Space = tuple[Loop, ...]


@dataclass(slots=True)
class Body:
    """Prints one body. What its accesses vary along is gathered while they are printed."""

    scope: Scope
    space: Space
    seen: dict[Loop, None] = field(default_factory=dict)
    batch: frozenset[str] = frozenset()

    def leaf(self, leaf: Leaf) -> Text:
        match leaf:
            case Read():
                value = access(self.scope, leaf, self.space)
                self.seen.update(dict.fromkeys(value.loops))
                self.batch |= value.batch
                return aligned(value, self.space).text
            case Index(name):
                axis = next(a for a in self.space if isinstance(a, Axis) and a.name == name)
                self.seen[axis] = None
                return aligned(Value(Text(self.scope.positions(axis), ATOM, Kind.INT), (axis,)), self.space).text
            case _:
                return self.scope.named(leaf)

    def cast(self, text: Text, _: str) -> Text:
        if text.number or not self.scope.upcast:
            return text
        return Text(f"upcast({text.at(ATOM)}.to(dtype))", ATOM)

    def printer(self) -> Printer:
        functions = {f.name: f for f in self.scope.program.functions}
        return Printer(self.scope.dialect(), self.leaf, self.cast, functions)


def body_value(scope: Scope, e: Scalar, space: Space) -> Value:
    """The expression in a space. Its loops are those it varies along; in between stand dims of size 1."""
    if isinstance(e, Read):
        value = access(scope, e, space)
        return aligned(value, space)
    body = Body(scope, space)
    text = body.printer().text(e)
    return Value(text, tuple(loop for loop in space if loop in body.seen), body.batch)


def packed(scope: Scope, e: Scalar, space: Space) -> Value:
    """The expression with exactly the dims it varies along; an access keeps the order of its tensor."""
    if isinstance(e, Read):
        return access(scope, e, space)
    mentioned = loops_of(e, space)
    value = body_value(scope, e, mentioned)
    return value if value.loops == mentioned else body_value(scope, e, value.loops)


def as_kind(scope: Scope, v: Value, kind: Kind) -> Value:
    """The value as elements of this kind."""
    if v.text.kind is kind:
        return v
    if v.text.number:
        return replace(v, text=replace(v.text, kind=kind))
    if kind is Kind.FLOAT:
        return v.method(f"to({scope.casts().dtype()})", kind=kind)
    return v.method("long()" if kind is Kind.INT else "bool()", kind=kind)


def is_full(scope: Scope, v: Value, space: Space) -> bool:
    """Does the value really have every element of the space, the whole batch included?"""
    return all(loop in v.loops for loop in space) and (BATCH not in space or scope.whole_batch(v.batch))


def expanded(scope: Scope, v: Value, space: Space) -> Value:
    """The value with every dim of the space at its full size."""
    if is_full(scope, v, space):
        return v
    carriers = frozenset(t.name for t in scope.carriers())
    shape = scope.shape_text(space)
    if v.text.number:
        return Value(Text(scope.filled(shape, v.text), ATOM, v.text.kind), space, carriers)
    if BATCH in space:
        return Value(Text(f"torch.broadcast_to({v.text.text}, {shape})", ATOM, v.text.kind), space, carriers, v.view)
    sizes = shape[1:-1].rstrip(",")
    return Value(Text(f"{v.receiver}.expand({sizes})", ATOM, v.text.kind), space, frozenset(), v.view)


# --- accesses --------------------------------------------------------------------------------------------------------


def access(scope: Scope, r: Read, space: Space) -> Value:
    """The tensor that an access reads, over the loops it varies along."""
    assert r.fill is None, f"no torch code for a padded access of {r.tensor}"
    stored = scope.tensor(r.tensor)
    at = tuple(r.at[i] for i in stored.axes)
    plain = tuple(p for p in at if isinstance(p, Index | Batch))
    text = Text(stored.name, ATOM, stored.kind)
    if len(plain) == len(at) and len(set(plain)) == len(at):
        return Value(text, tuple(_loop(p, space) for p in at), stored.batch, stored.view)
    text, places = _fixed(text, [_Place(r.at[i], stored.shape[i]) for i in stored.axes])
    text, places = _diagonals(text, places)
    if any(p.computed for p in places):
        return _gathered(scope, _Gather(text, tuple(places), stored.batch), space)
    return Value(text, tuple(_loop(p.at, space) for p in places), stored.batch, view=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """One axis of an access: where it is read, and the axis's extent."""

    at: Position
    extent: Scalar | Batch

    @property
    def computed(self) -> bool:
        return not isinstance(self.at, Index | Batch)


def _loop(p: Position, space: Space) -> Loop:
    if isinstance(p, Batch):
        return BATCH
    assert isinstance(p, Index)
    return next(a for a in space if isinstance(a, Axis) and a.name == p.name)


def _fixed(text: Text, places: list[_Place]) -> tuple[Text, list[_Place]]:
    """Literal positions select."""
    code, left = text.text, places
    while True:
        i = next((i for i, p in enumerate(left) if isinstance(p.at, Lit)), None)
        if i is None:
            return Text(code, text.level, text.kind), left
        here = left[i].at
        assert isinstance(here, Lit)
        code = f"{code}.select({i - len(left)}, {here.value})"
        left = left[:i] + left[i + 1 :]


def _diagonals(text: Text, places: list[_Place]) -> tuple[Text, list[_Place]]:
    """An index at two axes reads their diagonal, which becomes the last axis."""
    code, left = text.text, places
    while True:
        at = [p.at for p in left]
        twice = next((p for p in left if isinstance(p.at, Index) and at.count(p.at) > 1), None)
        if twice is None:
            return Text(code, text.level, text.kind), left
        i = at.index(twice.at)
        j = at.index(twice.at, i + 1)
        code = f"{code}.diagonal(0, {i - len(left)}, {j - len(left)})"
        left = [p for k, p in enumerate(left) if k not in (i, j)] + [twice]


@dataclass(frozen=True, slots=True)
class _Gather:
    text: Text
    places: tuple[_Place, ...]
    batch: frozenset[str]


def _gathered(scope: Scope, g: _Gather, space: Space) -> Value:
    """Computed positions: rows taken where the position shares no loop with the axes left, else picked one by one."""
    computed = [i for i, p in enumerate(g.places) if p.computed]
    others = tuple(_loop(p.at, space) for p in g.places if not p.computed)
    index = packed(scope, row_major([(g.places[i].at, g.places[i].extent) for i in computed]), space)
    index = permuted(index, _sorted(index.loops, space))
    if index.text.number:
        index = Value(Text(f"torch.tensor({index.text.text})", ATOM, Kind.INT), ())
    axes = tuple(placeholder(i) if p.computed else _loop(p.at, space) for i, p in enumerate(g.places))
    table = Value(g.text, axes)
    picked = tuple(placeholder(i) for i in computed)
    batch = g.batch | index.batch
    if not any(loop in others for loop in index.loops) and BATCH not in others:
        table = joined(permuted(table, (*picked, *others)), len(computed), front=True)
        text = Text(f"take({table.text.text}, {index.text.text})", ATOM, g.text.kind)
        return Value(text, (*index.loops, *others), batch)
    table = joined(permuted(table, (*others, *picked)), len(computed), front=False)
    result = tuple(loop for loop in space if loop in others or loop in index.loops)
    rows = permuted(Value(table.text, (*others, picked[0])), (*_sorted(others, space), picked[0]))
    rows = aligned(rows, (*result, picked[0]))
    index = aligned(index, result)
    return Value(Text(f"pick({rows.text.text}, {index.text.text})", ATOM, g.text.kind), result, batch)


def _sorted(loops: Space, space: Space) -> Space:
    return tuple(loop for loop in space if loop in loops)


def placeholder(i: int) -> Axis:
    return Axis(f"@{i}", Lit(0))


def joined(v: Value, count: int, *, front: bool) -> Value:
    """Several axes as one, at the front (no batch before it) or at the end."""
    if count == 1:
        return v
    return v.method(f"flatten(0, {count - 1})" if front else f"flatten({-count})")


def row_major(places: list[tuple[Position, Scalar | Batch]]) -> Scalar:
    """Several positions, each with the extent of its axis, as one position in those axes joined, row-major."""
    position: Scalar | None = None
    for here, extent in places:
        assert not isinstance(here, Batch)
        assert not isinstance(extent, Batch)
        position = here if position is None else add(mul(position, extent), here)
    assert position is not None
    return position
