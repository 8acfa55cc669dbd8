"""nvcc: compiles generated `.cu` files to cubins, with spills and local memory as errors.

No GPU and no torch is needed; this answers whether the kernels compile for an architecture and fit its registers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ARCHITECTURES = ("sm_80", "sm_90")
_CHECKS = "-v,-warn-spills,-warn-lmem-usage,-Werror"
_USAGE = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'.*?Used (\d+) registers", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of one file for one architecture. `registers`: the most that a kernel of it uses."""

    source: Path
    architecture: str
    ok: bool
    message: str
    kernels: int = 0
    registers: int = 0


def nvcc() -> str | None:
    """The compiler, or None where the machine has none."""
    home = os.environ.get("CUDA_HOME")
    return (shutil.which("nvcc", path=f"{home}/bin") if home else None) or shutil.which("nvcc")


def command(
    compiler: str, source: Path, include: Sequence[Path], out: Path, architectures: Sequence[str] = ARCHITECTURES
) -> list[str]:
    """Machine code for the architectures, from PTX for the first: a cubin for one, a fat binary for several."""
    kind = "-cubin" if len(architectures) == 1 else "-fatbin"
    return [
        compiler, "-O3", "-std=c++17", gencode(ARCHITECTURES[0], architectures), kind, "-Xptxas", _CHECKS,
        *(f"-I{path}" for path in include), str(source), "-o", str(out),
    ]  # fmt: skip


def gencode(lowest: str, codes: Sequence[str]) -> str:
    """The flag of nvcc for code of several architectures, all from PTX for the lowest, which takes most of the time."""
    return f"-gencode=arch={lowest.replace('sm_', 'compute_')},code=[{','.join(codes)}]"


def usage(log: str, architecture: str) -> dict[str, int]:
    """The registers of each kernel on an architecture, as the compiler tells them."""
    return {name: int(count) for name, where, count in _USAGE.findall(log) if where == architecture}


def compile_one(
    source: Path, include: Sequence[Path], out: Path, architectures: Sequence[str] = ARCHITECTURES
) -> tuple[Compiled, ...]:
    """Compile one file for all architectures to a binary at `out`."""
    compiler = nvcc()
    if compiler is None:
        return tuple(Compiled(source, a, False, "nvcc is not installed") for a in architectures)
    line = command(compiler, source, include, out, architectures)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    log = done.stdout + done.stderr
    lines = [line for line in log.splitlines() if line.strip() and "info" not in line and "spill stores" not in line]
    made = []
    for a in architectures:
        used = usage(log, a)
        ok = done.returncode == 0
        made.append(Compiled(source, a, ok, "\n".join(lines), len(used), max(used.values(), default=0)))
    return tuple(made)


def compile_all(
    sources: Sequence[Path],
    include: Sequence[Path],
    folder: Path,
    jobs: int = 2,
    done: Callable[[Path], None] = lambda _: None,
) -> tuple[Compiled, ...]:
    """Compile every file for every architecture, `jobs` at a time, long ones first; `done` hears of each as it ends."""
    folder.mkdir(parents=True, exist_ok=True)

    def one(source: Path) -> tuple[Compiled, ...]:
        result = compile_one(source, include, folder / f"{source.stem}.fatbin")
        done(source)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        made = {s: pool.submit(one, s) for s in sorted(sources, key=lambda s: s.stat().st_size, reverse=True)}
        return tuple(c for source in sources for c in made[source].result())
