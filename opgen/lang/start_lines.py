"""Starts of recurrences as arrays have them, `p[0, :] = p0` and `p[-1] = zeros(4)`: the statement with its indices.

In go the items of a target and the text around them; out come lines of help, none for what starts no recurrence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.lang.commas import between_commas
from opgen.lang.listed_components import components
from opgen.lang.new_axes import is_whole
from opgen.lang.nodes import Dots
from opgen.lang.slices import Item, Slice
from opgen.lang.tuples import read_at_letters
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer

AS_ARRAYS = "the start of `{}` is written as an array"
_FILLED = re.compile(r"(?:\w+\.)*(zeros|ones)\((?:[^()]|\([^()]*\))*\)")


def start_lines(words: Vocabulary, name: str, items: Sequence[Item], behind: str, block: str) -> tuple[str, ...]:
    """What is written for a start that has slices or a call that fills an array. `behind`: its line from `=` on."""
    value = behind.strip().removeprefix("=").partition("#")[0].strip()
    filled = _FILLED.search(value) is not None
    body = re.search(rf"^[ \t]*{name}[ \t]*\[(?P<at>[^\[\]]*[a-z][^\[\]]*)\][ \t]*=(?!=)(?P<value>.*)", block, re.M)
    while body is not None and not _is_plain(body["at"]):
        body = re.compile(body.re.pattern, re.M).search(block, body.end())
    if body is None or not value or not (filled or any(isinstance(i, Slice) for i in items)):
        return ()
    along = between_commas(body["at"])
    numbers = [k for k, i in enumerate(items) if not isinstance(i, Dots | Slice) and integer(i) in (0, -1)]
    goes_on = re.search(rf"\b{name}\[[^\[\]]*\w\s*-\s*\d[^\[\]]*\]", body["value"])
    if len(items) > len(along) or len(numbers) != 1 or goes_on is None:
        return ()
    place, shown = numbers[0], [*along]
    for k, item in enumerate(items):
        if not is_whole(item):
            shown[k] = "..." if isinstance(item, Dots) else "" if isinstance(item, Slice) else unparse(item)
    if "" in shown:
        return ()
    if value.startswith("["):
        told = components(words, f"{name}[{', '.join(shown)}] = ", f"{value}\n{block}")
        return (told,) if told else ()
    own = [i for k, i in enumerate(shown) if k != place]
    spelt, free = read_at_letters(words, _FILLED.sub(lambda m: str(int(m[1] == "ones")), value))
    if not {*free} <= {*own}:
        if len(free) > len(own):
            return ()
        other = dict(zip(free, own[-len(free) :], strict=True))
        spelt = re.sub(r"\[[^\[\]]*\]", lambda m: re.sub(r"\w+", lambda i: other.get(i[0], i[0]), m[0]), spelt)
    before = f"`{name}[{', '.join('-1' if k == place else i for k, i in enumerate(shown))}] = {spelt}`"
    if shown[place] == "-1":
        zero = ", or leave it out: it is 0 without one" if spelt == "0" else ""
        return (f"a start has a position for each index: write {before}{zero}",)
    step = body["value"].partition("#")[0].strip()
    whole = f"{name}[{', '.join(along)}] = where({along[place]} == 0, {spelt}, {step})"
    return (
        f"for an element itself, both lines are one: `{whole}`",
        f"or the start stands one place before the first element: write {before}",
    )


def _is_plain(at: str) -> bool:
    return all(i == "..." or i.isidentifier() for i in between_commas(at))
