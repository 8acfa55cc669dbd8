"""Names and leaves of one CUDA kernel: how its tensors, sizes, numbers, loops and locals are spelled.

In goes a step of a kernel plan; a `Scope` hands out C++ names (never a keyword, never twice), remembers which members
the kernel's struct needs, and prints scalars through the shared printer. Everything is computed in `opmath_t`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from opgen.code.names import KERNELS, member
from opgen.code.native_scope import host_number, host_scalar, layout, value_type
from opgen.code.printer import NATIVE, Leaf, Printer, Text
from opgen.ir.names import Names
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Batch, Dim, Index, Lit, Param, Position, Read, Scalar
from opgen.plan.model import KernelPlan, Storage
from opgen.plan.ranges import Ranges

_ELEMENT = {Storage.SCALAR: "scalar_t", Storage.COMPUTE: "opmath_t", Storage.INT64: "int64_t", Storage.BOOL: "bool"}
_ATOM = NATIVE.atom
REPORT = "report"  # the key of the member that takes reports of positions out of range


def element_type(storage: Storage) -> str:
    """The C++ type of a buffer's elements."""
    return _ELEMENT[storage]


@dataclass(frozen=True, slots=True)
class Member:
    """A field of the kernel's struct and what the host sets it to."""

    type: str
    name: str
    value: str


@dataclass(slots=True)
class Scope:
    """The names of one step. `written` are the buffers it stores to; a packed read goes through its argument."""

    plan: KernelPlan
    written: frozenset[str]
    buffers: dict[str, str] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    locals: dict[str, tuple[str, Kind]] = field(default_factory=dict)
    packed: dict[str, str] | None = None
    around: dict[str, Axis] = field(default_factory=dict)  # the loops that the code stands in
    trusted: frozenset[str] = frozenset()  # buffers whose accesses need no check
    steady: frozenset[tuple[str, int]] = frozenset()  # positions of slots along loops that go on from what they stored
    sure: set[tuple[Scalar, Scalar]] = field(default_factory=set)  # positions and sizes that a condition compares
    tiles: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=lambda: Names(KERNELS))
    _ranges: Ranges = field(init=False)

    def __post_init__(self) -> None:
        self._ranges = Ranges.of_plan(self.plan)

    def fresh(self, wish: str) -> str:
        """A name of the kernel's own."""
        return self.names.fresh(wish)

    @property
    def printer(self) -> Printer:
        return Printer(NATIVE, self.leaf, self.cast)

    def print(self, e: Scalar) -> str:
        return self.printer(e)

    # --- tensors ----------------------------------------------------------------------------------------------------

    def tensor(self, name: str) -> str:
        """The member that holds the view of a buffer."""
        if name not in self.buffers:
            self.buffers[name] = self.fresh(name)
        return self.buffers[name]

    def slots(self) -> tuple[tuple[str, int, int, int], ...]:
        """For every tensor of the step: its name, its number in the plan, its rank, and where its batch stands."""
        order = [b.name for b in self.plan.buffers]
        return tuple((n, order.index(n), *layout(self.plan.buffer(n))) for n in self.buffers)

    def positions(self, at: Sequence[Position], buffer: str, *, checked: bool = True) -> str:
        """The arguments of `load` and `store`."""
        return ", ".join(self._position(p, buffer, k, checked) for k, p in enumerate(at))

    def doubtful(self, buffer: str, k: int, p: Position) -> bool:
        """Whether a position may leave its tensor, as far as anybody knows before the run."""
        size = self.plan.buffer(buffer).shape[k]
        if isinstance(p, Batch) or isinstance(size, Batch) or buffer in self.trusted:
            return False
        if (buffer, k, p) in self.plan.guarded or (buffer, k) in self.steady or (p, size) in self.sure:
            return False
        return not self._ranges.inside(p, size, tuple(self.around.values()))

    def _position(self, p: Position, buffer: str, axis: int, checked: bool) -> str:
        if isinstance(p, Batch):
            return "place"
        text = self.print(p)
        if not checked or not self.doubtful(buffer, axis, p):
            return text
        size = self.plan.buffer(buffer).shape[axis]
        assert not isinstance(size, Batch)
        number = [b.name for b in self.plan.buffers].index(buffer)
        report = self.member(REPORT, "OpgenBadIndex*", "report", "call.device_room")
        return f"rt::checked({text}, {self.print(size)}, {report}, {number}, {axis})"

    def load(self, read: Read) -> Text:
        """One access, as a value."""
        buffer = self.plan.buffer(read.tensor)
        if self.packed is not None and read.at and read.tensor in self.packed:
            return Text(self.packed[read.tensor], _ATOM, buffer.kind)
        method = "load_or_zero" if buffer.optional else "load"
        positions = self.positions(read.at, read.tensor, checked=read.fill is None)
        text = f"{self.tensor(read.tensor)}.{method}({positions})"
        inside = "" if read.fill is None else self.inside(read.at, read.tensor)
        if read.fill is None or not inside:
            return Text(text, _ATOM, buffer.kind)
        fill = self.printer.text(read.fill)
        if buffer.kind is Kind.FLOAT and fill.kind is not Kind.FLOAT:
            fill = NATIVE.as_float(fill)
        return Text(f"{inside} ? {text} : {fill.at(0)}", 0, buffer.kind)

    def inside(self, at: Sequence[Position], buffer: str) -> str:
        """The condition that an access stays in its tensor; empty where it surely does."""
        shape = self.plan.buffer(buffer).shape
        pairs = enumerate(zip(at, shape, strict=True))
        return " && ".join(self._inside(p, n) for k, (p, n) in pairs if self.doubtful(buffer, k, p))

    def _inside(self, p: Position, size: Scalar | Batch) -> str:
        assert not isinstance(p, Batch)
        assert not isinstance(size, Batch)
        at = self.printer.at(p, 8)
        return f"{at} >= 0 && {at} < {self.printer.at(size, 8)}"

    def cast(self, text: Text, like: str) -> Text:
        """Rounding to the dtype of a tensor: only the operator's own dtype can be narrower than `opmath_t`."""
        storage = next((b.storage for b in self.plan.buffers if b.name == like), Storage.SCALAR)
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
            case Index(name):
                return Text(self.loops[name], _ATOM, Kind.INT)
            case Dim("..."):
                self.need_batch()
                return Text("batch.count", _ATOM, Kind.INT)
            case Dim(name):
                value = host_number(self.plan, e).text
                return Text(self.member(f"dim {name}", "int64_t", member(name), value), _ATOM, Kind.INT)
            case Param(name, item):
                host = host_number(self.plan, e)
                wish = name if item is None else f"{name}_{item}"
                value = host.text if host.kind is not Kind.FLOAT else f"static_cast<opmath_t>({host.text})"
                return Text(self.member(f"param {wish}", value_type(host.kind), wish, value), _ATOM, host.kind)
            case _:
                assert_never(e)

    def member(self, key: str, type_: str, wish: str, value: str) -> str:
        """A field of the struct, under a key of its own."""
        if key not in self.members:
            self.members[key] = Member(type_, self.fresh(wish), value)
        return self.members[key].name

    def need_batch(self) -> None:
        """The kernel asks for the batch as a whole."""
        self.members.setdefault("batch", Member("rt::Batch", "batch", "args.batch()"))

    def batch_divider(self) -> str:
        """The member that divides by the number of batch elements."""
        value = "rt::Divider(rt::batch_count(call))"
        return self.members.setdefault("batch size", Member("rt::Divider", "batch_size", value)).name

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
        value = f"rt::Divider({host_scalar(self.plan, axis.extent)})"
        return self.member(f"size {axis.name} {value}", "rt::Divider", f"{axis.name}_size", value)

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
                self.around[axis.name] = axis
        return before

    def leave(self, before: dict[str, str], loops: Sequence[Loop]) -> None:
        for axis in loops:
            if isinstance(axis, Axis):
                self.names.release(self.loops[axis.name])
                self.around.pop(axis.name, None)
        self.loops = before
