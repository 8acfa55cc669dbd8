"""Runs the CPU kernels of a program without torch: compiled alone, called through ctypes."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from opgen.code.cpp_layout import table_lines
from opgen.code.templates import fill, root
from opgen.ir.program import Program
from opgen.package.step_table import Launch, StepTable
from opgen.plan.model import KernelPlan
from opgen.toolchain.compiler import toolchain
from tests.cuda import emulate
from tests.plain import planned

_RANGE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
PARALLEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, _RANGE, ctypes.c_void_p)
_FLAGS = ("-std=c++20", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-DOPGEN_ISA=baseline")


class _Host(ctypes.Structure):
    _fields_ = (("parallel", PARALLEL), ("bad", emulate._BadIndex))


@PARALLEL
def _in_halves(count: int, grain: int, body: object, data: int) -> None:
    body(0, count // 2, data)  # type: ignore[operator]
    body(count // 2, count, data)  # type: ignore[operator]


def kernels_text(table: StepTable) -> str:
    """The file of the kernels of a table, for an operator called `op`."""
    return fill(
        "op_kernels.cpp.j2",
        op="op",
        short_runs=table.short_runs,
        includes=(),
        elsewhere=(),
        kernels=tuple(k.lines for k in table.kernels),
        steps=tuple(table_lines([k.entry for k in table.kernels])) or ("nullptr,",),
    )


def compile_plans(
    plans: Sequence[tuple[str, KernelPlan]],
    folder: Path,
    only: str | None = None,
    isa: str | None = None,
    flags: Sequence[str] = (),
) -> tuple[Path, tuple[tuple[Launch, ...], ...]]:
    """One library of the kernels of several plans, and what their steps launch; `only` for numbers of one type.

    With an instruction set it is optimised as libraries are that people load; else it is compiled quickly.
    """
    table = StepTable("op")
    launches = tuple(table.add(plan, name) for name, plan in plans)
    return compile_table(table, folder, only, isa, flags), launches


def compile_table(
    table: StepTable, folder: Path, only: str | None = None, isa: str | None = None, flags: Sequence[str] = ()
) -> Path:
    """One library of the kernels of a table."""
    source = folder / "op_kernels.cpp"
    text = kernels_text(table)
    if only is not None:
        text = re.sub(r"\bOPGEN_ST(?:EP|ORED)\((\w+)[^)]*\)", rf"\1<{only}>", text)
    source.write_text(text)
    made = folder / "op.so"
    found = emulate.compiler()
    assert found is not None
    lines = [[found, *_FLAGS, *flags, f"-I{root() / 'csrc'}", str(source), "-o", str(made)]]
    if isa is not None:
        compiled = folder / "op_kernels.o"
        kernels = toolchain().kernels(source, [root() / "csrc"], compiled, isa)
        lines = [[*kernels, "-fvisibility=default"], [found, "-shared", str(compiled), "-o", str(made)]]
    for line in lines:
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
    return made


class Compiled(emulate.Emulated):
    """A plan as CPU kernels; `parallel` runs the points of one."""

    parallel: ClassVar[Any] = _in_halves

    def __init__(self, plan: KernelPlan, library: Path, launches: Sequence[Launch], isa: str | None = None) -> None:
        super().__init__(library, "op", plan, [replace(launch, columns=None) for launch in launches])
        self.table = f"op_steps_{isa or 'baseline'}"

    @staticmethod
    def alone(program: Program, folder: Path) -> Compiled:
        """One program with a library of its own, for float64."""
        plan = planned(program)
        library, (launches,) = compile_plans([("run", plan)], folder, only="double")
        return Compiled(plan, library, launches)

    def status_of(self, number: int, call: emulate.Call) -> emulate._BadIndex | None:
        """Run a kernel."""
        run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        kernel = (run * (number + 1)).in_dll(self.library, self.table)[number]
        host = _Host(Compiled.parallel, emulate._BadIndex(-1))
        status = kernel(ctypes.addressof(call), ctypes.addressof(host))
        assert status in (0, emulate.BAD_INDEX), status
        return host.bad if status == emulate.BAD_INDEX else None
