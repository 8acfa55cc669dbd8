"""What a CUDA library is made with: nvcc, a torch with CUDA, and the architectures to compile for.

The kernels know nothing of torch and the binding nothing of CUDA, so nvcc compiles the first and the C++ compiler the
second. The CUDA runtime is linked in: which one torch has brought, and where it lies, then does not matter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from opgen.package.notes import SOURCES
from opgen.toolchain.compiler import NoCompilerError, Toolchain, told_version, toolchain, version_of
from opgen.toolchain.cuda import gencode, nvcc
from opgen.write.meant import capability

ARCHITECTURES = "TORCH_CUDA_ARCH_LIST"
_EVERYWHERE = ("8.0", "9.0+PTX")  # where no device is visible
_CAPABILITY = re.compile(r"(\d+)\.(\d[af]?)(\+PTX)?")
_KERNELS = ("-O3", "-std=c++17", "-Xcompiler=-fPIC,-fvisibility=hidden")
_USE = ("-DUSE_CUDA",)  # also what torch declares its CUDA functions for


@dataclass(frozen=True, slots=True)
class CudaToolchain:
    """nvcc beside a C++ compiler. `architectures` are compute capabilities as torch writes them: 9.0, 9.0+PTX."""

    nvcc: str
    version: str
    host: Toolchain
    architectures: tuple[str, ...]
    library: ClassVar[str] = "_native_cuda.so"
    reads: ClassVar[tuple[str, ...]] = (".cpp", ".h", ".cu", ".cuh")
    folder: ClassVar[str] = SOURCES

    @property
    def release(self) -> str:
        """The release of CUDA, such as 12.8."""
        return self.version.partition("release ")[2].partition(",")[0]

    @property
    def describe(self) -> str:
        """Everything that two builds must agree on, besides the sources."""
        return "\n".join((self.host.describe, self.version, *self.architectures, *_KERNELS, *_USE))

    def shared(self, source: Path, include: Sequence[Path], made: Path) -> list[str]:
        """The command that compiles a source or header that all operators share."""
        return self.host.binding(source, include, made, _USE)

    def commands(self, sources: Sequence[Path], include: Sequence[Path], folder: Path, made: Path) -> list[list[str]]:
        """Everything that makes the library `made`, in order; objects go to `folder`, and those in `sources` in."""
        lines: list[list[str]] = []
        objects = [p for p in sources if p.suffix == ".o"]
        for path in sources:
            out = folder / f"{path.stem}{path.suffix}.o"
            if path.suffix == ".cu":
                lines.append(self.kernels(path, include, out))
            elif path.suffix == ".cpp" and not path.stem.endswith("_kernels"):
                lines.append(self.host.binding(path, include, out, _USE))
            else:
                continue
            objects.append(out)
        return [*lines, self.link(objects, made)]

    def kernels(self, source: Path, include: Sequence[Path], out: Path) -> list[str]:
        """The command that compiles kernels."""
        paths = [f"-I{p}" for p in include]
        return [*self._nvcc(), "-c", *_KERNELS, *gencodes(self.architectures), *paths, str(source), "-o", str(out)]

    def link(self, objects: Sequence[Path], out: Path) -> list[str]:
        """The command that makes the library; a torch library that is not there is not asked for."""
        folder = self.host.torch / "lib"
        names = [n for n in ("torch", "torch_cpu", "torch_cuda", "c10") if (folder / f"lib{n}.so").exists()]
        flags = ["-shared", "-cudart=static", "-Xlinker=--as-needed", f"-L{folder}"]
        return [*self._nvcc(), *flags, *map(str, objects), *(f"-l{n}" for n in names), "-o", str(out)]

    def _nvcc(self) -> list[str]:
        return [self.nvcc, f"-ccbin={self.host.compiler}"]


def cuda_toolchain(host: Toolchain | None = None, *, everywhere: bool = False) -> CudaToolchain | None:
    """The CUDA compiler of this machine; None where torch has no CUDA, or where there is no nvcc."""
    host = host or toolchain()
    compiler = nvcc()
    if compiler is None or version_of(host.torch, "cuda") is None:
        return None
    return CudaToolchain(compiler, told_version(compiler)[-1], host, architectures(everywhere=everywhere))


def architectures(*, everywhere: bool = False) -> tuple[str, ...]:
    """What to compile for: `TORCH_CUDA_ARCH_LIST`, else the visible devices, else what most machines have.

    Libraries that run `everywhere` do not depend on the devices of this machine.
    """
    listed = os.environ.get(ARCHITECTURES)
    if not listed:
        return (() if everywhere else devices()) or _EVERYWHERE
    found = tuple(dict.fromkeys(listed.replace(";", " ").split()))
    for name in found:
        if not _CAPABILITY.fullmatch(name):
            meant = f"; write {capability(name)}" if capability(name) else " such as 9.0 or 9.0+PTX"
            raise NoCompilerError(f"{ARCHITECTURES}: {name} is no compute capability{meant}")
    return found


def devices() -> tuple[str, ...]:
    """The compute capabilities of the devices that torch sees."""
    import torch

    seen = [torch.cuda.get_device_capability(i) for i in range(torch.cuda.device_count())]
    return tuple(f"{major}.{minor}" for major, minor in sorted(dict.fromkeys(seen)))


def gencodes(capabilities: Sequence[str]) -> list[str]:
    """The flags of nvcc: machine code for every one, and code that later devices translate where `+PTX` asks for it.

    Capabilities that later devices keep share one PTX, which costs them nothing (docs/decisions/0042-one-ptx.md); one
    such as 9.0a has its own.
    """
    groups: dict[str, list[str]] = {}
    lowest = min((_number(c) for c in (*capabilities, _EVERYWHERE[0]) if _number(c).isdigit()), key=int)
    for name in capabilities:
        number = _number(name)
        first = lowest if number.isdigit() else number
        codes = groups.setdefault(first, [])
        codes += [f"sm_{number}", *([f"compute_{first}"] if name.endswith("+PTX") else [])]
    return [gencode(f"sm_{first}", list(dict.fromkeys(codes))) for first, codes in groups.items()]


def _number(capability: str) -> str:
    return capability.removesuffix("+PTX").replace(".", "")
