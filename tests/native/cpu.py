"""Runs the CPU kernels of a program without torch: compiled alone, called through ctypes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from opgen.code.cpp_layout import table_lines
from opgen.code.templates import fill, root
from opgen.ir.program import Program
from opgen.kernel.interp import Machine
from opgen.package.step_table import StepTable
from opgen.plan.model import KernelPlan
from tests.cuda import emulate
from tests.plain import planned

_RANGE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_PARALLEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, _RANGE, ctypes.c_void_p)
_FLAGS = ("-std=c++20", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-DOPGEN_ISA=baseline")


class _Host(ctypes.Structure):
    _fields_ = (("parallel", _PARALLEL), ("bad", emulate._BadIndex))


@_PARALLEL
def _in_halves(count: int, grain: int, body: object, data: int) -> None:
    body(0, count // 2, data)  # type: ignore[operator]
    body(count // 2, count, data)  # type: ignore[operator]


def kernels_text(table: StepTable) -> str:
    """The file of the kernels of a table, for an operator called `op`."""
    return fill(
        "op_kernels.cpp.j2",
        op="op",
        includes=(),
        elsewhere=(),
        kernels=tuple(k.lines for k in table.kernels),
        steps=tuple(table_lines([k.name for k in table.kernels])) or ("nullptr,",),
    )


def compile_plans(plans: Sequence[tuple[str, KernelPlan]], folder: Path) -> tuple[Path, tuple[tuple[int, ...], ...]]:
    """One library of the kernels of several plans, and the numbers of their steps."""
    table = StepTable("op")
    numbers = tuple(table.add(plan, name) for name, plan in plans)
    source = folder / "op_kernels.cpp"
    source.write_text(kernels_text(table))
    made = folder / "op.so"
    found = emulate.compiler()
    assert found is not None
    line = [found, *_FLAGS, f"-I{root() / 'csrc'}", str(source), "-o", str(made)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return made, numbers


class Compiled(emulate.Emulated):
    """A plan as CPU kernels."""

    steps = "op_steps_baseline"

    def __init__(self, plan: KernelPlan, library: Path, numbers: Sequence[int]) -> None:
        self.plan, self.numbers = plan, tuple(numbers)
        self.library = ctypes.CDLL(str(library))

    @staticmethod
    def alone(program: Program, folder: Path) -> Compiled:
        """One program with a library of its own."""
        plan = planned(program)
        library, (numbers,) = compile_plans([("run", plan)], folder)
        return Compiled(plan, library, numbers)

    def _call(self, memory: Mapping[str, emulate.Memory], sizes: Machine, dtype: str, processors: int) -> None:
        missing = emulate._Tensor()
        tensors = [memory[b.name].descriptor() if b.name in memory else missing for b in self.plan.buffers]
        reals, ints = emulate.numbers(sizes)
        batch, dims = sizes.batch, [sizes.dims[d.name] for d in self.plan.dims]
        call = emulate._Call(
            (emulate._Tensor * len(tensors))(*tensors), (ctypes.c_int64 * max(len(batch), 1))(*batch), len(batch),
            (ctypes.c_int64 * max(len(dims), 1))(*dims), (ctypes.c_double * max(len(reals), 1))(*reals),
            (ctypes.c_int64 * max(len(ints), 1))(*ints), None, 0, emulate.DTYPES[dtype], processors, None, None, None,
        )  # fmt: skip
        steps = (ctypes.c_void_p * (max(self.numbers, default=0) + 1)).in_dll(self.library, self.steps)
        host = _Host(_in_halves, emulate._BadIndex(-1))
        for k in self.numbers:
            status = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(steps[k])(
                ctypes.addressof(call), ctypes.addressof(host)
            )
            if status == emulate.BAD_INDEX:
                raise IndexError(f"index {host.bad.index} of {self.plan.buffers[host.bad.tensor].name}")
            assert status == 0, status
