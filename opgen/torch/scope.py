"""What one printed function knows while it is written: its names, tensors, sizes, dtype and batch shape, and its lines.

In goes a Program (one variant); statements are printed into it by `opgen.torch.body`. Sizes, the batch shape and
the dtype become lines of their own only where something asks for them, in front of the first line that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from opgen.code.names import PYTHON
from opgen.code.printer import Dialect, Leaf, Printer, Text
from opgen.ir.program import Axis, Compute, DimSource, Kind, Loop, Program, Role, Tensor, definitions
from opgen.ir.ranges import derived_sizes, sizes_of
from opgen.ir.scalar import BATCH, Batch, Dim, Param, Read, Scalar, mentions
from opgen.opt.convolution import Known
from opgen.torch.dialect import ATOM, Casts, dialect
from opgen.torch.values import Stored, Value, batch_first, moved_in


@dataclass(frozen=True, slots=True)
class Step:
    """One assignment. `size`: a shape or another view of an argument, which costs nothing and may stand unguarded."""

    target: str
    text: str
    size: bool = False

    @property
    def line(self) -> str:
        return f"{self.target} = {self.text}"


def _unbound(s: Compute) -> Read:
    raise AssertionError(f"{s.target} is no statement of the program")


@dataclass(slots=True)
class Scope:
    """The function under construction."""

    program: Program
    upcast: bool  # half is computed in float32
    several_batches: bool = True  # inputs may have different batch dims
    results: tuple[str, ...] = ()  # outputs of the operator: their gradients have the whole batch shape
    anchor: str = ""  # a float argument that every call has, for a program without any
    keeps_upcast: bool = True  # residuals stay in float32 where they are computed in it
    kept: frozenset[str] = frozenset()  # the names of tensors that the function makes, in any variant: no other local's
    batches: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of kept sums: arguments with their batch dims
    names: dict[str, str] = field(default_factory=dict)  # local name -> what has it
    numbers: dict[str, int] = field(default_factory=dict)  # the number to try next, by name
    stored: dict[str, Stored] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    outside: list[Step] | None = None  # inside a loop: the steps in front of it
    sizes: dict[str, str] = field(default_factory=dict)  # dim -> local name
    batch_names: dict[frozenset[str], str] = field(default_factory=dict)  # arguments -> their batch shape together
    read: dict[str, None] = field(default_factory=dict)  # tensors whose elements are read
    pending: dict[str, Tensor] = field(default_factory=dict)  # arguments not yet brought to layout
    tables: Dialect | None = None
    loops: tuple[Loop, ...] = ()  # of the statement at hand: what it reads is read at points of them all
    accessed: dict[tuple[Read, tuple[Loop, ...], tuple[Loop, ...]], Value] = field(
        default_factory=dict
    )  # aligned to a space, within loops
    lines: dict[str, str] = field(default_factory=dict)  # code of a line -> local name
    bodies: dict[str, Scalar] = field(default_factory=dict)  # of statements, also of those made while printing
    dims: dict[str, Scalar | None] = field(default_factory=dict)  # derived sizes
    counts: tuple[Scalar, ...] = ()  # params that are sizes, and so not negative
    known: Known = field(init=False)  # what tells a convolution
    bind: Callable[[Compute], Read] = field(default=_unbound)  # prints a statement now
    bound: dict[tuple[Scalar, tuple[Loop, ...]], Read] = field(
        default_factory=dict
    )  # positions with a line of their own

    def __post_init__(self) -> None:
        p = self.program
        self.dims, self.counts = derived_sizes(p), sizes_of(p)
        self.known = Known.of(p)
        self.bodies = {s.target: s.body for s in definitions(p)}
        for name in (*(t.name for t in p.inputs), *(a.name for a in p.params)):
            self.names[name] = name
        for t in p.inputs:
            self.stored[t.name] = Stored(t.name, t.shape, batch_first(t.shape), t.kind, self.batch_of(t), view=True)
            self.pending[t.name] = t

    # --- names ---------------------------------------------------------------------------------------------------

    def fresh(self, wanted: str) -> str:
        """A local name as wanted, or the next free one like it; what the program calls so is another."""
        return self._free(wanted, self.kept)

    def own(self, tensor: str) -> str:
        """A local name for a tensor of the program: its own, unless a value before has it."""
        return self._free(tensor, frozenset())

    def _free(self, wanted: str, kept: frozenset[str]) -> str:
        wanted = f"{wanted}_" if wanted in PYTHON else wanted
        name, n = wanted, self.numbers.get(wanted, 2)
        while name in self.names or name in kept:
            name, n = f"{wanted}_{n}", n + 1
        self.names[name] = wanted
        self.numbers[wanted] = n
        return name

    def assign(self, name: str, text: str, *, size: bool = False) -> None:
        (self.steps if self.outside is None or not size else self.outside).append(Step(name, text, size))

    def named_line(self, wanted: str, text: str) -> str:
        """The code on a line of its own, one line however often it is asked for."""
        if text not in self.lines:
            self.lines[text] = self.fresh(wanted)
            self.assign(self.lines[text], text)
        return self.lines[text]

    def named_position(self, e: Scalar) -> Read:
        """A position as an access to a statement of its own, one however often it is asked for within the loops."""
        if (e, self.loops) not in self.bound:
            self.bound[e, self.loops] = self.bind(Compute("position", loops_of(e, self.loops), e, kind=Kind.INT))
        return self.bound[e, self.loops]

    @contextmanager
    def within(self, loops: tuple[Loop, ...]) -> Iterator[None]:
        """Prints what is read at points of these loops."""
        around, self.loops = self.loops, loops
        yield
        self.loops = around

    # --- arguments -----------------------------------------------------------------------------------------------

    def keep(self, name: str, stored: Stored) -> None:
        """Where a tensor is from now on; what was printed of its earlier place no longer holds."""
        if name in self.stored:
            self.accessed.clear()
        self.stored[name] = stored

    def tensor(self, name: str) -> Stored:
        """A tensor about to be read: an argument is brought to batch-first layout the first time."""
        self.read[name] = None
        self.arrange(name)
        return self.stored[name]

    def arrange(self, name: str) -> None:
        """Bring an argument to layout, if that is still to be done."""
        t = self.pending.pop(name, None)
        if t is not None and moved_in(t.shape):
            self.assign(name, f"{name}.{moved_in(t.shape)}", size=True)

    # --- dtype ---------------------------------------------------------------------------------------------------

    def like(self) -> str:
        """A tensor that has the compute dtype and the device."""
        for t in self.program.inputs:
            if t.kind is Kind.FLOAT and t.name not in self.pending:
                return t.name
        for t in self.program.inputs:
            if t.kind is Kind.FLOAT:
                return self.tensor(t.name).name
        return self.anchor

    def dialect(self) -> Dialect:
        """The torch dialect in this function, made once."""
        if self.tables is None:
            self.tables = dialect(self.casts())
        return self.tables

    def casts(self) -> Casts:
        def dtype() -> str:
            like = self.like()
            if like and self.upcast:
                self.read[like] = None  # so that it has the compute dtype
            return f"{like}.dtype" if like else "torch.get_default_dtype()"

        def tensor(number: str, kind: Kind) -> str:
            return self.filled("()", Text(number, ATOM, kind))

        return Casts(dtype, tensor)

    def filled(self, shape: str, number: Text) -> str:
        """Code for a new tensor of a shape, filled with a number."""
        like = self.like() if number.kind is Kind.FLOAT else ""
        if number.kind is Kind.FLOAT and like:
            sizes = shape[1:-1].rstrip(",") if shape.startswith("(") and shape != "()" else shape
            return f"{like}.new_zeros({sizes})" if number.text == "0" else f"{like}.new_full({shape}, {number.text})"
        device = next((f", device={t.name}.device" for t in self.program.inputs), "")
        dtype = ", dtype=torch.get_default_dtype()" if number.kind is Kind.FLOAT else ""
        return f"torch.full({shape}, {number.text}{dtype}{device})"

    # --- sizes ---------------------------------------------------------------------------------------------------

    def size(self, dim: str) -> str:
        """The local name (or text) of a dim's size."""
        if dim == "...":
            shape = self.batch_shape()
            return f"math.prod({shape})"
        if dim not in self.sizes:
            source = next(d for d in self.program.dims if d.name == dim)
            text = self._size_text(source)
            self.sizes[dim] = self.fresh(f"size_{dim.lower()}" if dim in PYTHON else dim)
            self.assign(self.sizes[dim], text, size=True)
        return self.sizes[dim]

    def positions(self, axis: Axis) -> str:
        """The local name of `0, 1, 2, …` along an axis."""
        extent = self.number(axis.extent).text
        key = f"arange({extent})"
        if key not in self.sizes:
            device = next((f", device={t.name}.device" for t in self.program.inputs), "")
            self.sizes[key] = self.fresh(axis.name)
            self.assign(self.sizes[key], f"torch.arange({extent}{device})", size=True)
        return self.sizes[key]

    def batch_places(self) -> str:
        """The local name of the row-major places in the batch, in its shape."""
        if "batch places" not in self.sizes:
            shape = self.batch_shape()
            device = next((f", {t.name}.device" for t in self.program.inputs), "")
            self.sizes["batch places"] = self.fresh("places")
            self.assign(self.sizes["batch places"], f"batch_places({shape}{device})", size=True)
        return self.sizes["batch places"]

    def _size_text(self, source: DimSource) -> str:
        if source.tensor is None:
            assert source.value is not None, f"dim {source.name} has no source"
            return self.number(source.value).text
        return self._extent(source.tensor, source.position)

    def _extent(self, tensor: str, position: int) -> str:
        """The size of an argument's axis, in the layout the argument has at this point."""
        stored = self.stored[tensor]
        order = stored.axes if tensor not in self.pending else tuple(range(len(stored.shape)))
        place = order.index(position)
        after_batch = BATCH in stored.shape and place > order.index(stored.shape.index(BATCH))
        return f"{stored.name}.shape[{place - len(order) if after_batch else place}]"

    def number(self, e: Scalar) -> Text:
        """Sizes and parameters as a Python number."""
        return Printer(self.dialect(), self.named).text(e)

    def named(self, leaf: Leaf) -> Text:
        """A parameter or a size, as the Python number it is."""
        match leaf:
            case Dim(name):
                return Text(self.size(name), ATOM, Kind.INT, number=True)
            case Param(name, item):
                declared = next(a for a in self.program.params if a.name == name)
                kind = Kind(declared.type) if declared.type != "str" else Kind.INT
                text = name if item is None else f"{name}[{item}]"
                return Text(text, ATOM, kind, number=True)
            case _:
                raise AssertionError(f"{leaf} is no number")

    def shape_text(self, loops: tuple[Loop, ...], among: frozenset[str] = frozenset()) -> str:
        """Code for the shape of a space; with the batch dims of these arguments, if they are told."""
        named = [self.number(a.extent).text for a in loops if isinstance(a, Axis)]
        batch = self.batch_shape(among) if BATCH in loops else "()"
        if batch == "()":
            return f"({', '.join(named)}{',' if len(named) == 1 else ''})"
        return f"(*{batch}, {', '.join(named)})" if named else batch

    # --- batch ---------------------------------------------------------------------------------------------------

    def batch_of(self, t: Tensor) -> frozenset[str]:
        """Whose batch dims an argument has: its own; a tangent those of its primal."""
        if BATCH not in t.shape or t.role is Role.SAVED:
            return frozenset()
        return frozenset((t.of if t.role is Role.TANGENT else t.name,))

    def carriers(self) -> tuple[Tensor, ...]:
        """The arguments that together have the whole batch shape: the gradient of an output alone does."""
        batched = tuple(t for t in self.program.inputs if BATCH in t.shape)
        whole = tuple(t for t in batched if self._is_whole(t))
        if whole or not self.several_batches:
            return whole[:1] or batched[:1]
        return tuple(t for t in batched if t.role is Role.INPUT) or batched

    def _is_whole(self, t: Tensor) -> bool:
        return t.role is Role.COTANGENT and t.of in self.results

    def whole_batch(self, batch: frozenset[str]) -> bool:
        """Do these arguments have the whole batch shape between them?"""
        if not self.several_batches or any(self._is_whole(t) and t.name in batch for t in self.program.inputs):
            return True
        return all(self.batch_of(t) <= batch for t in self.carriers())

    def batch_shape(self, among: frozenset[str] = frozenset()) -> str:
        """Code for the batch shape, the whole one or that of these arguments; a line of its own where it is more than
        `x.shape`."""
        if among not in self.batch_names:
            parts = [self._batch_text(t) for t in self.program.inputs if t.name in among]
            parts = parts or [self._batch_text(t) for t in self.carriers()]
            text = parts[0] if len(parts) == 1 else f"broadcast_shape({', '.join(parts)})"
            if not parts:
                return "()"
            name = self.fresh("batch")
            self.batch_names[among] = name
            self.assign(name, text, size=True)
        return self.batch_names[among]

    def _batch_text(self, t: Tensor) -> str:
        name = t.name
        before = t.shape.index(BATCH) if name in self.pending else 0
        after = len(t.shape) - 1 - before
        if not before and not after:
            return f"{name}.shape"
        return f"{name}.shape[{before or ''}:{-after or ''}]"


def batch_leading(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops with the batch in front."""
    return tuple(sorted(loops, key=lambda loop: loop != BATCH))


def loops_of(e: Scalar, space: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops of a space that an expression mentions, in the order of the space."""
    indices, batch = mentions(e)
    return tuple(loop for loop in space if (batch if isinstance(loop, Batch) else loop.name in indices))
