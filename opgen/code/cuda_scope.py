"""Names and leaves of one CUDA kernel: how its tensors, sizes, numbers, loops and locals are spelled.

In goes a kernel; a `Scope` hands out C++ names (never a keyword, never twice), remembers which members
the kernel's struct needs, and prints scalars through the shared printer. Everything is computed in `opmath_t`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from opgen.code.cuda_dialect import CUDA
from opgen.code.names import KERNELS
from opgen.code.native_scope import Spot, layout, outside, value_type, wish
from opgen.code.printer import NATIVE, Leaf, Printer, Special, Text, join
from opgen.ir.names import Names
from opgen.ir.polynomial import Monomial, Polynomial
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Batch, Dim, Index, Lit, Param, Position, Read, Scalar, add, mentions, reads
from opgen.kernel.cases import shift
from opgen.kernel.formal import Formal
from opgen.plan.model import Storage

_ELEMENT = {Storage.SCALAR: "scalar_t", Storage.COMPUTE: "opmath_t", Storage.INT64: "int64_t", Storage.BOOL: "bool"}
_ATOM = NATIVE.atom


def element_type(storage: Storage) -> str:
    """The C++ type of a buffer's elements."""
    return _ELEMENT[storage]


@dataclass(frozen=True, slots=True)
class Member:
    """A field of the kernel's struct and which argument of a call it is, as a `Field` of the runtime."""

    type: str
    name: str
    field: str


Access = tuple[str, tuple[Position, ...]]  # of a slot
Hole = tuple[Position, ...]  # positions of an access, the same wherever the loop of a row stands in it
_HERE = Index("")
_PARTS = 4  # of distances, in the runtime


@dataclass(slots=True)
class Rows:
    """The rows that a kernel goes along: of each slot, with the positions around it, its name and the size of its loop.

    `dims`: the one of a slot that its rows go along; `loop`: that which is being printed, whose places are called `at`;
    `shared`: whether a team shares it out; `sums`: what rows join for a kernel that folds across them; `nests`: of each
    chain of loops that is one row, what is read and stored in vectors along its last loop; `near`: that of the present
    one; `first`: the place of the first lane there; `written`: what the lanes of a slot are stored through.
    """

    names: dict[tuple[str, Hole], tuple[str, Scalar]] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    loop: Loop | None = None
    shared: bool = False
    parts: dict[Monomial, int] = field(default_factory=dict)  # of distances: whole vectors, or there are none
    kept: dict[str, str] = field(default_factory=dict)  # what rows hand on, as it is called in the present loop
    sums: tuple[str, ...] = ()
    nests: dict[tuple[Loop, ...], frozenset[Access]] = field(default_factory=dict)
    near: frozenset[Access] = frozenset()
    first: str = ""
    written: dict[str, str] = field(default_factory=dict)

    def name(self, slot: str, at: Sequence[Position]) -> str | None:
        """The row that an access of the present loop goes along, if any."""
        if self.loop is None:
            return None
        name, size = self.names.get((slot, hole(at, self.loop)), (None, None))
        return name if size == _points(self.loop) else None

    def add(self, slot: str, at: Sequence[Position], loop: Loop, name: str) -> None:
        self.names[slot, hole(at, loop)] = name, _points(loop)
        self.dims[slot] = along(at, loop)[0]

    def apart(self, distance: Polynomial) -> None:
        """Note that something lies that far away."""
        self.parts.update(distance.terms)


def hole(at: Sequence[Position], loop: Loop) -> Hole:
    """The positions of an access without that of a loop."""
    here = along(at, loop)
    return tuple(_away(p, loop) if k in here else p for k, p in enumerate(at))


def along(at: Sequence[Position], loop: Loop) -> list[int]:
    """Which positions go along a loop, step by step."""
    if isinstance(loop, Batch):
        return [k for k, p in enumerate(at) if isinstance(p, Batch)]
    return [k for k, p in enumerate(at) if not isinstance(p, Batch) and shift(p, Index(loop.name)) is not None]


def _points(loop: Loop) -> Scalar:
    return Dim("...") if isinstance(loop, Batch) else loop.extent


def _away(p: Position, loop: Loop) -> Scalar:
    if isinstance(p, Batch) or isinstance(loop, Batch):
        return _HERE
    distance = shift(p, Index(loop.name))
    return _HERE if distance is None or not distance.terms else add(_HERE, distance.scalar())


@dataclass(slots=True)
class Scope:
    """The names of one step. `written` are the buffers it stores to; a packed read goes through its argument."""

    formal: Formal
    written: frozenset[str]
    buffers: dict[str, str] = field(default_factory=dict)
    members: dict[Hashable, Member] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    locals: dict[str, tuple[str, Kind]] = field(default_factory=dict)
    placed: dict[Scalar | Spot, str] = field(default_factory=dict)  # positions that have a local of their own
    place: str = "place"  # where in the batch a point is
    ahead: dict[Scalar, Text] = field(default_factory=dict)  # what is computed ahead of the lanes
    depth: int = 0  # columns that plain loops and guards around a statement take
    packed: dict[str, str] | None = None
    tiles: dict[str, str] = field(default_factory=dict)
    rows: Rows = field(default_factory=Rows)
    names: Names = field(default_factory=lambda: Names(KERNELS))

    def fresh(self, wish: str) -> str:
        """A name of the kernel's own."""
        return self.names.fresh(wish)

    @property
    def printer(self) -> Printer:
        special = {**CUDA.special, **{fn: self._divided(fn) for fn in ("floordiv", "mod")}}
        if self.rows.loop is not None and self.rows.shared:
            special |= {"eq": self._is_here, "ne": self._is_elsewhere}
        return Printer(replace(CUDA, special=special), self.leaf, self.cast, dict(self.ahead) if self.ahead else None)

    def print(self, e: Scalar) -> str:
        return self.printer(e)

    def _divided(self, fn: str) -> Special:
        """Quotients and rests of whole numbers by one of the call."""

        def printed(p: Printer, args: tuple[Scalar, ...]) -> Text:
            x, by = args
            if not isinstance(by, Dim | Param) or by == Dim("...") or self.formal.kind(by) is not Kind.INT:
                return CUDA.special[fn](p, args)
            text = p.text(x)
            if text.kind is not Kind.INT:
                return CUDA.special[fn](p, args)
            divisor = self.member(("by", by), "rt::Divisor", f"by_{wish(by).lower()}", self._argument(by))
            return Text(f"rt::{fn}({text.text}, {divisor})", _ATOM, Kind.INT)

        return printed

    def _is_here(self, p: Printer, args: tuple[Scalar, ...]) -> Text:
        """Whether a place of a row is the one that a number tells, which is the same all along."""
        assert isinstance(self.rows.loop, Axis)
        here, places = Index(self.rows.loop.name), [e for e in args if not self._moves(e)]
        if here in args and places and (place := p.text(places[0])).kind is Kind.INT:
            return Text(f"rt::is_at(at, {place.text})", _ATOM, Kind.BOOL)
        return join(NATIVE.infix["eq"], tuple(map(p.text, args)), Kind.BOOL)

    def _is_elsewhere(self, p: Printer, args: tuple[Scalar, ...]) -> Text:
        """The same of all others."""
        here = self._is_here(p, args)
        if here.level == _ATOM:
            return Text(f"!{here.text}", NATIVE.unary, Kind.BOOL)
        return join(NATIVE.infix["ne"], tuple(map(p.text, args)), Kind.BOOL)

    def _moves(self, e: Scalar) -> bool:
        """Whether a value may be another one at each place of a row."""
        along = self.rows.loop
        return not isinstance(along, Axis) or along.name in mentions(e)[0] or any(r.at for r in reads(e))

    # --- tensors ----------------------------------------------------------------------------------------------------

    def tensor(self, name: str) -> str:
        """The member that holds the view of a buffer."""
        if name not in self.buffers:
            self.buffers[name] = self.fresh(name)
        return self.buffers[name]

    def fields(self) -> list[Member]:
        """All members: the tensors, then what was asked for, those of one type together."""
        tensors = []
        for name, text in self.buffers.items():
            buffer = self.formal.slots[name]
            const = "" if name in self.written else "const "
            type_ = f"rt::Tensor<{const}{element_type(buffer.storage)}, rank>"
            numbers = [self.formal.number(name), *layout(buffer)]
            numbers += [self.rows.dims[name]] if name in self.rows.dims else []
            tensors.append(Member(type_, text, f"rt::tensor({', '.join(map(str, numbers))})"))
        order = list(dict.fromkeys(m.type for m in (*tensors, *self.members.values())))
        return sorted((*tensors, *self.members.values()), key=lambda m: order.index(m.type))

    def positions(self, at: Sequence[Position], buffer: str, *, checked: bool = True, where: str = "") -> str:
        """The arguments of `load` and `store`, `checked`, if at all, under the condition `where`."""
        return ", ".join(self._position(p, buffer, k, checked, where) for k, p in enumerate(at))

    def first_positions(self, slot: str, at: Sequence[Position]) -> str:
        """The same of the first lane of a vector."""
        axis = self.rows.dims[slot]
        each = (self.rows.first if k == axis else self._position(p, slot, k, False) for k, p in enumerate(at))
        return ", ".join(each)

    def reader(self, function: str, slot: str, *arguments: str) -> str:
        """A function that reads a tensor, with its template arguments; one that may be missing reads as a number."""
        missing = self.formal.slots[slot].missing
        if missing is not None:
            function, arguments = f"{function}_or", (*arguments, str(missing))
        return f"rt::{function}<{', '.join(arguments)}>" if arguments else f"rt::{function}"

    def loaded(self, slot: str, at: Sequence[Position], *, checked: bool) -> str:
        """One element."""
        missing = self.formal.slots[slot].missing
        positions = self.positions(at, slot, checked=checked)
        given = positions if missing is None else ", ".join(filter(None, (str(missing), positions)))
        return f"{self.tensor(slot)}.{'load' if missing is None else 'load_or'}({given})"

    def takes(self, distance: Polynomial) -> bool:
        """Whether a call can tell that something lies a number of vectors away."""
        parts = {*self.rows.parts, *(m for m, _ in distance.terms)}
        return len(parts) <= _PARTS and all(m and all(a in self.formal.ints for a in m) for m, _ in distance.terms)

    def doubtful(self, buffer: str, k: int, p: Position, *, told: bool = False) -> bool:
        """Whether a position may leave its tensor, as far as anybody knows before the run, or a host that is `told`."""
        return (buffer, k, p) in self.formal.unsure and not (told and (buffer, k, p) in self.formal.told)

    def settled(self, r: Read) -> bool:
        """Whether a read does no harm where nobody wants it."""
        return self.formal.plain(r)

    def _position(self, p: Position, buffer: str, axis: int, checked: bool, where: str = "") -> str:
        if isinstance(p, Batch):
            return self.place
        text = self.placed.get(p) or self.print(p)
        told = (buffer, axis, p) in self.formal.told
        if not checked or told or not self.doubtful(buffer, axis, p):
            return text
        taken = f"rt::checked({text}, {self.extent(self.formal.slots[buffer].shape[axis]).text})"
        return f"{where} ? {taken} : 0" if where else taken

    def load(self, read: Read) -> Text:
        """One access, as a value."""
        if read.tensor in self.rows.kept:
            return Text(self.rows.kept[read.tensor], _ATOM, Kind.FLOAT)
        buffer = self.formal.slots[read.tensor]
        if self.packed is not None and read.at and read.tensor in self.packed:
            return Text(self.packed[read.tensor], _ATOM, buffer.kind)
        row = self.rows.name(read.tensor, read.at) if read.fill is None else None
        if row is not None:
            return Text(f"{row}[at]", _ATOM, buffer.kind)
        if read.fill is None and (read.tensor, read.at) in self.rows.near:
            method = self.reader("read_at", read.tensor, "Team", str(self.rows.dims[read.tensor]))
            places = self.first_positions(read.tensor, read.at)
            return Text(f"{method}(at, {self.tensor(read.tensor)}, {places})", _ATOM, buffer.kind)
        guarded = self.guarded(read)
        if guarded is not None:
            inside, value, fill = guarded
            return Text(f"{inside} ? {value.text} : {fill.at(0)}", 0, buffer.kind)
        return Text(self.loaded(read.tensor, read.at, checked=read.fill is None), _ATOM, buffer.kind)

    def spells(self, read: Read) -> bool:
        """Whether the text of a read has its positions in it."""
        packed = self.packed is not None and read.tensor in self.packed
        row = None if read.fill is not None else self.rows.name(read.tensor, read.at)
        return read.tensor not in self.rows.kept and not packed and row is None

    def offset_of(self, read: Read) -> str:
        """Nothing: a tensor takes positions."""
        del read
        return ""

    def guarded(self, read: Read) -> tuple[str, Text, Text] | None:
        """The condition under which a read is in range, what it is then, and what it is otherwise; None for others."""
        inside = "" if read.fill is None else self.inside(read.at, read.tensor)
        if read.fill is None or not inside:
            return None
        kind = self.formal.slots[read.tensor].kind
        value = Text(self.loaded(read.tensor, read.at, checked=False), _ATOM, kind)
        return inside, value, outside(self.printer, read.fill, kind)

    def inside(self, at: Sequence[Position], buffer: str) -> str:
        """The condition that an access stays in its tensor; empty where it surely does."""
        shape = self.formal.slots[buffer].shape
        pairs = enumerate(zip(at, shape, strict=True))
        return " && ".join(self._inside(p, n) for k, (p, n) in pairs if self.doubtful(buffer, k, p))

    def _inside(self, p: Position, size: Scalar | Batch) -> str:
        assert not isinstance(p, Batch)
        at = self.placed.get(p) or self.printer.at(p, 8)
        return f"{at} >= 0 && {at} < {self.extent(size).text}"

    def cast(self, text: Text, like: str) -> Text:
        """Rounding to the dtype of a tensor: only the operator's own dtype can be narrower than `opmath_t`."""
        storage = self.formal.casts[like]
        value = text if text.kind is Kind.FLOAT else NATIVE.as_float(text)
        return Text(f"rt::rounded<scalar_t>({value.text})", _ATOM) if storage is Storage.SCALAR else value

    # --- numbers ----------------------------------------------------------------------------------------------------

    def leaf(self, e: Leaf) -> Text:
        match e:
            case Read(tensor, ()) if tensor in self.locals:
                name, kind = self.locals[tensor]
                return Text(name, _ATOM, kind)
            case Read():
                return self.load(e)
            case Index("..."):
                self.need_batch()
                return Text(f"batch.index({self.place})", _ATOM, Kind.INT)
            case Index(name):
                return Text(self.loops[name], _ATOM, Kind.INT)
            case Dim("..."):
                self.need_batch()
                return Text("batch.count", _ATOM, Kind.INT)
            case Dim() | Param():
                return self.number(e)
            case _:
                assert_never(e)

    def number(self, e: Scalar, axis: str = "") -> Text:
        """A number of the call."""
        kind = self.formal.kind(e)
        name = self.member(("number", e), value_type(kind), wish(e, axis), self._argument(e))
        return Text(name, _ATOM, kind)

    def _argument(self, e: Scalar) -> str:
        if isinstance(e, Lit):
            return f"rt::fixed({e.value})"
        if self.formal.kind(e) is Kind.FLOAT:
            return f"rt::real({self.formal.reals.index(e)})"
        return f"rt::integer({self.formal.ints.index(e)})"

    def extent(self, size: Scalar | Batch) -> Text:
        """The size of something accessed."""
        assert not isinstance(size, Batch)
        return self.printer.text(size) if isinstance(size, Lit) else self.number(size)

    def member(self, key: Hashable, type_: str, name: str, argument: str) -> str:
        """A field of the struct, under a key of its own."""
        if key not in self.members:
            self.members[key] = Member(type_, self.fresh(name), argument)
        return self.members[key].name

    def need_batch(self) -> None:
        """The kernel asks for the batch as a whole."""
        self.members.setdefault("batch", Member("rt::Batch<rank>", "batch", "rt::batch()"))

    def batch_divider(self) -> str:
        """The member that divides by the number of batch elements."""
        return self.members.setdefault("batch size", Member("rt::Divider<rank>", "batch_size", "rt::elements()")).name

    def size(self, loop: Loop) -> str:
        """How many points a loop has, in the kernel."""
        if isinstance(loop, Batch):
            self.need_batch()
            return "batch.count"
        if isinstance(loop.extent, Lit):
            return self.print(loop.extent)
        return f"{self.divider(loop)}.size"

    def divider(self, axis: Axis) -> str:
        """The member that divides by the extent of an axis."""
        argument = self._argument(axis.extent)
        return self.member(("size", axis.extent), "rt::Divider<rank>", f"{axis.name}_size", argument)

    def vectors(self, loop: Loop) -> str:
        """The member that divides by the number of vectors along a loop."""
        argument = f"rt::in_vectors({'rt::elements()' if isinstance(loop, Batch) else self._argument(loop.extent)})"
        name = "batch" if isinstance(loop, Batch) else loop.name
        return self.member(("vectors", _points(loop)), "rt::Divider<rank>", f"{name}_vectors", argument)

    # --- locals -----------------------------------------------------------------------------------------------------

    def bind(self, name: str, kind: Kind) -> str:
        """A new local for a `Let` or `Fold`."""
        self.locals[name] = (self.fresh(name), kind)
        return self.locals[name][0]

    def enter(self, loops: Sequence[Loop]) -> dict[str, str]:
        """Names the indices of some loops; give the result to `leave` at the end of their body."""
        before = dict(self.loops)
        for axis in loops:
            if isinstance(axis, Axis):
                self.loops[axis.name] = self.fresh(axis.name)
        return before

    def leave(self, before: dict[str, str], loops: Sequence[Loop]) -> None:
        for axis in loops:
            if isinstance(axis, Axis):
                self.names.release(self.loops[axis.name])
        self.loops = before
