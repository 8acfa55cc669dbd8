"""The Program: an operator as a list of single-assignment statements in index notation.

One Program is one *variant* of an operator (optional inputs present or absent, choices fixed), so nothing in it is
conditional except `where` inside a body. All derived programs are of this one form; passes go from Program to Program.

    x[..., K], w[N, K]                              inputs
    y[..., n] = sum[k](x[..., k] * w[n, k])         Compute(op="sum", over=(k,))
    g[V, d]: at (ids[...], d) += bar_y[..., d]      Scatter(op="sum")

Axis names are local to a statement: a target's axes bind the indices its body uses. `BATCH` is the operator-wide batch
shape (the broadcast of the batch dims of all inputs). A tensor that has `BATCH` and is read at `BATCH` is broadcast to
it; an *input* may come with fewer batch dims or with ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from opgen.diagnostics.model import Span
from opgen.ir.scalar import BATCH, ZERO, Batch, Read, Scalar, reads


class Kind(StrEnum):
    """What an element is. `float` stands for every floating dtype the operator is called with."""

    FLOAT = "float"
    INT = "int"
    BOOL = "bool"
    COMPLEX = "complex"  # outside programs, where such a tensor is two of floats (`opgen.lower.complex_split`)


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop: the index name and its extent (an integer scalar of dims, int params and literals)."""

    name: str
    extent: Scalar


Loop = Axis | Batch
Shape = tuple[Scalar | Batch, ...]


class Role(StrEnum):
    """Why a tensor is an argument of a program."""

    INPUT = "input"  # an input of the spec
    COTANGENT = "cotangent"  # the gradient of an output
    TANGENT = "tangent"  # the tangent of an input
    SAVED = "saved"  # an output or intermediate kept from the forward program


@dataclass(frozen=True, slots=True)
class Tensor:
    """An argument of a program: shape in declared order (dims, integer scalars, at most one BATCH anywhere)."""

    name: str
    shape: Shape
    kind: Kind = Kind.FLOAT
    role: Role = Role.INPUT
    differentiable: bool = True
    of: str = ""  # cotangent/tangent/saved: the tensor of the primal program it belongs to
    doc: str = ""
    dtype: str = ""  # of floats: what the output that this belongs to is stored in; empty: that of the operator


@dataclass(frozen=True, slots=True)
class Given:
    """Optional input or `default: null` param `name` is present (or absent)."""

    name: str
    present: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choices or bool param has this value."""

    name: str
    value: str | bool


Condition = Given | Chosen


@dataclass(frozen=True, slots=True)
class Argument:
    """A non-tensor argument. `default` is None for required, and `null` is True for `default: null`."""

    name: str
    type: str  # "float" | "int" | "bool" | "str"
    length: int | None = None  # list params
    default: int | Fraction | bool | str | tuple[int | Fraction | bool, ...] | Scalar | None = None
    null: bool = False
    choices: tuple[str, ...] = ()
    doc: str = ""
    positive: bool = False  # an int whose domain says so; gradients rely on it, so that callers check it
    tells: Condition | None = None  # of a bool that no caller states: what it says of the call

    @property
    def required(self) -> bool:
        return self.default is None and not self.null


@dataclass(frozen=True, slots=True)
class DimSource:
    """Where a dim's size comes from: axis `position` of argument `tensor` (counted in its shape), or an expression."""

    name: str
    tensor: str | None = None
    position: int = 0
    value: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Compute:
    """`target[axes] = op[over](body)`.

    `op` None: a map; `over` is empty. A reduction (`opgen.ir.reductions`): `over` are loops not in `axes`. An index
    operator (`softmax`, `log_softmax`, later the scans): `over` names axes that are in `axes` as well.
    """

    target: str
    axes: tuple[Loop, ...]
    body: Scalar
    op: str | None = None
    over: tuple[Loop, ...] = ()
    kind: Kind = Kind.FLOAT
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def shape(self) -> Shape:
        return tuple(BATCH if isinstance(a, Batch) else a.extent for a in self.axes)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Every loop of the statement, target axes first."""
        return self.axes + tuple(a for a in self.over if a not in self.axes)


@dataclass(frozen=True, slots=True)
class Scatter:
    """`target = base`, then `target[at] op= body` for every point of `loops`; `base` is a scalar over `axes`.

    The adjoint of a gather. `op` is "sum", "prod", "max" or "min". `padded`: what goes out of range is dropped.
    """

    target: str
    axes: tuple[Loop, ...]
    loops: tuple[Loop, ...]
    at: tuple[Scalar | Batch, ...]
    body: Scalar
    op: str = "sum"
    base: Scalar = ZERO
    padded: bool = False
    kind: Kind = Kind.FLOAT
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def shape(self) -> Shape:
        return tuple(BATCH if isinstance(a, Batch) else a.extent for a in self.axes)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Steps that are repeated for every value of `along`, upwards or (`reverse`) downwards.

    Every step has `along` among its axes. A step reads earlier steps at the same place, and any step one place back
    (`along - 1`, or `along + 1` where `reverse`), under a condition that keeps it inside; nothing else of the group.
    """

    along: Axis
    steps: tuple[Compute, ...]
    reverse: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(s.target for s in self.steps)

    @property
    def target(self) -> str:
        """The last target, for messages and names."""
        return self.steps[-1].target


Plain = Compute | Scatter
Statement = Compute | Scatter | Recurrence


def targets(s: Statement) -> tuple[str, ...]:
    """The tensors that a statement defines."""
    return s.targets if isinstance(s, Recurrence) else (s.target,)


@dataclass(frozen=True, slots=True)
class Output:
    """A result. `like` names the input whose actual shape the result is summed to (gradients of broadcast operands)."""

    name: str  # the name it has outside (`output`, `grad_input`, `tangent_output`)
    value: str  # the statement target (or argument) that holds it
    shape: Shape
    kind: Kind = Kind.FLOAT
    like: str | None = None
    differentiable: bool = True
    of: str = ""  # what it is the gradient or tangent of; for a residual, the forward tensor itself
    doc: str = ""
    kept: bool = False  # a residual, or its tangent: in the compute dtype, not broadcast to all batch dims
    dtype: str = ""  # of floats: what values are rounded to; empty: the dtype that the operator is called with


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function of the spec that stays a call while programs are differentiated.

    One with a stated derivative is written out afterwards. One that other libraries compute stays a call: `spellings`
    are its names there by back end, `value` is what it is elsewhere, if the spec says so.
    """

    name: str
    params: tuple[str, ...]
    value: Scalar | None  # over Param(name) leaves for its params
    partials: tuple[Scalar, ...]  # none: those of the value
    spellings: tuple[tuple[str, str], ...] = ()

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return self.partials if self.value is None else (self.value, *self.partials)

    @property
    def differentiable(self) -> bool:
        """Whether there is something to differentiate: a formula, or stated derivatives."""
        return self.value is not None or bool(self.partials)

    def spelling(self, *back_ends: str) -> str | None:
        """Its name in the first of some back ends that has one."""
        found = dict(self.spellings)
        return next((found[b] for b in back_ends if b in found), None)

    @property
    def header(self) -> str | None:
        """What to include for its names in C++ and CUDA."""
        return self.spelling("include")


@dataclass(frozen=True, slots=True)
class Override:
    """A `backward:` block: the gradients it states, and the statements that compute them (targets `grad_<input>`)."""

    inputs: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    shapes: tuple[Shape, ...] = ()  # as assigned; summed to the input's shape


@dataclass(frozen=True, slots=True)
class Program:
    """A straight-line index program. Statements are in order: a tensor is read only after its statement."""

    name: str
    inputs: tuple[Tensor, ...]
    params: tuple[Argument, ...]
    dims: tuple[DimSource, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[Output, ...]
    functions: tuple[Function, ...] = ()
    override: Override = Override()
    _tensors: dict[str, Tensor | Compute | Scatter] = field(init=False, repr=False, compare=False, default_factory=dict)

    def tensor(self, name: str) -> Tensor | Compute | Scatter | None:
        """The argument or statement that defines a tensor."""
        if not self._tensors:
            self._tensors.update({s.target: s for s in reversed(definitions(self))} | {t.name: t for t in self.inputs})
        return self._tensors.get(name)

    def shape_of(self, name: str) -> Shape:
        found = self.tensor(name)
        assert found is not None, f"{self.name}: no tensor {name!r}"
        return found.shape

    def kind_of(self, name: str) -> Kind:
        found = self.tensor(name)
        assert found is not None, f"{self.name}: no tensor {name!r}"
        return found.kind


def statement_scalars(s: Statement) -> tuple[Scalar, ...]:
    """Every scalar expression of a statement: body, positions, base, extents."""
    match s:
        case Compute():
            extents = tuple(a.extent for a in s.loops if isinstance(a, Axis))
            return (s.body, *extents)
        case Scatter():
            positions = tuple(p for p in s.at if not isinstance(p, Batch))
            extents = tuple(a.extent for a in s.axes + s.loops if isinstance(a, Axis))
            return (s.body, *positions, s.base, *extents)
        case Recurrence():
            return tuple(e for step in s.steps for e in statement_scalars(step))


def bodies(s: Plain) -> tuple[Scalar, ...]:
    """What the elements of a statement are made of."""
    return (s.body, s.base) if isinstance(s, Scatter) else (s.body,)


def statement_reads(s: Statement) -> tuple[Read, ...]:
    """The distinct accesses of a statement in order of appearance."""
    found: dict[Read, None] = {}
    for e in statement_scalars(s):
        found.update(dict.fromkeys(reads(e)))
    return tuple(found)


def definitions(p: Program) -> tuple[Compute | Scatter, ...]:
    """What defines a tensor of the program, in order."""
    return parts(p.statements)


def parts(statements: Iterable[Statement]) -> tuple[Compute | Scatter, ...]:
    """The statements with the steps of recurrences one by one."""
    return tuple(part for s in statements for part in (s.steps if isinstance(s, Recurrence) else (s,)))


def names(p: Program) -> Iterator[str]:
    """Every name taken in a program, for making fresh ones."""
    yield from (x.name for named in (p.inputs, p.params, p.outputs) for x in named)
    yield from (s.target for s in definitions(p))
