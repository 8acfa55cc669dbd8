"""The libraries of a package that other machines shall run: compiled for all of them, not for this one.

The kernels of a library are there once for each instruction set, and the machine that loads it takes the best that it
has. `OPGEN_ISA` and `TORCH_CUDA_ARCH_LIST` say otherwise, here as for `opgen compile`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opgen.diagnostics.model import Diagnostic
from opgen.toolchain.compiler import NoCompilerError, instruction_sets, second_of, toolchain
from opgen.toolchain.cuda_toolchain import cuda_toolchain
from opgen.toolchain.library import compile_for, without_kernels
from opgen.toolchain.refusal import refusal


@dataclass(frozen=True, slots=True)
class Compiled:
    """Where libraries lie, by their names in the output folder, and for what they are; or why there are none.

    `cuda` is the release of CUDA that some of them are for.
    """

    libraries: dict[str, Path] = field(default_factory=dict)
    machines: tuple[str, ...] = ()
    cuda: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def compiled(
    out: Path, ops: Sequence[str], jobs: int | None = None, progress: Callable[[str], None] = lambda _: None
) -> Compiled:
    """The libraries of operators, from the cache or compiled into it; those without kernels run in plain torch."""
    try:
        host = replace(toolchain(), sets=instruction_sets(everywhere=True))
        cuda = cuda_toolchain(host, everywhere=True)
    except NoCompilerError as e:
        hints = (
            "install g++, or name another compiler with CXX",
            "a pure wheel runs in plain torch: opgen package --pure",
        )
        return Compiled(diagnostics=(Diagnostic("OPG601", str(e), None, hints=hints),))
    names = [op for op in ops if without_kernels(out, op) is None]
    kinds = (host, second_of(host), *(() if cuda is None else (cuda,)))
    outcomes = compile_for(out, names, kinds, jobs, progress)
    return Compiled(
        {f"{o.op}/{name}": path for o in outcomes for name, path in o.libraries.items()},
        (*host.sets, *(f"CUDA {number}" for number in (cuda.architectures if cuda else ()))),
        cuda.release if cuda else "",
        tuple(refusal(o.op, o.error) for o in outcomes if o.error is not None),
    )
