"""The native files of an operator: `csrc/<op>.cpp` (binding), `csrc/<op>_kernels.cpp` (CPU) and `csrc/<op>.cu` (CUDA).

In go the operator and its directions (forward, backward) with the argument order of their dispatcher ops; out come the
three texts, whose steps are numbered alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from opgen.code.cpp_layout import block, commented, laid_out, schema_lines, table_lines
from opgen.code.cuda_code import CudaFile, file_text
from opgen.code.length import MOST, Length, TooLongError
from opgen.code.native_elsewhere import preamble
from opgen.code.templates import fill
from opgen.ir.errors import UnplannableError
from opgen.ir.operator import Operator
from opgen.package.cpp_host import host_function
from opgen.package.cpp_signature import Direction
from opgen.package.step_table import StepTable
from opgen.plan.model import Convolve, Sort, Step
from opgen.plan.on_gpu import slower_on_gpu
from opgen.plan.speed import Choice, choice

_HEADERS: dict[type[Step], str] = {Convolve: "opgen_convolution.h", Sort: "opgen_sort.h"}  # of what the host hands on


@dataclass(frozen=True, slots=True)
class CppFiles:
    """The texts; a table of steps is in `kernels` and `cuda` even where torch computes everything.

    `no_cuda` says why there is no `cuda`, where there is none; `choice`: what `auto` leaves to torch on a CPU, by
    direction, and for each program of that.
    """

    binding: str
    kernels: str
    cuda: str
    no_cuda: str
    choice: Choice


def cpp_files(operator: Operator, directions: Sequence[Direction], namespace: str, formula: Sequence[str]) -> CppFiles:
    """Print the C++ of an operator; `UnplannableError` where it is too long."""
    table = StepTable(operator.name, Length())
    try:
        functions = [host_function(operator, d, table) for d in directions]
    except TooLongError:
        raise UnplannableError(_too_long(operator, "C++")) from None
    before = preamble(table.functions, [line for k in table.kernels for line in k.lines], "cpp", "OPGEN_INLINE")
    cuda, no_cuda = _cuda(operator, table)
    definitions = tuple(lines for f in functions for lines in f.definitions)
    steps = {type(s) for f in functions for p in f.plans for s in p.steps}
    handed_on = (header for kind, header in _HEADERS.items() if kind in steps)
    boxed = [f'm.impl("{f.name}", TORCH_BOX(&{f.name}));' for f in functions]
    title = (
        f"{operator.name}: the binding of its kernels to torch; those for the CPU or, with USE_CUDA, those for CUDA."
    )
    binding = fill(
        "op.cpp.j2",
        op=operator.name,
        title=commented(title),
        formula=tuple(formula),
        headers=sorted({"opgen_host.h", *handed_on}),
        definitions=definitions,
        numbers=any(p.numbers for f in functions for p in f.plans),
        schemas=_library(
            f"FRAGMENT({namespace}_native", (_ONLY_HERE, *(line for f in functions for line in schema_lines(f.schema)))
        ),
        functions={
            "CPU": _library(f"IMPL({namespace}_native, CPU", (_ONLY_HERE, *boxed)),
            "CUDA": _library(f"IMPL({namespace}_native, CUDA", boxed),
        },
        cuda=bool(cuda),
    )
    text = fill(
        "op_kernels.cpp.j2",
        op=operator.name,
        short_runs=table.short_runs,
        includes=before.includes,
        elsewhere=before.definitions,
        kernels=tuple(k.lines for k in table.kernels if k.lines),
        steps=tuple(table_lines([k.entry for k in table.kernels] or ["OPGEN_STEP(rt::no_step)"])),
    )
    if len(binding) + len(text) > MOST:
        raise UnplannableError(_too_long(operator, "C++"))
    plans = {d.which: f.plans for d, f in zip(directions, functions, strict=True)}
    return CppFiles(binding, text, cuda, no_cuda, replace(choice(plans), on_gpu=slower_on_gpu(plans)))


_ONLY_HERE = "if (!OPGEN_RUNS_HERE) return;"  # a library for one instruction set, where the processor lacks it


def _library(what: str, statements: Iterable[str]) -> list[str]:
    """A block that tells torch of functions."""
    return laid_out(block(f"STABLE_TORCH_LIBRARY_{what}, m) {{", tuple(statements)))


_PARTS = "parts of it as operators of their own"


def _too_long(operator: Operator, language: str) -> str:
    count = len(operator.variants)
    way = f"{_PARTS} would have kernels"
    if count > 1:
        way = f"what is chosen with `where` in place of {count} variants would be shorter, as would {_PARTS}"
    size = f"more than {MOST // 1024} KiB of {language}"
    return f"{operator.name}: its kernels would be {size}, so torch computes it step by step; {way}"


def _cuda(operator: Operator, table: StepTable) -> tuple[str, str]:
    """`csrc/<op>.cu`, or why there is none."""
    lines = [line for k in table.cuda for line in k.lines]
    try:
        before = preamble(table.functions, lines, "cuda", "OPGEN_DEVICE")
    except UnplannableError as e:
        return "", str(e)
    text = file_text(CudaFile(operator.name, tuple(table.cuda), before))
    return ("", _too_long(operator, "CUDA")) if len(text) > MOST else (text, "")
