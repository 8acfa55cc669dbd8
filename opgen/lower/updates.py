"""Buffers that a module overwrites in training: the outputs that they become, and whether these fit.

A variant in which such an output has no statement leaves the buffer as it is: the output is the buffer itself there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opgen.diagnostics.model import Bag, Label
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir.operator import Variant
from opgen.ir.program import Axis, Compute, Kind, Output
from opgen.ir.scalar import Index, Read
from opgen.lower.declare import Declarations
from opgen.lower.kinds import ARTICLES, WIDER
from opgen.lower.readings import shape_text
from opgen.lower.scatter import fresh_axes
from opgen.lower.scope import Known, Variation
from opgen.lower.shape import is_clear
from opgen.schema.formula import Word


def _updates(d: Declarations) -> list[tuple[str, Word]]:
    """Buffers and what they become; those that are none were reported where the module was read."""
    m = d.spec.module
    buffers = () if m is None else tuple(name for name, _ in m.buffers)
    return [] if m is None else [(str(b), output) for b, output in m.updates if b in buffers and b in d.inputs]


def check_updates(d: Declarations, bag: Bag) -> None:
    """What buffers are overwritten with are outputs, and not all that there are."""
    updates = _updates(d)
    names = [output for _, output in updates]
    unlisted = [name for name in names if name not in d.outputs and name not in d.lost and name in d.targets()]
    for name in names:
        if name not in d.outputs and name not in d.lost and name not in unlisted[1:]:
            _no_output(d, name, unlisted, bag)
    if updates and d.outputs and all(n in names for n in d.outputs) and not d.lost:
        bag.error(
            "OPG123", "every output overwrites a buffer, and the module has nothing left to return",
            names[0].span.to(names[-1].span), label="all outputs", hints=("add an output that is returned",),
        )  # fmt: skip


def _no_output(d: Declarations, name: Word, unlisted: list[Word], bag: Bag) -> None:
    """Report what is no output; those that only have to be listed are told with the first of them."""
    notes: tuple[str, ...] = (f"outputs here: {listed(d.outputs, 'and')}",) if d.outputs else ()
    hints = did_you_mean(name, d.outputs) or (f"assign it in `forward`: `{name} = …`",)
    related: tuple[Label, ...] = ()
    if name in unlisted:
        related = tuple(Label(other.span, "nor is this") for other in unlisted[1:])
        what = "them" if related else "it"
        hints = (f"list {what}: `outputs: [{', '.join((*d.outputs, *map(str, unlisted)))}]`",)
        if d.spec.outputs is None:
            notes = ("a tensor that is read later is an output only where it is listed",)
    elif name in d.inputs:
        hints = (f"what it becomes is a result with a name of its own: `next_{name} = …`",)
    bag.error(
        "OPG116", f"`{name}` is not an output", name.span, label="not an output", related=related, notes=notes,
        hints=hints,
    )  # fmt: skip


def unchanged(d: Declarations, state: Variation, refused: Iterable[str]) -> list[Compute]:
    """Outputs that have no statement in this variant: the buffer that they overwrite stays what it is."""
    found: list[Compute] = []
    assigned = d.targets()
    for buffer, output in _updates(d):
        name, shape = str(output), d.shapes[buffer]
        if name not in assigned or name in state.tensors or name in refused or not is_clear(shape):
            continue
        known = state.tensors[buffer]
        axes = fresh_axes(shape)
        read = Read(buffer, tuple(Index(a.name) for a in axes if isinstance(a, Axis)))
        kind = dict(d.kinds).get(name, known.kind)
        body = read if known.absent is None else known.absent
        found.append(Compute(name, axes, body, kind=kind, span=assigned[name]))
        state.tensors[name] = Known(name, shape, kind, assigned[name])
    return found


def check_fits(d: Declarations, variants: Sequence[Variant], bag: Bag) -> None:
    """What overwrites a buffer has its shape, and a kind that it holds."""
    for buffer, output in _updates(d):
        for v in variants:
            made = next((o for o in v.program.outputs if o.name == output), None)
            if made is not None and not _fits(d, buffer, output, made, bag):
                break


def _fits(d: Declarations, buffer: str, output: Word, made: Output, bag: Bag) -> bool:
    shape, kind = d.shapes[buffer], Kind(d.inputs[buffer].kind)
    related = (Label(d.inputs[buffer].span, f"the buffer, of shape {shape_text(shape)}"),)
    if made.shape != shape:
        message = f"`{output}` has the shape {shape_text(made.shape)} and cannot overwrite `{buffer}`"
        bag.error(
            "OPG123", message, output.span, label="another shape", related=related,
            hints=(f"the buffer and what it becomes have one shape: {shape_text(shape)}",),
        )  # fmt: skip
        return False
    if WIDER.index(made.kind) > WIDER.index(kind):
        message = f"`{output}` is {ARTICLES[made.kind]} and cannot overwrite `{buffer}`, which is {ARTICLES[kind]}"
        hints: tuple[str, ...] = (
            f"declare the buffer as `{buffer}: {{shape: {shape_text(shape)}, dtype: {made.kind.value}}}`",
        )
        if made.kind is Kind.FLOAT and kind is Kind.INT:
            hints += ("or make it an integer: `int(e)` truncates",)
        related = (Label(d.inputs[buffer].span, f"the buffer, of dtype {kind.value}"),)
        bag.error("OPG123", message, output.span, label="another kind", related=related, hints=hints)
        return False
    return True
