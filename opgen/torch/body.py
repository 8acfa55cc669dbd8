"""The body of a statement as one torch expression over the statement's loops, and accesses as the tensors they read.

In goes a scalar body and the space it is computed in (its loops, in order); out comes a `Value`: code whose dims line
up with the space from the right, and which of the loops it really varies along. Accesses with a plain index at every
axis are renamed dims, those at affine positions are views (`opgen.torch.positions`), others gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.code.printer import Leaf, Printer, Special, Text
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import BATCH, Apply, Batch, Index, Lit, Position, Read, Scalar, add, mul
from opgen.torch.dialect import ATOM, OR, TERNARY
from opgen.torch.positions import Place, axis_named, diagonals, is_plain, proven, viewed
from opgen.torch.rewrite import varies
from opgen.torch.scope import Scope, loops_of
from opgen.torch.values import Stored, Value, aligned, batch_first, permuted

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
                key = (leaf, self.space, self.scope.loops)
                known = self.scope.accessed.get(key)
                if known is None:
                    value = access(self.scope, leaf, self.space)
                    known = replace(value, text=aligned(value, self.space).text)
                    self.scope.accessed[key] = known
                self.seen.update(dict.fromkeys(known.loops))
                self.batch |= known.batch
                return known.text
            case Index("..."):
                places = self.scope.batch_places()
                self.seen[BATCH] = None
                self.batch |= frozenset(t.name for t in self.scope.carriers())
                return aligned(Value(Text(places, ATOM, Kind.INT), (BATCH,)), self.space).text
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
        language = self.scope.dialect()
        plain = language.special["where"]

        def choice(p: Printer, args: tuple[Scalar, ...]) -> Text:
            return plain(p, args) if varies(args[0]) else self._choice(p, args, plain)

        special = {**language.special, "where": choice}
        return Printer(replace(language, special=special), self.leaf, self.cast, known={})

    def _choice(self, p: Printer, args: tuple[Scalar, ...], plain: Special) -> Text:
        """A choice made in Python: both branches vary along the same loops, for the code around it counts on that."""
        a, b = (body_value(self.scope, e, self.space) for e in args[1:])
        if (a.loops, a.batch) == (b.loops, b.batch):
            return plain(p, args)
        space = tuple(x for x in self.space if x in a.loops or x in b.loops)
        kinds = (a.text.kind, b.text.kind)
        kind = kinds[0] if kinds[0] is kinds[1] else Kind.FLOAT if Kind.FLOAT in kinds else Kind.INT
        a, b = (as_kind(self.scope, body_value(self.scope, e, space), kind) for e in args[1:])
        a, b = (expanded(self.scope, v, space) for v in (a, b))
        self.seen.update(dict.fromkeys(space))
        self.batch |= a.batch | b.batch
        text = f"{a.text.at(OR)} if {p.at(args[0], OR)} else {b.text.at(TERNARY)}"
        return aligned(Value(Text(text, TERNARY, kind), space), self.space).text


def body_value(scope: Scope, e: Scalar, space: Space) -> Value:
    """The expression in a space. Its loops are those it varies along; in between stand dims of size 1."""
    if isinstance(e, Read):
        value = access(scope, e, space)
        return aligned(value, space)
    body = Body(scope, space)
    text = body.printer().text(e)
    return Value(text, tuple(loop for loop in space if loop in body.seen), body.batch, _chosen_view(scope, e))


def _chosen_view(scope: Scope, e: Scalar) -> bool:
    """Is it a choice made in Python, of what may share memory with an argument or another local?"""
    match e:
        case Apply("where", (condition, a, b)) if not varies(condition):
            return _chosen_view(scope, a) or _chosen_view(scope, b)
        case Read(tensor, at):
            return scope.tensor(tensor).view or not all(isinstance(p, Batch | Index) for p in at)
    return False


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
    if is_full(scope, v, space) and not v.text.number:
        return v
    batch = frozenset(t.name for t in scope.carriers()) if BATCH in space else frozenset[str]()
    shape = scope.shape_text(space)
    if v.text.number:
        return Value(Text(scope.filled(shape, v.text), ATOM, v.text.kind), space, batch)
    if BATCH in space:
        return Value(Text(f"torch.broadcast_to({v.text.text}, {shape})", ATOM, v.text.kind), space, batch, v.view)
    sizes = shape[1:-1].rstrip(",")
    return Value(Text(f"{v.receiver}.expand({sizes})", ATOM, v.text.kind), space, batch, v.view)


# --- accesses --------------------------------------------------------------------------------------------------------

_LONG = 36  # code of a view or a position that gets a line of its own


def access(scope: Scope, r: Read, space: Space) -> Value:
    """The tensor that an access reads, over the loops it varies along."""
    stored = _with_every_axis(scope, r)
    places = [Place(r.at[i], stored.shape[i]) for i in stored.axes]
    text = Text(stored.name, ATOM, stored.kind)
    if all(is_plain(scope, p, space) for p in places) and len({p.at for p in places}) == len(places):
        return Value(text, tuple(_loop(p.at, space) for p in places), stored.batch, stored.view)
    fill = "" if r.fill is None else scope.number(r.fill).text
    wanted = "" if r.wanted is None else _asked(scope, r.wanted)
    nothing = "False" if stored.kind is Kind.BOOL else "0"  # of a tensor that may be empty
    code, places = viewed(scope, stored.name, places, space, fill or nothing * bool(wanted), wanted)
    code, places = diagonals(code, places)
    if len(code) > _LONG:
        code = scope.named_line(f"{stored.name}_view", code)
    text = Text(code, ATOM, stored.kind)
    if all(is_plain(scope, p, space) for p in places):
        return Value(text, tuple(_loop(p.at, space) for p in places), stored.batch, view=True)
    return _gathered(scope, _Gather(text, tuple(places), stored.batch, fill, r.wanted), space)


def _asked(scope: Scope, wanted: Scalar) -> str:
    """Whether a view is asked for what is out of range, by any element: a number, or a statement as a whole."""
    return scope.tensor(wanted.tensor).name if isinstance(wanted, Read) else scope.number(wanted).text


def _with_every_axis(scope: Scope, r: Read) -> Stored:
    """The tensor, with the axes it is constant along if a position there may be out of range."""
    stored = scope.tensor(r.tensor)
    lacking = [Place(r.at[i], n) for i, n in enumerate(stored.shape) if i not in stored.axes]
    if all(is_plain(scope, p, scope.loops) or proven(scope, p, scope.loops) for p in lacking):
        return stored  # over however few of the loops it is printed
    dims: Space = tuple(x if isinstance(x, Batch) else Axis(f"@{i}", x) for i, x in enumerate(stored.shape))
    value = Value(Text(stored.name, ATOM, stored.kind), tuple(dims[i] for i in stored.axes), stored.batch, stored.view)
    order = batch_first(stored.shape)
    full = expanded(scope, aligned(value, tuple(dims[i] for i in order)), tuple(dims[i] for i in order))
    name = scope.named_line(f"whole_{stored.name}", full.text.text)
    return replace(stored, name=name, axes=order, batch=full.batch)


def _loop(p: Position, space: Space) -> Loop:
    if isinstance(p, Batch):
        return BATCH
    assert isinstance(p, Index)
    return axis_named(p.name, space)


@dataclass(frozen=True, slots=True)
class _Gather:
    text: Text
    places: tuple[Place, ...]
    batch: frozenset[str]
    fill: str
    wanted: Scalar | None


def _gathered(scope: Scope, g: _Gather, space: Space) -> Value:
    """Computed positions: rows or columns taken where the position shares no loop with the axes left, else single
    elements picked."""
    computed = [i for i, p in enumerate(g.places) if not isinstance(p.at, Index | Batch)]
    others = tuple(_loop(p.at, space) for i, p in enumerate(g.places) if i not in computed)
    index = index_value(scope, [g.places[i] for i in computed], space, packs=True)
    index = permuted(index, _sorted(index.loops, space))
    axes = tuple(placeholder(i) if i in computed else _loop(p.at, space) for i, p in enumerate(g.places))
    table = Value(g.text, axes)
    picked = tuple(placeholder(i) for i in computed)
    batch = g.batch | index.batch
    option = f", fill={g.fill}" if g.fill else ""
    if g.wanted is not None and not g.fill:
        option = f", wanted={_asked(scope, g.wanted)}"

    def call(name: str, rows: Value, index: Value, loops: Space) -> Value:
        code = f"{name}({rows.text.text}, {index.text.text}{option})"
        return Value(Text(code, ATOM, g.text.kind), loops, batch)

    if not any(loop in others for loop in index.loops) and BATCH not in others:
        rows = joined(permuted(table, (*picked, *others)), len(computed), front=True)
        return call("take", rows, index, (*index.loops, *others))
    table = joined(permuted(table, (*others, *picked)), len(computed), front=False)
    if not any(loop in others for loop in index.loops) and BATCH not in index.loops:
        return call("columns", table, index, (*others, *index.loops))
    result = tuple(loop for loop in space if loop in others or loop in index.loops)
    rows = permuted(Value(table.text, (*others, picked[0])), (*_sorted(others, space), picked[0]))
    rows = _on_a_line(scope, aligned(_on_a_line(scope, rows), (*result, picked[0])))
    return call("pick", rows, aligned(index, result), result)


def _on_a_line(scope: Scope, v: Value) -> Value:
    """The value, by name if it is long."""
    if len(v.text.text) <= _LONG:
        return v
    return replace(v, text=replace(v.text, text=scope.named_line("rows", v.text.text)))


def index_value(scope: Scope, places: Sequence[Place], space: Space, *, packs: bool) -> Value:
    """Positions along one or several axes as one position in those axes joined.

    Several that may be out of range are checked one by one: joined, they could be in range. `packs`: over the loops it
    varies along, else over the space.
    """
    if len(places) > 1 and not all(proven(scope, p, space) for p in places):
        return _checked(scope, places, space, packs=packs)
    e = row_major([(p.at, p.extent) for p in places])
    found = as_kind(scope, packed(scope, e, space) if packs else body_value(scope, e, space), Kind.INT)
    if len(found.text.text) <= _LONG or isinstance(e, Read) or found.text.number:
        return found
    e = scope.named_position(e)
    return packed(scope, e, space) if packs else body_value(scope, e, space)


def _checked(scope: Scope, places: Sequence[Place], space: Space, *, packs: bool) -> Value:
    at = [p.at for p in places if not isinstance(p.at, Batch)]
    extents = [p.extent for p in places if not isinstance(p.at, Batch)]
    loops = tuple(x for x in space if any(x in loops_of(e, space) for e in at)) if packs else space
    values = [as_kind(scope, body_value(scope, e, loops), Kind.INT) for e in at]
    for k, v in enumerate(values):
        if len(v.text.text) > _LONG and not v.text.number and not isinstance(at[k], Read):
            at[k] = scope.named_position(at[k])
            values[k] = body_value(scope, at[k], loops)
    varied = tuple(x for x in loops if any(x in v.loops for v in values))
    if packs and varied != loops:
        named = [Place(e, n) for e, n in zip(at, extents, strict=True)]
        return _checked(scope, named, varied, packs=False)
    sizes = ", ".join(scope.number(n).text for n in extents if not isinstance(n, Batch))
    code = f"flat_index(({sizes}), {', '.join(v.text.text for v in values)})"
    number = all(v.text.number for v in values)
    if not number:
        code = scope.named_line("position", code)
    return Value(Text(code, ATOM, Kind.INT, number), varied, frozenset[str]().union(*(v.batch for v in values)))


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
