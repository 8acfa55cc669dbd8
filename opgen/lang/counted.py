"""What other libraries count: how many edges lie below a value, and how often each number stands in a list.

The arguments of a call in; out come its meaning, the order of its indices, and how far those run that no access says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Binder, Call, Compare, Dots, Expr, Logic, Name, Number, Product, Reduction
from opgen.lang.products import reindexed
from opgen.lang.slices import total
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import CLASSES, SPARE, Vocabulary

Counted = tuple[Expr, tuple[str, ...], Mapping[str, Expr]]
_BINS = ("bins", "min", "max")  # arguments of a histogram
NAMES = ("searchsorted", "bucketize", "digitize", "bincount", "histc")


def counted(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]
) -> Counted | None:
    """The count that a call means; None where it is not certain."""
    if name == "bincount":
        rest = {**dict(zip(("weights", "minlength"), args[1:], strict=False)), **named}
        if len(args) == 2 and not named and not layout(words, spelled(words, args[1])):  # a size
            rest = {"minlength": args[1]}
        known = len(args) < 4 and {*rest} <= {"weights", "minlength"}
        return _of_numbers(words, args[0], rest.get("minlength"), rest.get("weights")) if known else None
    if name == "histc":
        return _in_bins(words, args, named)
    if len(args) != 2 or not {*named} <= {"right", "side"}:
        return None
    edges, value = args if name == "searchsorted" else args[::-1]
    says = {k: unparse(v).strip("'\"") for k, v in named.items() if not isinstance(v, tuple)}
    upper = says.get("right", "False") in ("True", "true") or says.get("side") == "right"
    upper ^= name == "digitize"  # whose intervals are open on the other side
    return _below(words, edges, value, "<=" if upper else "<")


def _below(words: Vocabulary, edges: Expr, value: Expr, sign: str) -> Counted | None:
    """How many edges lie below a value, which is where it belongs among them."""
    at, of = spelled(words, edges), spelled(words, value)
    own, order = layout(words, at), layout(words, of)
    if len(own) != 1 or own[0] == "..." or not isinstance(edges, Name):
        return None
    free = own[0] if own[0] not in (*order, *words.left) else _spare(words, (*order, *words.left))
    below = Compare((reindexed(at, {own[0]: free}), of), (sign,), value.span)
    return Reduction("count", (Binder(free, None, value.span),), below, value.span, value.span), order, {}


def _of_numbers(
    words: Vocabulary, ids: Expr, least: Expr | tuple[Expr, ...] | None, weights: Expr | tuple[Expr, ...] | None
) -> Counted | None:
    """How often each number below a size stands in a list, or what its places weigh together."""
    each, here = spelled(words, ids), ids.span
    own = layout(words, each)
    if isinstance(least, tuple) or isinstance(weights, tuple) or not isinstance(ids, Name):
        return None
    if len(own) != 1 or own[0] == "...":
        return None
    index = next((i for i in words.left if i not in own), None) or _spare(words, own)
    same: Expr = Compare((each, Name(index, here)), ("==",), here)
    size = size_below(words, ids) if least is None else least
    if weights is not None:
        weight = spelled(words, weights)
        if layout(words, weight) != own:
            return None
        same = Call("where", (same, weight, Number(0, here)), here, here)
    how = "count" if weights is None else "sum"
    return Reduction(how, (Binder(own[0], None, here),), same, here, here), (index,), {index: size}


def size_below(words: Vocabulary, ids: Expr) -> Expr:
    """How many numbers there are that integers may be, where a call leaves that to the numbers of a run: the end of
    their domain, or a param.
    """
    end = words.ends.get(ids.name, "") if isinstance(ids, Name) else ""
    if end.isdigit():
        return Number(int(end), ids.span)
    return Name(end if end.isidentifier() else CLASSES, ids.span)


def _in_bins(words: Vocabulary, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]) -> Counted | None:
    """How many values lie in each of some intervals of the same width, the last of which has its end."""
    given = [e for e in (*args, *(named[k] for k in _BINS[len(args) - 1 :] if k in named)) if not isinstance(e, tuple)]
    if len(given) != len(_BINS) + 1 or len(given) != len(args) + len(named):
        return None
    value, bins, low, high = spelled(words, given[0]), *given[1:]
    own, here = layout(words, value), value.span
    if not own or any(layout(words, e) for e in given[1:]):
        return None
    index = next((i for i in words.left if i not in own), None) or _spare(words, own)
    scaled = Product(
        (("*", total([(1, value), (-1, low)], here)), ("*", bins), ("/", total([(1, high), (-1, low)], here))), here
    )
    within = Compare((Call("floor", (scaled,), here, here), Name(index, here)), ("==",), here)
    last = Compare((Name(index, here), total([(1, bins), (-1, Number(1, here))], here)), ("==",), here)
    end = Logic("and", (last, Compare((value, high), ("==",), here)), here)
    binders = tuple(Dots(here) if i == "..." else Binder(i, None, here) for i in own)
    return Reduction("count", binders, Logic("or", (within, end), here), here, here), (index,), {index: bins}


def _spare(words: Vocabulary, taken: Sequence[str]) -> str:
    return next(c for c in SPARE if c not in taken and not words.knows(c))


def counted_by(words: Vocabulary, args: Sequence[Expr]) -> tuple[Name, Expr, Name] | None:
    """The index of a dim that `arange(N)` counts, what it counts, `n + 1` of `arange(1, N + 1)`, and the dim."""
    first = args[0] if len(args) > 1 else None
    size = total([(1, args[-1]), *([(-1, first)] if first is not None else [])], args[-1].span) if args else None
    if not isinstance(size, Name) or not size.name[:1].isupper() or words.knows(size.name.lower()) or len(args) > 2:
        return None
    index = Name(words.instead.get(size.name.lower(), size.name.lower()), size.span)
    return index, index if first is None else total([(1, index), (1, first)], size.span), size
