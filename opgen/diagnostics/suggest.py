"""Words that many messages need: the known name that a misspelt one most likely stands for, lists, and counts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """The best match, or None where nothing is near."""
    candidates = tuple(dict.fromkeys(known))
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    if name not in candidates and name.lower() in lowered:
        return lowered[name.lower()]
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return found[0] if found and found[0] != name else None


def did_you_mean(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """A hint ready for `Diagnostic.hints`: one line, or none."""
    match = closest(name, known)
    return (f"did you mean `{match}`?",) if match else ()


def listed(names: Iterable[str], conjunction: str = "or") -> str:
    """`a`, `b` or `c`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


def counted(count: int, noun: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{count} {noun}{'s' if count != 1 else ''}"
