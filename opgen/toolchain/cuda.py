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
_USAGE = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.DOTALL)


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


def command(compiler: str, source: Path, include: Sequence[Path], architecture: str, out: Path) -> list[str]:
    return [
        compiler, "-O3", "-std=c++17", f"-arch={architecture}", "-cubin", "-Xptxas", _CHECKS,
        *(f"-I{path}" for path in include), str(source), "-o", str(out),
    ]  # fmt: skip


def usage(log: str) -> dict[str, int]:
    """The registers of each kernel, as the compiler tells them."""
    return {name: int(count) for name, count in _USAGE.findall(log)}


def compile_one(source: Path, include: Sequence[Path], architecture: str, out: Path) -> Compiled:
    """Compile one file to a cubin at `out`."""
    compiler = nvcc()
    if compiler is None:
        return Compiled(source, architecture, False, "nvcc is not installed")
    line = command(compiler, source, include, architecture, out)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    log = done.stdout + done.stderr
    used = usage(log)
    registers = max(used.values(), default=0)
    problems = [line for line in log.splitlines() if line.strip() and "info" not in line and "spill stores" not in line]
    return Compiled(source, architecture, done.returncode == 0, "\n".join(problems), len(used), registers)


def compile_all(
    sources: Sequence[Path],
    include: Sequence[Path],
    folder: Path,
    architectures: Sequence[str] = ARCHITECTURES,
    jobs: int = 2,
    done: Callable[[Compiled], None] = lambda _: None,
) -> tuple[Compiled, ...]:
    """Compile every file for every architecture, `jobs` at a time; `done` hears of each as it ends."""
    folder.mkdir(parents=True, exist_ok=True)

    def one(job: tuple[Path, str]) -> Compiled:
        source, architecture = job
        result = compile_one(source, include, architecture, folder / f"{source.stem}.{architecture}.cubin")
        done(result)
        return result

    with ThreadPoolExecutor(jobs) as pool:
        return tuple(pool.map(one, [(s, a) for s in sources for a in architectures]))
