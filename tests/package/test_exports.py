"""What `from mylib.ops import …` finds: operators and their classes, lazily, whatever was imported before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opgen import build
from opgen.package.exports import listed, stub

SPEC = "op: {}\ninputs: [x]\nforward: y = 2*x\n"
PRELUDE = "import sys\nimport mylib.ops as ops\nassert 'torch' not in sys.modules\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `mylib.ops`: operators of ordinary names, and of names that the package uses itself."""
    folder = tmp_path_factory.mktemp("exports")
    specs = folder / "specs"
    specs.mkdir()
    for op in ("grn", "export", "annotations", "install"):
        (specs / f"{op}.yaml").write_text(SPEC.format(op))
    (specs / "grn.yaml").write_text(SPEC.format("grn") + "inplace: x\nmodule: {name: GRN}\n")
    (specs / "one.yaml").write_text(SPEC.format("one") + "module: {name: Same}\n")
    (specs / "other.yaml").write_text(SPEC.format("other") + "module: {name: Same}\n")
    assert not build(specs, folder / "mylib/ops").failed
    return folder


def python(folder: Path, code: str) -> str:
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), root))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_are_imported_when_they_are_asked_for(package: Path) -> None:
    code = f"""{PRELUDE}
assert {{"grn", "GRN", "GRNFunction", "grn_", "export", "annotations", "install"}} <= {{*ops.__all__}} <= {{*dir(ops)}}
assert "Same" not in ops.__all__ and "one" in ops.__all__
assert "torch" not in sys.modules
from mylib.ops.grn import grn as own
from mylib.ops import GRN, GrnFunction, grn, grn_
import mylib.ops.one, torch, pickle
assert grn is own is ops.grn and GRN.__module__ == "mylib.ops.grn.module"
assert pickle.loads(pickle.dumps(grn)) is grn
assert callable(mylib.ops.one) and mylib.ops.one(torch.ones(1)) == 2
from mylib.ops import *
assert torch.compile(lambda x: export(annotations(x)), fullgraph=True, backend="eager")(torch.ones(1)) == 4
try:
    from mylib.ops import Same
except ImportError as error:
    print(error)
""".replace("GRNFunction", "GrnFunction")
    assert "cannot import name 'Same'" in python(package, code)


@pytest.mark.thorough
def test_type_checkers_know_them(package: Path) -> None:
    (package / "use.py").write_text(
        "from mylib.ops import GRN, grn, install\nfrom mylib.ops.grn import grn as own\n"
        "GRN()\ngrn(1)\ninstall(1)\nown(1)\ngrn()\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", os.devnull, "--follow-imports=silent", "use.py"]
    if shutil.which("mypy", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("mypy is not installed")
    options = ["--ignore-missing-imports", "--no-site-packages"]  # torch is Any then
    done = subprocess.run([*command, *options], cwd=package, capture_output=True, text=True, check=False)
    told = [line for line in done.stdout.splitlines() if "error" in line]
    assert [line.partition(": error: ")[0] for line in told[:-1]] == ["use.py:7"], done.stdout


def test_the_stub_follows_the_operators(tmp_path: Path) -> None:
    specs, out = tmp_path / "specs", tmp_path / "ops"
    specs.mkdir()
    (specs / "first.yaml").write_text(SPEC.format("first"))
    build(specs, out)
    (specs / "second.yaml").write_text(SPEC.format("second"))
    assert not build(specs / "second.yaml", out).failed
    text = (out / "__init__.pyi").read_text()
    assert "from .first import first as first\n" in text
    assert "from .second import Second as Second\n" in text
    assert build(specs, out, check=True).drift == ()
    (out / "__init__.pyi").write_text(f"{text}edited = 1\n")
    assert [c.path for c in build(specs, out, check=True).drift] == ["__init__.pyi"]
    (specs / "first.yaml").unlink()
    assert not build(specs, out).failed
    assert ".first" not in (out / "__init__.pyi").read_text()
    assert build(specs, out, check=True).drift == ()


def test_a_name_of_two_operators_is_nobodys() -> None:
    operators = {"f": ("F", "f", "f_"), "f_": ("F", "f_"), "g": ("Same", "g"), "h": ("Same", "h")}
    lines = stub(operators).splitlines()
    assert [line for line in lines if line.startswith("from")] == [
        "from .f import f as f", "from .f_ import f_ as f_", "from .g import g as g", "from .h import h as h",
    ]  # fmt: skip
    assert listed("__all__ = ['a']\n") == ("a",)
    assert listed("x = 1\n") == ()
