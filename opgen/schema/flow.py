"""Formulas that YAML's flow style cut at a comma: found, reported, and put together again.

In `{value: where(x > 0, 1, 0)}` YAML ends the value at the first comma and takes `1` and `0)` for keys. A bare scalar
with an open parenthesis is the sign of it; the pieces up to the one that closes it are one formula.
"""

from __future__ import annotations

import re
from dataclasses import replace

from opgen.diagnostics.model import Bag, Hint
from opgen.schema.nodes import Node, Scalar, Sequence, typed

_PIECES = 100  # commas in one formula, at most
INTERVAL = re.compile(r"([\[(])\s*([^\[\](),]+?)\s*,\s*([^\[\](),]+?)\s*([\])])")
_NUMBER = r"[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?"
_SIZE = rf"(?:{_NUMBER}|-?\w+)(?:\s*[-+*/]+\s*\w+)*"  # of an axis, in a shape as other libraries write it
_WORD = re.compile(r"[A-Za-z_]\w*|\d+|\.\.\.")
_ITEM = re.compile(rf"\.\.\.|\*|{_SIZE}")
_ITEMS = {  # of the list that a field may have been meant to have, by the name of the field
    "shape": re.compile(r"[A-Z]\w*|\d+|\.\.\."),
    "type": re.compile(r"float|int|bool"),
    "choices": re.compile(r"[a-z]\w*"),
}
_NUMBERS = re.compile(_NUMBER)  # in any other field
_ROW = rf"\s*(?:{_ITEM.pattern})(?:\s*,\s*(?:{_ITEM.pattern}))*\s*,?\s*"
_TUPLE = re.compile(rf"\({_ROW}\)")
_LISTED = re.compile(rf"\[{_ROW}\]|(?=.*,)\({_ROW}\)|{_NUMBER}(?:, +{_NUMBER})+")
_GROUP = re.compile(r"\(\s*[A-Z]\w*(?:\s*,\s*[A-Z]\w*)+\s*\)")  # of dims, as einops has it
_DECIMAL = re.compile(r"[-+]?\d+,\d+")


def of_interval(name: str, opening: str, low: str, high: str, closing: str) -> str:
    """The inequality of an interval such as `[0, C)`; empty where it has no ends."""
    below = "" if low in ("-inf", "inf") else f"{low} {'<=' if opening == '[' else '<'} "
    ends_before = closing == ")" or re.fullmatch(r"[A-Z]\w*", high)  # a position in a dim ends before its size
    above = "" if high in ("inf", "+inf") else f" {'<' if ends_before else '<='} {high}"
    if below and not above:
        below, above = "", f" {'>=' if opening == '[' else '>'} {low}"
    return f"{below}{name}{above}" if below or above else ""


def _open(node: Node | None) -> int:
    """Parentheses left open in a bare scalar."""
    if not isinstance(node, Scalar) or node.style:
        return 0
    return node.text.count("(") - node.text.count(")")


def _list_or_formula(first: Scalar, last: Node, bag: Bag, key: str = "") -> Node:
    """What was cut, put together: `(N, K)` stands for a list."""
    span = first.span.to(last.span)
    if key == "domain" and INTERVAL.fullmatch(span.text):  # no domain either way, which is told there
        return replace(first, value=span.text, text=span.text, span=span)
    if not _TUPLE.fullmatch(span.text):
        return _joined(first, last, bag)
    items = words_of(replace(first, text=span.text, span=span))
    right = f"[{', '.join(item.text for item in items)}]"
    label, hint = "a list has square brackets", Hint(f"write `{right}`", span.text, right)
    bag.error("OPG106", "inside of { } and [ ] a comma ends the value", span, label=label, hints=(hint,))
    return Sequence(items, span, first.key)


def _more(field: str, pieces: list[Node | None]) -> list[Scalar]:
    """The keys without values that follow, as far as they are items: `K` and `3` of `{shape: N, K, 3}`."""
    found: list[Scalar] = []
    item = _ITEMS.get(field, _NUMBERS)
    for key, value in zip(pieces[::2], pieces[1::2], strict=True):
        if value is not None or not isinstance(key, Scalar) or key.style or not item.fullmatch(key.text):
            break
        found.append(key)
    return found


def _without_brackets(first: Scalar, more: list[Scalar], decimal: bool, bag: Bag) -> Node:
    """The list that was meant, or the number, where a comma may stand for the point of one."""
    items, span = (first, *more), first.span.to(more[-1].span)
    label, right = "a list has square brackets", f"[{', '.join(item.text for item in items)}]"
    if decimal := decimal and _DECIMAL.fullmatch(span.text) is not None:
        label, right = "a decimal number has a point", span.text.replace(",", ".")
    hint = Hint(f"write `{right}`", span.text, right)
    bag.error("OPG106", "inside of { } and [ ] a comma ends the value", span, label=label, hints=(hint,))
    return first if decimal else Sequence(items, span, first.key)


def listed_in(node: Scalar) -> tuple[Scalar, ...]:
    """The items of what is text and looks like a list: `(0.9, 0.999)`, `"[1, 2]"`; none where it may be a formula."""
    return words_of(node) if _LISTED.fullmatch(node.text.strip()) else ()


def as_group(item: Node) -> Node:
    """A list of dims in the place of one dim, as the group of an einops pattern that it stands for."""
    words = [w.text for w in item.items if isinstance(w, Scalar)] if isinstance(item, Sequence) else []
    text = f"({', '.join(words)})"
    whole = isinstance(item, Sequence) and len(words) == len(item.items) and _GROUP.fullmatch(text)
    return Scalar(text, text, item.span, key=item.key) if whole else item


def words_of(node: Scalar) -> tuple[Scalar, ...]:
    """What a value may stand for that should be a list: its words, if it is nothing but names, numbers and dots.

    Between commas also sizes, and the `*` that stands for any number of dims in documentation of torch.
    """
    item = _ITEM if re.search(r"[,.]", node.text) else _WORD
    found = [m for m in item.finditer(node.text) if m[0].lower() not in ("tuple", "list")]  # of Python
    start = node.span.start + node.span.text.find(node.text)
    if node.text not in node.span.text or item.sub("", node.text).strip(" ,()[]"):
        return (node,)
    if len(found) > 2 and all(m[0] in ("x", "by") for m in found[1::2]):  # `N x D`
        found = found[::2]
    spans = [replace(node.span, start=start + m.start(), end=start + m.end()) for m in found]
    words = ["..." if m[0] == "*" else m[0] for m in found]
    return tuple(replace(node, text=w, value=typed(w), span=s, style="") for w, s in zip(words, spans, strict=True))


def _joined(first: Scalar, last: Node, bag: Bag) -> Scalar:
    span = first.span.to(last.span)
    bag.error(
        "OPG106",
        "inside of { } and [ ] a comma ends the value",
        span,
        label="this formula needs quotes",
        hints=(Hint(f'write `"{span.text}"`', span.text, f'"{span.text}"'),),
    )
    return replace(first, value=span.text, text=span.text, span=span)


def _reach(pieces: list[Node | None], start: int) -> int | None:
    """Index of the piece that closes what piece `start` opens; None where there is none."""
    depth = 0
    for at in range(start, min(start + _PIECES, len(pieces))):
        depth += _open(pieces[at])
        if depth <= 0:
            return at
    return None


def mend_items(items: list[Node], bag: Bag) -> list[Node]:
    """The items of a flow list, with formulas that were cut put together."""
    mended: list[Node] = []
    at = 0
    while at < len(items):
        node = items[at]
        last = _reach(list(items), at) if _open(node) > 0 else at
        if isinstance(node, Scalar) and last is not None and last > at:
            span = node.span.to(items[last].span)
            group = _GROUP.fullmatch(span.text)  # no item of any list, which is told where it is read
            node = (
                replace(node, text=span.text, value=span.text, span=span)
                if group
                else _list_or_formula(node, items[last], bag)
            )
            at = last
        mended.append(node)
        at += 1
    return mended


def mend_entries(entries: list[tuple[Scalar, Node]], bag: Bag) -> list[tuple[Scalar, Node]]:
    """The entries of a flow mapping, with keys and values that were cut put together."""
    pieces: list[Node | None] = []
    for key, value in entries:
        bare = isinstance(value, Scalar) and not value.style and value.value is None and not value.text
        pieces += [key, None if bare else value]
    mended: list[tuple[Scalar, Node]] = []
    one = not any(key.text == "type" and isinstance(value, Sequence) for key, value in entries)
    at = 0
    while at < len(pieces):
        key, value = entries[at // 2]
        at += 2
        alone = isinstance(value, Scalar) and not value.style and not _open(value)
        if isinstance(value, Scalar) and value.text and alone and (more := _more(key.text, pieces[at:])):
            value, at = _without_brackets(value, more, one and key.text not in _ITEMS, bag), at + 2 * len(more)
        if _open(key) > 0 and (last := _reach(pieces, at - 2)) is not None and last % 2 == 0:
            key, value, at = _joined(key, entries[last // 2][0], bag), entries[last // 2][1], last + 2
        if isinstance(value, Scalar) and _open(value) > 0 and (last := _reach(pieces, at - 1)) is not None:
            value = _list_or_formula(value, pieces[last] or value, bag, key.text)
            at = last + 2 - last % 2
        mended.append((key, value))
    return mended


def within(text: str) -> str:
    """A name or a value as it stands within braces: in quotes where it would end or begin something else there."""
    plain = text[:1] in ("{", "[", '"', "'") or not re.search(r"[,\[\]{}\"']|: | #|:$", text)
    quote = "'" if '"' in text else '"'
    return text if plain else f"{quote}{text}{quote}"
