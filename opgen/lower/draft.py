"""A first spec for a new operator, from a formula: its operands are declared as they are used.

In: a name and a formula; out: the text of a spec. What the formula leaves open is taken in the simplest way: a name
that is read and not assigned is an input, an index `k` runs over a dim `K`, a tensor that stands as a position holds
integers, and a name without brackets is one number where the target has no batch dims. Mistakes in the formula stay in
the draft, where the stages behind this one find them; those of notation alone are mended in the draft of a spec.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opgen.diagnostics.model import Bag, Source
from opgen.ir.formula import CONSTANTS
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.parser import parse_statements
from opgen.lang.walk import nodes
from opgen.lower.draft_matrices import matrices
from opgen.lower.draft_notation import plain
from opgen.lower.operator import lower
from opgen.schema.formula import Formula
from opgen.schema.kinds import head
from opgen.schema.load import load

_FORWARD = "forward: |\n"
_ROUNDS = 10  # corrections of a formula


@dataclass(slots=True)
class _Operand:
    """What is known of a name that is read: its shape from the first access with brackets, and where it stands."""

    shape: tuple[str, ...] | None = None
    integer: bool = False


@dataclass(slots=True)
class _Operands:
    found: dict[str, _Operand] = field(default_factory=dict)
    fresh: int = 0

    def dim(self, item: Expr | Dots) -> str:
        """The dim at a position of an access."""
        match item:
            case Dots():
                return "..."
            case Name(name=name) if name.islower():
                return name.capitalize()
            case _:
                self.fresh += 1
                return f"D{self.fresh}"


@dataclass(frozen=True, slots=True)
class Drafted:
    """What follows from a formula: its statements, the inputs with what has to be said of them, the last result."""

    statements: str
    inputs: Mapping[str, Mapping[str, str | tuple[str, ...]]]
    result: str | None


def drafted(formula: str, params: Container[str] = ()) -> Drafted:
    """What a formula leaves to be declared; one without `=` is the value of an output `y`."""
    lines = [line.strip() for line in formula.strip().splitlines() if line.strip()]
    if len(lines) == 1 and not re.search(r"(?<![=!<>])=(?!=)", lines[0]):
        lines = [f"y = {lines[0]}"]
    text = "\n".join(lines)
    statements, _ = parse_statements(Formula(text, Source("", text), tuple(range(len(text) + 1))), Bag())
    found: dict[str, Mapping[str, str | tuple[str, ...]]] = {}
    known = matrices(lines)
    if known:
        found = {name: {"shape": shape} for name, shape in known.items() if name not in params}
        return Drafted(text, found, lines[-1].partition("=")[0].strip())
    for name, o in _operands(statements).items():
        if name not in params:
            shape = {} if o.shape is None else {"shape": o.shape}
            found[name] = {**shape, **({"dtype": "int"} if o.integer else {})}
    return Drafted(text, found, statements[-1].target.name if statements else None)


def of_formula(op: str, formula: str, schema: str) -> str:
    """The text of the spec of a formula, as a person would begin it.

    What is certain to be meant by a formula in other notation takes its place, where the spec then builds.
    """
    first = text = _spec(op, plain(formula), schema)
    for _ in range(_ROUNDS):
        bag = Bag()
        found = load(Source("", text), bag)
        if found is not None:
            lower(found, bag)
        if not bag.has_errors:
            return text
        begin = text.index(_FORWARD) + len(_FORWARD)
        edits = {e.span.start: e for d in bag.items if (e := d.edit) is not None and e.span.start >= begin}
        if not edits:
            break
        mended, end = "", len(text)
        for start, edit in sorted(edits.items(), reverse=True):
            if edit.span.end <= end:
                mended, end = f"{edit.text}{text[edit.span.end : end]}{mended}", start
        text = _spec(op, f"{text[begin:end]}{mended}", schema)
    return first


def _spec(op: str, formula: str, schema: str) -> str:
    made = drafted(formula)
    block = "".join(f"  {line}\n" for line in made.statements.splitlines())
    return f"{head(op, schema)}{_inputs(made.inputs)}{_FORWARD}{block}"


def _inputs(inputs: Mapping[str, Mapping[str, str | tuple[str, ...]]]) -> str:
    if not any(inputs.values()):
        return f"inputs: [{', '.join(inputs)}]\n"
    fields = []
    for name, said in inputs.items():
        told = [f"{k}: {v}" if isinstance(v, str) else f"{k}: [{', '.join(v)}]" for k, v in said.items()]
        fields.append(f"  {name}: {{{', '.join(told)}}}\n")
    return "inputs:\n" + "".join(fields)


def _operands(statements: Sequence[Assign]) -> dict[str, _Operand]:
    assigned = frozenset(s.target.name for s in statements)
    found = _Operands()
    for s in statements:
        bound = frozenset(_indices(s))
        alone = () if s.target.items is not None and not any(isinstance(i, Dots) for i in s.target.items) else None
        for node in nodes(s.value):
            if isinstance(node, Access | Name) and node.name not in (*assigned, *bound, *CONSTANTS):
                _note(found, node, bound, alone)
    return found.found


def _note(operands: _Operands, node: Access | Name, bound: frozenset[str], alone: tuple[str, ...] | None) -> None:
    """Note how a name is read; `alone` is the shape of one without brackets, None for any batch dims."""
    if node.name[:1].isupper():  # a dim read as a number
        return
    operand = operands.found.setdefault(node.name, _Operand(alone if isinstance(node, Name) else None))
    if not isinstance(node, Access):
        return
    if operand.shape is None:
        operand.shape = tuple(operands.dim(item) for item in node.items)
    for item in node.items:
        for inner in nodes(item) if not isinstance(item, Dots) else ():
            if isinstance(inner, Access | Name) and inner.name not in bound and inner.name[:1].islower():
                shape = alone if isinstance(inner, Name) else None
                operands.found.setdefault(inner.name, _Operand(shape)).integer = True


def _indices(s: Assign) -> Iterator[str]:
    """The names that a statement uses as indices."""
    for item in s.target.items or ():
        if isinstance(item, Binder):
            yield item.name
    for node in nodes(s.value):
        if isinstance(node, Reduction):
            yield from (b.name for b in node.binders if isinstance(b, Binder))
        elif isinstance(node, Access):  # a letter is an index; that it is bound nowhere is a mistake
            inside = (n for item in node.items if not isinstance(item, Dots) for n in nodes(item))
            yield from (n.name for n in inside if isinstance(n, Name) and len(n.name) == 1)
