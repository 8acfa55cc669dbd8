"""What a compiled library is made with: the C++ compiler, and the headers and libraries of the installed torch.

Found without importing torch. A `Toolchain` is data, so that its description can be part of the key of a build.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from opgen.package.notes import SECOND, SOURCES

_TARGET = "-DTORCH_TARGET_VERSION=0x020b000000000000"  # the stable ABI as torch 2.11 has it
_COMMON = ("-std=c++17", "-O3", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden")
BASELINE = "baseline"  # the instructions that every processor of the architecture has
_SETS = {
    "avx2": ("-mavx2", "-mfma", "-mf16c"),
    "avx512": (
        "-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma", "-mf16c", "-mprefer-vector-width=512",
    ),
}  # fmt: skip
_FEATURES = {"avx2": ("avx2", "fma", "f16c"), "avx512": ("avx512f", "avx512dq", "avx512vl", "avx512bw", "fma", "f16c")}


class NoCompilerError(RuntimeError):
    """There is nothing to compile with; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler and a torch. `sets` are the instruction sets that kernels are compiled for, the lowest first.

    Without the baseline among them there is one, and where a processor lacks it the library defines nothing.
    """

    compiler: str
    version: str
    torch: Path
    torch_version: str
    sets: tuple[str, ...]
    library: ClassVar[str] = "_native.so"  # beside the package, where the generated runtime looks
    reads: ClassVar[tuple[str, ...]] = (".cpp", ".h")
    folder: ClassVar[str] = SOURCES

    @property
    def describe(self) -> str:
        """Everything that two builds must agree on, besides the sources."""
        return "\n".join((self.version, self.torch_version, *self.sets, *_COMMON, platform.machine()))

    def shared(self, source: Path, include: Sequence[Path], made: Path) -> list[str]:
        """The command that compiles a source or header that all operators share."""
        return self.binding(source, include, made)

    def commands(self, sources: Sequence[Path], include: Sequence[Path], folder: Path, made: Path) -> list[list[str]]:
        """Everything that makes the library `made`, in order; objects go to `folder`, and those in `sources` in."""
        lines: list[list[str]] = []
        objects = [p for p in sources if p.suffix == ".o"]
        for path in (p for p in sources if p.suffix == ".cpp"):
            kernels = path.stem.endswith("_kernels")
            for isa in self.sets if kernels else ("binding",):
                objects.append(folder / f"{path.stem}.{isa}.o")
                command = self.kernels(path, include, objects[-1], isa) if kernels else None
                lines.append(command or self.binding(path, include, objects[-1]))
        return [*lines, self.link(objects, made)]

    def binding(self, source: Path, include: Sequence[Path], out: Path, flags: Sequence[str] = ()) -> list[str]:
        """The command that compiles a binding."""
        known = [*flags, *(f"-DOPGEN_WITH_{name.upper()}" for name in self.sets if name != BASELINE)]
        if BASELINE not in self.sets:
            known.append(f"-DOPGEN_ONLY={self.sets[0]}")
        paths = [f"-I{p}" for p in include] + ["-isystem", str(self.torch / "include")]
        return [self.compiler, "-c", *_COMMON, _TARGET, *known, *paths, str(source), "-o", str(out)]

    def kernels(self, source: Path, include: Sequence[Path], out: Path, isa: str) -> list[str]:
        """The command that compiles kernels for an instruction set."""
        flags = [*_SETS.get(isa, ()), f"-DOPGEN_ISA={isa}"]
        return [self.compiler, "-c", *_COMMON, *flags, *(f"-I{p}" for p in include), str(source), "-o", str(out)]

    def link(self, objects: list[Path], out: Path) -> list[str]:
        """The command that makes the library; torch's own libraries are already loaded when it is."""
        libraries = [f"-L{self.torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
        return [self.compiler, "-shared", *map(str, objects), "-Wl,--as-needed", *libraries, "-o", str(out)]


class SecondToolchain(Toolchain):
    """The same for the kernels of second order, which some operators have: they are a library of their own."""

    __slots__ = ()
    library: ClassVar[str] = "_native_second.so"
    folder: ClassVar[str] = SECOND


def second_of(tools: Toolchain) -> SecondToolchain:
    """What makes the kernels of second order, with the compiler of the others."""
    return SecondToolchain(*(getattr(tools, f.name) for f in fields(tools)))


@cache
def toolchain() -> Toolchain:
    """The compiler of this machine (`CXX` or g++ or c++) and its torch."""
    wanted = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "c++"]
    compiler = next((found for name in wanted if (found := shutil.which(name))), None)
    if compiler is None:
        raise NoCompilerError(f"no C++ compiler: {' and '.join(wanted)} not found")
    told = told_version(compiler)
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise NoCompilerError("torch is not installed")
    root = Path(next(iter(spec.submodule_search_locations)))
    return Toolchain(compiler, told[0], root, _torch_version(root), instruction_sets())


def told_version(compiler: str) -> list[str]:
    """The lines in which a compiler tells its version."""
    try:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError as e:
        raise NoCompilerError(f"{compiler} cannot be run: {e.strerror}") from None
    if done.returncode or not done.stdout.strip():
        raise NoCompilerError(f"{compiler} is no compiler: it does not tell its version")
    return done.stdout.splitlines()


def _torch_version(root: Path) -> str:
    return version_of(root, "__version__") or "unknown"


def version_of(root: Path, name: str) -> str | None:
    """What torch says of itself: `__version__`, or the `cuda` it was built for (None for a build without)."""
    found = re.search(rf"^{name}\b[^=]*=\s*'([^']+)'", (root / "version.py").read_text(), re.MULTILINE)
    return found.group(1) if found else None


def instruction_sets(*, everywhere: bool = False) -> tuple[str, ...]:
    """What to compile for: the baseline and `OPGEN_ISA` (names with commas, or `all`), else this machine's best alone.

    For libraries that run `everywhere`, it is all that there are.
    """
    wanted = os.environ.get("OPGEN_ISA") or ("all" if everywhere else None)
    if platform.machine() not in ("x86_64", "AMD64"):
        return (BASELINE,)
    if wanted:
        return (BASELINE, *(name for name in _SETS if wanted == "all" or name in wanted.split(",")))
    features = _features()
    best = [name for name, needed in _FEATURES.items() if features.issuperset(needed)]
    return (best[-1],) if best else (BASELINE,)


def _features() -> frozenset[str]:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    found = re.search(r"^flags\s*:\s*(.*)$", text, re.MULTILINE)
    return frozenset(found.group(1).split()) if found else frozenset()
