"""Tensors that other libraries join along an axis, `cat([a, b], dim=-1)` and `stack([a, b])`, as a choice by position.

Nodes in, nodes out; None where a size or an index is not known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang.layout import layout, spelled
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Access, Call, Compare, Dots, Expr, Name, Number, Product
from opgen.lang.products import reindexed
from opgen.lang.slices import Extents, total
from opgen.lang.spread import Named, Spread, at, axis_of, size_at
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import LAST, SPARE, Vocabulary
from opgen.lang.walk import integer, nodes

LIST = "[]"  # the name of what stands for a list
JOINING = ("cat", "concat", "concatenate")
# How vectors are put together, and what has more axes, each with the axis; of several axes `append` names one.
_BY_RANK: Mapping[str, tuple[tuple[str, int], tuple[str, int | None]]] = MappingProxyType({
    "hstack": (("cat", 0), ("cat", 1)),
    **dict.fromkeys(("vstack", "row_stack"), (("stack", 0), ("cat", 0))),
    "column_stack": (("stack", 1), ("cat", 1)),
    "append": (("cat", 0), ("cat", None)),
})  # fmt: skip
STACKING = ("stack", *_BY_RANK)
SIZED = (
    "view",
    "reshape",
    "unflatten",
    "permute",
    "transpose",
    "expand",
    "repeat",
    "tile",
    "zeros",
    "ones",
    "full",
    "empty",
)
_TWO = 2


def is_list(tokens: Sequence[Token], at: int) -> bool:
    """Whether a list begins at a token: brackets, or parentheses with a comma in them."""
    if not tokens[at].is_op("("):
        return tokens[at].is_op("[")
    depth = 0
    for token in tokens[at:]:
        depth += token.is_op("(", "[") - token.is_op(")", "]")
        if token.is_op(",") and depth == 1:
            return True
        if depth == 0 or token.kind is T.END:
            return False
    return False


def is_comprehension(tokens: Sequence[Token], at: int) -> bool:
    """Whether parentheses hold `… for k in …`, perhaps in brackets."""
    depth = 0
    for k, token in enumerate(tokens[at:], at):
        depth += token.is_op("(", "[") - token.is_op(")", "]")
        if depth < 0 or token.kind in {T.END, T.NEWLINE}:
            return False
        if token.is_word("for") and depth <= 1 and tokens[k + 2].is_word("in"):
            return True
    return False


def without_lists(name: str, args: tuple[Expr, ...], named: Named) -> tuple[tuple[Expr, ...], Named]:
    """The arguments of a call without the list behind its first one: axes by their name, sizes one by one."""
    match args:
        case (first, Call(name="[]", args=axes)) if name not in SIZED and all(integer(a) is not None for a in axes):
            return (first,), {**named, "dim": axes}
        case (*before, Call(name="[]", args=sizes)) if name in SIZED:
            return (*before, *sizes), named
        case _:
            return args, named


def joined(
    words: Vocabulary,
    name: str,
    args: Sequence[Expr],
    named: Named,
    left: Sequence[str],
    runs: Mapping[int, Extents],
    turned: Sequence[tuple[Expr, tuple[str, ...]]],
) -> Spread | None:
    """What a call means that joins tensors; `runs`: how far slices run, by where their access begins.

    `turned` are nodes whose axes have another order than their indices, with that order.
    """
    axis = next((v for k, v in named.items() if k in ("dim", "axis")), None)
    parts = args
    if args and isinstance(args[0], Call) and args[0].name == LIST:
        parts, axis = args[0].args, args[1] if len(args) > 1 else axis
    elif len(args) > (2 if name == "append" else 1) and integer(args[-1]) is not None:
        parts, axis = args[:-1], args[-1]
    if len(parts) < _TWO or isinstance(axis, tuple):
        return None
    whole = [spelled(words, part) for part in parts]
    orders = [
        next((o for node, o in turned if node is part), layout(words, e)) for part, e in zip(parts, whole, strict=True)
    ]
    if name in _BY_RANK:
        rank = max(map(len, orders))
        name, place = _BY_RANK[name][rank > 1]
        axis = Number(place, parts[0].span) if axis is None and place is not None else axis
        if axis is None or any("..." in order for order in orders):
            return None
    if name in JOINING:
        return _in_a_row(words, whole, orders, axis, left, runs)
    return _side_by_side(words, whole, orders, axis, left)


def _in_a_row(
    words: Vocabulary,
    parts: Sequence[Expr],
    orders: Sequence[tuple[str, ...]],
    axis: Expr | None,
    left: Sequence[str],
    runs: Mapping[int, Extents],
) -> Spread | None:
    here, made = parts[0].span, list[Expr]()
    full = max(orders, key=len)
    single = _elements(parts, orders, full, axis)
    orders = [full if k in single else order or full for k, order in enumerate(orders)]
    chosen = axis if axis is not None else next(iter(single.values()), None)
    likely = [] if chosen is not None else _likely(words, parts, orders, left, runs)
    place = _place(words, orders, chosen, likely)
    if place is None:
        return None
    lengths: Sequence[Expr | None] = [
        Number(1, here) if k in single else _length(words, part, order[place], runs)
        for k, (part, order) in enumerate(zip(parts, orders, strict=True))
    ]
    others = [*orders[0][:place], *orders[0][place + 1 or len(orders[0]) :]]
    index = _index(words, orders, place, others, left)
    lengths = _with_numbers(words, parts, lengths, orders[0][place])
    ends: list[tuple[int, Expr]] = [(1, Number(0, here))]
    for part, order, length in zip(parts, orders, lengths, strict=True):
        if length is None:
            return None
        names = dict(zip([*order[:place], *order[place + 1 or len(order) :]], others, strict=True))
        moved = total([(1, Name(index, here)), *((-sign, e) for sign, e in ends)], here)
        made.append(at(reindexed(part, {**names, order[place]: "_"}), "_", moved))
        ends.append((1, length))
    found = made[-1]
    for k in range(len(made) - 1, 0, -1):
        bound = Compare((Name(index, here), total(ends[: k + 1], here)), ("<",), here)
        found = Call("where", (bound, made[k - 1], found), here, here)
    along = [*orders[0]]
    along[place] = index
    cut = {i: size for i in others if (size := _run(parts[0], i, runs)) is not None}
    either = chosen is None and not likely and len(_ends(along)) > 1
    return Spread(found, tuple(along), {**cut, index: _whole(total(ends, here))}, either)


def _elements(
    parts: Sequence[Expr], orders: Sequence[tuple[str, ...]], full: tuple[str, ...], axis: Expr | None
) -> dict[int, Expr]:
    """The parts that lack the axis along which others are joined, and so are one element of it, with that axis.

    What is a number, or has no dims at all, lacks the axis that is named, or the only one.
    """
    found: dict[int, Expr] = {}
    for k, (part, order) in enumerate(zip(parts, orders, strict=True)):
        lacking = [i for i in full if i not in order]
        if len(order) < len(full) and [i for i in full if i in order] == [*order] and lacking and not _is_filled(part):
            alone = [i for i in lacking if i != "..."]
            if len(alone) == 1 and (len(lacking) == 1 or not order):
                found[k] = Name(alone[0], part.span)
            elif not order and axis is not None:
                found[k] = axis
    one = next(iter(found.values()), None)
    return found if all(e == one for e in found.values()) else {}


def _is_filled(part: Expr) -> bool:
    """Whether a number stands for as many as there is room for, as `zeros` does."""
    return isinstance(part, Number) and not part.span.text[:1].isdigit()


def _with_numbers(
    words: Vocabulary, parts: Sequence[Expr], lengths: Sequence[Expr | None], index: str
) -> Sequence[Expr | None]:
    """The lengths with that of a number beside a slice, `cat([zeros, x[:-1]])`: what the slice leaves of its axis."""
    alone = [k for k, part in enumerate(parts) if isinstance(part, Number)]
    rest = [part for part in parts if not isinstance(part, Number)]
    size = size_at_all(words, rest[0], index) if len(rest) == 1 and len(alone) == 1 else None
    there = next((length for length in lengths if length is not None), None)
    if size is None or there is None:
        return lengths
    left = total([(1, size), (-1, there)], size.span)
    known = isinstance(left, Number) and integer(left) != 0
    return [left if k in alone and known else length for k, length in enumerate(lengths)]


def size_at_all(words: Vocabulary, part: Expr, index: str) -> Expr | None:
    """The size of the axis at whose positions an index stands, moved or not."""
    for a in (n for n in nodes(part) if isinstance(n, Access)):
        shape = words.shapes.get(a.name, ())
        for size, item in zip(shape, a.items if len(shape) == len(a.items) else (), strict=False):
            read = () if isinstance(item, Dots) or size == "..." else nodes(item)
            if any(isinstance(n, Name) and n.name == index for n in read):
                return Number(int(size), a.span) if size.isdigit() else Name(size, a.span)
    return None


def _whole(e: Expr) -> Expr:
    """Two halves as the whole that they are."""
    match e:
        case Product((("*", Number(value=2)), ("*", Product((("*", size), ("//", Number(value=2))))))):
            return size
        case _:
            return e


def _place(
    words: Vocabulary, orders: Sequence[tuple[str, ...]], axis: Expr | None, likely: Sequence[int]
) -> int | None:
    """Which axis the tensors are joined along: the one that is named, the one that is likely, or an outer one."""
    if len({len(order) for order in orders}) > 1 or not orders[0]:
        return None
    if axis is not None:
        found = axis_of(words, orders[0], axis, 0)
        return None if found is None else orders[0].index(found) - (len(orders[0]) if "..." in orders[0] else 0)
    likely = likely or _ends(orders[0])[:: -1 if words.reading == LAST else 1][:1]
    return likely[0] if len(likely) == 1 and orders[0][likely[0]] != "..." else None


def _ends(order: Sequence[str]) -> list[int]:
    """The first and the last of the axes that have a name."""
    named = [k for k, i in enumerate(order) if i != "..."]
    return [*dict.fromkeys((*named[:1], *named[-1:]))]


def _likely(
    words: Vocabulary,
    parts: Sequence[Expr],
    orders: Sequence[tuple[str, ...]],
    left: Sequence[str],
    runs: Mapping[int, Extents],
) -> Sequence[int]:
    """The axes that tensors may be joined along where none is named; empty where nothing tells."""
    axes = range(min(map(len, orders)))
    unlike = [k for k in axes if len({order[k] for order in orders}) > 1]
    free = [k for k, i in enumerate(orders[0]) if left and i not in left]
    longer = [k for k in axes if len(_sizes(words, parts, orders, k, runs)) > 1]
    cut = [k for k in axes if all(_run(p, o[k], runs) is not None for p, o in zip(parts, orders, strict=True))]
    sliced = [k for k in axes if all(_is_slice(part, k) for part in parts)]
    return unlike or free or longer or next((found for found in (cut, sliced) if len(found) == 1), [])


def _sizes(
    words: Vocabulary,
    parts: Sequence[Expr],
    orders: Sequence[tuple[str, ...]],
    axis: int,
    runs: Mapping[int, Extents],
) -> set[str]:
    """The sizes that the tensors have along an axis, so far as they are known."""
    found = (_length(words, part, order[axis], runs) for part, order in zip(parts, orders, strict=True))
    return {unparse(size) for size in found if size is not None}


def _is_slice(part: Expr, k: int) -> bool:
    """Whether a slice was written where an access has an index."""
    item = part.items[k] if isinstance(part, Access) and k < len(part.items) else None
    return isinstance(item, Name) and item.span.text != item.name


def _index(
    words: Vocabulary, orders: Sequence[tuple[str, ...]], place: int, others: Sequence[str], left: Sequence[str]
) -> str:
    """The index of the axis that is joined along: the one of the target, or of all parts, or a new one."""
    free = [i for i in left if i not in others]
    own: list[str] = [*dict.fromkeys(order[place] for order in orders)]
    if len(free) == 1 and len(left) == len(orders[0]):
        return free[0]
    if len(own) == 1:
        return own[0]
    return next(c for c in "i" + SPARE if c not in others and not words.knows(c) and c not in words.letters)


def _length(words: Vocabulary, part: Expr, index: str, runs: Mapping[int, Extents]) -> Expr | None:
    """How long a part is: so far as a slice runs, or all of the axis."""
    cut = any(index in runs.get(a.name_span.start, {}) for a in nodes(part) if isinstance(a, Access))
    return _run(part, index, runs) if cut else size_at(words, part, index)


def _run(part: Expr, index: str, runs: Mapping[int, Extents]) -> Expr | None:
    """How far a slice runs that is read at an index; None where none is, or where that is not known."""
    found = (runs.get(a.name_span.start, {}) for a in nodes(part) if isinstance(a, Access))
    return next((extents[index] for extents in found if index in extents), None)


def _side_by_side(
    words: Vocabulary,
    parts: Sequence[Expr],
    orders: Sequence[tuple[str, ...]],
    axis: Expr | None,
    left: Sequence[str],
) -> Spread | None:
    order = orders[0]
    if any(other != order for other in orders):
        return None
    here, place = parts[0].span, 0 if axis is None else integer(axis)
    if place is None or not -len(order) - 1 <= place <= len(order):
        return None
    spare = ("i", *SPARE)
    free = [i for i in left if i not in order] if len(left) == len(order) + 1 else []
    taken = {n.name for part in parts for n in nodes(part) if isinstance(n, Name)}
    index = next(c for c in (*free, *spare) if c not in taken and not words.knows(c) and c not in words.letters)
    found = parts[-1]
    for k in range(len(parts) - 2, -1, -1):
        chosen = Compare((Name(index, here), Number(k, here)), ("==",), here)
        found = Call("where", (chosen, parts[k], found), here, here)
    whole = [*order]
    whole.insert(place if place >= 0 else len(order) + 1 + place, index)
    return Spread(found, tuple(whole), {index: Number(len(parts), here)})


def side_by_side(name: str, given: Sequence[Expr], here: Span) -> Expr | None:
    """`max([a, b])` and `sum([a, b])`, which take numbers in a list elsewhere; None for any other call."""
    if len(given) != 1 or name not in ("max", "min", "sum") or not isinstance(given[0], Call) or given[0].name != LIST:
        return None
    terms = given[0].args
    return total([(1, e) for e in terms], here) if name == "sum" else Call(name, terms, given[0].span, here)
