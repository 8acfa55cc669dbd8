"""Who is told in Python that something takes long: whoever watches a terminal or a notebook, and nobody else."""

from __future__ import annotations

import sys
from collections.abc import Callable

Tell = Callable[[str], None]


def talk() -> Tell:
    """What tells a person, or says nothing where none is watching."""
    watched = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    return _told if watched else lambda _: None


def _told(text: str) -> None:
    sys.stderr.write(f"opgen: {text}\n")
    sys.stderr.flush()
