"""A reduction of all there is in a statement that has a batch, `x[..., k] - mean(x)`: each row may have its own.

Libraries reduce the batch as well, and so does a mean that is written without indices; a line says either.
"""

from __future__ import annotations

import re
from dataclasses import replace

from opgen.lang.nodes import Assign, Binder, Dots, Expr, Reduction
from opgen.lang.walk import transform

_WITHOUT_AXES = re.compile(r"\s*(?:\.\w+\(|,)?\s*(?:keepdims?\s*=\s*\w+\s*)?\)(?!\s*\.)")  # behind what is reduced


def by_row(made: Assign) -> Assign | None:
    """A proposal with what was written as `mean(x)` over the named dims alone; None where no batch is reduced."""
    if not any(isinstance(i, Dots) for i in made.target.items or ()):
        return None

    def own(e: Expr) -> Expr | None:
        if not isinstance(e, Reduction) or not _is_of_all(e, made):
            return None
        named = tuple(b for b in e.binders if isinstance(b, Binder))
        return replace(e, binders=named, body=transform(e.body, own))

    found = replace(made, value=transform(made.value, own))
    return None if found == made else found


def _is_of_all(r: Reduction, made: Assign) -> bool:
    """Whether a reduction over a batch and named dims was written without any index or axis."""
    source = r.name_span.source
    if {type(b) for b in r.binders} != {Dots, Binder} or r.name_span.text == r.name or source is not made.span.source:
        return False
    return _WITHOUT_AXES.match(source.text, r.name_span.end) is not None
