"""The functions that users import: what `opgen.` offers."""

from __future__ import annotations

from opgen.project import build
from opgen.toolchain.backend import use_backend
from opgen.toolchain.load import LoadError, compile, load, op, reload
from opgen.toolchain.loaded import Operator

__all__ = ["LoadError", "Operator", "build", "compile", "load", "op", "reload", "use_backend"]
