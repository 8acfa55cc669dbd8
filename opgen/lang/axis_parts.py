"""The parts of an axis, as `chunk(x, 2, dim=0)` and `split(x, [1, 1, 2], dim=-1)` name them, read by position.

In go the indices and sizes of the tensor and what stands in the call; out come statements, one for each part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from opgen.lang.commas import between_commas

_AXIS = re.compile(r"(?:(?:dim|axis)\s*=\s*)?(-?\d+)")
_NAMED = re.compile(r"\s*(?:chunks|sections|split_size_or_sections|split_size|indices_or_sections)\s*=\s*")


def parts_of_axis(
    names: Sequence[str], of: str, items: Sequence[str], shape: Sequence[str], arguments: str, share: str
) -> list[str]:
    """`a[n, d < D//2] = x[n, d]` and so on; none where it is not plain which axis is cut.

    `share`: the dim that the last size is so many times of, if there is one.
    """
    given = [_NAMED.sub("", a).strip() for a in between_commas(arguments)]
    axes = [m[1] for a in given[1:] if (m := _AXIS.fullmatch(a))]
    at = _place(int(axes[0]) if axes else -1, items)
    if at is None:
        return []
    last = at == len(items) - 1
    lengths = _lengths(given[0] if given else "", shape[at], len(names), share if last else "")
    starts = [_start(lengths[:k]) for k in range(len(lengths))]
    lines: list[str] = []
    for name, length, start in zip(names, lengths, starts, strict=True):
        left, right = [*items], [*items]
        left[at] = f"{items[at]} < {length}"
        right[at] = f"{items[at]} + {start}" if start else items[at]
        lines.append(f"`{name}[{', '.join(left)}] = {of}[{', '.join(right)}]`")
    return lines


def _place(axis: int, items: Sequence[str]) -> int | None:
    """The place of an axis among indices; unknown where any number of batch dims lies between."""
    if not -len(items) <= axis < len(items):
        return None
    at = axis % len(items)
    between = items[at:] if axis < 0 else items[: at + 1]
    return None if "..." in between else at


def _lengths(given: str, size: str, count: int, share: str) -> list[str]:
    """How long each part is: as a list says, or the places where the parts end; else all are alike."""
    if given[:1] in ("[", "("):
        stated = between_commas(given[1:-1])
        if len(stated) == count:
            return stated
        if len(stated) == count - 1:
            ends = ["0", *stated, size]
            return [_difference(b, a) for a, b in pairwise(ends)]
    if given and given != str(count):
        if re.fullmatch(r"\w+", given):
            return [given] * count  # the length of each
        if re.fullmatch(r"\w+\s*//\s*\d+", given):
            return [re.sub(r"\s", "", given)] * count
    if size.isdecimal() and int(size) % count == 0:
        return [str(int(size) // count)] * count
    return [share or f"{size}//{count}"] * count


def _difference(end: str, start: str) -> str:
    if start == "0":
        return end
    return str(int(end) - int(start)) if end.isdecimal() and start.isdecimal() else f"{end} - {start}"


def _start(before: Sequence[str]) -> str:
    """Where a part starts that these lie before."""
    if not before:
        return ""
    if all(n.isdecimal() for n in before):
        return str(sum(map(int, before)))
    if len({*before}) == 1:
        first = before[0]
        return first if len(before) == 1 else f"{len(before)}*{first if first.isalnum() else f'({first})'}"
    return " + ".join(n if re.fullmatch(r"\w+", n) else f"({n})" for n in before)
