"""The native files of an operator: `csrc/<op>.cpp` (binding), `csrc/<op>_kernels.cpp` (CPU) and `csrc/<op>.cu` (CUDA).

In go the operator and its directions (forward, backward) with the argument order of their dispatcher ops; out come the
three texts, whose steps are numbered alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.emit.cpp_host import Direction, host_function
from opgen.emit.cpp_kernels import StepTable
from opgen.emit.cpp_layout import schema_lines, table_lines
from opgen.emit.cuda_code import CudaFile, file_text, table_rows
from opgen.emit.templates import fill
from opgen.ir.program import Operator


@dataclass(frozen=True, slots=True)
class CppFiles:
    """The texts; a table of steps is in `kernels` and `cuda` even where torch computes everything."""

    binding: str
    kernels: str
    cuda: str


def cpp_files(operator: Operator, directions: Sequence[Direction], namespace: str, formula: Sequence[str]) -> CppFiles:
    """Print the C++ of an operator."""
    table = StepTable(operator.name)
    functions = [host_function(operator, d, table) for d in directions]
    binding = fill(
        "op.cpp.j2",
        op=operator.name,
        namespace=namespace,
        formula=tuple(formula),
        definitions=tuple(lines for f in functions for lines in f.definitions),
        schemas=tuple(line for f in functions for line in schema_lines(f.schema)),
        names=tuple(f.name for f in functions),
    )
    text = fill(
        "op_kernels.cpp.j2",
        op=operator.name,
        kernels=tuple(k.lines for k in table.kernels),
        steps=tuple(table_lines([k.name for k in table.kernels] or ["rt::no_step"])),
    )
    cuda = file_text(CudaFile(operator.name, tuple(table.cuda_plans), table_rows(table.cuda)))
    return CppFiles(binding, text, cuda)
