"""The shipped specs, lowered once per session."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from opgen.diagnostics.model import Bag, Source
from opgen.ir.operator import Operator
from opgen.lower.operator import lower
from opgen.schema.load import load


@cache
def lowered(path: Path) -> Operator:
    """Load and lower a spec that has no mistakes."""
    bag = Bag()
    spec = load(Source(path.name, path.read_text()), bag)
    operator = lower(spec, bag) if spec is not None else None
    assert operator is not None, bag.items
    return operator
