"""Specs of one operator for tests of what messages propose."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.ir.operator import Operator
from opgen.lower.operator import lower
from opgen.schema.load import load


def diagnosed(text: str) -> tuple[Diagnostic, ...]:
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    if spec is not None:
        lower(spec, bag)
    return bag.items


def said(text: str) -> list[str]:
    """All that the messages about a spec say to write, in order."""
    return re.findall(r"`([^`]*)`", " ".join(hint for found in diagnosed(text) for hint in found.hints))


def built(text: str, *, warned: bool = False) -> Operator:
    """The operator of a spec about which there is nothing to say, or nothing but warnings."""
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    operator = lower(spec, bag) if spec is not None else None
    assert not bag.has_errors if warned else bag.items == (), (text, bag.items)
    assert operator is not None
    return operator


def whole(fields: str, *statements: str) -> str:
    return f"op: cured\n{fields}\nforward: |\n" + "".join(f"  {s}\n" for s in statements)


def follow(text: str, cure: dict[str, str]) -> Operator:
    """The operator of a spec with what its one message says in it: what takes the place of what stands in `cure`."""
    (found,) = diagnosed(text)
    said = re.findall(r"`([^`]+)`", " ".join(found.hints))
    for old, new in cure.items():
        added = new.removesuffix(old.strip()).removeprefix(old).strip(" ,/\n")
        assert all(any(line.strip() in part for part in said) for line in added.splitlines()), (added, said)
        text = text.replace(old, new, 1)
    return built(text)
