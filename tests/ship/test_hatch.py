"""The build hook in hatchling's own hands: what a project's wheel gets from it. The compiler is a stand-in."""

from __future__ import annotations

import platform
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hatchling", reason="hatchling is not installed")

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hatchling.plugin.manager import PluginManager

from opgen.cli import run
from opgen.ship import compiled, hatch
from opgen.toolchain import library
from opgen.toolchain.compiler import toolchain
from opgen.write.user_cache import CACHE_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """[build-system]
requires = ["hatchling", "opgen"]
build-backend = "hatchling.build"

[project]
name = "mylib"
version = "1.0"
dependencies = ["torch>=2.11"]

[tool.opgen]
specs = ["specs"]
out = "src/mylib/ops"

[tool.hatch.build.targets.wheel]
exclude = ["*.txt"]

[tool.hatch.build.targets.wheel.hooks.opgen]
"""


@pytest.fixture
def mylib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with code of its own and an operator, whose generated files are in nobody's version control."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr(compiled, "cuda_toolchain", lambda *_, **__: None)
    monkeypatch.setattr(library, "_run", lambda command: Path(command[command.index("-o") + 1]).write_text("made"))
    toolchain.cache_clear()
    files = {
        "pyproject.toml": PROJECT,
        ".gitignore": "src/mylib/ops/\n*.so\n",
        "specs/scale.yaml": "op: scale\ninputs: [x]\nforward: y = 2*x\n",
        "src/mylib/__init__.py": "",
        "src/mylib/test_mine.py": "",
        "src/mylib/notes.txt": "",
    }
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    assert run(["build"]) == 0
    Path("src/mylib/ops/scale/_native.so").write_text("of this machine")
    Path("src/mylib/ops/scale/_native.stamp").write_text("of this machine")
    yield tmp_path
    toolchain.cache_clear()


def built(kind: type[Any], root: Path, version: str = "standard") -> Path:
    """What hatchling builds, with the hook as it finds it where opgen is installed."""
    manager = PluginManager()
    manager.manager.register(hatch, "opgen")
    return Path(next(kind(str(root), manager).build(directory=str(root / "dist"), versions=[version])))


def test_a_wheel_of_ones_own_has_the_operators_and_their_libraries(mylib: Path) -> None:
    path = built(WheelBuilder, mylib)
    assert path.name == f"mylib-1.0-py3-none-linux_{platform.machine()}.whl"
    wheel = zipfile.ZipFile(path)
    names = wheel.namelist()
    generated = {p.relative_to(mylib / "src").as_posix() for p in (mylib / "src/mylib/ops").rglob("*") if p.is_file()}
    shipped = {n for n in generated if not any(w in n for w in ("csrc/", "/_testing/", "test_scale", ".stamp"))}
    own = {"mylib/__init__.py", "mylib/test_mine.py"}
    assert {n for n in names if n.startswith("mylib/")} == shipped | own
    assert len(names) == len(set(names))
    assert wheel.read("mylib/ops/scale/_native.so") == b"made"
    assert b"Root-Is-Purelib: false" in wheel.read("mylib-1.0.dist-info/WHEEL")


def test_what_else_is_built_is_left_alone(mylib: Path) -> None:
    assert "/_testing/" not in str(zipfile.ZipFile(built(WheelBuilder, mylib)).namelist())
    (mylib / "specs/scale.yaml").write_text("op: wrong")
    built(SdistBuilder, mylib)


def test_a_pure_wheel_has_no_libraries(mylib: Path) -> None:
    (mylib / "pyproject.toml").write_text(PROJECT + "pure = true\n")
    path = built(WheelBuilder, mylib)
    assert path.name.endswith("-none-any.whl")
    assert not [n for n in zipfile.ZipFile(path).namelist() if n.endswith(".so")]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("specs/scale.yaml", "op: scale\ninputs: [x]\nforward: y = 3*x\n", "not as the specs give them"),
        ("pyproject.toml", PROJECT + "prue = true\n", "no option 'prue'"),
        ("pyproject.toml", PROJECT.replace("mylib/ops", "mylib/op"), "no generated operator in src/mylib/op; first:"),
        ("pyproject.toml", PROJECT.replace("out =", "uot ="), "did you mean `out`?"),
    ],
)
def test_what_cannot_be_shipped_ends_the_build_with_a_word(
    mylib: Path, capfd: pytest.CaptureFixture[str], name: str, text: str, words: str
) -> None:
    (mylib / name).write_text(text)
    with pytest.raises(SystemExit):
        built(WheelBuilder, mylib)
    assert words in "".join(capfd.readouterr())
    assert not list(mylib.glob("dist/*"))


def test_without_a_compiler_the_build_ends_with_a_word(
    mylib: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    toolchain.cache_clear()
    with pytest.raises(SystemExit):
        built(WheelBuilder, mylib)
    assert "OPG601" in "".join(capfd.readouterr())


def test_hatchling_finds_the_hook_by_an_entry_point() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["hatch"]
    assert [import_module(place).hatch_register_build_hook().PLUGIN_NAME for place in stated.values()] == ["opgen"]
