"""Means that are scattered, `out[dst[e], d] mean= x[src[e], d]`: the sums and counts that they are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress

from opgen.lang.commas import between_commas
from opgen.lang.vocabulary import SPARE, Vocabulary

_MEAN = "a mean is a sum by a count: "
_GENERAL = f"{_MEAN}`s[…] += …` and `n[…] += 1`, then `y[…] = s[…]/max(n[…], 1)`"
_TARGET = re.compile(r".*?(?P<name>[a-z]\w*)\[(?P<items>.*)\]\s*")
_VALUE = re.compile(r"(?:mean|avg)\s*=(?!=)\s*(?P<value>[^#]*)")
_SUMS, _COUNTS = ("s", "total", "sums"), ("n", "number", "counts")


def scattered_mean(before: str, after: str, words: Vocabulary) -> str:
    """What is meant by a line that goes on with `mean=` behind `before`; nothing elsewhere."""
    value = _VALUE.match(after)
    target = _TARGET.fullmatch(before)
    if value is None:
        return ""
    lines = _lines(target["name"], between_commas(target["items"]), value["value"].strip(), words) if target else ()
    return f"{_MEAN}write {', '.join(f'`{line}`' for line in lines)}" if lines else _GENERAL


def _lines(name: str, items: Sequence[str], value: str, words: Vocabulary) -> Sequence[str]:
    """The statements of a mean; nothing where the shape of the target or a letter for it is not clear."""
    shape = words.results.get(name) or [_size(item, value, words) for item in items]
    moved = [not item.isidentifier() and item != "..." for item in items]
    batches = [k for k, item in enumerate(items) if item == "..."] == [k for k, s in enumerate(shape) if s == "..."]
    whole = len(shape) == len(items) and batches and all(shape)
    if not whole or not any(moved) or re.search(r"\bif\b", value):
        return ()
    said = [name, *re.findall(r"[A-Za-z_]\w*", f"{items} {value}")]
    letters: list[str] = []
    for item, size, other in zip(items, shape, moved, strict=True):
        wishes = [size.lower(), *SPARE] if size.isalpha() else SPARE
        taken = (*said, *letters)
        letters.append(next((c for c in wishes if c not in taken and not words.knows(c)), "") if other else item)
    taken = (*said, *letters, *words.letters)
    total, number = (
        next((n for n in wishes if n not in taken and not words.knows(n)), "") for wishes in (_SUMS, _COUNTS)
    )
    if not all((total, number, *letters)):
        return ()
    positions = " ".join(compress(items, moved))
    read = ("...", *re.findall(r"\w+", positions)) if "..." in positions else re.findall(r"\w+", positions)
    counted = [m or i in read for i, m in zip(items, moved, strict=True)]
    runs = [i if i == "..." else f"{i} < {size}" for i, size in zip(letters, shape, strict=True)]
    here, counts = ", ".join(letters), ", ".join(compress(letters, counted))
    return (
        f"{total}[{', '.join(runs)}] = 0",
        f"{total}[{', '.join(items)}] += {value}",
        f"{number}[{', '.join(compress(runs, counted))}] = 0",
        f"{number}[{', '.join(compress(items, counted))}] += 1",
        f"{name}[{here}] = {total}[{here}]/max({number}[{counts}], 1)",
    )


def _size(item: str, value: str, words: Vocabulary) -> str:
    """How far a position of the target runs, by the domain of what it reads or by what the value reads at it; else
    empty.
    """
    if item == "...":
        return item
    if not item.isidentifier():
        whole = re.fullmatch(r"(\w+)\[[^\[\]]*\]", item)
        return words.ends.get(whole[1], "") if whole else ""
    for name, items in _reads(value):
        shape = words.shapes.get(name, ())
        if item in items and len(shape) == len(items):
            return shape[items.index(item)]
    return ""


def _reads(text: str) -> list[tuple[str, list[str]]]:
    """The accesses in a text, with what stands in their brackets."""
    found: list[tuple[str, list[str]]] = []
    for opener in re.finditer(r"([A-Za-z_]\w*)\[", text):
        depth, end = 1, opener.end()
        while depth and end < len(text):
            depth += (text[end] == "[") - (text[end] == "]")
            end += 1
        found.append((opener[1], between_commas(text[opener.end() : end - 1])))
    return found
