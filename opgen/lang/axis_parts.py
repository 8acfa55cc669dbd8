"""The parts of an axis, as `chunk(x, 2, dim=0)` and `split(x, [1, 1, 2], dim=-1)` name them, read by position.

In go the indices and sizes of the tensor and what stands in the call; out come hints, with a statement for each part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from opgen.diagnostics.suggest import listed
from opgen.lang.commas import between_commas
from opgen.lang.vocabulary import SPARE

SINGLE = ("unbind", "unstack")  # give elements, without the axis
_PARTS = "the parts of an axis are read by position: "
_SPARE = ("B", "M", "P", "Q", "R", "S")  # names for dims of the batch
_AXIS = re.compile(r"(?:(?:dim|axis)\s*=\s*)?(-?\d+)")
_NAMED = re.compile(r"\s*(?:chunks|sections|split_size_or_sections|split_size|indices_or_sections)\s*=\s*")


def parts_of_axis(
    names: Sequence[str],
    fn: str,
    of: str,
    items: Sequence[str],
    shape: Sequence[str],
    arguments: str,
    share: str,
    listed_inputs: Sequence[str] = (),
) -> tuple[str, ...]:
    """How the parts are written, or why there are none: `a[n, d < D//2] = x[n, d]` and so on.

    `share`: the dim that the last size is so many times of, if there is one; `listed_inputs`: all inputs, in a list.
    """
    given = [_NAMED.sub("", a).strip() for a in between_commas(arguments)]
    axes = [m[1] for a in (given if fn in SINGLE else given[1:]) if (m := _AXIS.fullmatch(a))]
    axis = int(axes[0]) if axes else 0 if fn in SINGLE else -1
    at = _place(axis, items)
    if at is None:
        told = _no_axis(of, axis, items, shape, listed_inputs)
        if axis != -1 or items[-1:] != ("...",):
            return (told,)
        size = next(d for d in _SPARE if d not in shape)
        index = next(c for c in (size.lower(), *SPARE) if c not in (*names, *items))
        named = parts_of_axis(names, fn, of, (*items, index), (*shape, size), arguments, "")
        return (told, *(f"then {line}" for line in named))
    size = shape[at]
    whole = f"axis {axis} of `{of}` has {size} {'element' if size == '1' else 'elements'}"
    if fn in SINGLE:
        if size.isdecimal() and int(size) != len(names):
            return (f"{whole}, and {len(names)} are named",)
        return (f"the elements of an axis are read by position: {', '.join(_alone(names, of, items, at))}",)
    last = at == len(items) - 1
    lengths = _lengths(fn, given[0] if given else "", size, len(names), share if last else "")
    counted = [int(n) for n in lengths if n.isdecimal()]
    if size.isdecimal() and len(counted) == len(lengths) and (sum(counted) != int(size) or min(counted) < 1):
        return (f"{whole}, which these {len(names)} parts do not come to",)
    starts = [_start(lengths[:k]) for k in range(len(lengths))]
    lines: list[str] = []
    for name, length, start in zip(names, lengths, starts, strict=True):
        left, right = [*items], [*items]
        left[at] = f"{items[at]} < {length}"
        right[at] = f"{items[at]} + {start}" if start else items[at]
        lines.append(f"`{name}[{', '.join(left)}] = {of}[{', '.join(right)}]`")
    told = f"{_PARTS}{', '.join(lines)}"
    if not axes and axis == -1 and "..." not in items and len(items) > 1:
        first = parts_of_axis(names, fn, of, items, shape, f"{arguments or len(names)}, dim=0", "")[0]
        first = first.removeprefix(_PARTS)
        return (told, f"or along the first axis, which `{fn}` means where none is named: {first}")
    if {*lengths} != {"1"}:
        return (told,)
    return (told, f"or without the axis, which has one element in each: {', '.join(_alone(names, of, items, at))}")


def _alone(names: Sequence[str], of: str, items: Sequence[str], at: int) -> list[str]:
    """The elements along an axis, which their names do not have."""
    rest = [*items[:at], *items[at + 1 :]]
    left = f"[{', '.join(rest)}]" if rest and rest != ["..."] else ""
    return [
        f"`{name}{left} = {of}[{', '.join([*items[:at], str(k), *items[at + 1 :]])}]`" for k, name in enumerate(names)
    ]


def _no_axis(of: str, axis: int, items: Sequence[str], shape: Sequence[str], listed_inputs: Sequence[str]) -> str:
    """Why an axis has no parts: it is a batch dim, or there is none."""
    stated = ", ".join(shape)
    if "..." not in items:
        return f"`{of}` has no axis {axis}: its shape is [{stated}]"
    dots = items.index("...")
    behind = len(items) - 1 - dots
    count = axis - dots + 1 if axis >= 0 else -axis - behind
    spare = [d for d in _SPARE if d not in shape][:count]
    named = (*shape[:dots], *((*spare, "...") if axis >= 0 else ("...", *spare)), *shape[dots + 1 :])
    end = f", or count it from the end where it is one of {listed(shape[-behind:], 'and')}" if behind else ""
    entry = f"{of}: {{shape: [{', '.join(named)}]}}"
    if of in listed_inputs:
        entry = f"inputs: {{{', '.join(entry if n == of else f'{n}: {{}}' for n in listed_inputs)}}}"
    return (
        f"axis {axis} of `{of}` is a batch dim, and the same is computed for each element of a batch: name it in the"
        f" shape, `{entry}`{end if axis >= 0 else ''}"
    )


def _place(axis: int, items: Sequence[str]) -> int | None:
    """The place of an axis among indices; unknown where any number of batch dims lies between."""
    if not -len(items) <= axis < len(items):
        return None
    at = axis % len(items)
    between = items[at:] if axis < 0 else items[: at + 1]
    return None if "..." in between else at


def _lengths(fn: str, given: str, size: str, count: int, share: str) -> list[str]:
    """How long each part is: as a list says, or the places where the parts end; else all are alike."""
    if given[:1] in ("[", "("):
        stated = between_commas(given[1:-1])
        if len(stated) == count:
            return stated
        if len(stated) == count - 1:
            ends = ["0", *stated, size]
            return [_difference(b, a) for a, b in pairwise(ends)]
    if size.isdecimal() and given.isdecimal() and int(given):
        step = int(given) if fn == "split" else -(-int(size) // int(given))
        return [*[str(step)] * (count - 1), str(int(size) - step * (count - 1))]
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
