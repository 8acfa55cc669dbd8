"""Whether what tests need to compile with is here."""

from __future__ import annotations

from opgen.toolchain.compiler import NoCompilerError, toolchain


def available() -> bool:
    """Whether libraries can be compiled here."""
    try:
        toolchain()
    except NoCompilerError:
        return False
    return True
