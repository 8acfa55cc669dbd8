"""Scatters: `y[ids[n], d] += e` and its kin, combined with what the name already is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.diagnostics.model import Bag
from opgen.ir import text
from opgen.ir.formula import CONSTANTS
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind, Loop, Scatter, Shape
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.scalar import BATCH, Batch, Dim, Position, Read, Scalar
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse
from opgen.lang.walk import operands
from opgen.lower.access import check_rank, position
from opgen.lower.accumulated import accumulated
from opgen.lower.declare import Declarations, every
from opgen.lower.digits import alone_at, digits, extent_on_the_right
from opgen.lower.expression import expression
from opgen.lower.extent import extent_of, lacks_extents_only, resolve
from opgen.lower.kinds import numeric, promote
from opgen.lower.range import check_ranges
from opgen.lower.readings import shape_text, spelled
from opgen.lower.reduction import check_index_name
from opgen.lower.scatter_shape import proposals
from opgen.lower.scope import OF_SHAPE, UNKNOWN, Frame, IndexInfo, Known, Scope, Site, Variation, loops_of
from opgen.lower.statement import Wanted, declared_kind, index_names, small

OPERATORS = {"+=": "sum", "*=": "prod", "max=": "max", "min=": "min"}


@dataclass(frozen=True, slots=True)
class Version:
    """A name after some of its statements: where its value is so far."""

    tensor: str
    axes: tuple[Loop, ...]
    kind: Kind

    @property
    def shape(self) -> Shape:
        return tuple(BATCH if isinstance(a, Batch) else a.extent for a in self.axes)

    def read(self) -> Read:
        return Read(self.tensor, positions(self.axes))


def lower_scatter(
    d: Declarations, state: Variation, s: Assign, target: str, before: Version | None, wanted: Wanted, bag: Bag
) -> tuple[Compute | Scatter, ...]:
    """The statements for a scatter in one variant; empty after a mistake."""
    if s.target.name in d.inputs:
        return ()  # said where all names are looked at
    frame = Frame(d, bag, state, None, expression, target=s.target.name)
    frame.index_names = index_names(s)
    shape = wanted.shape if before is None else before.shape
    if shape is None:
        frame.error(
            "OPG248", f"nothing says what shape `{s.target.name}` has", s.target.span,
            *(accumulated(d, s) or proposals(frame, s)), label="scattered into",
        )  # fmt: skip
        _check_places(frame, s)
        return ()
    if shape == () and s.target.items:
        message, hint = f"`{s.target.name}` starts as one number, and has positions here", proposals(frame, s)[-1]
        frame.error("OPG212", message, s.target.span, _from_its_start(d, s, hint.removeprefix("or ")))
        return ()
    items = _items(frame, s, shape)
    known = Known(s.target.name, shape, Kind.FLOAT, s.target.name_span)
    written = None if items is None else Access(s.target.name, items, s.target.span, s.target.name_span)
    if written is None or not check_rank(frame, written, known, verb="assigned"):
        return ()
    scope = _scope(frame, s, written, shape)
    if scope is None:
        return ()
    frame.scope = scope
    at = _positions(frame, s, written, shape)
    scope.batch = scope.batch_used
    if not scope.batch_used:
        scope.loops.remove(BATCH)
    so_far = len(bag.items)
    body = numeric(frame.lower(s.value))
    if at is None:  # it is open then which indices there are
        bag.keep([d for k, d in enumerate(bag.items) if k < so_far or d.code != "OPG204"])
    told = body.kind is not None or lacks_extents_only(frame, s.value, so_far)
    infos = [i for i in scope.loops if isinstance(i, IndexInfo)]
    good = every(resolve(frame, i, body=told, where=_apart(frame, s, infos)) for i in infos)
    if at is None or body.kind is None or not good or not check_ranges(frame) or not small(frame, s, body.scalar):
        return ()
    kind = promote((body.kind, before.kind if before is not None else body.kind))
    chosen = None if kind is None else declared_kind(frame, s, kind, wanted)
    op = OPERATORS[s.op]
    if chosen is None:
        return ()
    base = before.read() if before is not None else REDUCTIONS[op].start(whole=chosen is Kind.INT)
    assert base is not None
    if chosen is Kind.COMPLEX and op != "sum":
        message = f"complex numbers are scattered with `+=`, not with `{s.op}`"
        frame.error("OPG223", message, s.target.span)
        return ()
    axes = before.axes if before is not None else fresh_axes(shape)
    scatter = Scatter(
        target, axes, loops_of(scope.loops), at, body.scalar, op, base, s.target.padded, chosen, s.span
    )  # fmt: skip
    return (*(p.compute() for p in frame.pending), scatter)


def _apart(f: Frame, s: Assign, infos: Sequence[IndexInfo]) -> str:
    """How a scatter is written whose index needs an extent: positions to the left of it state none."""
    if all(isinstance(item, Binder | Dots | Name) for item in s.target.items or ()):
        return ""
    low = {d.low: unparse(d.base) for item in s.target.items or () if (d := digits(f, s, item)) is not None}

    def bound(i: IndexInfo) -> str:
        if alone_at(f, s, i.name):
            return i.name
        stated = "…" if i.stated is None else text.scalar(i.stated)
        return f"{i.name} < {low.get(i.name) or extent_on_the_right(f, s, i.name) or stated}"

    named = ", ".join(map(bound, infos))
    added = f"`each[{', '.join(i.name for i in infos)}]`"
    return f"a computed position states none: write `each[{named}] = {unparse(s.value)}` first, and add {added}"


def identity(target: str, s: Assign, wanted: Wanted) -> Compute | None:
    """The value of a name none of whose scatters hold in a variant."""
    value = REDUCTIONS[OPERATORS[s.op]].start(whole=wanted.kind is Kind.INT)
    if wanted.shape is None or value is None:
        return None
    return Compute(target, fresh_axes(wanted.shape), value, kind=wanted.kind or Kind.FLOAT, span=s.span)


def fresh_axes(shape: Shape) -> tuple[Loop, ...]:
    """Axes over a shape, named after its dims."""
    found: list[Loop] = []
    taken: list[str] = []
    for size in shape:
        if isinstance(size, Batch):
            found.append(BATCH)
            continue
        wish = name = size.name.lower() if isinstance(size, Dim) else "i"
        while name in taken:
            name = f"{wish}{taken.count(name) + len(taken) + 1}"
        taken.append(name)
        found.append(Axis(name, size))
    return tuple(found)


def look_at_scatter(d: Declarations, state: Variation, s: Assign, bag: Bag) -> None:
    """Report what is wrong with a scatter by itself, where what it is added to is not known."""
    if s.target.name in d.inputs or s.target.items is None:
        return
    frame = Frame(d, bag, state, None, expression, target=s.target.name)
    frame.index_names = index_names(s)
    _check_places(frame, s)
    if frame.scope is not None:
        frame.lower(s.value)


def _check_places(frame: Frame, s: Assign) -> None:
    """What is wrong with the positions themselves, whatever the shape is."""
    items = tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in s.target.items or ())
    shape: Shape = tuple(BATCH if isinstance(i, Dots) else Dim(UNKNOWN) for i in items)
    written = Access(s.target.name, items, s.target.span, s.target.name_span)
    frame.scope = _scope(frame, s, written, shape)
    if frame.scope is not None:
        _positions(frame, s, written, shape)


def _from_its_start(d: Declarations, s: Assign, hint: str) -> str:
    """A proposal to start from nothing, from the number instead that the name starts as."""
    starts = [x for x in d.forward if x.target.name == s.target.name and x.op == "="]
    if len(starts) != 1 or starts[0].guard is not None:
        return hint
    before, equals, rest = hint.partition("] = ")
    return f"{before}{equals}{unparse(starts[0].value)}`{rest.partition('`')[2]}"


def _items(frame: Frame, s: Assign, shape: Shape) -> tuple[Expr | Dots, ...] | None:
    """The positions left of the operator; a bare name stands for all of a tensor without named dims."""
    if s.target.items is None:
        if shape == ():
            return ()
        if shape == (BATCH,):
            return (Dots(s.target.span),)
        frame.error(
            "OPG242", f"`{s.target.name}` has named dims and is assigned without indices", s.target.span,
            f"write `{spelled(frame, s.target.name, shape)}`", label=f"has shape {shape_text(shape)}",
        )  # fmt: skip
        return None
    return tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in s.target.items)


def _scope(frame: Frame, s: Assign, written: Access, shape: Shape) -> Scope | None:
    """Every index in the target is a loop; one that stands alone runs over the axis where it first does."""
    scope = Scope([BATCH], None)
    stated = {i.name: i for i in s.target.items or () if isinstance(i, Binder) and i.extent is not None}
    for name in _indices(frame, written):
        if scope.find(name.name) is not None:
            continue
        binder = stated.get(name.name, Binder(name.name, None, name.span))
        if not check_index_name(frame, binder):
            return None
        info = IndexInfo(name.name, name.name, name.span)
        alone = [n for i, n in zip(written.items, shape, strict=True) if isinstance(i, Name) and i.name == name.name]
        if binder.extent is not None:
            info.stated, info.origin = extent_of(frame, binder.extent), "written here"
            if info.stated is None:
                return None
        elif alone and not isinstance(alone[0], Batch):
            info.stated, info.origin = alone[0], f"{OF_SHAPE}`{s.target.name}`"
        scope.loops.append(info)
    return scope


def _indices(frame: Frame, written: Access) -> Iterator[Name]:
    """The names in positions that stand for nothing else."""
    d, state = frame.decl, frame.state
    for item in written.items:
        if isinstance(item, Dots):
            continue
        for n in _free(item, frozenset()):
            other = isinstance(n, Name) and (
                (n.name in state.tensors and n is not item) or n.name in d.params or n.name in d.known_dims()
                or n.name in CONSTANTS or n.name[:1].isupper()
            )  # fmt: skip
            if isinstance(n, Name) and not other and not (n is item and n.name in state.tensors and _is_bare(frame, n)):
                yield n


def _free(e: Expr, bound: frozenset[str]) -> Iterator[Name]:
    """The names in a position, but for indices of reductions in it, which end with these."""
    if isinstance(e, Name) and e.name not in bound:
        yield e
    row = (REDUCTIONS | ORDERS).get(e.name) if isinstance(e, Reduction) else None
    if isinstance(e, Reduction) and row is not None and not row.keeps_index:
        bound |= {b.name for b in e.binders if isinstance(b, Binder)}
    for part in operands(e):
        yield from _free(part, bound)


def _is_bare(frame: Frame, n: Name) -> bool:
    """Whether a name in brackets is an integer tensor read whole."""
    return frame.state.tensors[n.name].kind is Kind.INT


def _positions(frame: Frame, s: Assign, written: Access, shape: Shape) -> tuple[Position, ...] | None:
    at: list[Position] = []
    good = True
    for item, size in zip(written.items, shape, strict=True):
        if isinstance(item, Dots) or isinstance(size, Batch):
            assert frame.scope is not None
            frame.scope.use_batch()
            at.append(BATCH)
            continue
        site = Site(size, s.target.name, s.target.span, s.target.padded, written=True)
        found: Scalar | None = position(frame, item, size, site)
        good = found is not None and good
        at.append(BATCH if found is None else found)
    return tuple(at) if good else None
