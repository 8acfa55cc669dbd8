"""One construct of the language page: a spec, what torch gives for it, and what is refused.

`Works` builds the spec with the whole pipeline, calls the operator, and compares value and gradients with a formula in
plain torch. `Refused` asks for a code and for the text under the caret.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
import torch

from opgen.diagnostics.model import Bag, Severity, Source
from opgen.lower.operator import lower
from opgen.schema.load import load

Build = Callable[[str], ModuleType]
Tensors = tuple[Any, ...]


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + 10 * len(shape))
    return torch.randn(shape, dtype=torch.float64, generator=generator)


def ints(*values: Any) -> torch.Tensor:
    return torch.tensor(values)


@dataclass(frozen=True)
class Works:
    """A construct that has a meaning."""

    construct: str
    spec: str
    expected: Callable[..., Any]
    inputs: Tensors
    params: dict[str, Any] = field(default_factory=dict)
    gradients: bool = True

    def check(self, build: Build) -> None:
        text = textwrap.dedent(self.spec).strip() + "\n"
        name = text.partition("op:")[2].split(maxsplit=1)[0]
        op = getattr(build(text), name)
        ours, theirs = self._leaves(), self._leaves()
        got, wanted = op(*ours, **self.params), self.expected(*theirs)
        torch.testing.assert_close(got, wanted, equal_nan=True)
        if self.gradients:
            torch.testing.assert_close(_gradients(got, ours), _gradients(wanted, theirs))

    def _leaves(self) -> Tensors:
        return tuple(_leaf(t) for t in self.inputs)


def _leaf(t: Any) -> Any:
    if not isinstance(t, torch.Tensor):
        return t
    return t.clone().requires_grad_(t.is_floating_point() or t.is_complex())


def _gradients(results: Any, inputs: Tensors) -> tuple[torch.Tensor, ...]:
    """The gradients of a sum with uneven weights over all results that have one."""
    many = results if isinstance(results, tuple) else (results,)
    total = sum(
        (r * torch.linspace(0.5, 1.5, r.numel(), dtype=torch.float64).reshape(r.shape)).sum()
        for r in many
        if isinstance(r, torch.Tensor) and r.requires_grad
    )
    wanted = [t for t in inputs if isinstance(t, torch.Tensor) and t.requires_grad]
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    return tuple(torch.zeros_like(t) if g is None else g for g, t in zip(found, wanted, strict=True))


@dataclass(frozen=True)
class Refused:
    """A construct that is a mistake: its code, and the text under the caret."""

    construct: str
    spec: str
    code: str
    marked: str

    def check(self) -> None:
        bag = Bag()
        spec = load(Source("spec.yaml", textwrap.dedent(self.spec).strip() + "\n"), bag)
        operator = lower(spec, bag) if spec is not None else None
        errors = [d for d in bag.items if d.severity is Severity.ERROR]
        found = [(d.code, d.span.text if d.span else "") for d in errors]
        assert (self.code, self.marked) in found, found
        assert operator is None or bag.has_errors


def works(*cases: Works) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[c.construct for c in cases])


def refused(*cases: Refused) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[c.construct for c in cases])


def pointwise(construct: str, formula: str, expected: Any, *inputs: torch.Tensor, **more: Any) -> Works:
    """A formula of up to three tensors, element by element."""
    names = "xzu"[: len(inputs)]
    kinds = ", ".join(f"{n}: {{dtype: {_kind(t)}}}" for n, t in zip(names, inputs, strict=True))
    return Works(construct, f"op: a\ninputs: {{{kinds}}}\nforward: |\n  y = {formula}\n", expected, inputs, **more)


def _kind(t: torch.Tensor) -> str:
    return "bool" if t.dtype is torch.bool else "float" if t.is_floating_point() else "int"
