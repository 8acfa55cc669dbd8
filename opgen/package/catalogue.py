"""The catalogue page: what each operator of a project is, what its gradient is, and what it keeps for it.

In go operators with what was derived of them; out comes one Markdown page. An operator with variants is shown as the
first of them, which has every optional input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.code import templates
from opgen.ir import text
from opgen.ir.operator import Operator
from opgen.ir.program import Program
from opgen.opt.derive import Derived
from opgen.package.view_saved import held


@dataclass(frozen=True, slots=True)
class Described:
    """An operator for the catalogue: with the name of its spec's file, and its derived programs."""

    operator: Operator
    label: str
    derived: tuple[Derived, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """The prepared texts of one operator."""

    name: str
    summary: str
    description: str
    label: str
    reference: str
    formula: str
    gradient: str
    broadcast: str
    saved: str
    variants: str
    rewrites: tuple[str, ...]


def page(operators: Sequence[Described]) -> str:
    """The page, operators in alphabetical order."""
    entries = [_entry(o) for o in sorted(operators, key=lambda o: o.operator.name)]
    return templates.fill("catalogue.md.j2", count=len(entries), entries=entries)


def _entry(o: Described) -> Entry:
    docs, backward = o.operator.docs, o.derived[0].backward
    return Entry(
        name=o.operator.name,
        summary=docs.summary,
        description=" ".join(docs.description.split()),
        label=o.label,
        reference=docs.reference,
        formula="\n".join(docs.formula),
        gradient="\n".join(_gradient(o.operator, backward)) if backward is not None else "",
        broadcast=_broadcast(backward) if backward is not None else "",
        saved=_saved(o.derived[0]) if backward is not None else "",
        variants=f"{len(o.derived)} variants" if len(o.derived) > 1 else "",
        rewrites=tuple(dict.fromkeys(f"{r.rule} ({r.reason})" for d in o.derived for r in d.rewrites)),
    )


def _gradient(operator: Operator, backward: Program) -> Iterator[str]:
    """The statements of a backward program, and which of their targets are gradients under another name."""
    if operator.elsewhere is not None and operator.elsewhere.backward is not None:
        arguments = ", ".join(t.name for t in backward.inputs)
        yield f"{', '.join(o.name for o in backward.outputs)} = {operator.elsewhere.backward.path}({arguments})"
    yield from (text.statement(s) for s in backward.statements)
    yield from (f"{o.name} = {o.value}" for o in backward.outputs if o.name != o.value)


def _broadcast(backward: Program) -> str:
    """The operands whose batch dims may be fewer than the batch has."""
    return ", ".join(f"`{o.like}`" for o in backward.outputs if o.like is not None)


def _saved(d: Derived) -> str:
    """What is kept for the backward pass, with its shape."""
    kept, sized = (", ".join(f"`{t.name}{text.shape(t.shape)}`" for t in found) for found in held(d))
    return (kept or "nothing") + (f"; sizes of {sized}" if sized else "")
