"""opgen: differentiable PyTorch operators in Python, C++ and CUDA from one formula.

The public functions are resolved on first use, so that `import opgen` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opgen.native.api import Operator, compile, load
    from opgen.project import build

__version__ = "0.1.0"
__all__ = ["Operator", "__version__", "build", "compile", "load"]

_HOMES = {
    "Operator": "opgen.native.api",
    "build": "opgen.project",
    "compile": "opgen.native.api",
    "load": "opgen.native.api",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'opgen' has no attribute {name!r}")
