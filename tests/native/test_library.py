"""Compiling and caching libraries, and going from a spec to an operator in one call."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from opgen.toolchain import library
from opgen.toolchain.compiler import Toolchain, toolchain
from opgen.write.user_cache import CACHE_VARIABLE
from tests.compilers import available

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not available(), reason="no C++ compiler")]

CSRC = Path(__file__).resolve().parents[2] / "templates" / "csrc"
KERNELS = '#include "opgen_cpu.h"\n\nOPGEN_STEPS(tiny) = {OPGEN_STEP(rt::no_step)};\n'
BINDING = (
    '#include "opgen_host.h"\n\nOPGEN_DECLARE_STEPS(tiny);\n\n'
    "STABLE_TORCH_LIBRARY_FRAGMENT(opgen_tiny_test, m) {}\n"
    "const OpgenStep* chosen() { return OPGEN_CHOOSE_STEPS(tiny); }\n"
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The smallest folder that can be compiled."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("OPGEN_ISA", "baseline")
    toolchain.cache_clear()
    (tmp_path / "out" / "tiny" / "csrc").mkdir(parents=True)
    (tmp_path / "out" / "csrc").mkdir()
    for shared in (*CSRC.glob("*.h"), CSRC / "opgen_host.cpp"):
        shutil.copy(shared, tmp_path / "out" / "csrc")
    (tmp_path / "out" / "tiny" / "csrc" / "tiny.cpp").write_text(BINDING)
    (tmp_path / "out" / "tiny" / "csrc" / "tiny_kernels.cpp").write_text(KERNELS)
    for folder in ("out", "out/tiny"):
        (tmp_path / folder / "manifest.json").write_text('{"files": {}}\n')
    yield tmp_path / "out"
    toolchain.cache_clear()


def test_nothing_is_compiled_twice_and_a_change_is(package: Path) -> None:
    first = library.cached(package, "tiny", toolchain())
    stamp = first.stat().st_mtime_ns
    assert library.cached(package, "tiny", toolchain()) == first
    assert first.stat().st_mtime_ns == stamp
    kernels = package / "tiny" / "csrc" / "tiny_kernels.cpp"
    kernels.write_text(KERNELS + "// changed\n")
    assert library.cached(package, "tiny", toolchain()) != first


def test_what_all_operators_share_is_compiled_once(package: Path) -> None:
    library.cached(package, "tiny", toolchain())
    (made,) = package.parent.glob("cache/libraries/csrc/*/opgen_host.o")
    stamp = made.stat().st_mtime_ns
    (package / "tiny" / "csrc" / "tiny_kernels.cpp").write_text(KERNELS + "// changed\n")
    library.cached(package, "tiny", toolchain())
    assert made.stat().st_mtime_ns == stamp
    host = package / "csrc" / "opgen_host.cpp"
    host.write_text(host.read_text() + "// changed\n")
    library.cached(package, "tiny", toolchain())
    assert len(list(package.parent.glob("cache/libraries/csrc/*/opgen_host.o"))) == 2


def test_what_the_compiler_says_of_a_shared_source_is_in_the_error(package: Path) -> None:
    (package / "csrc" / "opgen_host.cpp").write_text("this is no C++\n")
    with pytest.raises(library.CompileError, match=r"opgen_host\.cpp:1"):
        library.compile_op(package, "tiny")


def test_the_library_lies_beside_its_package(package: Path) -> None:
    path = library.compile_op(package, "tiny")
    assert path == package / "tiny" / "_native.so"
    stamp = path.stat().st_mtime_ns
    library.compile_op(package, "tiny")
    assert path.stat().st_mtime_ns == stamp
    assert not list(path.parent.glob(".native-*"))


def test_a_library_is_current_until_its_operator_is_generated_anew(package: Path) -> None:
    assert not library.is_current(package, "tiny")
    library.compile_op(package, "tiny")
    assert library.is_current(package, "tiny")
    (package / "tiny" / "manifest.json").write_text('{"files": {"csrc/tiny.cpp": "another"}}\n')
    assert not library.is_current(package, "tiny")


def test_what_the_compiler_says_is_in_the_error(package: Path) -> None:
    (package / "tiny" / "csrc" / "tiny_kernels.cpp").write_text("this is no C++\n")
    with pytest.raises(library.CompileError, match=r"tiny_kernels\.cpp:1"):
        library.compile_op(package, "tiny")
    assert not (package / "tiny" / "_native.so").exists()


class Meddler:
    """Tools with which somebody else generates the operator anew while the compiler runs for the first time."""

    library, folder, reads, describe = Toolchain.library, Toolchain.folder, Toolchain.reads, "meddler"

    def __init__(self, package: Path, *, fails: bool) -> None:
        self.package, self.fails, self.runs = package, fails, 0

    def shared(self, source: Path, include: Sequence[Path], made: Path) -> list[str]:
        del source, include
        return ["touch", str(made)]

    def commands(self, sources: Sequence[Path], include: Sequence[Path], folder: Path, made: Path) -> list[list[str]]:
        del include, folder
        self.runs += 1
        shutil.copy(next(p for p in sources if p.name == "tiny_kernels.cpp"), made)
        if self.runs == 1:
            (self.package / "tiny/csrc/tiny_kernels.cpp").write_text("anew\n")
            (self.package / "tiny/manifest.json").write_text('{"files": {"csrc/tiny_kernels.cpp": "anew"}}\n')
        return [["false" if self.fails and self.runs == 1 else "true"]]


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_generated_anew_under_the_compiler_is_compiled_anew(package: Path, fails: bool) -> None:
    tools = Meddler(package, fails=fails)
    path = library.compile_op(package, "tiny", tools)
    assert tools.runs == 2
    assert path.read_text() == "anew\n"
    assert library.is_current(package, "tiny")
    assert [p.read_text() for p in package.parent.glob("cache/libraries/tiny/*/tiny.so")] == ["anew\n"]
