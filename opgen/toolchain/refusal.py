"""What is said of an operator that could not be compiled."""

from __future__ import annotations

import itertools
import re

from opgen.diagnostics.crash import crash
from opgen.diagnostics.model import Diagnostic
from opgen.toolchain.library import CompileError, NoKernelsError


def refusal(op: str, error: Exception) -> Diagnostic:
    """Why an operator was not compiled."""
    match error:
        case NoKernelsError():
            return Diagnostic("OPG401", str(error), None)
        case OSError():
            return Diagnostic("OPG506", f"{op} cannot be compiled: {error}", None)
        case CompileError():
            command, _, output = str(error).partition("\n")
            notes = (f"the command was {command}", output.rstrip("\n"))
            hints = _causes(command, output, named=_is_named(error))
            message, label = "the compiler refused generated code", "made from this" if error.place else ""
            return Diagnostic("OPG602", message, error.place, label, notes=notes, hints=hints)
        case _:
            return crash(error, f"{op} could not be compiled")


def _is_named(error: CompileError) -> bool:
    """Whether what the compiler refuses was made from a function that the spec names in another library."""
    if error.place is None:
        return False
    text, start = error.place.source.text, error.place.start
    first, *more = text[text.rfind("\n", 0, start) + 1 :].split("\n")
    deeper = itertools.takewhile(lambda line: _indent(line) > _indent(first) or not line.strip(), more)
    return any(re.search(r"\bextern\s*:", line) for line in (first, *deeper))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _causes(command: str, output: str, *, named: bool) -> tuple[str, ...]:
    """What to do about it, by what the compiler says."""
    if named:
        return ("`extern` names the function as its library does, and `include` the header that declares it",)
    if missing := re.search(r"fatal error: ['\"]?([\w./+-]+)['\"]?(?:: No such file| file not found)", output):
        return (f"install what `{missing[1]}` belongs to, or name its folder: CPLUS_INCLUDE_PATH=… opgen compile",)
    if re.search(r"[Kk]illed|out of memory|cannot allocate memory", output):
        return ("it ran out of memory: let one run at a time, opgen compile -j 1",)
    if "nvcc" in command.partition(" ")[0]:
        other = "nvcc is to be that of the CUDA release torch was built for: CUDA_HOME=… opgen compile"
    else:
        other = "a compiler that knows no C++17 refuses it; name another one: CXX=… opgen compile"
    return other, "otherwise it is a mistake of opgen: please report it with the lines above"
