"""Compiled operators against the loops that a person would write for them, on one thread of a CPU.

    python -m benchmarks.by_hand [--write] [--quick]

A loop knows that its numbers are float32 in contiguous memory, of sizes that its vectors divide, and is compiled for
this machine alone. Both sides make their result and are called from Python; a row has the median of the ratios of
rounds in which they take turns, with its quartiles. `--quick` takes small sizes, where the calls count; `--write` keeps
the table under `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from torch import Tensor

import opgen
from opgen.bench.machine import about, effort, keep_memory
from opgen.bench.timing import Contender, interleaved, ratio
from opgen.toolchain.compiler import toolchain

ROOT = Path(__file__).resolve().parent.parent.parent
RESULT = ROOT / "benchmarks" / "results" / "by_hand.md"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared")


@dataclass(frozen=True, slots=True)
class Case:
    """What a kind of operator is measured by: its spec, the operands, and the loop as a call from Python."""

    kind: str
    spec: str
    operands: tuple[Tensor, ...]
    params: dict[str, int]
    loop: Callable[..., Tensor]


def cases(library: ctypes.CDLL, *, quick: bool) -> list[Case]:
    """The five, at sizes far beyond the caches (which an embedding's table is not)."""
    f = 64 if quick else 1

    def silu(x: Tensor) -> Tensor:
        y = torch.empty_like(x)
        library.by_hand_silu(_at(x), _at(y), _count(x.numel()))
        return y

    def softmax(x: Tensor) -> Tensor:
        y = torch.empty_like(x)
        library.by_hand_softmax(_at(x), _at(y), *map(_count, x.shape), ctypes.c_float(1.0))
        return y

    def column_sum(x: Tensor) -> Tensor:
        y = torch.empty(x.shape[1])
        library.by_hand_column_sum(_at(x), _at(y), _count(x.shape[0]))
        return y

    def embedding(ids: Tensor, table: Tensor) -> Tensor:
        y = torch.empty(ids.shape[0], table.shape[1])
        sizes = map(_count, (ids.shape[0], *table.shape))
        if library.by_hand_embedding(_at(ids), _at(table), _at(y), *sizes):
            raise IndexError("a number of a row is out of range")
        return y

    def avg_pool2d(x: Tensor) -> Tensor:
        y = torch.empty(x.shape[0], x.shape[1] // 2, x.shape[2] // 2)
        library.by_hand_avg_pool2d(_at(x), _at(y), *map(_count, x.shape))
        return y

    ids, table = torch.randint(12288, (32768 // f,)), torch.randn(12288, 256)
    return [
        Case("map", "specs/silu.yaml", (torch.randn(8388608 // f),), {}, silu),
        Case("rows", "specs/softmax.yaml", (torch.randn(8192 // f, 1024),), {}, softmax),
        Case("across rows", "benchmarks/specs/column_sum.yaml", (torch.randn(32768 // f, 256),), {}, column_sum),
        Case("gather", "specs/embedding.yaml", (ids, table), {}, embedding),
        Case("window", "specs/avg_pool2d.yaml", (torch.randn(512 // f, 128, 128),), {"kernel_size": 2}, avg_pool2d),
    ]


def _at(x: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.data_ptr())


def _count(n: int) -> ctypes.c_int64:
    return ctypes.c_int64(n)


def compiled(folder: Path) -> ctypes.CDLL:
    made = folder / "loops.so"
    source = Path(__file__).resolve().parent / "loops.cpp"
    subprocess.run([toolchain().compiler, *FLAGS, str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def row(case: Case, *, quick: bool) -> str:
    """A line of the table; both sides have to give the same result, but for rounding."""
    op = opgen.load(ROOT / case.spec, compiled=True)

    def ours() -> Tensor:
        made: Tensor = op(*case.operands, **case.params)
        return made

    def loop() -> Tensor:
        return case.loop(*case.operands)

    with opgen.use_backend("native"), torch.no_grad():
        torch.testing.assert_close(loop(), ours(), rtol=1e-4, atol=1e-4)
        found = interleaved([Contender("opgen", ours), Contender("loop", loop)], effort(1, "cpu", quick=quick))
    q = ratio(found["opgen"], found["loop"])
    shapes = ", ".join("×".join(map(str, x.shape)) for x in case.operands)
    least = " | ".join(f"{1e6 * min(found[n]):.0f}" for n in ("opgen", "loop"))
    return f"| {case.kind} | {Path(case.spec).stem} | {shapes} | {least} | {q.median:.2f} ({q.low:.2f}–{q.high:.2f}) |"


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.by_hand", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="keep the table under benchmarks/results")
    parser.add_argument("--quick", action="store_true", help="small sizes, in a few seconds")
    given = parser.parse_args()
    keep_memory()
    torch.manual_seed(0)
    lines = ["| kind | operator | operands | opgen, µs | loop, µs | ratio |", "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(compiled(Path(folder)), quick=given.quick):
            lines.append(row(case, quick=given.quick))
            print(lines[-1], flush=True)
    if given.write:
        machine = ", ".join(f"{name} {value}" for name, value in about().items())
        head = f"# Compiled operators against loops written by hand\n\n{machine}; float32, one thread, forward.\n"
        RESULT.write_text(head + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
