"""Nothing of a spec is dropped without a word: what is told of it, and whether a program holds all of its results."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.diagnostics.model import Bag, Diagnostic, Severity
from opgen.ir.operator import Variant
from opgen.lower.declare import Declarations
from opgen.lower.owned import undeclared
from opgen.lower.told import is_of_declaration
from opgen.schema.model import OpSpec


def untold(found: Bag, bag: Bag, spec: OpSpec) -> list[Diagnostic]:
    """What has been found, in the order of its places, but for places at which `bag` says something already.

    A warning there says nothing of a mistake. What follows from a mistake in a declaration is left out, too.
    """
    again = undeclared(spec, found, bag)
    told = {d.span for d in bag.items if d.span is not None}
    wrong = {d.span for d in bag.items if d.span is not None and d.severity is Severity.ERROR}
    ordered = sorted(found.items, key=lambda d: d.span.start if d.span is not None else 0)
    rest = (d for d in ordered if d.span not in (wrong if d.severity is Severity.ERROR else told))
    return [d for d in rest if d not in again and not is_of_declaration(d, spec, bag)]


def is_whole(d: Declarations, variants: Sequence[Variant], count: int) -> bool:
    """Whether nothing is missing: a program for each of so many variants, and in each of them all results."""
    return len(variants) == count and all(d.outputs == tuple(o.name for o in v.program.outputs) for v in variants)
