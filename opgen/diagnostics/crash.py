"""An error of opgen itself, as a diagnostic: the spec is named that it came up in, and the others are gone on with."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field

from opgen.diagnostics.model import Diagnostic

_HINT = "this is a mistake of opgen's and none of yours; please report it"


@dataclass(frozen=True, slots=True)
class Crash(Diagnostic):
    """`stack` is where in opgen it happened, `spec` the text of the spec that came upon it."""

    stack: str = field(default="", repr=False)
    spec: str = field(default="", repr=False)


def crash(error: Exception, where: str, spec: str = "") -> Crash:
    """What stopped opgen; `where` names the spec and the stage, or the command."""
    told = " ".join(str(error).split())
    kind = type(error).__name__
    return Crash(
        "OPG701",
        f"internal error: {where}: {f'{kind}: {told}' if told else kind}",
        None,
        hints=(_HINT,),
        stack="".join(traceback.format_exception(error)),
        spec=spec,
    )
