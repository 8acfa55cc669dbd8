"""Inline specs for the tests of the lowering."""

from __future__ import annotations

import textwrap

from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.ir.operator import Operator
from opgen.ir.program import Program
from opgen.ir.text import statement
from opgen.ir.verify import verify
from opgen.lower.operator import lower
from opgen.schema.load import load


def attempt(text: str) -> tuple[Operator | None, tuple[Diagnostic, ...]]:
    """The operator of an inline spec, and every diagnostic."""
    bag = Bag()
    spec = load(Source("spec.yaml", textwrap.dedent(text)), bag)
    operator = None if spec is None else lower(spec, bag)
    return operator, bag.items


def built(text: str) -> Operator:
    """The operator of a spec without mistakes, its programs verified."""
    operator, found = attempt(text)
    assert operator is not None, [(d.code, d.message) for d in found]
    for v in operator.variants:
        verify(v.program)
    return operator


def program(text: str) -> Program:
    """The program of a spec with one variant."""
    (variant,) = built(text).variants
    return variant.program


def lines(p: Program) -> list[str]:
    return [statement(s) for s in p.statements]


def elementwise(formula: str, inputs: str = "[x, z]", more: str = "") -> str:
    """A spec of one formula."""
    indented = textwrap.indent(textwrap.dedent(formula).strip(), "  ")
    return f"op: f\ninputs: {inputs}\n{more}\nforward: |\n{indented}\n"


def mistakes(text: str) -> list[tuple[str, str]]:
    """Code and marked text of every diagnostic."""
    operator, found = attempt(text)
    assert operator is None
    return [(d.code, d.span.text if d.span is not None else "") for d in found]
