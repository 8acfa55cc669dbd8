"""Medians, sorted and largest elements of other libraries: what they are here, spelt for the tensor at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Access, Dots, Expr, Name, Reduction, Unary
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary

# The position in the order, of an axis of size {size} and with the argument {given}.
_PLACES = {
    "nanmedian": "({size} - 1)//2",
    "topk": "{size} - 1 - {each}",
    "mode": "",
}
# What has a word of its own here.
_WORDS = {
    "median": "median[{axis}]({of})",
    "quantile": "quantile[{axis}]({of}, {given})",
    "kthvalue": "kth[{axis}]({of}, {given})",
    "kth": "kth[{axis}]({of}, {given})",
    "sort": "sort[{axis}]({of})",
    **dict.fromkeys(("msort", "sorted"), "sort[{axis}]({of})"),
}
_BOTH = ("max", "min", "sort", "median")  # what other libraries give together with its place
_BEHIND = re.compile(r"\s*(?:\[\s*(?P<item>[01])\s*\]|\.(?P<word>values|indices))")  # a call: which of both
_LAST = re.compile(r"\s*\.(\w+)\(\s*(?:(?:dim|axis)\s*=\s*)?-\s*1\s*\)\s*(?:#.*)?")
# What a recurrence gives: from what it starts, and how it goes on.
_EXTREMES = {"cummax": ("-inf", "max"), "cummin": ("inf", "min")}
# What a running sum gives, of {of}, whose square is {square}, along {axis}.
_MEAN = "cumsum[{axis}]({of})/({axis} + 1)"
_VAR = "(cumsum[{axis}]({square})/({axis} + 1) - (cumsum[{axis}]({of})/({axis} + 1))**2)"
_SO_FAR = {
    **dict.fromkeys(("cummean", "cumulative_mean", "cum_mean"), _MEAN),
    **dict.fromkeys(("cumvar", "cum_var"), _VAR),
    **dict.fromkeys(("cumstd", "cum_std"), f"sqrt(max{_VAR[:-1]}, 0))"),
}
RUNNING = (*_EXTREMES, *_SO_FAR)  # of any value, not only of elements that are picked
NAMES = (*_PLACES, *_WORDS, *RUNNING)


def through_order(
    words: Vocabulary,
    name: str,
    of: Expr,
    axis: str | None,
    given: Expr | None,
    target: str,
    left: Sequence[str] = (),
    bound: Sequence[str] = (),
    at: Span | None = None,
    *,
    least: bool = False,
) -> str | None:
    """The statements that give what `name` gives elsewhere; None where the tensor or its axis is not clear.

    `left`: the indices of the target; the largest elements of an axis that stands there are told by a mask.
    `bound`: those of the reductions around it; what is reduced over the axis is reduced over the elements in order.
    An index of either that the tensor does not have is the one that counts the largest. `at`: where the name stands,
    which tells whether it is all that a reduction without an index is of. `least`: the smallest elements are meant.
    """
    if name in RUNNING:
        whole = at is not None and _is_whole(at)
        return _running(words, name, of, axis, left, target if whole else "")
    sign = ""
    if isinstance(of, Unary) and of.op == "-" and name != "nanmedian":  # whose order is the other one
        sign, of, least = "-", of.operand, not least
    if not isinstance(of, Access) or not (name in _WORDS or _PLACES[name]):
        return None
    items = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Name) else "" for i in of.items]
    named = [i for i in items if i != "..."]
    axis = axis or (named[-1] if named else None)
    if axis is None or "" in items or items.count(axis) != 1:
        return None
    free = [i for i in (*bound, *left) if i not in items] if name == "topk" else []
    each = free[0] if free else next(c for c in "jirsp" if c not in items and not words.knows(c))
    count = "3" if given is None else unparse(given)
    if name in _WORDS:
        value = _WORDS[name].format(axis=axis, of=f"{sign}{of.name}[{', '.join(items)}]", given=count)
        left = _list(items, axis, axis if "sort" in name else None)
        return f"write `{f'{target}[{left}]' if left else target} = {value}`"
    size = _size(words, of.name, items.index(axis), axis)
    if name == "topk" and axis in left and re.search(rf"\b{axis}\b", of.span.text.removeprefix(of.name)):
        here, there = ", ".join(items), _list(items, axis, each)
        end = _kth_greatest(size, count) if not least else count
        of_kth, sense = f"kth[{each}]({of.name}[{there}], {end})", "<=" if least else ">="
        what = "smallest" if least else "largest"
        return f"a mask of the {what}: `{target}[{here}] = {of.name}[{here}] {sense} {of_kth}`"
    place = each if least else _PLACES[name].format(size=size, given=count, axis=axis, each=each)
    order = "order" if not words.knows("order") else f"order_{of.name}"
    ordered = f"{order}[{_list(items, axis, place)}]"
    read = _list(items, axis, ordered)
    left = _list(items, axis, f"{each} < {count}" if name == "topk" else None)
    made = f"{target}[{left}]" if left else target
    rest = "" if at is None else _behind(at)
    both = _BEHIND.match(rest) if name == "topk" else None
    second = both is not None and (both["item"] == "1" or both["word"] == "indices")
    sign = "" if second else sign
    picked = ordered if second else f"{sign}{of.name}[{read}]"
    here = f"({picked})" if sign else picked
    first = f"`{order}[{', '.join(items)}] = argsort[{axis}]({of.name}[{', '.join(items)}])`"
    if name == "topk" and axis in bound:
        return f"read it through its order: {first}, and `{here}` here, over `{each} < {count}` for `{axis}`"
    if free:
        return f"read it through its order: {first}, and `{here}` here, over `{each} < {count}`"
    around = None if at is None or name != "topk" else _reduced_alone(words, at)
    last = _LAST.fullmatch(rest, both.end() if both else 0) if axis == items[-1] else None
    around = around or (last[1] if last and words.reductions.get(last[1]) is False else None)
    if around is not None:
        kept = _list(items, axis, None)
        made = f"{target}[{kept}]" if kept else target
        return f"read it through its order: {first}, then `{made} = {around}[{each} < {count}]({picked})`"
    if at is not None and name == "topk" and not _is_whole(at):
        return f"read it through its order: {first}, and `{here}` here, over `{each} < {count}`, as in `{made} = …`"
    return f"read it through its order: {first}, then `{made} = {picked}`"


def _kth_greatest(size: str, count: str) -> str:
    """The place of the least of the greatest elements, counted from 1."""
    most = int(count) - 1 if count.isdecimal() else None
    return f"{size} - {count} + 1" if most is None else f"{size} - {most}" if most else size


def _reduced_alone(words: Vocabulary, at: Span) -> str | None:
    """The reduction that is a whole right side and has nothing in its brackets but the call at a place."""
    before = re.search(r"(?<![=!<>])=\s*(\w+)\s*\(\s*(?:\w+\.)*$", at.source.text[: at.start])
    alone = re.match(r"\s*\)\s*(?:#.*)?$", _behind(at)) is not None
    known = before is not None and words.reductions.get(before[1]) is False
    return before[1] if before is not None and known and alone else None


def _behind(at: Span) -> str:
    """What stands on its line behind a call whose name is at a place."""
    text, end, depth = at.source.text, at.end, 0
    while end < len(text) and text[end] != "\n":
        depth += (text[end] in "([") - (text[end] in ")]")
        end += 1
        if not depth and text[end - 1] == ")":
            break
    return text[end:].partition("\n")[0]


def has_both(e: Expr) -> bool:
    """Whether it is what other libraries give together with its place."""
    return isinstance(e, Reduction) and e.name in _BOTH and len(e.binders) == 1


def places_of(e: Expr) -> Expr | None:
    """The places of what `has_both`, `argsort[d](x[d])` of `sort[d](x[d])`; None where there is no word for them."""
    if isinstance(e, Unary) and isinstance(e.operand, Reduction) and e.operand.name == "sort":
        return places_of(e.operand)  # from the greatest on
    return replace(e, name=f"arg{e.name}") if isinstance(e, Reduction) and has_both(e) and e.name != "median" else None


def _is_whole(at: Span) -> bool:
    """Whether a call whose name is at a place is a whole right side, or what is taken of it by `[0]` and the like."""
    behind = _behind(at)
    both = _BEHIND.match(behind)
    before = re.search(r"(?<![=!<>])=\s*$", at.source.text[: at.start])
    return before is not None and re.fullmatch(r"\s*(?:#.*)?", behind[both.end() if both else 0 :]) is not None


def _running(
    words: Vocabulary, name: str, of: Expr, axis: str | None, left: Sequence[str], target: str = ""
) -> str | None:
    """The greatest or the least so far, or the mean or variance; `target`: what is assigned that and nothing else."""
    bare = not left
    if bare and isinstance(of, Access):
        left = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Name) else "" for i in of.items]
    if axis is None or axis not in left or "" in left:
        return None
    if name in _SO_FAR:
        value = unparse(of)
        square = f"{value}**2" if isinstance(of, Access) else f"({value})**2"
        line = f"{target}[{', '.join(left)}] = " if bare and target else ""
        return f"write `{line}{_SO_FAR[name].format(axis=axis, of=value, square=square)}`"
    start, fn = _EXTREMES[name]
    own = target or next(n for n in ("m", "so_far", f"{name}_so_far") if n not in left and not words.knows(n))
    here = f"{own}[{', '.join(left)}]"
    first, before = (f"{own}[{_list(left, axis, place)}]" for place in ("-1", f"{axis} - 1"))
    return f"a recurrence: `{first} = {start}`, then `{here} = {fn}({before}, {unparse(of)})`"


def _list(items: Sequence[str], axis: str, instead: str | None) -> str:
    return ", ".join(found for i in items if (found := instead if i == axis else i) is not None)


def _size(words: Vocabulary, name: str, place: int, axis: str) -> str:
    shape = words.shapes.get(name, ())
    if place < len(shape):
        return shape[place]
    return next((n for n in words.names if n.lower() == axis and n[:1].isupper()), axis.upper())


def ascending(
    args: tuple[Expr, ...], named: Mapping[str, Expr | tuple[Expr, ...]]
) -> tuple[bool, tuple[Expr, ...], dict[str, Expr | tuple[Expr, ...]]]:
    """Whether an order is asked for from the greatest on, and the other arguments of such a call."""
    down = named.get("descending", next(iter(args[2:]), None))
    rest = {k: v for k, v in named.items() if k not in ("descending", "stable")}
    return isinstance(down, Name) and down.name in ("True", "true"), args[:2], rest
