"""Ranges of a reduction that move with an index of the statement, `mean[s in t-w..t](x[s])`, as conditions.

Text in, and the place of the two dots in it; out come the stretch that is told, and hints. `spec`: the text of the
spec, which says the shapes of inputs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from opgen.lang.commas import between_commas

READ = re.compile(r"(\w+)\[([^\[\]]*)\]")
_TARGET = re.compile(r"(?P<name>[a-z]\w*)\[(?P<items>[^\[\]]*)\](?=[ ]*=(?!=))")
_MOVING = re.compile(
    r"(?P<name>[a-z]\w*)\[[ ]*(?P<index>[a-z]\w*)[ ]*(?:=|\bin\b)[ ]*(?P<first>[^\[\]=:,.\n]*[a-z][^\[\]=:,.\n]*)"
    r"\.\.(?P<last>[^\[\]=:,.\n]+)\](?=\()"
)
_OF_NONE = {"sum": "0", "prod": "1", "max": "-inf", "min": "inf", "logsumexp": "-inf"}


def moving(text: str, at: int, spec: str) -> tuple[tuple[int, int], tuple[str, ...]] | None:
    """Where such a range stands around two dots, with the line in which it is a condition; None elsewhere."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].partition("\n")[0].partition("#")[0].rstrip()
    for found in _MOVING.finditer(line):
        place = begin + found.start("index"), begin + found.end("last")
        if not place[0] <= at < place[1]:
            continue
        depths = accumulate((c in "([") - (c in ")]") for c in line[found.end() :])
        end = next((k for k, depth in enumerate(depths, found.end()) if depth == 0), None)
        if end is None:
            return None
        body, name, index = line[found.end() + 1 : end], found["name"], found["index"]
        within = f"{found['first'].strip()} <= {index} and {index} <= {found['last'].strip()}"
        read = [(a[1], k) for a in READ.finditer(body) for k, i in enumerate(a[2].split(",")) if i.strip() == index]
        sizes = sizes_of(spec, read)
        if len(sizes) != 1 or not sizes[0]:
            return None
        if name == "mean":
            made = f"sum[{index}](where({within}, {body}, 0))/count[{index} < {sizes[0]}]({within})"
            made = f"({made})" if re.search(r"[/*^][ ]*$", line[: found.start()]) or line[end + 1 :].strip() else made
        elif name in _OF_NONE:
            made = f"{name}[{index}](where({within}, {_inside(body, _OF_NONE[name])}, {_OF_NONE[name]}))"
        else:
            return None
        whole = _as_far(f"{line[: found.start()]}{made}{line[end + 1 :]}".strip(), within, sizes[0])
        out = f"`{index} < {found['last'].strip()}` in it where the range leaves out its end"
        return place, (f"a range that moves is a condition: write `{whole}`", out)
    return None


def _inside(body: str, nothing: str) -> str:
    """A body that is padded with what adds nothing, without that: over its axis no index leaves it."""
    args = between_commas(body.strip()[4:-1]) if re.fullmatch(r"\s*pad\(.*\)\s*", body) else []
    if len(args) != 2 or args[1].strip() != nothing:
        return body
    items = [i.strip() for a in READ.finditer(args[0]) for i in a[2].split(",")]
    return args[0] if all(i.isidentifier() or i == "..." for i in items) else body


def _as_far(line: str, within: str, size: str) -> str:
    """A statement with an extent for the index of its target that stands in a condition and alone in no access."""
    target = _TARGET.match(line)
    if target is None:
        return line
    alone = {i.strip() for a in READ.finditer(line[target.end() :]) for i in a[2].split(",")}
    items = [i.strip() for i in target["items"].split(",")]
    names = re.findall(r"\w+", within)
    items = [f"{i} < {size}" if i in names and i not in alone else i for i in items]
    return f"{target['name']}[{', '.join(items)}]{line[target.end() :]}"


def sizes_of(spec: str, read: Sequence[tuple[str, int]]) -> list[str]:
    """The dims at these places of inputs, one by one; empty for a place that an input does not have."""
    found: dict[str, None] = {}
    for name, place in read:
        shape = re.search(rf"\b{name}\s*:\s*\{{[^{{}}]*shape:\s*\[([^\]]*)\]", spec)
        sizes = [] if shape is None else [size.strip() for size in shape[1].split(",")]
        if sizes:
            found[sizes[place] if place < len(sizes) else ""] = None
    return [*found]
