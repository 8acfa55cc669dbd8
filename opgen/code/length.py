"""How long the kernels of an operator may be in one language: what is longer takes compilers minutes.

In go lines as they are printed; an error comes out as soon as there are too many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from opgen.ir.errors import UnplannableError

MOST = 256 * 1024  # characters


class TooLongError(UnplannableError):
    """Kernels of more characters than are printed."""


@dataclass(slots=True)
class Length:
    """The characters of what was printed so far."""

    characters: int = 0

    def add(self, lines: Iterable[str]) -> None:
        """Count further lines; `TooLongError` where that is more than there is room for."""
        self.characters += sum(map(len, lines))
        if self.characters > MOST:
            raise TooLongError(f"kernels of more than {MOST} characters")
