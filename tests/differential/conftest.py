"""The shipped specs, lowered once per session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opgen.diagnostics.model import Bag, Source
from opgen.ir.operator import Operator
from opgen.lower.operator import lower
from opgen.schema.load import load
from opgen.schema.model import OpSpec


@dataclass(frozen=True)
class Lowered:
    """A spec and its operator."""

    spec: OpSpec
    operator: Operator


@cache
def lowered(path: Path) -> Lowered:
    """Load and lower a spec that has no mistakes."""
    bag = Bag()
    spec = load(Source(path.name, path.read_text()), bag)
    operator = lower(spec, bag) if spec is not None else None
    assert spec is not None
    assert operator is not None, bag.items
    return Lowered(spec, operator)
