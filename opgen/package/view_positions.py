"""The positions that a call may get wrong, for the words of its error: fields of the definition of an operator.

In goes a `Surface`; out come the operands whose elements are positions, what else is read at positions that may be out
of range, and the order statistics, which read out of range where they are of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.code.layout import quoted, tupled
from opgen.ir import text
from opgen.ir.held import Held
from opgen.ir.program import (
    Axis,
    Compute,
    Kind,
    Loop,
    Program,
    Recurrence,
    Scatter,
    Shape,
    Tensor,
    definitions,
    statement_reads,
    targets,
)
from opgen.ir.ranges import derived_sizes
from opgen.ir.reductions import ORDERS
from opgen.ir.scalar import (
    BATCH,
    Apply,
    Batch,
    Dim,
    Index,
    Lit,
    Param,
    Position,
    Read,
    Scalar,
    children,
    reads,
    walk,
)
from opgen.package.doubtful import held_around, is_doubtful
from opgen.package.view import Surface


def position_fields(s: Surface) -> list[str]:
    """`positions`: operands, and where the size is found; `computed`: who is to blame, the condition for a position.

    Then `orders`: each statistic, and what makes it one of nothing by being 0, sizes of operands or params.
    """
    read: dict[str, None] = {}
    computed: dict[str, None] = {}
    orders: dict[str, None] = {}
    for _, p in s.programs("forward"):
        known = (*s.inputs, *s.output_names)
        for st in definitions(p):
            statistic, factors = _statistic(st), _factors(p, st)
            if statistic and factors:
                orders[tupled([quoted(statistic), *factors])] = None
        for _, position, extent, _, _ in _positions(p):
            operand, sized = _operand(p, position), _sized(p, extent)
            if operand is not None and sized is not None:
                read[tupled([quoted(operand), *sized])] = None
        for d in doubts(p):
            blamed = d.tensor if d.tensor in known else d.source or _named(p, d.tensor, d.position, d.extent)
            where = ", ".join(f"{a.name} < {text.scalar(a.extent)}" for a in moving(d.position, d.loops))
            told = _inside(p, d.position, d.extent) + (f" for {where}" if where else "")
            computed.update({tupled([quoted(blamed), quoted(told)]): None} if blamed else {})
    rows = {"positions": read, "computed": computed, "orders": orders}
    return [f"{name}={tupled([*found])}" for name, found in rows.items() if found]


@dataclass(frozen=True, slots=True)
class Demand:
    """What must hold of a position that may leave its tensor: is it written there, and what decides: integer operands,
    and sizes and params that callers give.
    """

    told: str
    written: bool
    operands: tuple[str, ...]
    sizes: tuple[str, ...]


def demands(p: Program) -> Iterator[Demand]:
    """One for every position in doubt."""
    targets_of = {st.target for st in definitions(p) if isinstance(st, Scatter)}
    for name, at, n, loops, is_in_doubt in _positions(p):
        if is_in_doubt:
            sources = tuple(_sources(p, at))
            yield Demand(_inside(p, at, n), name in targets_of, sources, tuple(_given(p, at, n, loops)))


def _given(p: Program, position: Position, extent: Scalar | Batch, loops: Sequence[Loop]) -> Iterator[str]:
    """The dims and params that an extent, and a position up to the ends of its indices, are made of."""
    values = derived_sizes(p)
    rest = [e for e in (extent, position) if not isinstance(e, Batch)]
    rest += [] if isinstance(position, Batch) else [a.extent for a in moving(position, loops)]
    seen = set[str]()
    while rest:
        match rest.pop(0):
            case Dim(name) if (value := values.get(name)) is not None:
                rest.append(value)
            case Dim(name) | Param(name, None) if name not in seen:
                seen.add(name)
                yield name
            case Read():
                pass
            case e:
                rest += children(e)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A position of a tensor that may leave an extent of it; `source` is the integer operand that decides, if any."""

    tensor: str
    position: Scalar
    extent: Scalar
    loops: tuple[Loop, ...]
    source: str


def doubts(p: Program) -> Iterator[Doubt]:
    """The positions in doubt, but for those that are elements of an operand along a size of another."""
    for name, at, n, loops, is_in_doubt in _positions(p):
        if isinstance(at, Batch) or isinstance(n, Batch) or not is_in_doubt:
            continue
        if _operand(p, at) is None or _sized(p, n) is None:
            yield Doubt(name, at, n, loops, _source(p, at))


def moving(position: Scalar, loops: Sequence[Loop]) -> tuple[Axis, ...]:
    """The loops that a position moves with, but for those that only say which element it is read from."""
    rest, found = [position], set[str]()
    while rest:
        match rest.pop():
            case Index(name):
                found.add(name)
            case Read():
                pass
            case e:
                rest += children(e)
    return tuple(a for a in loops if isinstance(a, Axis) and a.name in found)


def _positions(p: Program) -> Iterator[tuple[str, Position, Scalar | Batch, tuple[Loop, ...], bool]]:
    """Every position that a statement reads or writes, of which tensor and along which extent: is it in doubt?

    What a recurrence reads of itself is kept inside, but for positions computed from integers of operands.
    """
    own = {name for st in p.statements if isinstance(st, Recurrence) for name in targets(st)}
    for st in definitions(p):
        for name, at, shape, held in _accesses(p, st):
            for position, extent in zip(at, shape, strict=True):
                judged = name not in own or bool(_source(p, position))
                loops = _loops(st, name)
                yield name, position, extent, loops, judged and is_doubtful(p, loops, position, extent, held)


def _inside(p: Program, position: Position, extent: Scalar | Batch) -> str:
    return f"0 <= {_written(p, position)} < {text.shape((extent,))[1:-1]}"


def _statistic(st: Compute | Scatter) -> str:
    """The order statistic that an order is made for, as the spec names it; empty where a statement is none."""
    made = st.span.text.partition("[")[0] if isinstance(st, Compute) and st.op == "argsort" and st.span else ""
    return made if made in ORDERS and not ORDERS[made].keeps_index else ""


def _factors(p: Program, st: Compute | Scatter) -> list[str]:
    """What the number of elements in an order is a product of, each as an operand and an axis or as a param."""
    found: list[str] = []
    rest = [a.extent for a in st.over if isinstance(a, Axis)] if isinstance(st, Compute) else []
    values = derived_sizes(p)
    while rest:
        match rest.pop():
            case Apply("mul", args):
                rest += args
            case Dim(name) if (value := values.get(name)) is not None:
                rest.append(value)
            case Param(name, None):
                found.append(tupled([quoted(name)]))
            case e if (sized := _sized(p, e)) is not None:
                found.append(tupled(sized[:2]))
            case Lit():
                pass
            case _:
                return []
    return sorted(found)


def _accesses(p: Program, st: Compute | Scatter) -> Iterator[tuple[str, Sequence[Position], Shape, Held]]:
    """What a statement reads and writes where it must be, and what holds there: not what is filled in out of range."""
    if isinstance(st, Scatter) and not st.padded:
        yield st.target, st.at, st.shape, ()
    around: dict[Read, Held] = {}
    for r in statement_reads(st):
        made = p.tensor(r.tensor)
        if made is None or r.fill is not None:
            continue
        pairs = zip(r.at, made.shape, strict=True)
        if not around and any(is_doubtful(p, _loops(st, r.tensor), q, n, ()) for q, n in pairs):
            around = held_around(st)  # which takes long where there is much of it, and is seldom asked for
        yield r.tensor, r.at, made.shape, around.get(r, ())


def _operand(p: Program, position: Position) -> str | None:
    """The integer operand that a position is read from as it is."""
    if not isinstance(position, Read):
        return None
    return next((t.name for t in p.inputs if t.name == position.tensor and t.kind is Kind.INT), None)


def _source(p: Program, position: Position) -> str:
    """An integer operand that a position is computed from, perhaps by way of others; empty where there is none."""
    return next(_sources(p, position), "")


def _sources(p: Program, position: Position) -> Iterator[str]:
    """All of these."""
    made = {st.target: st for st in definitions(p)}
    integers = {t.name for t in p.inputs if t.kind is Kind.INT}
    rest = [] if isinstance(position, Batch) else [r.tensor for r in reads(position)]
    seen: set[str] = set()
    while rest:
        name = rest.pop(0)
        if name in integers and name not in seen:
            yield name
        elif name in made and name not in seen:
            rest += [r.tensor for r in statement_reads(made[name])]
        seen.add(name)


def _named(p: Program, name: str, position: Position, extent: Scalar | Batch) -> str:
    """What an intermediate is called: as the spec does, or by the input whose order it has; empty where by neither."""
    st = next(st for st in definitions(p) if st.target == name)
    written = st.span is not None and re.match(r"(?:pad\()?\s*(\w+)", st.span.text)
    return name if written and written[1] == name else _ordered(p, name, position, extent)


def _written(p: Program, position: Position) -> str:
    """A position with the reductions in it as the spec writes them, where it has no names for them."""
    shown = text.position(position)
    made = {st.target: st for st in definitions(p)}
    for r in () if isinstance(position, Batch) else reads(position):
        st = made.get(r.tensor)
        if isinstance(st, Compute) and st.span is not None and st.op and st.span.text.startswith(f"{st.op}["):
            shown = shown.replace(text.scalar(r), " ".join(st.span.text.split()))
    return shown


def _ordered(p: Program, name: str, position: Position, extent: Scalar | Batch) -> str:
    """The first input whose elements a tensor has the order of, where a param tells a place in it; empty elsewhere."""
    told = {n.name for n in walk(position) if isinstance(n, Param)} if not isinstance(position, Batch) else set()
    if isinstance(extent, Batch) or not told - {n.name for n in walk(extent) if isinstance(n, Param)}:
        return ""
    made = {st.target: st for st in definitions(p)}
    st = made.get(name)
    if not isinstance(st, Compute) or st.op != "argsort":
        return ""
    inputs = {t.name for t in p.inputs}
    rest = [r.tensor for r in statement_reads(st)]
    while rest and rest[0] not in inputs:
        first = made.pop(rest.pop(0), None)
        rest += [] if first is None else [r.tensor for r in statement_reads(first)]
    return rest[0] if rest else ""


def _sized(p: Program, extent: object) -> tuple[str, str, str] | None:
    """A tensor, an axis of it, and the dim that it has along there."""
    source = next((d for d in p.dims if isinstance(extent, Dim) and d.name == extent.name and d.tensor), None)
    if source is None:
        return None
    sized: Tensor = next(t for t in p.inputs if t.name == source.tensor)
    behind = BATCH in sized.shape[: source.position]
    axis = source.position - (len(sized.shape) if behind else 0)
    return quoted(sized.name), str(axis), quoted(source.name)


def _loops(st: Compute | Scatter, name: str) -> tuple[Loop, ...]:
    return (*st.axes, *st.loops) if isinstance(st, Scatter) and name != st.target else st.loops
