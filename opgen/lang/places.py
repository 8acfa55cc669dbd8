"""Values of an order and where they stand, which other libraries give together: `v, i = topk(x, k)`.

Text in, the statements that give each of them out, spelt with the tensors of the spec.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from opgen.lang.commas import between_commas
from opgen.lang.vocabulary import Vocabulary

ORDERS = ("topk", "top_k", "sort", "kthvalue")
_ACCESS = r"(?P<of>\w+)(?:\[(?P<at>[^\[\]]*)\])?"
_CALL = re.compile(r"(?:\w+\.)*(?P<fn>\w+)\s*(?:\[\s*(?P<over>\w+)\s*\])?\((?P<args>.*)\)", re.DOTALL)
_METHOD = re.compile(rf"{_ACCESS}\.(?P<fn>\w+)\((?P<args>.*)\)", re.DOTALL)
_KEYWORD = re.compile(r"(?P<name>\w+)\s*=(?!=)\s*(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Order:
    """A call of `fn` on a tensor read at `items`, over one of them; `more` are its other arguments."""

    fn: str
    of: str
    items: tuple[str, ...]
    over: str
    more: tuple[str, ...]
    named: Mapping[str, str]

    def at(self, place: str) -> str:
        """The indices, with this in place of the one that is ordered; without it where that is empty."""
        return ", ".join(found for i in self.items if (found := place if i == self.over else i))

    def argument(self, place: int, *names: str) -> str | None:
        """An argument, by its place behind the tensor or by a name."""
        if place < len(self.more):
            return self.more[place]
        return next((self.named[n] for n in names if n in self.named), None)


def largest(words: Vocabulary, targets: Sequence[str], value: str) -> tuple[str, ...]:
    """The statements that assign the values and their places; none where the call is not clear."""
    made = _read(words, value.strip())
    if made is None or len(targets) != 2:
        return ()
    values, places = (t.partition("[")[0].strip() for t in targets)
    whole = f"{made.of}[{made.at(made.over)}]"
    if made.fn == "sort":
        down = _says(made.argument(1, "descending"))
        sign = "-" if down else ""
        here = made.at(made.over)
        return (
            f"{values}[{here}] = {sign}sort[{made.over}]({sign}{whole})",
            f"{places}[{here}] = argsort[{made.over}]({sign}{whole})",
        )
    number = made.argument(0, "k")
    if number is None:
        return ()
    taken = (values, places, *words.letters, *words.names)
    order = next(n for k in count(1) if (n := "order" if k == 1 else f"order{k}") not in taken)
    words.letters[order] = made.items
    if made.fn == "kthvalue":
        here = f"[{made.at('')}]" if made.at("") else ""
        return (
            f"{values}{here} = kth[{made.over}]({whole}, {number})",
            f"{order}[{made.at(made.over)}] = argsort[{made.over}]({whole})",
            f"{places}{here} = {order}[{made.at(str(int(number) - 1) if number.isdecimal() else f'{number} - 1')}]",
        )
    each = _each(words, targets[0], (*made.items, values, places))
    sign = "" if _says(made.argument(2, "largest"), "False") else "-"
    for name in (values, places):
        words.letters.setdefault(name, tuple(each if i == made.over else i for i in made.items))
    return (
        f"{order}[{made.at(made.over)}] = argsort[{made.over}]({sign}{whole})",
        f"{values}[{made.at(f'{each} < {number}')}] = {made.of}[{made.at(f'{order}[{made.at(each)}]')}]",
        f"{places}[{made.at(f'{each} < {number}')}] = {order}[{made.at(each)}]",
    )


def _says(text: str | None, what: str = "True") -> bool:
    return text is not None and text.lower() == what.lower()


def _each(words: Vocabulary, target: str, taken: Sequence[str]) -> str:
    """The index that counts what is chosen: that of the target, if it has one of its own."""
    own = between_commas(target.partition("[")[2].removesuffix("]"))
    plain = (i for i in own if i.isidentifier())
    letters: tuple[str, ...] = (*plain, *"jirspq")
    return next(c for c in letters if c not in taken and not words.knows(c))


def _read(words: Vocabulary, value: str) -> _Order | None:
    method, call = _METHOD.fullmatch(value), _CALL.fullmatch(value)
    if method is not None and method["of"] in words.letters:
        fn, of, at, over, args = method["fn"], method["of"], method["at"], None, between_commas(method["args"])
    elif call is not None:
        first, *args = between_commas(call["args"])
        read = re.fullmatch(_ACCESS, first)
        if read is None:
            return None
        fn, of, at, over = call["fn"], read["of"], read["at"], call["over"]
    else:
        return None
    items = words.letters.get(of, ()) if at is None else _row(words.letters.get(of, ()), between_commas(at))
    named = {m["name"]: m["value"] for a in args if (m := _KEYWORD.fullmatch(a))}
    more = tuple(a for a in args if a and not _KEYWORD.fullmatch(a))
    fn = "topk" if fn == "top_k" else fn
    axis = named.get("dim", named.get("axis"))
    beside = 0 if fn == "sort" else 1
    if axis is None and len(more) > beside:
        axis = more[beside]
    over = over or _over(items, axis or "-1")
    if over is None or items.count(over) != 1 or fn not in ORDERS:
        return None
    if any(i != "..." and not i.isidentifier() for i in items):
        return None
    return _Order(fn, of, items, over, more, named)


def _row(letters: Sequence[str], written: Sequence[str]) -> tuple[str, ...]:
    """The indices of an access, and those that follow where the tensor has more; for `:` that of its place."""
    if "..." in (*letters, *written) or len(written) > len(letters):
        return tuple(written)
    rest = [i for i in letters if i not in written]
    items = [letters[k] if i == ":" else i for k, i in enumerate(written)]
    return (*items, *rest[len(rest) - len(letters) + len(items) :]) if len(items) < len(letters) else tuple(items)


def _over(items: Sequence[str], axis: str) -> str | None:
    """The index of an axis that is told by its number."""
    number = int(axis) if re.fullmatch(r"-?\d+", axis) else None
    if number is None or not -len(items) <= number < len(items):
        return None
    passed = items[number:] if number < 0 else items[: number + 1]
    return None if "..." in passed else items[number]
