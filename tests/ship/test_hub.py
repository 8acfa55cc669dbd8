"""`opgen package --layout huggingface`: the layout by itself, and loaded by the package `kernels` where that is."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from opgen import build
from opgen.cli import run as command
from opgen.diagnostics.model import Bag
from opgen.ship.hub import ANYWHERE, Kernel, kernel_of, put, variants
from opgen.ship.wheel import Release

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]
KERNEL = Kernel("my-kernels", 3, "mit", "Two of a kind.")
CODE = {"__init__.py": b"from . import _exports\n", "wave/ops.py": b"# torch\n"}
LIBRARIES = {"wave/_native.so": b"cpu"}
CUDA = {"wave/_native_cuda.so": b"cuda"}
MACHINE = f"{platform.machine().lower().replace('arm64', 'aarch64')}-{platform.system().lower()}"
CPU, GPU = f"torch-stable-abi211-cpu-{MACHINE}", f"torch-stable-abi211-cu128-{MACHINE}"
INSTALLED = {d.name for d in distributions()}
needs_kernels = pytest.mark.skipif("kernels" not in INSTALLED, reason="needs the package kernels")


def test_a_variant_for_each_kind_of_library_and_one_for_all_machines() -> None:
    assert [*variants(KERNEL, CODE, {})] == [ANYWHERE]
    assert [*variants(KERNEL, CODE, LIBRARIES)] == [ANYWHERE, CPU]
    found = variants(KERNEL, CODE, LIBRARIES | CUDA, "12.8")
    assert [*found] == [ANYWHERE, CPU, GPU]
    libraries = {name: {n for n in files if n.endswith(".so")} for name, files in found.items()}
    assert libraries == {ANYWHERE: set(), CPU: {*LIBRARIES}, GPU: {*LIBRARIES, *CUDA}}


def test_what_metadata_says() -> None:
    found = variants(KERNEL, CODE, LIBRARIES | CUDA, "12.8")
    told = {name: json.loads(files["metadata.json"]) for name, files in found.items()}
    assert {name: t["backend"] for name, t in told.items()} == {
        ANYWHERE: {"type": "cpu"}, CPU: {"type": "cpu"}, GPU: {"type": "cuda"},
    }  # fmt: skip
    for t in told.values():
        assert {n: t[n] for n in ("name", "version", "license", "python-depends")} == {
            "name": "my-kernels", "version": 3, "license": "mit", "python-depends": [],
        }  # fmt: skip
        assert t["id"].startswith(f"_my_kernels_{t['backend']['type']}_")
    assert len({t["id"] for t in told.values()}) == 3
    again = variants(KERNEL, {**CODE, "wave/ops.py": b"# other\n"}, {})
    assert json.loads(again[ANYWHERE]["metadata.json"])["id"] != told[ANYWHERE]["id"]


def test_the_package_within_gives_way_to_an_operator_of_its_name() -> None:
    assert variants(KERNEL, CODE, {})[ANYWHERE]["my_kernels/__init__.py"].endswith(CODE["__init__.py"])
    own = {**CODE, "my_kernels/__init__.py": b"# an operator\n"}
    assert variants(KERNEL, own, {})[ANYWHERE]["my_kernels/__init__.py"] == b"# an operator\n"


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [("My.Lib_x", "1.0rc1", ("my-lib-x", 1)), ("relu2d", "2!10.3", ("relu2d", 10)), ("lib", "0.1", ("lib", 0))],
)
def test_names_and_versions_as_the_hub_has_them(name: str, version: str, expected: tuple[str, int]) -> None:
    kernel = kernel_of(Release(name, version, (), ""), Bag())
    assert (kernel.name, kernel.version, kernel.license) == (*expected, "other")


@pytest.mark.parametrize("name", ["x", "2d"])
def test_a_name_that_the_hub_does_not_take_is_refused(name: str) -> None:
    bag = Bag()
    kernel_of(Release(name, "1.0", (), ""), bag)
    assert [d.code for d in bag.items] == ["OPG512"]


def test_former_variants_go_and_what_is_of_others_stays(tmp_path: Path) -> None:
    assert put(tmp_path, KERNEL, variants(KERNEL, CODE, LIBRARIES), ["wave"]) == ()
    (tmp_path / "README.md").write_text("Mine.\n")
    (tmp_path / "build/notes").mkdir()
    assert put(tmp_path, KERNEL, variants(KERNEL, {"__init__.py": b""}, {}), ["wave"]) == ()
    assert sorted(p.name for p in (tmp_path / "build").iterdir()) == ["notes", ANYWHERE]
    assert not (tmp_path / "build" / ANYWHERE / "wave").exists()
    assert (tmp_path / "README.md").read_text() == "Mine.\n"
    other = Kernel("other", 1, "mit", "")
    (refused,) = put(tmp_path, other, variants(other, CODE, {}), ["wave"])
    assert refused.code == "OPG503"
    assert json.loads((tmp_path / "build" / ANYWHERE / "metadata.json").read_text())["name"] == "my-kernels"


PROJECT = """[project]
name = "my-kernels"
version = "3.1"
license = "MIT"
"""
USE = """
import pickle
import sys
from pathlib import Path

import torch

assert "opgen" not in sys.modules
x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
torch.testing.assert_close(kernel.wave(x), torch.sin(x)*x)
assert torch.autograd.gradcheck(kernel.wave, (x,))
module = kernel.Wave()
torch.testing.assert_close(pickle.loads(pickle.dumps(module))(x), kernel.wave(x))
x = torch.randn(5)
kernel.wave(x)
print(kernel.wave.backend)
"""
BY_PATH = """
import importlib.util
import sys
from pathlib import Path

folder = Path(sys.argv[1], "build", sys.argv[2], *sys.argv[3:], "__init__.py")
spec = importlib.util.spec_from_file_location("a_kernel", folder)
kernel = sys.modules["a_kernel"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernel)
"""
BY_KERNELS = """
import sys
from pathlib import Path

from kernels import get_local_kernel, get_loaded_kernels

kernel = get_local_kernel(Path(sys.argv[1]))
(loaded,) = get_loaded_kernels()
assert (str(loaded.metadata.name), loaded.metadata.version, loaded.metadata.license) == ("my-kernels", 3, "mit")
assert Path(kernel.__file__).parent.name == sys.argv[2], kernel.__file__
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with an operator that was built."""
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/wave.yaml").write_text("op: wave\ninputs: [x]\nforward: y = sin(x)*x\nmodule: {}\n")
    assert not build(tmp_path / "specs", tmp_path / "generated").failed
    return tmp_path


def run(at: Path, *arguments: str, **variables: str) -> str:
    """What a program writes, which has to succeed; it knows opgen only where it is run as a module."""
    given = {n: v for n, v in os.environ.items() if n != "OPGEN_BACKEND"}
    known = {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(at / "hub")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=at, env={**given, **known, **offline, **variables}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_the_command_makes_a_folder_that_is_loaded_by_its_path(project: Path) -> None:
    assert run(project, "-m", "opgen", "package", "--pure", "--layout", "huggingface") == "dist/my-kernels"
    for inner in ((), ("my_kernels",)):
        assert run(project, "-c", BY_PATH + USE, "dist/my-kernels", ANYWHERE, *inner) == "torch"
    card = (project / "dist/my-kernels/README.md").read_text()
    assert "library_name: kernels" in card
    assert "license: mit" in card


def test_it_has_no_import_name(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert command(["package", "--layout", "huggingface", "--import-name", "a"]) == 2
    assert "has no --import-name" in capsys.readouterr().err


@needs_kernels
def test_kernels_loads_it_in_plain_torch(project: Path) -> None:
    run(project, "-m", "opgen", "package", "--pure", "--layout", "huggingface")
    assert run(project, "-c", BY_KERNELS + USE, "dist/my-kernels", ANYWHERE) == "torch"


@pytest.mark.thorough
@needs_kernels
def test_kernels_loads_it_with_its_compiled_kernels(project: Path) -> None:
    run(project, "-m", "opgen", "package", "--layout", "huggingface", OPGEN_ISA="baseline")
    assert run(project, "-c", BY_KERNELS + USE, "dist/my-kernels", CPU) == "native"


@pytest.mark.thorough
def test_its_compiled_kernels_run_where_it_is_loaded_by_its_path(project: Path) -> None:
    run(project, "-m", "opgen", "package", "--layout", "huggingface", OPGEN_ISA="baseline")
    assert run(project, "-c", BY_PATH + USE, "dist/my-kernels", CPU) == "native"
