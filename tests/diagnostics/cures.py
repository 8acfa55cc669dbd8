"""Specs of one operator for tests of what messages propose."""

from __future__ import annotations

from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.lower.operator import lower
from opgen.schema.load import load


def diagnosed(text: str) -> tuple[Diagnostic, ...]:
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    if spec is not None:
        lower(spec, bag)
    return bag.items


def whole(fields: str, *statements: str) -> str:
    return f"op: cured\n{fields}\nforward: |\n" + "".join(f"  {s}\n" for s in statements)
