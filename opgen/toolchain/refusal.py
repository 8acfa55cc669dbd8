"""What is said of an operator that could not be compiled."""

from __future__ import annotations

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
            hints = ("opgen doctor shows which compilers there are",)
            message, label = "the compiler refused generated code", "made from this" if error.place else ""
            return Diagnostic("OPG602", message, error.place, label, notes=notes, hints=hints)
        case _:
            return crash(error, f"{op} could not be compiled")
