"""Norms that other libraries take over all axes but that of the channels, or within groups of channels.

Nodes in, nodes out; None where a shape or an argument is not known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from opgen.lang.formulas import NORMS
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Binder, Call, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.products import reindexed
from opgen.lang.spread import Named, Spread, at, size_at
from opgen.lang.vocabulary import SPARE, Vocabulary

_IMAGE = 2  # axes in front of those of an image


def normed(words: Vocabulary, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """What a call of such a norm means."""
    wanted, over_samples = NORMS.get(name, (None, False))
    given = {**dict(zip(wanted or (), args[1:], strict=False)), **named}
    if wanted is None or not args or len(args) > len(wanted) + 1 or not {*given} <= {*wanted}:
        return None
    whole = spelled(words, args[0])
    order = layout(words, whole)
    if len(order) < _IMAGE or "..." in order or not isinstance(whole, Access):
        return None
    stated = [given.get(key) for key in ("running_mean", "running_var")]
    if any(e is not None and not _is_none(e) for e in stated) and not _is_true(given.get("training")):
        return _kept(words, whole, order, given)
    if "num_groups" in wanted:
        groups = given.get("num_groups")
        return None if groups is None or isinstance(groups, tuple) else _grouped(words, whole, order, groups, given)
    over = [i for k, i in enumerate(order) if k != 1 and (k > 0 or over_samples)]
    return _scaled(words, whole, whole, over, order, given) if over else None


def _is_none(e: Expr | tuple[Expr, ...]) -> bool:
    return isinstance(e, Name) and e.name == "None"


def _is_true(e: Expr | tuple[Expr, ...] | None) -> bool:
    return isinstance(e, Name) and e.name.lower() == "true"


def _kept(words: Vocabulary, whole: Expr, order: Sequence[str], given: Named) -> Spread | None:
    """With a mean and a variance that are given."""
    mean, var = (_channels(words, given.get(key), order[1]) for key in ("running_mean", "running_var"))
    return None if mean is None or var is None else _made(words, whole, mean, var, order, given)


def _scaled(
    words: Vocabulary, whole: Expr, read: Expr, over: Sequence[str], order: Sequence[str], given: Named,
    extents: Mapping[str, Expr] | None = None,
) -> Spread | None:  # fmt: skip
    here = whole.span
    binders = tuple(Binder(i, (extents or {}).get(i), here) for i in over)
    mean, var = (Reduction(f, binders, read, here, here) for f in ("mean", "var"))
    return _made(words, whole, mean, var, order, given)


def _made(
    words: Vocabulary, whole: Expr, mean: Expr, var: Expr, order: Sequence[str], given: Named
) -> Spread | None:  # fmt: skip
    here, eps = whole.span, given.get("eps", Number(Fraction(1, 100_000), whole.span))
    if isinstance(eps, tuple):
        return None
    root = Call("rsqrt", (Sum((("+", var), ("+", eps)), here),), here, here)
    made: Expr = Product((("*", Sum((("+", whole), ("-", mean)), here)), ("*", root)), here)
    for key, add in (("weight", False), ("bias", True)):
        e = given.get(key)
        if e is None or _is_none(e):
            continue
        own = _channels(words, e, order[1])
        if own is None:
            return None
        made = Sum((("+", made), ("+", own)), here) if add else Product((("*", made), ("*", own)), here)
    return Spread(made, tuple(order))


def _channels(words: Vocabulary, e: Expr | tuple[Expr, ...] | None, channel: str) -> Expr | None:
    """A tensor of one value for each channel, read at the index of these."""
    if e is None or isinstance(e, tuple):
        return None
    whole = spelled(words, e)
    own = layout(words, whole)
    return reindexed(whole, {own[0]: channel}) if len(own) == 1 else None


def _grouped(
    words: Vocabulary, whole: Access, order: Sequence[str], groups: Expr, given: Named
) -> Spread | None:  # fmt: skip
    here, size = whole.span, size_at(words, whole, order[1])
    if size is None:
        return None
    each = next(c for c in SPARE if c not in order and not words.knows(c) and c not in words.letters)
    share = Product((("*", size), ("//", groups)), here)
    first = Product((("*", Name(order[1], here)), ("//", share), ("*", share)), here)
    read = at(whole, order[1], Sum((("+", first), ("+", Name(each, here))), here))
    return _scaled(words, whole, read, [each, *order[_IMAGE:]], order, given, {each: share})
