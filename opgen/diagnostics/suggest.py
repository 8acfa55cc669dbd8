"""Words that many messages need: the known name that a misspelt one most likely stands for, lists, and counts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from opgen.diagnostics.model import Hint

_SEEN = str.maketrans("oOlI", "0011")
_LEAST = 3  # letters of a name that others begin with by no accident


def closest(name: str, known: Iterable[str]) -> str | None:
    """The best match, or None where nothing is near: a name in another letter case, a slip or two away, or alike.

    Letters and digits that look the same, `vo` and `v0`, are no slips.
    """
    candidates = tuple(dict.fromkeys(known))
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    if name not in candidates and name.lower() in lowered:
        return lowered[name.lower()]
    slips = len(name) // 3  # in shorter names every other one is near
    ranked = sorted(
        (found, edits(name, candidate), sorted(name) != sorted(candidate), place)
        for place, candidate in enumerate(candidates)
        if candidate != name and (found := edits(_as_seen(name), _as_seen(candidate))) <= slips
    )
    if ranked:
        return candidates[ranked[0][-1]]
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    return near[0] if near and near[0] != name else None


def _as_seen(name: str) -> str:
    """A name with one character for all that look like it."""
    return name.translate(_SEEN)


def edits(a: str, b: str) -> int:
    """How many slips lead from one name to the other: a letter more, less or another, or two neighbours swapped."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, last = last, row
    return last[-1]


def did_you_mean(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """A hint ready for `Diagnostic.hints`: one line, or none. It names a replacement if no other name is as near."""
    candidates = tuple(known)
    match = closest(name, candidates)
    return (exact(f"did you mean `{match}`?", name, match, candidates),) if match else ()


def did_you_mean_part(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The same for a function: unless a name is a slip or two away, what it begins with, as `gelu` of `gelu_tanh`."""
    candidates = tuple(c for c in known if name.endswith("_") or not c.endswith("_"))  # `relu_` works in place
    match = closest(name, candidates)
    near = match is not None and (name.lower() == match.lower() or edits(name, match) <= len(name) // 3)
    first = max((c for c in candidates if c and name.startswith(f"{c}_")), key=len, default="")
    return (f"did you mean `{first}`?",) if first and not near else did_you_mean(name, candidates)


def did_you_mean_function(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The same for a function: what is only alike gives way to what the name begins with, as `cos` of `cosine`."""
    candidates = tuple(known)
    match = closest(name, candidates)
    near = match is not None and (name.lower() == match.lower() or edits(name, match) <= len(name) // 3)
    first = max((c for c in candidates if len(c) >= _LEAST and name.lower().startswith(c)), key=len, default="")
    if match is None or near or not first or match.startswith(first):
        return did_you_mean(name, candidates)
    return (f"did you mean `{first}`?",)


def exact(words: str, name: str, match: str, known: Iterable[str]) -> str:
    """A hint that says so in `words`, with the replacement if no other name is as near."""
    return Hint(words, name, match) if _alone(name, match, known) else words


def _alone(name: str, match: str, known: Iterable[str]) -> bool:
    """Whether a match is a name in another letter case, or a slip or two away, and no other is as near."""
    others = frozenset(known) - {match}
    if name.lower() == match.lower():
        return name.lower() not in map(str.lower, others)
    slips = edits(name, match)
    return slips <= len(name) // 3 and all(edits(name, other) > slips for other in others)


def listed(names: Iterable[str], conjunction: str = "or") -> str:
    """`a`, `b` or `c`."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


def counted(count: int, noun: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{count} {noun}{'s' if count != 1 else ''}"
