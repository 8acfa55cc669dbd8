"""Lists of values where a formula has none, `r = [[cos(t), -sin(t)], [sin(t), cos(t)]]`, as components.

In go what stands in front of the list and the text from it on; out comes what to write, spelt with the tensors of the
spec.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opgen.lang.commas import between_commas
from opgen.lang.joins import LIST
from opgen.lang.nodes import Call, Expr
from opgen.lang.tuples import read_at_letters
from opgen.lang.vocabulary import SPARE, Vocabulary

_TARGET = re.compile(
    r"(.*forward:)?\s*(?P<name>\w+)(?:\[(?P<at>[^\[\]]*)\])?\s*=\s*"
    r"(?P<call>(?:\w+\.)*(?:tensor|as_tensor|array|asarray|matrix|Matrix)\(\s*(?P<open>\[\s*)?)?"
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?(\s*/\s*\d+)?")


@dataclass(frozen=True, slots=True)
class _Value:
    """One value of a list, with its place in it."""

    places: tuple[int, ...]
    text: str


def components(words: Vocabulary, before: str, after: str) -> str:
    """What is said of `q[...] = [a, b]`; nothing for tensors as a whole, and where the list is not all there is."""
    target = _TARGET.fullmatch(before)
    after = f"[{after}" if target is not None and target["open"] else after  # the first of its lists has been met
    text = _list(after)
    if target is None or not text or _behind(after[len(text) :], closing=target["call"] is not None):
        return ""
    values = [*_values(text, ())]
    sizes = _sizes(values)
    whole = all(words.letters.get(v.text, ("...",)) not in ((), ("...",)) for v in values)  # which may be joined
    if len(values) < len(("a", "b")) or (target["at"] is None and whole and len(values[0].places) == 1):
        return ""
    if not sizes:
        return "components are statements of their own, and these rows are not all of one length"
    if len(sizes) > 1 and all(_NUMBER.fullmatch(v.text) for v in values):
        return (
            f"a table of numbers is an input: `inputs: {{{target['name']}: {{shape: [{', '.join(map(str, sizes))}]}}}}`"
        )
    read = [read_at_letters(words, v.text) for v in values]
    left = [] if target["at"] is None else _without(between_commas(target["at"]), text, len(sizes))
    start = (
        "" if target["at"] is None or len(sizes) > 1 else _start(words, target["name"], target["at"], left, read, after)
    )
    if start:
        return f"what a recurrence starts from is chosen by the place: {start}"
    lacking = [*dict.fromkeys(i for _, free in read for i in free if i not in left)]
    left = [*sorted(lacking, key=lambda i: i != "..."), *left]
    told = dict(zip((v.places for v in values), (spelt for spelt, _ in read), strict=True))
    lines = ", ".join(f"`{line}`" for line in _lines(words, target["name"], left, told))
    rows = "" if len(sizes) == 1 else ", each row under a name of its own"
    return f"components are statements of their own{rows}: {lines}"


def in_call(words: Vocabulary, args: Sequence[Expr]) -> str:
    """What is said of a call that makes a tensor of a list, `torch.tensor([a, b])`; nothing for any other."""
    at = args[0].span if args and isinstance(args[0], Call) and args[0].name == LIST else None
    if at is None or at.source.text[at.start] != "[":
        return ""
    told = components(words, at.source.text[: at.start].rpartition("\n")[2], at.source.text[at.start :])
    return f"there are no lists; {told}" if told else ""


def _start(
    words: Vocabulary, name: str, at: str, left: Sequence[str], read: Sequence[tuple[str, tuple[str, ...]]], below: str
) -> str:
    """The start of a recurrence, `p[-1, c] = [1, 0]`, as one statement; empty where it is none.

    It stands before the first position, or at a place with a step back `below` it: then it may be an element itself.
    """
    body = re.search(rf"^[ \t]*{name}[ \t]*\[(?P<at>[^\[\]]*)\][ \t]*=[ \t]*(?P<value>.*)", below, re.MULTILINE)
    goes_on = re.search(rf"\b{name}\[[^\[\]]*\w\s*-\s*\d", below) is not None
    place = next((k for k, i in enumerate(left) if re.fullmatch(r"-?\s*\d+", i)), None)
    if place is None or not (goes_on or left[place].startswith("-")):
        return ""
    used = (*left, *(i for v, _ in read for i in re.findall(r"\w+", v)))
    items = between_commas(at)
    along = [] if body is None else between_commas(body["at"])
    likely = along[-1:] if len(along) == len(left) + 1 and along[-1].isidentifier() else []
    own = items[-1:] if len(items) > len(left) and items[-1] != ":" else []
    free = (c for c in ("c", "j", *SPARE) if c not in used and not words.knows(c))
    index = next(iter((*own, *(i for i in likely if i not in used), *free)))
    found = rest = read[-1][0]
    for k, (value, _) in reversed([*enumerate(read)]):
        found = found if value == rest else f"where({index} == {k}, {value}, {found})"
    sized = body is None or _size_along(words, body["value"], next(iter(likely), index)) in ("", str(len(read)))
    last = f"{index} < {len(read)}" if sized else index
    if left[place].startswith("-"):
        return f"`{name}[{', '.join([*left, last])}] = {found}`"
    before = f"`{name}[{', '.join([*left[:place], '-1', *left[place + 1 :], last])}] = {found}`"
    if body is None or left[place] != "0" or likely != [index] or _list(f"[{body['value']}]") != f"[{body['value']}]":
        return f"one place before the first element, {before}"
    whole = f"{name}[{', '.join(along)}] = where({along[place]} == 0, {found}, {body['value'].strip()})"
    return f"`{whole}` in place of both lines, or one place before the first element, {before}"


def _size_along(words: Vocabulary, value: str, index: str) -> str:
    """The size of a tensor where an index stands alone in what is read; empty where it does nowhere."""
    for a in re.finditer(r"\b(\w+)\[([^\[\]]*)\]", value):
        for item, size in zip(between_commas(a[2]), words.shapes.get(a[1], ()), strict=False):
            if item == index:
                return size
    return ""


def _lines(words: Vocabulary, name: str, left: Sequence[str], values: Mapping[tuple[int, ...], str]) -> Iterator[str]:
    """The statements of these values by their places; a place is chosen by one integer, so that rows have names."""
    depth = len(next(iter(values)))
    if depth == 1:
        for (k,), value in values.items():
            yield f"{name}[{', '.join([*left, str(k)])}] = {value}"
        return
    used = (*left, *(i for v in values.values() for i in re.findall(r"\w+", v)))
    inner = [c for c in ("j", *SPARE) if c not in used and not words.knows(c)][: depth - 1]
    for k in dict.fromkeys(first for first, *_ in values):
        taken = (*words.letters, *words.names, *words.shapes)
        row = next(n for n in (f"{name}{k}", *(f"{name}_row{k}_{m}" for m in range(99))) if n not in taken)
        yield from _lines(words, row, left, {(*rest,): v for (first, *rest), v in values.items() if first == k})
        yield f"{name}[{', '.join([*left, str(k), *inner])}] = {row}[{', '.join([*left, *inner])}]"


def _list(text: str) -> str:
    """The list that a text begins with, to its closing bracket."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if not depth:
            return text[: k + 1] if c == "]" else ""
    return ""


def _behind(text: str, *, closing: bool) -> str:
    """What stands behind a list on its line, and behind the call around it."""
    rest = text.partition("\n")[0].partition("#")[0].strip()
    return rest.removeprefix(")").strip() if closing else rest


def _values(text: str, places: tuple[int, ...]) -> Iterator[_Value]:
    """The values of a list in order; lists in it are part of it."""
    for k, part in enumerate(v for v in between_commas(text[1:-1]) if v):
        if part[:1] == "[" and _list(part) == part:
            yield from _values(part, (*places, k))
        else:
            yield _Value((*places, k), " ".join(part.split()))


def _sizes(values: Sequence[_Value]) -> tuple[int, ...]:
    """How many values a list has along each axis; nothing where its rows differ."""
    depths = {len(v.places) for v in values}
    if len(depths) != 1:
        return ()
    sizes = tuple(max(column) + 1 for column in zip(*(v.places for v in values), strict=True))
    count = 1
    for size in sizes:
        count *= size
    return sizes if count == len(values) else ()


def _without(items: Sequence[str], text: str, count: int) -> list[str]:
    """The indices of a target without those that stand for the places of the list, which it does not read."""
    last = items[-count:] if len(items) >= count else []
    own = all(i == ":" or (i.isidentifier() and not re.search(rf"\b{i}\b", text)) for i in last)
    return [*items[:-count]] if last and own else [i for i in items if i]
