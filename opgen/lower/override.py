"""A `backward` block: the gradients that a spec states itself, as statements beside the program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Diagnostic, Severity
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir import text
from opgen.ir.program import Kind, Output, Override, Shape, parts
from opgen.ir.scalar import BATCH, Batch
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Power, Product, Reduction
from opgen.lang.unparse import bracketed, respelled
from opgen.lang.walk import names_read, nodes
from opgen.lower.block import lower_block
from opgen.lower.declare import Declarations
from opgen.lower.draw import placed
from opgen.lower.gradient_names import stated_by
from opgen.lower.guards import Case, holds
from opgen.lower.scope import OF_GRADIENT, Known, Variation
from opgen.lower.statement import Wanted

PREFIX = "grad_"


def check_targets(d: Declarations, bag: Bag) -> None:
    """`backward` assigns gradients of differentiable inputs, and names of its own."""
    if not d.backward:
        return
    taken = d.targets()
    for s in d.backward:
        name, span = s.target.name, s.target.name_span
        if name in taken:
            bag.error("OPG228", f"`{name}` is assigned in `forward`", span, hints=("use another name",))
            continue
        if not name.startswith(PREFIX):
            continue
        of = name.removeprefix(PREFIX)
        differentiable = [
            PREFIX + n for n, t in d.inputs.items() if t.kind in ("float", "complex") and t.differentiable
        ]
        if of in d.inputs and PREFIX + of not in differentiable:
            hint = "leave this statement away: it is no float, or says `differentiable: false`"
            bag.error("OPG228", f"the input `{of}` has no gradient", span, hints=(hint,))
        elif of not in d.inputs:
            message, hints = f"`{name}` is the gradient of no input", did_you_mean(name, differentiable)
            if of in d.outputs:
                message = f"`{name}` is given: it is the gradient of an output"
                hints = _turned_round(d, name, differentiable) or hints
            elif of in taken:
                message = f"`{name}` is the gradient of no input: `{of}` is a step on the way"
                hints = (f"what is on the way has another name, without `{PREFIX}`: `d{of}`, say",)
            if of in d.params:
                message = f"`{of}` is a param, which has no gradient"
                hints = (f"move it to `inputs`: `{of}: {{shape: []}}` is one number that has one",)
            bag.error("OPG228", message, span, hints=hints)
    assigned = {s.target.name for s in d.backward}
    if not any(PREFIX + n in assigned or PREFIX + n in d.lost for n in (*d.inputs, *d.params)):
        first = d.backward[0].target.name_span
        hints = tuple(f"assign {listed(names, 'and')}" for names in [stated_by(d)] if names)
        bag.error("OPG228", "this block states the gradient of no input", first, hints=hints)


def _turned_round(d: Declarations, name: str, differentiable: Sequence[str]) -> tuple[str, ...]:
    """The statement with the gradient of the output in the place of that of the input, and the other way round."""
    own = [s for s in d.backward if s.target.name == name]
    read = [n for s in own for n in names_read(s.value) if n in differentiable]
    if len(own) != 1 or len(read) != 1:
        return ()
    other = {name: read[0], read[0]: name}
    line = re.sub(rf"\b({'|'.join(other)})\b", lambda m: other[m[0]], own[0].span.text)
    return (f"they are the other way round: write `{line}`",)


def lower_override(
    d: Declarations, state: Variation, outputs: tuple[Output, ...], refused: frozenset[str], bag: Bag
) -> Override:
    """The block in one variant. Gradients of absent inputs are left out."""
    inner = replace(state, tensors=dict(state.tensors), later={})
    for o in outputs:
        if o.kind in (Kind.FLOAT, Kind.COMPLEX):
            inner.tensors[PREFIX + o.name] = Known(PREFIX + o.name, o.shape, o.kind, d.targets()[o.name])
    case = Case(state.given, state.chosen)
    chosen = [s for s in d.backward if s.target.name not in refused and holds(d, s.guard, case)]
    chosen = [s for s in chosen if state.given.get(s.target.name.removeprefix(PREFIX), True)]
    last = {s.target.name: s for s in chosen}
    statements = placed(lower_block(d, inner, chosen, lambda s: _stated_shape(d, s), bag))
    by_name = {s.target: s for s in parts(statements)}
    stated: list[str] = []
    shapes: list[Shape] = []
    for name, s in last.items():
        of = name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""
        own = d.shapes.get(of)
        if own is None or name not in by_name:
            continue
        made = by_name[name]
        if _named(made.shape) != _named(own):
            message = f"`{name}` has shape {text.shape(made.shape)} and `{of}` has shape {text.shape(own)}"
            bag.error("OPG228", message, s.target.span)
        stated.append(of)
        shapes.append(made.shape)
    return Override(tuple(stated), tuple(statements), tuple(shapes))


def _named(shape: Shape) -> Shape:
    return tuple(s for s in shape if not isinstance(s, Batch))


def _stated_shape(d: Declarations, s: Assign) -> Wanted:
    """The shape of the input, with batch dims where the statement writes them; nothing for other names."""
    name = s.target.name
    of = name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""
    own = d.shapes.get(of)
    if own is None:
        return Wanted()
    origin, kind = f"{OF_GRADIENT}`{name}`", Kind(d.inputs[of].kind)
    if own == ():
        return Wanted(kind=kind)
    if BATCH in own:
        return Wanted(own, None, origin, kind, batch=True)
    items = s.target.items or ()
    dots = [k for k, i in enumerate(items) if isinstance(i, Dots)]
    shape = (*own[: dots[0]], BATCH, *own[dots[0] :]) if dots and dots[0] <= len(own) else own
    return Wanted(shape, None, origin, kind)


def without_cotangent(d: Declarations) -> Iterator[Diagnostic]:
    """Gradients of a `backward` block that are other than 0 and read no cotangent, whatever they lead through."""
    reads: dict[str, set[str]] = {}
    for s in d.backward:
        reads.setdefault(s.target.name, set()).update(names_read(s.value))
    cotangents = {PREFIX + name for name in d.outputs}
    for s in d.backward:
        name, value = s.target.name, s.value
        if name.removeprefix(PREFIX) not in d.inputs or (isinstance(value, Number) and value.value == 0):
            continue
        found, left = set[str](), [name]
        while left:
            new = reads.get(left.pop(), set()) - found
            found |= new
            left += new
        if found.isdisjoint(cotangents):
            message = f"`{name}` does not depend on the cotangent"
            hint = f"what comes from behind is a factor of it: `{_multiplied(d, s)}`"
            yield Diagnostic("OPG228", message, s.target.name_span, hints=(hint,), severity=Severity.WARNING)


def _multiplied(d: Declarations, s: Assign) -> str:
    """The statement times the gradient of the one output; what it is times is left open where that is not clear."""
    value, (start, end) = respelled(s.value), bracketed(s.value)
    loose = not isinstance(s.value, Product) or any(op in ("//", "%") for op, _ in s.value.factors)
    closed = isinstance(s.value, Name | Access | Call | Reduction | Number | Power)
    if (loose and not closed) or value.startswith("-"):
        value = f"({value})"
    read = _cotangent(d, s) if len(d.outputs) == 1 else None
    before, after = s.span.source.text[s.span.start : start], s.span.source.text[end : s.span.end]
    return " ".join(f"{before}{read or f'{PREFIX}{next(iter(d.outputs))}[…]'}*{value}{after}".split())


def _cotangent(d: Declarations, s: Assign) -> str | None:
    """The gradient of the output where a statement assigns the one of an input, at the indices of what it is made of.

    None where the output is not made of each element by itself, or that is not plain to see.
    """
    (name,), own = d.outputs, s.target.name.removeprefix(PREFIX)
    made = next((a for a in d.forward if a.target.name == name), None)
    if made is None or made.target.items is None:
        return None if made is None else PREFIX + name
    reads = {tuple(map(_shown, n.items)) for n in nodes(made.value) if isinstance(n, Access) and n.name == own}
    at, items = reads.pop() if len(reads) == 1 else (), tuple(map(_shown, s.target.items or ()))
    left = tuple(map(_shown, made.target.items))
    if len(at) != len(items) or len({*at}) < len(at) or not all((*at, *items, *left)) or not {*left} <= {*at}:
        return None
    return f"{PREFIX}{name}[{', '.join(items[at.index(i)] for i in left)}]"


def _shown(item: Expr | Binder | Dots) -> str:
    """An index, or `...`; empty for a position that is computed."""
    return "..." if isinstance(item, Dots) else item.name if isinstance(item, Binder | Name) else ""
