"""The kernel plan: what is computed by which loop nest, in one form that every back end prints.

A Program goes in (`opgen.plan.build`), a plan comes out: buffers, steps that fill them in order, and results. Bodies
are the scalar expressions of the Program, except that a read without positions whose name is a local of the nest
(`Let`, `Fold`) means that local. Nothing here knows a language, a vector width or a block size.

A nest runs its passes in order for every point of its `outer` loops; outer points are independent of each other.
A pass runs over its own loops (none: once) and evaluates its lets in order, then feeds its folds, then stores. A fold
can be read by later passes, an outer let (of a pass without loops) by everything after it, an inner let only in its
own pass.

    softmax:  outer (...)  pass (n): fold m = max x[..., n]
                           pass (n): fold s = sum exp(x[..., n] - m)
                           pass (): let r = 1 / s
                           pass (n): store y[..., n] = exp(x[..., n] - m) * r
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from opgen.ir.program import Argument, Axis, DimSource, Function, Kind, Loop, Role, Shape
from opgen.ir.scalar import Batch, Lit, Position, Scalar
from opgen.opt.convolution import Convolution
from opgen.opt.ranges import Ranges

_POINTS = 4  # of a loop that is written out


class Storage(StrEnum):
    """The element type of a buffer in memory."""

    SCALAR = "scalar"  # the floating dtype the operator is called with
    COMPUTE = "compute"  # float for half and bfloat16, else the same as scalar
    INT64 = "int64"
    BOOL = "bool"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor: an argument (with its role) or memory that the kernel allocates, contiguous (`role` None).

    An argument may have any strides and, at `BATCH`, fewer or one-sized dims; an allocated buffer has the whole batch.
    """

    name: str
    shape: Shape
    storage: Storage
    role: Role | None = None
    missing: int | None = None  # 0 or 1: what an argument is taken for that may be missing, as a cotangent may

    @property
    def kind(self) -> Kind:
        match self.storage:
            case Storage.INT64:
                return Kind.INT
            case Storage.BOOL:
                return Kind.BOOL
            case _:
                return Kind.FLOAT


@dataclass(frozen=True, slots=True)
class Let:
    """A named value, computed once."""

    name: str
    value: Scalar
    kind: Kind = Kind.FLOAT


@dataclass(frozen=True, slots=True)
class Fold:
    """A core reduction (`opgen.ir.reductions`) of `value` over the loops of its pass; `name` is a local afterwards.

    `argmax` and `argmin` count positions along the one loop of their pass.
    """

    name: str
    op: str
    value: Scalar
    kind: Kind = Kind.FLOAT


@dataclass(frozen=True, slots=True)
class Store:
    """`buffer[at] = value`, converted to the storage of the buffer."""

    buffer: str
    at: tuple[Position, ...]
    value: Scalar


@dataclass(frozen=True, slots=True)
class Pass:
    """One loop over the inner points of an outer point; without loops it runs once."""

    loops: tuple[Loop, ...]
    lets: tuple[Let, ...] = ()
    folds: tuple[Fold, ...] = ()
    stores: tuple[Store, ...] = ()

    @property
    def named(self) -> tuple[Let | Fold, ...]:
        """What the pass gives a name to: its lets, then its folds."""
        return (*self.lets, *self.folds)


class Schedule(StrEnum):
    """How a nest meets memory; a hint to the printers, the meaning does not depend on it."""

    MAP = "map"  # no folds: every point on its own
    ROW = "row"  # folds run along the innermost axis of what is read
    COLUMN = "column"  # folds run across it: neighbouring outer points are neighbours in memory
    WHOLE = "whole"  # one outer point: everything is folded into one value, in stages of fixed order


@dataclass(frozen=True, slots=True)
class Nest:
    """One kernel. `results` are the results that need it: it is skipped when none of them is asked for."""

    name: str
    outer: tuple[Loop, ...]
    passes: tuple[Pass, ...]
    schedule: Schedule
    results: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor of a contraction with the loop at each of its positions (index name, `...` for the batch)."""

    buffer: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """`out[out.labels] = sum over k of a * b`, plus `bias` where given: a matrix product, left to the BLAS of torch.

    `batch` labels stand in a, b and out; `m` in a and out; `n` in b and out; `k` in a and b.
    """

    name: str
    out: Operand
    a: Operand
    b: Operand
    batch: tuple[str, ...]
    m: tuple[str, ...]
    n: tuple[str, ...]
    k: tuple[str, ...]
    bias: Operand | None = None
    results: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Instead:
    """What a CPU does better than torch: `nest` computes a step where the sizes of each pair are the same."""

    nest: Nest
    pairs: tuple[tuple[Scalar, Scalar], ...]


@dataclass(frozen=True, slots=True)
class Convolve:
    """A convolution, or the transpose of one, left to torch; `nest` computes the same by plain loops.

    `bias` is added over the outputs, where given. `instead`: its kernel for channels that see no others.
    """

    name: str
    nest: Nest
    form: Convolution
    bias: str = ""
    instead: Instead | None = None
    results: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sort:
    """The places of the elements of `keys` in ascending order along an axis: equal ones as they stand, NaN last.

    `along`: the axis, from the end where the batch stands before it. `nest` computes the same by comparing all pairs.
    """

    name: str
    nest: Nest
    keys: str
    along: int
    results: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ScatterStep:
    """`out[axes] = base`, then `out[at] op= value` for every point of `loops`, repeats combined in loop order.

    `padded`: points whose position is out of range are dropped; otherwise they are an error. `free` are the
    loops that no two points with the same target differ in: safe to run in parallel.
    """

    name: str
    out: str
    axes: tuple[Loop, ...]
    base_lets: tuple[Let, ...]
    base: Scalar
    loops: tuple[Loop, ...]
    at: tuple[Position, ...]
    op: str
    lets: tuple[Let, ...]
    value: Scalar
    free: tuple[Loop, ...]
    padded: bool = False
    results: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One statement at one place of a sequence: at every point of `loops` the lets, the fold, then the store.

    With a fold, `inner` are evaluated at every point of `over`, which it runs through in order.
    """

    loops: tuple[Loop, ...]
    lets: tuple[Let, ...]
    store: Store
    over: tuple[Loop, ...] = ()
    inner: tuple[Let, ...] = ()
    fold: Fold | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Tasks that are repeated in order for every value of `along`, upwards or (`reverse`) downwards.

    Points of `outer` are independent of each other.
    """

    name: str
    outer: tuple[Loop, ...]
    along: Axis
    reverse: bool
    tasks: tuple[Task, ...]
    results: tuple[str, ...] = ()
    reason: str = ""

    @property
    def own(self) -> tuple[str, ...]:
        return tuple(t.store.buffer for t in self.tasks)


@dataclass(frozen=True, slots=True)
class Dot:
    """A sum along a row at one point of a stream: `name` is a local of the point, read as `name[along]`."""

    name: str
    over: Axis
    value: Scalar


@dataclass(frozen=True, slots=True)
class Weigh:
    """`buffer[at] = scale * (sum of value along the stream)`, for every point of `over`; `at` has the outer loops."""

    buffer: str
    at: tuple[Position, ...]
    over: Axis
    value: Scalar
    scale: Scalar


@dataclass(frozen=True, slots=True)
class Sweep:
    """One way along a stream: at every point the dots, the lets, then folds and weighted sums.

    `online` names a fold of the sweep, a maximum, that the values of all others are scaled by: they hold a factor
    `exp(x - shift)`, where `shift` is the maximum so far (0 where it is not finite). What was summed up is rescaled
    when the maximum moves, so that one sweep does.
    """

    dots: tuple[Dot, ...]
    lets: tuple[Let, ...]
    folds: tuple[Fold, ...]
    sums: tuple[Weigh, ...]
    online: str = ""
    shift: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """Sweeps along one axis at every outer point, of values that are in no memory; the last of `outer` are the rows.

    Nothing that is read along the stream moves with the rows. `points` run without loops, one before every sweep and
    one at the end: there sums and folds are known.
    """

    name: str
    outer: tuple[Loop, ...]
    along: Axis
    points: tuple[Pass, ...]
    sweeps: tuple[Sweep, ...]
    results: tuple[str, ...] = ()
    reason: str = ""


Library = Contract | Convolve | Sort  # what the host hands on: no kernel of ours
Kernel = Nest | ScatterStep | Chain | Stream
Step = Kernel | Library


@dataclass(frozen=True, slots=True)
class Result:
    """What is returned: a buffer, converted to `storage`, and summed to the shape of argument `like` where given."""

    name: str
    buffer: str
    shape: Shape
    storage: Storage
    like: str | None = None
    dtype: str = ""  # of floats: the dtype to convert to instead


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """Buffers (arguments first, in order), the steps that fill them, and the results."""

    name: str
    buffers: tuple[Buffer, ...]
    params: tuple[Argument, ...]
    dims: tuple[DimSource, ...]
    steps: tuple[Step, ...]
    results: tuple[Result, ...]
    sizes: tuple[Scalar, ...] = ()  # int params that are sizes, so that they are not negative
    functions: tuple[Function, ...] = ()  # that libraries of C++ or CUDA compute
    numbers: Mapping[str, Scalar] = field(default_factory=dict)  # read as params: what the host computes
    _buffers: dict[str, Buffer] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def arguments(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role is not None)

    @property
    def ranges(self) -> Ranges:
        return Ranges({b.name: b.shape for b in self.buffers}, self.sizes, {d.name: d.value for d in self.dims})

    def buffer(self, name: str) -> Buffer:
        found = self.find(name)
        assert found is not None, f"{self.name}: no buffer {name!r}"
        return found

    def find(self, name: str) -> Buffer | None:
        """The buffer of this name; locals of steps have none."""
        if not self._buffers:
            self._buffers.update((b.name, b) for b in reversed(self.buffers))
        return self._buffers.get(name)


def label(loop: Loop) -> str:
    """The name of a loop in messages and contraction labels."""
    return "..." if isinstance(loop, Batch) else loop.name


def extent(loop: Loop) -> Scalar | Batch:
    """The size of a loop as an entry of a shape."""
    return loop if isinstance(loop, Batch) else loop.extent


def is_written_out(loop: Loop) -> bool:
    """Whether a loop has so few points, and so surely, that a processor with vectors gets a statement for each."""
    return isinstance(loop, Axis) and isinstance(loop.extent, Lit) and 0 < loop.extent.value <= _POINTS


def written_out(loops: tuple[Loop, ...]) -> tuple[Axis, ...]:
    """The loops of a pass where all of them have so few points; none otherwise."""
    return axes_of(loops) if all(map(is_written_out, loops)) else ()


def axes_of(loops: tuple[Loop, ...]) -> tuple[Axis, ...]:
    """The loops over named indices."""
    return tuple(a for a in loops if isinstance(a, Axis))
