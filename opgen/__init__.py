"""opgen: differentiable PyTorch operators in Python, C++ and CUDA from one formula.

The public functions are resolved on first use, so that `import opgen` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opgen.version import __version__

if TYPE_CHECKING:
    from opgen.api import LoadError, Operator, build, compile, load, op, reload, use_backend

__all__ = ["LoadError", "Operator", "__version__", "build", "compile", "load", "op", "reload", "use_backend"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'opgen' has no attribute {name!r}")
    from opgen import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return list(__all__)
