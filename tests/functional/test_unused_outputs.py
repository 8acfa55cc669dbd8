"""An output that nobody uses contributes nothing to a gradient, even where its slope is infinite or nan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

Build = Callable[[str], ModuleType]

SPECS = {
    "roots": "op: roots\ninputs: [x]\nforward: |\n  y = 2*x\n  z = sqrt(x)\n",
    "steps": (
        "op: steps\ninputs: {x: {shape: [N]}}\noutputs: [y, z]\nforward: |\n"
        "  y[n] = sin(x[n])\n  z[t] = 0.5*z[t - 1] + log(x[t])\n"
    ),
    "sums": (
        "op: sums\ninputs: {x: {shape: [N]}, at: {shape: [N], dtype: int, domain: 0 <= at < N}}\n"
        "outputs: {many: {shape: [N], dtype: int}, y: {doc: linear}, z: {doc: singular}}\nforward: |\n"
        "  many[n] = at[n] + 1\n  y[n] = x[n]*n\n  t[m < N] = 0\n  t[at[n]] += 1/x[n]\n  z[m] = 3*t[m]\n"
    ),
}


def functions(package: ModuleType, name: str, others: tuple[torch.Tensor, ...]) -> list[Callable[..., Any]]:
    """The operator and the autograd function beside it, of `x` alone."""
    made = (getattr(package, name), getattr(package, f"{name.capitalize()}Function").apply)
    return [lambda x, f=f: f(x, *others)[-2:] for f in made]  # type: ignore[misc]


@pytest.mark.parametrize("name", SPECS)
def test_it_contributes_nothing(build_operator: Build, name: str) -> None:
    package = build_operator(SPECS[name])
    others = (torch.tensor([0, 1, 1]),) if name == "sums" else ()
    x = torch.tensor([0.0, 0.25, 4.0], dtype=torch.float64)
    for f in functions(package, name, others):
        linear = torch.func.jacrev(lambda x, f=f: f(x)[0])(x)
        torch.testing.assert_close(linear, torch.func.jacfwd(lambda x, f=f: f(x)[0])(x))
        leaf = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(f(leaf)[0].square().sum(), leaf, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), leaf)
        assert first.isfinite().all()
        assert second.isfinite().all()
        (both,) = torch.autograd.grad([t.sum() for t in f(leaf)], leaf)
        assert not both.isfinite().all()
        batched = torch.func.vmap(torch.func.grad(lambda x, f=f: f(x)[0].sum()))(x.expand(2, 3))
        torch.testing.assert_close(batched, linear.sum(0).expand(2, 3))
        smooth = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(f, smooth)
        assert torch.autograd.gradgradcheck(f, smooth)


def test_what_is_tame_asks_for_nothing(build_operator: Build) -> None:
    package = build_operator("op: tame\ninputs: [x]\nforward: |\n  y = 2*x\n  z = sin(x)\n")
    assert "given_grads" not in Path(package.__file__ or "").with_name("ops.py").read_text()
    assert package.tame(torch.ones(2))[0].tolist() == [2, 2]
