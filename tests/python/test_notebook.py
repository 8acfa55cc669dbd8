"""A notebook as one test: define, differentiate, plot, compile, train, hand to another process, look at it."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import opgen
from tests.compilers import available

pytestmark = pytest.mark.thorough
FORMULA = "y[..., k] = x[..., k]*sigmoid(g[k]*x[..., k])"
GRID = 201


@pytest.fixture(scope="module")
def gate() -> opgen.Operator:
    """The operator of the notebook, as its first cell has it."""
    return opgen.op(
        FORMULA,
        name="notebook_gate",
        summary="A gate with a slope for each feature.",
        module={"dims": {"K": "features"}, "parameters": {"g": "ones"}},
        compiled=False,
    )


def plain(x: Tensor, g: Tensor) -> Tensor:
    return x * torch.sigmoid(g * x)


def test_it_is_differentiated_twice(gate: opgen.Operator) -> None:
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    g = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gate, (x, g))
    assert torch.autograd.gradgradcheck(gate, (x, g))
    torch.testing.assert_close(
        torch.func.hessian(lambda g: gate(x, g).square().sum())(g),
        torch.func.hessian(lambda g: plain(x, g).square().sum())(g),
    )


def test_curves_of_it_and_of_its_slopes_are_data(gate: opgen.Operator) -> None:
    xs = torch.linspace(-4, 4, GRID, dtype=torch.float64)
    g = torch.ones(1, dtype=torch.float64)

    def at(f: Any) -> Any:
        return lambda x: f(x.reshape(1), g).squeeze()

    curves = {}
    for name, f in (("opgen", at(gate)), ("torch", at(plain))):
        slope = torch.func.grad(f)
        curves[name] = [torch.func.vmap(h)(xs) for h in (f, slope, torch.func.grad(slope))]
    for ours, theirs in zip(curves["opgen"], curves["torch"], strict=True):
        assert ours.shape == (GRID,)
        torch.testing.assert_close(ours, theirs)
    rising = (curves["opgen"][0].diff() > 0).double()
    assert 0.5 < rising.mean() < 1  # it has a minimum left of 0: the slopes say so, too
    assert (curves["opgen"][1] < 0).any()


@pytest.mark.skipif(not available(), reason="no C++ compiler is installed")
def test_compiled_it_is_the_same(gate: opgen.Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPGEN_ISA", "baseline")
    said: list[str] = []
    fast = opgen.op(FORMULA, name="notebook_gate", compiled=True, progress=said.append)
    x, g = torch.randn(64, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    with opgen.use_backend("native"):
        result = fast(x, g)
        assert fast.backend == "native"
        gradients = torch.autograd.grad(result.square().sum(), (x, g))
    torch.testing.assert_close(result, gate(x, g))
    torch.testing.assert_close(gradients, torch.autograd.grad(gate(x, g).square().sum(), (x, g)))


class Model(nn.Module):
    """A gate behind a linear map."""

    def __init__(self, gate: opgen.Operator) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.gate = gate.Module(4)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.gate(self.linear(x))
        return made


def trained(gate: opgen.Operator) -> tuple[Model, list[float]]:
    """A model that learns to halve, and its losses."""
    torch.manual_seed(0)
    model = Model(gate)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(150):
        x = torch.randn(32, 4)
        loss = (model(x) - x / 2).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return model, losses


def test_a_module_of_it_learns(gate: opgen.Operator) -> None:
    model, losses = trained(gate)
    assert losses[-1] < losses[0] / 10
    assert not torch.equal(model.gate.g, torch.ones(4))  # what the gate has learnt itself


def _used(given: tuple[opgen.Operator, nn.Module, Tensor, Tensor]) -> list[list[Any]]:
    """What a worker computes; numbers, since a tensor would need its process."""
    gate, module, x, g = given
    return [gate(x, g).tolist(), module(x).tolist(), torch.func.grad(lambda g: gate(x, g).sum())(g).tolist()]


def test_a_spawned_worker_has_the_same_operator_and_module(gate: opgen.Operator) -> None:
    x, g = torch.randn(2, 3), torch.randn(3)
    module = gate.Module(3)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (found,) = pool.map(_used, [(gate, module, x, g)])
    for theirs, ours in zip(found, _used((gate, module, x, g)), strict=True):
        torch.testing.assert_close(torch.tensor(theirs), torch.tensor(ours))


def test_it_is_shown_and_reported(gate: opgen.Operator, tmp_path: Path) -> None:
    shown = gate._repr_html_()
    assert "<math" in shown
    assert "A gate with a slope for each feature." in shown
    assert "notebook_gate" in shown
    page = gate.report(tmp_path / "pages")
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "pages/notebook_gate.html"
    assert (tmp_path / "pages/index.html").exists()
    for section in (
        "Formula",
        "Derivative",
        "Second order",
        "Graph",
        "Indices and shapes",
        "Kept for backward",
        "Code",
    ):
        assert section in text
    assert FORMULA in text
