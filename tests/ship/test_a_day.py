"""A library author's day: from an empty folder to a wheel that runs without a compiler, beside one of equal names."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.compilers import available

torch = pytest.importorskip("torch")
_INSTALLED = {d.name for d in distributions()}  # to look for the module `pip` changes how distutils is imported
_LACKING = [n for n in ("pip", "mypy", "ruff") if n not in _INSTALLED]
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not available(), reason="no C++ compiler is installed"),
    pytest.mark.skipif(bool(_LACKING), reason=f"not installed: {', '.join(_LACKING)}"),
]

PROJECT = """[project]
name = "{name}"
version = "1.0"
dependencies = ["torch>=2.11"]

[tool.opgen]
specs = ["specs"]
out = "src/{name}/ops"
"""
MODEL = '''"""A model of generated operators."""

import torch
from torch import Tensor, nn

from daylib.ops import Gate, distance


class Model(nn.Module):
    """A gate behind a linear map."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.gate = Gate(width)

    def forward(self, x: Tensor) -> Tensor:
        """The gated map of `x[..., width]`."""
        made: Tensor = self.gate(self.linear(x))
        return made


def train(steps: int) -> tuple[Model, list[float]]:
    """A model that learns to halve, and its losses."""
    torch.manual_seed(0)
    model = Model(4)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        x = torch.randn(32, 4)
        loss = distance(model(x), x / 2)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    return model, losses
'''
TESTS = """from model import train


def test_it_learns() -> None:
    _, losses = train(100)
    assert losses[-1] < losses[0] / 4
"""
USE = """
import shutil
import sys

import torch

sys.modules["opgen"] = None  # an import would fail
assert shutil.which("c++") is None
from model import Model, train
from daylib.ops import Gate, distance, gate

gate(torch.ones(2, 4), torch.ones(4))
assert "native" in gate.backend, gate.backend
model, losses = train(100)
assert losses[-1] < losses[0] / 4
torch.export.save(torch.export.export(model, (torch.ones(3, 4),)), sys.argv[1])
torch.save(model(torch.ones(3, 4)).detach(), sys.argv[2])
"""
BESIDE = """
import sys

import daylib.ops
import otherlib.ops
import torch

x, g = torch.ones(2, 4), torch.full((4,), 0.5)
torch.testing.assert_close(otherlib.ops.gate(x, g), torch.tanh(x * g))
torch.testing.assert_close(daylib.ops.gate(x, g), x * torch.sigmoid(x * g))
program = torch.export.load(sys.argv[1])
torch.testing.assert_close(program.module()(torch.ones(3, 4)), torch.load(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("day")


def command(at: Path, *arguments: str) -> str:
    """What a command says, which has to succeed."""
    own = {n: v for n, v in os.environ.items() if n not in ("PYTHONPATH", "OPGEN_BACKEND")}
    root = str(Path(__file__).resolve().parents[2])
    around = {**own, "PYTHONPATH": os.pathsep.join((root, str(at), str(at / "src"))), "OPGEN_ISA": "baseline"}
    done = subprocess.run([sys.executable, *arguments], cwd=at, env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def library(day: Path, name: str, gate: str) -> Path:
    """A new repository with operators of one's own, and its wheel."""
    at = day / name
    at.mkdir()
    (at / "pyproject.toml").write_text(PROJECT.format(name=name))
    command(at, "-m", "opgen", "new", "gate", "--formula", gate)
    spec = at / "specs/gate.yaml"
    spec.write_text(spec.read_text() + "module: {dims: {K: k}, parameters: {g: ones}}\n")
    command(at, "-m", "opgen", "new", "distance", "--kind", "loss")
    assert "distance" in command(at, "-m", "opgen", "build")
    return at


def wheel(at: Path) -> str:
    command(at, "-m", "opgen", "package")
    (made,) = (at / "dist").glob("*.whl")
    return str(made)


def clean(day: Path, *wheels: str) -> Path:
    """The interpreter of an environment that has torch and these wheels, and nothing of opgen's."""
    command(day, "-m", "venv", "--without-pip", "env")
    packages = next((day / "env/lib").glob("python*/site-packages"))
    (packages / "torch.pth").write_text(str(Path(torch.__file__).parents[1]))
    command(day, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(packages), *wheels)
    return day / "env/bin/python"


def test_from_an_empty_folder_to_a_wheel_beside_another(day: Path) -> None:
    at = library(day, "daylib", "y[..., k] = x[..., k]*sigmoid(g[k]*x[..., k])")
    (at / "model.py").write_text(MODEL)
    (at / "tests").mkdir()
    (at / "tests/test_model.py").write_text(TESTS)
    command(at, "-m", "ruff", "format", ".")
    command(at, "-m", "ruff", "check", ".")
    command(at, "-m", "opgen", "build", "--check")  # what is generated is nobody's to format
    command(at, "-m", "mypy", "--strict", "model.py")
    command(at, "-m", "pytest", "-q", "tests")
    command(at, "-m", "opgen", "test", "-k", "values or gradcheck")
    other = library(day, "otherlib", "y[..., k] = tanh(x[..., k]*g[k])")
    python = clean(day, wheel(at), wheel(other))

    def run(text: str) -> None:
        kept = [str(day / "program.pt2"), str(day / "result.pt")]
        bare = {"PATH": str(day / "nothing"), "HOME": str(day)}
        done = subprocess.run(
            [python, "-c", text, *kept], cwd=at, env=bare, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]

    run(USE)
    run(BESIDE)
