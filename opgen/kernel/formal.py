"""A kernel as a function: formal tensors and numbers, and what a step of a plan puts in their place.

In go a plan and one of its steps, out comes its kernel with its arguments in the order in which they appear in it: the
slots, integers (sizes of loops and dims, int and bool params) and reals (float params). Kernels that differ in nothing
but names have the same `key`: one function serves them all, called with other arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass, field

from opgen.ir.point import positions
from opgen.ir.polynomial import same_shape
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Batch, Cast, Dim, Index, Lit, Param, Position, Read, Scalar, children, reads, rebuild, walk
from opgen.kernel.checks import Access, unsure
from opgen.kernel.lanes import schedule_of
from opgen.kernel.lower import lower
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Node, Role, Store, Tile
from opgen.kernel.reach import Reach, reaches
from opgen.kernel.unroll import unrolled
from opgen.kernel.walk import chain, parts, stored_only, values
from opgen.plan.guards import guarded
from opgen.plan.model import Buffer, KernelPlan, Let, Schedule, Step, Storage, extent


@dataclass(frozen=True, slots=True)
class Formal:
    """A kernel, naive as it was lowered, with its arguments.

    `slots`: buffers that the kernel reads and writes, by what they are called in it; `ints` and `reals`: what the plan
    calls the numbers; `bools`: which integers are truth values; `casts`: what the tensors hold that values are rounded
    like; `unsure`: accesses to be checked; `told`: those of them that a host checks ahead of the call, by `reaches`;
    `flat`: of each part, whether its points lie in memory in their order; `unasked`: slots that nobody may ask for
    though the kernel runs; `spare`: those of them that need no memory on any device.
    """

    kernel: Kernel
    schedule: Schedule
    slots: Mapping[str, Buffer] = field(repr=False)
    ints: tuple[Scalar, ...]
    reals: tuple[Param, ...]
    bools: frozenset[Scalar]
    casts: Mapping[str, Storage]
    unsure: frozenset[Access]
    told: frozenset[Access]
    reaches: tuple[Reach, ...]
    flat: tuple[bool, ...]
    unasked: frozenset[str]
    spare: frozenset[str]
    key: Hashable = field(repr=False)

    def number(self, slot: str) -> int:
        """Where a tensor stands among the arguments."""
        return list(self.slots).index(slot)

    def plain(self, r: Read) -> bool:
        """Whether an access is where loops are, or at the start, and cannot leave its slot."""
        unsure = ((r.tensor, k, p) in self.unsure for k, p in enumerate(r.at) if isinstance(p, Index))
        return all(isinstance(p, Batch | Index) for p in r.at) and not any(unsure)

    def kind(self, number: Scalar) -> Kind:
        """What a number is: all but float params are integers."""
        return Kind.FLOAT if number in self.reals else Kind.BOOL if number in self.bools else Kind.INT


def formal(plan: KernelPlan, step: Step, apart: Set[str] = frozenset()) -> Formal:
    """The kernel of a step as a function; `apart`: buffers that nobody may want though it runs."""
    kernel, schedule = lower(plan, step), schedule_of(step)
    kept = guarded(plan, step)
    further = unsure(plan, unrolled(kernel), kept)
    doubt = unsure(plan, kernel, kept)
    reached = reaches(plan, kernel, doubt)
    found = _Found(plan, kernel, doubt | further, reached.told)
    body = found.body(kernel.body)
    checked = found.sizes({(slot, k) for slot, k, _ in further})
    flat = tuple(_is_flat(plan, part) for part in parts(kernel.body))
    slots = {name: plan.buffer(name) for name in found.slots}
    written = {s.name for s in kernel.slots if s.written}
    unasked = stored_only(kernel) & apart
    spare = unasked if _is_map(kernel, flat) else frozenset[str]()
    held = tuple(
        (_layout(b), b.storage, b.kind, b.missing, name in written, name in spare) for name, b in slots.items()
    )
    kinds = tuple(e in found.bools for e in found.ints)
    return Formal(
        kernel,
        schedule,
        slots,
        tuple(found.ints),
        tuple(found.reals),
        frozenset(found.bools),
        found.casts,
        found.unsure,
        found.told,
        reached.compared,
        flat,
        unasked,
        spare,
        (schedule, flat, held, kinds, body, checked),
    )


def _layout(b: Buffer) -> tuple[int, ...]:
    """The rank of a tensor, and where the batch stands in it."""
    return (len(b.shape), *(k for k, size in enumerate(b.shape) if isinstance(size, Batch)))


def _is_flat(plan: KernelPlan, part: Body) -> bool:
    """Whether every tensor is met at the same point of loops over all of it (or is 0-dim): order does not matter.

    These are the loops of a map, or of a fold of all there is.
    """
    outer, body = chain(part, (Role.PARALLEL,))
    folded = [n for n in body if isinstance(n, For)]
    whole_fold = not outer and len(folded) == 1
    if whole_fold:
        outer, body = chain(tuple(folded), (Role.SERIAL,))
    here = positions(outer)
    sizes = [extent(a) for a in outer]
    dims = {d.name: d.value for d in plan.dims}

    def whole(name: str, at: tuple[Position, ...]) -> bool:
        return at == here and same_shape(sizes, plan.buffer(name).shape, dims)

    def fits(e: Scalar) -> bool:
        if isinstance(e, Read) and e.at:
            return e.fill is None and whole(e.tensor, e.at)
        return not isinstance(e, Index) and all(map(fits, children(e)))

    if not here or not all(isinstance(n, Let | Join if whole_fold else Let | Store) for n in body):
        return False
    if whole_fold and not any(r.at for e in values(body) for r in reads(e)):
        return False
    stores = (n for n in body if isinstance(n, Store))
    return all(map(fits, values(body))) and all(whole(s.slot, s.at) for s in stores)


def _is_map(kernel: Kernel, flat: tuple[bool, ...]) -> bool:
    """Whether all there is are values at points that lie in memory in their order."""
    return flat == (True,) and bool(chain(kernel.body, (Role.PARALLEL,))[0])


@dataclass(slots=True)
class _Found:
    """Arguments in the order in which they appear, and the kernel without the names that it gives to things."""

    plan: KernelPlan
    kernel: Kernel
    unsure: frozenset[Access]
    told: frozenset[Access]
    slots: dict[str, int] = field(default_factory=dict)
    ints: dict[Scalar, int] = field(default_factory=dict)
    reals: dict[Param, int] = field(default_factory=dict)
    bools: set[Scalar] = field(default_factory=set)
    casts: dict[str, Storage] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    locals: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(init=False)
    shapes: dict[str, tuple[Scalar | Batch, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.types = {p.name: p.type for p in self.plan.params} | dict.fromkeys(self.plan.numbers, "float")
        self.shapes = {s.name: s.shape for s in self.kernel.slots}

    def body(self, body: Body) -> Hashable:
        return tuple(map(self.node, body))

    def node(self, n: Node) -> Hashable:
        match n:
            case For(loop, inner, role, reverse):
                size = self.size(loop)
                before = dict(self.loops)
                if isinstance(loop, Axis):
                    self.loops[loop.name] = f"i{len(self.loops)}"
                found = ("for", size, role, reverse, self.body(inner))
                self.loops = before
                return found
            case If(condition, then, otherwise):
                return ("if", self.value(condition), self.body(then), self.body(otherwise))
            case Let(name, value, kind):
                return ("let", self.value(value), self.named(name), kind)
            case Acc(name, op, kind):
                return ("acc", self.named(name), op, kind)
            case Join(acc, value, place):
                return ("join", self.locals[acc], self.value(value), place and self.value(place))
            case Store(slot, at, value):
                return ("store", self.value(value), self.slot(slot, at), self.at(slot, at))
            case Atomic(slot, at, op, value):
                return ("atomic", op, self.value(value), self.slot(slot, at), self.at(slot, at))
            case Tile(name, shape, kind, wide):
                return ("tile", tuple(map(self.value, shape)), self.named(name), kind, wide)

    def sizes(self, axes: Set[tuple[str, int]]) -> Hashable:
        """The sizes of axes that are checked where loops are unrolled."""
        known = ((name, k) for name in self.slots for k in range(len(self.shapes[name])) if (name, k) in axes)
        return tuple((self.slots[name], k, self._extent(name, k)) for name, k in known)

    def _extent(self, slot: str, k: int) -> Scalar:
        size = self.shapes[slot][k]
        assert not isinstance(size, Batch)
        return self.whole(size)

    def named(self, name: str) -> str:
        return self.locals.setdefault(name, f"v{len(self.locals)}")

    def slot(self, name: str, at: tuple[Position, ...]) -> str:
        if name not in self.shapes or (name in self.locals and not at):
            return self.named(name)
        return f"s{self.slots.setdefault(name, len(self.slots))}"

    def size(self, loop: Loop) -> Hashable:
        return loop if isinstance(loop, Batch) else self.whole(loop.extent)

    def whole(self, e: Scalar) -> Scalar:
        """A size, which is one number of the call, whatever it is computed from."""
        return e if isinstance(e, Lit) else self.integer(e)

    def integer(self, e: Scalar) -> Scalar:
        return Dim(f"#{self.ints.setdefault(e, len(self.ints))}")

    def value(self, e: Scalar) -> Hashable:
        """An expression without names, and which of its accesses are checked, by whom, against what size."""
        found = self.bare(e)
        return found, tuple(self.checks(r.tensor, r.at) for r in reads(e))

    def at(self, slot: str, at: tuple[Position, ...]) -> Hashable:
        places = tuple(p if isinstance(p, Batch) else self.value(p) for p in at)
        return places, self.checks(slot, at)

    def checks(self, slot: str, at: tuple[Position, ...]) -> Hashable:
        found = []
        for k, p in enumerate(at):
            if (slot, k, p) in self.unsure:
                found.append((k, self._extent(slot, k), (slot, k, p) in self.told))
        return tuple(found)

    def bare(self, e: Scalar) -> Scalar:
        done: dict[Scalar, Scalar] = {}

        def step(a: Scalar) -> Scalar:
            if a not in done:
                done[a] = self.renamed(rebuild(a, step))
            return done[a]

        for n in walk(e):  # in the order in which they stand there, which that of rebuilding is not
            if isinstance(n, Read):
                self.slot(n.tensor, n.at)
            elif isinstance(n, Dim | Param):
                self.renamed(n)
        return step(e)

    def renamed(self, e: Scalar) -> Scalar:
        match e:
            case Index("...") | Dim("..."):
                return e
            case Index(name):
                return Index(self.loops[name])
            case Param(name) if self.types[name] == "float":
                return Param(f"#{self.reals.setdefault(e, len(self.reals))}")
            case Param(name):
                if self.types[name] == "bool":
                    self.bools.add(e)
                return self.integer(e)
            case Dim():
                return self.integer(e)
            case Read(tensor, at, fill):
                return Read(self.slot(tensor, at), at, fill)
            case Cast(arg, like):
                held = next((b.storage for b in self.plan.buffers if b.name == like), Storage.SCALAR)
                self.casts[like] = held
                return Cast(arg, held.value)
            case _:
                return e
