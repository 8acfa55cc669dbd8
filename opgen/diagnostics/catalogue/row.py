"""One row of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """What `opgen explain` and the documentation say about a code; `bad` and `good` are fragments of a spec."""

    code: str
    title: str
    explanation: str
    bad: str = ""
    good: str = ""
