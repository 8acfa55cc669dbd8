"""The functions that users import: what `opgen.` offers."""

from __future__ import annotations

from opgen.project import build
from opgen.toolchain.load import Operator, compile, load

__all__ = ["Operator", "build", "compile", "load"]
