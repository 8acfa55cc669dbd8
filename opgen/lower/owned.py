"""What a module owns and no input declares, though formulas read it: told once, with the shape that they read it at."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Bag, Diagnostic
from opgen.lang.nodes import Access, Assign, Dots, Expr, Name
from opgen.lang.walk import nodes
from opgen.lower.along import size_of
from opgen.lower.declare import Declarations, declare
from opgen.schema.model import OpSpec
from opgen.schema.module_checks import OWNED


def undeclared(spec: OpSpec, found: Bag, bag: Bag) -> list[Diagnostic]:
    """Of what has been found that which `bag` says already: there is no such input. It is told there of what shape."""
    again: list[Diagnostic] = []
    for told in [d for d in bag.items if d.span is not None and any(OWNED in hint for hint in d.hints)]:
        reads = [d for d in found.items if d.code == "OPG205" and d.span is not None and d.span.text == _name(told)]
        declared = declare(spec, Bag()) if reads else None
        if declared is None or told.span is None:
            continue
        if (shape := _shape(declared, _name(told))) is not None:
            bag.amend(told.code, told.span, f"{OWNED}, too: write there `{_name(told)}: {{shape: [{shape}]}}`")
        for place in (d.span for d in reads if d.span is not None):
            bag.join(told.code, told.span, place, ())
        again += reads
    return again


def _name(told: Diagnostic) -> str:
    return "" if told.span is None else told.span.text


def _shape(d: Declarations, name: str) -> str | None:
    """The dims of a shape by which all reads of a tensor fit; None where they differ."""
    reads = [*_reads(d, name)]
    if len({len(items) for _, items in reads}) != 1 or any(isinstance(i, Dots) for _, items in reads for i in items):
        return None
    sizes: list[str] = []
    for k, _ in enumerate(reads[0][1]):
        names = [(s, i.name) for s, items in reads if isinstance(i := items[k], Name)]
        along = [*dict.fromkeys(size for s, i in names if (size := size_of(d, s, i)))]
        plain = [*dict.fromkeys(i.upper() for _, i in names)]
        fitting = along or [size for size in plain if size not in sizes]
        if len(fitting) != 1:
            return None
        sizes += fitting
    return ", ".join(sizes)


def _reads(d: Declarations, name: str) -> Iterator[tuple[Assign, tuple[Expr | Dots, ...]]]:
    """Each read of a tensor in `forward` with its statement and its positions; none of a bare name."""
    for s in d.forward:
        for e in nodes(s.value):
            if isinstance(e, Name | Access) and e.name == name:
                yield s, e.items if isinstance(e, Access) else ()
