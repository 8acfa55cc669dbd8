"""What the lowering of one statement knows: typed scalars, index scopes, tensors in reach, reductions on their way out.

Extents of indices are found from where they stand, which may be after a reduction that uses them has been taken out of
the formula; so taken-out statements stay pending until the statement is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Span
from opgen.ir.program import Axis, Compute, Kind, Loop, Shape
from opgen.ir.scalar import (
    NAN,
    Apply,
    Batch,
    Dim,
    Lit,
    Scalar,
    add,
    children,
    mentions,
    mul,
    neg,
    transform,
)
from opgen.lang.nodes import Expr
from opgen.lower.declare import Declarations

OF_GRADIENT = "the shape of the input of "  # where one comes from that a stated gradient has
OF_SHAPE = "the shape of what it is scattered into, "  # where one comes from that a scatter has
DECLARED = "its declared shape"  # where an extent comes from that an output states


@dataclass(frozen=True, slots=True)
class Typed:
    """A lowered expression and the kind of its elements; kind None after a mistake that has been reported."""

    scalar: Scalar
    kind: Kind | None


BAD = Typed(NAN, None)

UNKNOWN = "?"  # the dim of a tensor whose shape is being found out


@dataclass(frozen=True, slots=True)
class Begun:
    """A start of a recurrence: at which positions it is how far outside, and what it is at the others.

    Below the first element it is so far with a minus.
    """

    at: tuple[tuple[int, int], ...]
    value: Compute


@dataclass(frozen=True, slots=True)
class Outside:
    """What stands outside of a recurrence: below 0, or from the extent on where it runs downwards."""

    along: tuple[tuple[int, int], ...]  # the positions that run along, with -1 or, downwards, 1; some with both
    starts: tuple[Begun, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A tensor in reach. `shape` None: its statement was refused, so nothing about it is worth reporting."""

    name: str
    shape: Shape | None
    kind: Kind
    span: Span
    absent: Scalar | None = None  # what reads of a missing optional input become
    declared: bool = False  # an input, whose shape stands in the spec
    running: frozenset[int] = frozenset()  # where one of the recurrence at hand runs along: guarded later
    outside: Outside | None = None  # of a recurrence that is done


@dataclass(frozen=True, slots=True)
class Site:
    """An access, at an axis of this extent; `padded`: it may leave the range, so it says little about an index."""

    extent: Scalar
    tensor: str
    span: Span
    padded: bool = False
    written: bool = False


@dataclass(slots=True)
class IndexInfo:
    """An index in scope: its name as written, its name in the program, and what says how far it runs."""

    name: str
    unique: str
    span: Span
    stated: Scalar | None = None  # written (`r < R`) or declared by an output's shape
    origin: str = ""  # where a stated extent comes from
    sites: list[Site] = field(default_factory=list)
    extent: Scalar | None = None
    padded: bool = False  # stands in a position that may leave its tensor
    around: Check | None = None  # that position
    beside: Dim | None = None  # the dim along which it does so, moved by a number or in a window

    def axis(self) -> Axis:
        return Axis(self.unique, self.extent if self.extent is not None else Lit(1))


@dataclass(slots=True)
class Scope:
    """Indices bound at one place (a target or a reduction). `batch`: bound here, not bound here, or by use (None)."""

    loops: list[IndexInfo | Batch]
    batch: bool | None
    parent: Scope | None = None

    def root(self) -> Scope:
        """The indices of the target."""
        return self if self.parent is None else self.parent.root()

    batch_used: bool = False

    def find(self, name: str) -> IndexInfo | None:
        scope: Scope | None = self
        while scope is not None:
            for loop in scope.loops:
                if isinstance(loop, IndexInfo) and loop.name == name:
                    return loop
            scope = scope.parent
        return None

    def use_batch(self) -> bool:
        """Note a read of `...`; False where no scope has batch dims."""
        scope: Scope | None = self
        while scope is not None:
            if scope.batch is not False:
                scope.batch_used = True
                return True
            scope = scope.parent
        return False

    def visible(self) -> list[IndexInfo | Batch]:
        """Every loop in scope, outermost first."""
        outer = self.parent.visible() if self.parent is not None else []
        return outer + self.loops


@dataclass(slots=True)
class Pending:
    """A part taken out of a formula, to become a statement once its extents are known: most are reductions."""

    target: str
    axes: list[IndexInfo | Batch]
    body: Scalar
    op: str | None
    over: list[IndexInfo | Batch]
    kind: Kind
    span: Span | None

    def compute(self) -> Compute:
        return Compute(self.target, loops_of(self.axes), self.body, self.op, loops_of(self.over), self.kind, self.span)


@dataclass(frozen=True, slots=True)
class Check:
    """A position to compare with its axis once the extents of the indices in it are known."""

    position: Scalar
    extent: Scalar
    site: Site
    span: Span
    indices: tuple[tuple[str, IndexInfo], ...]
    path: tuple[Scalar, ...]  # conditions under which it is evaluated
    reach: tuple[tuple[str, IndexInfo], ...] = ()  # the indices of these

    @property
    def always(self) -> bool:
        """Whether it is evaluated whatever the values are."""
        return not self.path


@dataclass(slots=True)
class Frame:
    """One statement, function or constant being lowered in one variant."""

    decl: Declarations
    bag: Bag
    state: Variation
    scope: Scope | None
    lowering: Callable[[Frame, Expr], Typed]
    args: dict[str, Typed] = field(default_factory=dict)  # of the local function at hand
    calls: tuple[str, ...] = ()  # local functions being expanded, for recursion
    path: tuple[Scalar, ...] = ()  # conditions under which the expression at hand is evaluated
    pending: list[Pending] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    index_names: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)
    target: str = ""
    place: str = "a formula"  # for messages
    around: Scope | None = None  # where the call of the local function at hand stands
    alone: bool = False  # a function is looked at by itself, and so is each that it calls
    depth: int = 0  # of expressions within each other, those of functions included

    def is_loose(self, info: IndexInfo) -> bool:
        """Whether an index of the target ends nowhere because the shape that is declared could not be read."""
        declared = any(o.name == self.target and o.shape for o in self.decl.spec.outputs or ())
        own = self.scope is not None and any(loop is info for loop in self.scope.root().loops)
        return declared and self.target not in self.decl.output_shapes and own and info.stated is None

    def lower(self, e: Expr) -> Typed:
        self.depth += 1
        made = self.lowering(self, e)
        self.depth -= 1
        return made

    def apart(self) -> Frame:
        """A frame for a trial, of which nothing is told."""
        return replace(self, bag=Bag(), state=self.state.apart(), pending=[], checks=[], reported=set(self.reported))

    def error(
        self, code: str, message: str, span: Span, *hints: str, label: str = "", notes: Iterable[str] = ()
    ) -> Typed:
        """Report a mistake; gives what stands for it."""
        self.bag.error(code, message, span, label=label, hints=hints, notes=notes)
        return BAD


@dataclass(slots=True)
class Variation:
    """One variant while it is lowered: what is fixed in it and what has been computed so far."""

    given: dict[str, bool]
    chosen: dict[str, str | bool]
    defaults: dict[str, Scalar] = field(default_factory=dict)  # missing params with a computed default
    tensors: dict[str, Known] = field(default_factory=dict)
    later: dict[str, Span] = field(default_factory=dict)  # names assigned further down
    dims: dict[str, Scalar | None] = field(default_factory=dict)  # derived ones with their value
    taken: set[str] = field(default_factory=set)
    sizes: dict[int, tuple[Scalar, int, int]] = field(default_factory=dict)
    expansions: int = 0  # of local functions, so that doubling ones end
    written: dict[tuple[object, ...], Typed] = field(default_factory=dict)  # local functions of their arguments
    alone: dict[str, Typed] = field(default_factory=dict)  # local functions of numbers that are not known
    clashes: set[tuple[str, ...]] = field(default_factory=set)  # tensors that are read over two dims, reported once
    circles: set[frozenset[str]] = field(default_factory=set)  # of local functions, reported once
    lists: set[str] = field(default_factory=set)  # params that are read as lists and are none, reported once

    def apart(self) -> Variation:
        """The same for a trial: what is found out and told in it is neither known nor told outside."""
        return replace(
            self, tensors=dict(self.tensors), later=dict(self.later), taken=set(self.taken), sizes={},
            written=dict(self.written), alone=dict(self.alone), clashes=set(self.clashes), circles=set(self.circles),
            lists=set(self.lists),
        )  # fmt: skip

    def fresh(self, wish: str) -> str:
        """A name nobody has yet."""
        name, n = wish, 1
        while name in self.taken:
            n += 1
            name = f"{wish}_{n}"
        self.taken.add(name)
        return name


def loops_of(infos: Iterable[IndexInfo | Batch]) -> tuple[Loop, ...]:
    return tuple(i if isinstance(i, Batch) else i.axis() for i in infos)


def free(e: Scalar) -> tuple[frozenset[str], bool]:
    """The indices an expression uses, and whether it uses batch dims."""
    return mentions(e)


def same_extent(a: Scalar, b: Scalar, dims: dict[str, Scalar | None]) -> bool:
    """Whether two extents are equal for every size, as far as expanding derived dims and ordering terms shows."""
    return a == b or _canonical(a, dims) == _canonical(b, dims)


def _canonical(e: Scalar, dims: dict[str, Scalar | None]) -> Scalar:
    def step(node: Scalar) -> Scalar:
        if isinstance(node, Dim):
            value = dims.get(node.name)
            return node if value is None else _canonical(value, dims)
        if isinstance(node, Apply) and node.fn == "sub":
            node = add(node.args[0], neg(node.args[1]))
        if isinstance(node, Apply) and node.fn in ("add", "mul"):
            rebuilt = add(*node.args) if node.fn == "add" else mul(*node.args)
            if isinstance(rebuilt, Apply) and rebuilt.fn in ("add", "mul"):
                return Apply(rebuilt.fn, tuple(sorted(rebuilt.args, key=repr)))
            return rebuilt
        return node

    return transform(e, step)


def measure(e: Scalar, memo: dict[int, tuple[Scalar, int, int]]) -> tuple[int, int]:
    """Number of nodes and depth of a tree, in time linear in its distinct parts."""
    known = memo.get(id(e))
    if known is not None:
        return known[1], known[2]
    size, depth = 1, 0
    for child in children(e):
        s, d = measure(child, memo)
        size, depth = size + s, max(depth, d)
    memo[id(e)] = (e, size, depth + 1)
    return size, depth + 1
