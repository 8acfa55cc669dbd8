"""The operators whose accuracy is measured: one per scalar function of the language, and every element-wise spec.

Each is a spec, so that what is measured has come the way of a user's formula: lowered, made stable, differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from opgen import pipeline
from opgen.diagnostics.model import Bag
from opgen.ir.formula import scalar as formula_of
from opgen.ir.functions import FUNCTIONS
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Chosen, Compute, Condition, Kind, Program, Role
from opgen.ir.scalar import BATCH, Read, Scalar, transform
from opgen.opt.derive import Derived
from opgen.pipeline import Artefacts, SpecFile, Stage
from tests.accuracy.eager import composed, torch_own

ROOT = Path(__file__).resolve().parents[2]

# What takes conditions, integers or constants, or has no number to compare.
_NOT_MEASURED = ("isnan", "isfinite", "bitand", "bitor", "bitxor", "detach", "int", "polygamma")
_ORDERS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Case:
    """One variant of an operator that maps numbers to a number."""

    name: str
    operator: Operator
    derived: Derived
    body: Scalar  # as the user wrote it, over the inputs
    inputs: tuple[str, ...]
    params: Mapping[str, Any]
    reference: Callable[..., Any] | None  # torch's own function of the same inputs
    composed: Callable[..., torch.Tensor]  # the formula, step by step in torch
    constants: tuple[str, ...]  # inputs without a derivative
    domains: Mapping[str, Scalar]  # conditions on inputs, by name


def derived_of(text: str, name: str = "spec") -> Artefacts:
    """A spec's text, lowered and differentiated."""
    made = pipeline.run(SpecFile(Path(f"{name}.yaml"), text.encode(), f"{name}.yaml"), Stage.DERIVED)
    assert not [d for d in made.diagnostics if d.severity == "error"], made.diagnostics
    return made


def formula_case(name: str, formula: str, inputs: tuple[str, ...], reference: Callable[..., Any] | None) -> Case:
    """An operator of one line."""
    text = f'op: {name}\ninputs: [{", ".join(inputs)}]\nforward: "result = {formula}"\n'
    (case,) = _cases(name, derived_of(text, name), reference)
    return case


def measured() -> tuple[str, ...]:
    """The functions of the language that map numbers to a number."""
    return tuple(r.name for r in FUNCTIONS.values() if not (r.infix or r.internal or r.name in _NOT_MEASURED))


def function_case(name: str) -> Case:
    """An operator of one function, compared with torch's own of that name."""
    args = FUNCTIONS[name].args
    return formula_case(f"f_{name}", f"{name}({', '.join(args)})", args, torch_own(name))


@cache
def functions() -> tuple[Case, ...]:
    """One operator for every scalar function of the language, and `x**y`."""
    found = [formula_case("f_power", "x**y", ("x", "y"), torch.pow)]
    found += [function_case(name) for name in measured()]
    for n in _ORDERS:
        f = lambda x, n=n: torch.special.polygamma(n, x)  # noqa: E731
        found.append(formula_case(f"f_polygamma_{n}", f"polygamma({n}, x)", ("x",), f))
    return tuple(found)


@cache
def specs(names: Sequence[str] | None = None) -> tuple[Case, ...]:
    """Every element-wise variant of the specs of the repository, or of those named."""
    found: list[Case] = []
    for path in sorted((ROOT / "specs").glob("*.yaml")):
        if names is not None and path.stem not in names:
            continue
        bag = Bag()
        file = pipeline.read(path, bag)
        assert file is not None
        made = pipeline.run(file, Stage.DERIVED)
        reference = made.spec.reference if made.spec else None
        found += _cases(path.stem, made, _resolved(reference) if reference else None)
    return tuple(found)


def _resolved(path: str) -> Callable[..., Any] | None:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name, None)


def _cases(name: str, made: Artefacts, reference: Callable[..., Any] | None) -> list[Case]:
    operator, derived = made.operator, made.derived
    assert operator is not None
    assert derived is not None
    assert made.spec is not None
    stated = {t.name: t.domain.text for t in made.spec.inputs if t.domain is not None}
    found: list[Case] = []
    for d in derived:
        body = _pointwise(d.variant.program)
        if body is None:
            continue
        params = _params(operator, d.variant)
        chosen = {k: v for k, v in params.items() if not isinstance(v, str) or len(derived) > 1}
        words = [_word(c) for c in d.variant.conditions]
        p = d.variant.program
        inputs = tuple(t.name for t in p.inputs)
        found.append(
            Case(
                "_".join((name, *filter(None, words))),
                operator,
                d,
                body,
                inputs,
                params,
                _with(reference, inputs, operator.optional, chosen),
                composed(body, inputs, params),
                tuple(t.name for t in p.inputs if not t.differentiable),
                {n: formula_of(text, (n,)) for n, text in stated.items() if n in inputs},
            )
        )
    return found


def _word(c: Condition) -> str:
    """What tells a variant from the others."""
    return str(c.value) if isinstance(c, Chosen) else f"with_{c.name}" if c.present else ""


def _with(
    reference: Callable[..., Any] | None, inputs: Sequence[str], optional: Sequence[str], params: Mapping[str, Any]
) -> Callable[..., Any] | None:
    """The reference with its params filled in; what is optional goes by name."""
    if reference is None:
        return None

    def call(*args: Any) -> Any:
        by_name = dict(zip(inputs, args, strict=True))
        plain = [by_name.pop(n) for n in inputs if n not in optional]
        return reference(*plain, **by_name, **params)

    return call


def _params(operator: Operator, v: Variant) -> dict[str, Any]:
    chosen = {c.name: c.value for c in v.conditions if isinstance(c, Chosen)}
    return {a.name: chosen.get(a.name, _default(a.type, a.default)) for a in operator.params}


def _default(kind: str, value: object) -> Any:
    match value:
        case int() | Fraction():
            return value if isinstance(value, bool) else int(value) if kind == "int" else float(value)
        case str():
            return value
        case _:
            return 0.75


def _pointwise(p: Program) -> Scalar | None:
    """The formula of the only output over the inputs, if every statement maps numbers to numbers."""
    if p.functions or p.override.inputs:
        return None  # the gradient is stated, not that of the formula
    if any(t.kind is not Kind.FLOAT or t.shape != (BATCH,) or t.role is not Role.INPUT for t in p.inputs):
        return None
    if not p.inputs or len(p.outputs) != 1 or p.outputs[0].kind is not Kind.FLOAT:
        return None
    bodies: dict[str, Scalar] = {}
    for s in p.statements:
        if not isinstance(s, Compute) or s.op is not None or s.axes != (BATCH,):
            return None
        bodies[s.target] = transform(s.body, lambda n: bodies.get(n.tensor, n) if isinstance(n, Read) else n)
    return bodies.get(p.outputs[0].value)
