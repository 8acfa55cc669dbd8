"""Operators of two packages with the same name stay two, for programs too that know them by that name alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import torch

from opgen import build
from opgen.api import compile as compile_package
from tests.compilers import available

SPEC = "op: squareplus\ninputs: [x]\nforward: y = x*x + {}\n"
EXPORTED = """
import sys, torch
from mylib.ops.squareplus import squareplus
class Model(torch.nn.Module):
    def forward(self, x):
        return squareplus(x)
torch.export.save(torch.export.export(Model(), (torch.ones(1),)), sys.argv[1])
"""
LOADED = """
import sys, torch
for package in sys.argv[2:]:
    __import__(package + ".ops.squareplus")
program = torch.export.load(sys.argv[1]).module()
print(program(torch.tensor([3.0])).item())
for package in sys.argv[2:]:
    print(sys.modules[package + ".ops.squareplus"].squareplus(torch.tensor([3.0])).item())
"""


def python(code: str, *arguments: str, folder: Path) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Two packages in one project, each with a `squareplus` of its own: + 1 and + 2."""
    (tmp_path / "pyproject.toml").touch()
    for number, package in enumerate(("mylib", "otherlib"), 1):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / f"{package}.yaml").write_text(SPEC.format(number))
        assert not build(tmp_path / f"{package}.yaml", tmp_path / package / "ops").failed
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [m for m in sys.modules if m.split(".")[0] in ("mylib", "otherlib", "copied")]:
        del sys.modules[name]


@pytest.mark.thorough
def test_an_exported_program_calls_the_operator_it_was_exported_with(project: Path) -> None:
    program = str(project / "program.pt2")
    python(EXPORTED, program, folder=project)
    assert python(LOADED, program, "otherlib", "mylib", folder=project).split() == ["10.0", "11.0", "10.0"]


@pytest.mark.thorough
def test_kernels_are_registered_in_the_namespace_of_their_package(project: Path) -> None:
    for package in ("mylib", "otherlib"):
        text = (project / package / "ops/squareplus/csrc/squareplus.cpp").read_text()
        assert f"STABLE_TORCH_LIBRARY_FRAGMENT({package}_ops_native, m)" in text
        assert f"STABLE_TORCH_LIBRARY_IMPL({package}_ops_native, CPU, m)" in text


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="no C++ compiler")
def test_compiled_operators_of_one_name_stay_two(project: Path) -> None:
    for package in ("mylib", "otherlib"):
        compile_package("squareplus", project / package / "ops")
    code = "\n".join(
        f"from {p}.ops.squareplus import squareplus as f; print(f.backend, f(torch.tensor([3.0])).item())"
        for p in ("otherlib", "mylib")
    )
    assert python(f"import torch\n{code}", folder=project) == "native 11.0\nnative 10.0\n"


def test_two_operators_of_one_name_in_one_namespace_are_refused(project: Path) -> None:
    for package in ("mylib", "otherlib"):
        assert not build(project / f"{package}.yaml", project / package / "ops", namespace="met_here").failed
    first = import_module("mylib.ops.squareplus")
    with pytest.raises(ImportError, match=r"met_here\.squareplus is the operator in \S*mylib") as caught:
        import_module("otherlib.ops.squareplus")
    assert str(project / "otherlib/ops/squareplus") in str(caught.value)
    assert "--namespace" in str(caught.value)
    assert first.squareplus(torch.tensor([3.0])).item() == 10.0


def test_a_copy_of_a_package_has_names_of_its_own(project: Path) -> None:
    shutil.copytree(project / "mylib/ops", project / "copied")
    names = []
    for package in ("copied", "mylib.ops"):
        assert import_module(f"{package}.squareplus").squareplus(torch.tensor([3.0])).item() == 10.0
        names.append(str(import_module(f"{package}._runtime").entry("squareplus").call))
    assert names[0].startswith("mylib_ops.squareplus")
    assert len(set(names)) == 2
