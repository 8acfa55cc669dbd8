"""Sizes in Python: the checks of an operator's arguments and the shapes of its results.

In go resolved programs; out come lines of Python over `x.shape`. The fake kernels are made of these lines, and so are
the checks that the real kernels run, so that both refuse the same calls with the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from opgen.code.layout import bracketed, quoted
from opgen.code.names import PYTHON
from opgen.code.printer import Leaf, Printer, Text
from opgen.ir.operator import Operator
from opgen.ir.program import (
    DimSource,
    Kind,
    Output,
    Program,
    Shape,
    Tensor,
    statement_reads,
    statement_scalars,
    targets,
)
from opgen.ir.scalar import BATCH, PLACE, Batch, Dim, Lit, Param, Scalar, walk
from opgen.ir.text import scalar as scalar_text
from opgen.torch.dialect import ATOM, Casts, dialect


@dataclass(slots=True)
class Sizes:
    """Lines that find sizes, made as they are asked for."""

    program: Program
    lines: list[str] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)

    def size(self, dim: str) -> str:
        """The local name of a dim."""
        if dim not in self.known:
            source = next(d for d in self.program.dims if d.name == dim)
            text = self._source(source)
            self.known[dim] = local(dim)
            self.lines.append(f"{local(dim)} = {text}")
        return self.known[dim]

    def _source(self, source: DimSource) -> str:
        if source.tensor is None:
            assert source.value is not None, f"dim {source.name} has no source"
            return self.number(source.value)
        tensor = next(t for t in self.program.inputs if t.name == source.tensor)
        return extent(tensor.name, tensor.shape, source.position)

    def number(self, e: Scalar) -> str:
        """An integer expression of dims and params."""
        return Printer(dialect(_NO_CASTS), self._leaf).text(e).text

    def _leaf(self, leaf: Leaf) -> Text:
        match leaf:
            case Dim("..."):
                return Text(f"math.prod({self.batch(self.whole())})", ATOM, Kind.INT, number=True)
            case Dim(name):
                return Text(self.size(name), ATOM, Kind.INT, number=True)
            case Param(name, item):
                declared = next(a for a in self.program.params if a.name == name)
                kind = Kind.INT if declared.type == "str" else Kind(declared.type)
                return Text(name if item is None else f"{name}[{item}]", ATOM, kind, number=True)
            case _:
                raise AssertionError(f"{leaf} is no size")

    def whole(self) -> tuple[str, ...]:
        """The arguments that have batch dims."""
        return tuple(t.name for t in self.program.inputs if BATCH in t.shape)

    def batch(self, carriers: Sequence[str]) -> str:
        """The batch shape of these arguments together."""
        tensors = [t for t in self.program.inputs if t.name in carriers]
        parts = [batch_of(t.name, t.shape) for t in tensors]
        if len(parts) < 2:
            return parts[0] if parts else "()"
        return f"torch.broadcast_shapes({', '.join(parts)})"

    def shape(self, shape: Shape, carriers: Sequence[str]) -> str:
        """A shape as a tuple display."""
        if shape == (BATCH,):
            return self.batch(carriers)
        parts = [f"*{self.batch(carriers)}" if isinstance(x, Batch) else self.number(x) for x in shape]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def local(dim: str) -> str:
    """The name of a dim's size; names that read as digits, or that code uses itself, are avoided."""
    return f"size_{dim.lower()}" if dim in PYTHON else dim


def _no_cast(*_: object) -> str:
    raise AssertionError("sizes are numbers")


_NO_CASTS = Casts(_no_cast, _no_cast)


def extent(name: str, shape: Shape, position: int) -> str:
    """The size of one axis of an argument; axes behind the batch dims are counted from the end."""
    behind = BATCH in shape and position > shape.index(BATCH)
    return f"{name}.shape[{position - len(shape) if behind else position}]"


def batch_of(name: str, shape: Shape) -> str:
    """The batch shape of an argument."""
    before = shape.index(BATCH)
    after = len(shape) - 1 - before
    return f"{name}.shape[{before or ''}:{-after or ''}]" if before or after else f"{name}.shape"


def layout_text(shape: Shape) -> str:
    """A declared shape as the spec writes it."""
    return f"[{', '.join(_item(x) for x in shape)}]"


def _item(x: Scalar | Batch) -> str:
    match x:
        case Batch():
            return "..."
        case Dim(name):
            return name
        case Lit(value):
            return str(value)
        case _:
            return "…"


# --- carriers --------------------------------------------------------------------------------------------------------


def carriers(p: Program) -> Mapping[str, tuple[str, ...]]:
    """For every tensor with batch dims, the arguments whose batch dims it has.

    A draw depends on the place of its point, and so has those of all.
    """
    found: dict[str, dict[str, None]] = {t.name: {t.name: None} if BATCH in t.shape else {} for t in p.inputs}
    for s in p.statements:
        mine: dict[str, None] = {}
        for r in statement_reads(s):
            if any(isinstance(x, Batch) for x in r.at):
                mine |= found.get(r.tensor, {})
        if any(leaf == PLACE for e in statement_scalars(s) for leaf in walk(e)):
            mine |= {t.name: None for t in p.inputs if BATCH in t.shape}
        found.update(dict.fromkeys(targets(s), mine))
    order = [t.name for t in p.inputs]
    return {n: tuple(t for t in order if t in c) for n, c in found.items()}


# --- checks ----------------------------------------------------------------------------------------------------------


def check_lines(op: str, operator: Operator, needed: Sequence[str]) -> list[str]:
    """Lines that raise unless the operands have the declared shapes; afterwards the dims in `needed` have a name."""
    lines: list[str] = []
    optional = operator.optional
    whole = dict(operator.spelled) | {p.real: operator.shown(p.name) for p in operator.pairs}
    inputs = [t for t in operator.inputs if all(t.name != p.imag for p in operator.pairs)]
    source: dict[str, str] = {}  # dim -> the local name of its size
    ordered = sorted(inputs, key=lambda t: t.name in optional)
    compared = [d.name for t in inputs for d in t.shape if isinstance(d, Dim)]
    origin: dict[str, str] = {}  # the operand that says how long a dim is
    for t in ordered:
        own: list[str] = []
        rank = len(t.shape) - (BATCH in t.shape)
        test = f"{t.name}.dim() < {rank}" if BATCH in t.shape else f"{t.name}.dim() != {rank}"
        if BATCH not in t.shape or rank:
            error = _rank_error(op, whole.get(t.name, t.name), t)
            own += [f"if {test}:", f"    raise {error}"]
        for position, item in enumerate(t.shape):
            if isinstance(item, Dim):
                text = extent(t.name, t.shape, position)
                if item.name in source:
                    by = origin.get(item.name, "")
                    told = (quoted(by),) if by else ()
                    own += _same_size(op, whole.get(t.name, t.name), t, item.name, text, source[item.name], *told)
                elif compared.count(item.name) > 1 or item.name in needed:
                    own.append(f"{local(item.name)} = {text}")
                    if t.name not in optional:
                        source[item.name] = local(item.name)
                        origin[item.name] = f"{whole.get(t.name, t.name)}{layout_text(t.shape)}"
            elif isinstance(item, Lit):
                own += _same_size(
                    op,
                    whole.get(t.name, t.name),
                    t,
                    str(item.value),
                    extent(t.name, t.shape, position),
                    str(item.value),
                )
        if t.name in optional and own:
            own = [f"if {t.name} is not None:", *(f"    {line}" for line in own)]
        lines += own
    return lines + _batch_lines(op, inputs, operator, whole) + _pair_lines(op, operator)


def _rank_error(op: str, name: str, t: Tensor) -> str:
    return f"rank_error({quoted(op)}, {quoted(name)}, {t.name}, {quoted(layout_text(t.shape))})"


def _pair_lines(op: str, operator: Operator) -> list[str]:
    """The parts of a complex operand have one shape, which the functional sees to; the op may be called by itself."""
    lines: list[str] = []
    for p in operator.pairs:
        t = next((t for t in operator.inputs if t.name == p.imag), None)
        if t is not None:
            there = f"{p.real} is not None and " if p.real in operator.optional else ""
            lines += [f"if {there}{p.imag}.shape != {p.real}.shape:", f"    raise {_rank_error(op, p.imag, t)}"]
    return lines


def _same_size(op: str, name: str, t: Tensor, dim: str, text: str, expected: str, *by: str) -> list[str]:
    """Lines that raise unless a size is as expected; `by` says, in Python, who has it so or what it is computed of."""
    arguments = [quoted(op), quoted(name), quoted(layout_text(t.shape)), quoted(dim), text, expected, *by]
    return [f"if {text} != {expected}:", f"    raise size_error({', '.join(arguments)})"]


def size_lines(op: str, t: Tensor, dim: Dim, expected: str, shown: str, known: str) -> list[str]:
    """Lines that raise unless an operand has an expected size wherever its shape has this dim, which is `shown` so.

    `known` are the numbers that it is computed of, in Python, where these are told.
    """
    told = (known,) if known else ()
    places = [i for i, item in enumerate(t.shape) if item == dim]
    return [
        line for i in places for line in _same_size(op, t.name, t, shown, extent(t.name, t.shape, i), expected, *told)
    ]


def origin_of(dim: str, size: Scalar | None, inputs: Sequence[Tensor]) -> str:
    """A dim with what it is worked out of, `T = S - 1 (S of value[B, S])`, where that is dims of these inputs alone."""
    if size is None or any(isinstance(n, Param) for n in walk(size)):
        return dim
    owners = {d: next((t for t in inputs if Dim(d) in t.shape), None) for d in dims_in(size)}
    if not owners or any(t is None for t in owners.values()):
        return dim
    told = ", ".join(f"{d} of {t.name}{layout_text(t.shape)}" for d, t in owners.items() if t is not None)
    return f"{dim} = {scalar_text(size)} ({told})"


def _batch_lines(op: str, inputs: Sequence[Tensor], operator: Operator, names: Mapping[str, str]) -> list[str]:
    batched, optional = [t for t in inputs if BATCH in t.shape], operator.optional
    if len(batched) < 2:
        return []

    def checked(given: Sequence[Tensor], indent: int) -> list[str]:
        shown = {t.name: names.get(t.name, t.name) for t in given}
        whole = [(shown[t.name], layout_text(t.shape)) for t in given if operator.has_whole_batch(t.name)]
        own = [f"{{{', '.join(f'{quoted(n)}: {quoted(layout)}' for n, layout in whole)}}}"] if whole else []
        batches = [f"{shown[t.name]}={batch_of(t.name, t.shape)}" for t in given]
        return _checked_batch([quoted(op), *own, *batches], indent)

    always = [t for t in batched if t.name not in optional]
    lines = checked(always, 4) if len(always) > 1 else []
    for t in batched:
        if t.name in optional:
            lines += [f"if {t.name} is not None:", *(f"    {line}" for line in checked((*always, t), 8))]
    return lines


def _checked_batch(arguments: Sequence[str], indent: int) -> list[str]:
    """The lines of a call in a block that is indented so far."""
    return [
        line if k == 0 else line[indent:]
        for k, line in enumerate(bracketed("batch_shape(", arguments, ")", indent).split("\n"))
    ]


def dims_in(e: Scalar) -> tuple[str, ...]:
    """The dims an expression mentions."""
    return tuple(dict.fromkeys(n.name for n in walk(e) if isinstance(n, Dim) and n.name != "..."))


# --- results ---------------------------------------------------------------------------------------------------------


def empty_line(sizes: Sizes, o: Output, like: str, dtype: str, carried: Sequence[str]) -> str:
    """An expression for an empty tensor shaped like a result. `dtype`: empty where it is that of `like`.

    Without a tensor that it is `like`, it is made where torch makes tensors.
    """
    shape = f"{o.like}.shape" if o.like is not None else sizes.shape(o.shape, carried)
    extra = f", dtype={dtype}" if dtype else ""
    return f"{like}.new_empty({shape}{extra})" if like else f"torch.empty({shape}{extra})"
