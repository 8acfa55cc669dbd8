"""What stands in `tests` itself and belongs under one of its fields: sizes, also as shapes of inputs, and tolerances.

In go the mapping, the name of what is no field and the spec, out comes how all of its kind are written, once.
"""

from __future__ import annotations

import re

from opgen.diagnostics.model import Hint
from opgen.schema.by_dims import fields_by_shape
from opgen.schema.entries import PRECISIONS
from opgen.schema.nodes import Mapping, Node, Scalar

_VALUES = ("params", "inputs", "values", "args", "arguments")


def gathered(name: str, tests: Node, root: Mapping) -> tuple[str, ...] | None:
    """What is said of the first of several such names, and nothing of the others; None for any other name."""
    if (told := fields_by_shape(root, name, tests)) is not None:
        return told
    for names, hint in (_sizes(tests), _tolerances(tests), _values(tests)):
        if name in names:
            return (hint,) if name == names[0] else ()
    return None


def _values(tests: Node) -> tuple[tuple[str, ...], str]:
    """The values of params and inputs that stand beside the cases, and how they are written."""
    found = {k.text: v for k, v in tests.entries if k.text in _VALUES} if isinstance(tests, Mapping) else {}
    own = {k: v for k, v in found.items() if isinstance(v, Mapping) and v.entries}
    given = ", ".join(f"{k.text}: {v.span.text}" for m in own.values() for k, v in m.entries)
    return (*own,), f"values stand in a case: `cases: [{{{given}}}]`"


def _sizes(fields: Node) -> tuple[tuple[str, ...], str]:
    """The sizes that stand in `tests` beside its fields, and how all of them are written."""
    entries = fields.entries if isinstance(fields, Mapping) else ()
    found = {k.text: v for k, v in entries if re.fullmatch(r"[A-Z]\w*", k.text) and isinstance(v, Scalar)}
    own = next((v for k, v in entries if k.text == "sizes"), None)
    sizes = [*(own.entries if isinstance(own, Mapping) else ()), *((k, v) for k, v in entries if k.text in found)]
    rest = [(k, v) for k, v in entries if k.text not in (*found, "sizes")]
    line = f"sizes: {{{', '.join(f'{k.text}: {v.span.text}' for k, v in sizes)}}}"
    if not isinstance(fields, Mapping) or (rest and not fields.flow):
        return (*found,), f"a size stands under `sizes`: `{line}`"
    whole = f"{{{', '.join((line, *(f'{k.text}: {v.span.text}' for k, v in rest)))}}}"
    told = f"a size stands under `sizes`: `tests: {whole}`"
    return (*found,), Hint(told, fields.span.text, whole, fields.span) if fields.flow else told


def _tolerances(tests: Node) -> tuple[tuple[str, ...], str]:
    """The tolerances that stand beside the fields, and how all of them are written."""
    found = tests.entries if isinstance(tests, Mapping) and tests.get("tolerances") is None else ()
    given = {key.text: value.span.text for key, value in found}
    named = {key: value for key, value in given.items() if key in ("rtol", "atol")}
    named = named or {key: value for key, value in given.items() if key in PRECISIONS and "\n" not in value}
    return (*named,), f"write `tolerances: {{{', '.join(f'{k}: {v}' for k, v in named.items())}}}`"
