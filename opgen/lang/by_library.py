"""What functions of one name compute in torch and in NumPy: variances by N - 1 or by N, medians by one element or two.

A call in, the same out with what its library means by itself said; and a variance that divides by less than the count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Access, Binder, Call, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

Named = Mapping[str, Expr | tuple[Expr, ...]]

CORRECTIONS = ("unbiased", "correction", "ddof")
_NUMPY = ("np", "numpy", "jnp", "jax.numpy", "cp", "cupy", "xp")
_DEVIATIONS = ("var", "std")
TRUTH = ("True", "False", "true", "false")
_NAME = re.compile(r"(?P<of>[\w.]*?)\s*(?P<dot>\.?)\s*\w+$")  # of a function, with what stands before it


def said(name: str, args: tuple[Expr, ...], named: Named, at: Span) -> tuple[str, tuple[Expr, ...], Named]:
    """A call with what its library means by itself; `at` ends with the name."""
    before = _NAME.search(at.source.text[: at.end])
    library = before["of"] if before is not None else ""
    if name == "median" and library in _NUMPY and args:
        return "quantile", (args[0], Number(Fraction(1, 2), at), *args[1:]), named
    if name == "gradient" and (library in (*_NUMPY, "torch") or {*named} & {"axis", "spacing"}):  # and no derivative
        return "slopes", args, named
    if name not in _DEVIATIONS or before is None:
        return name, args, named
    flags = [a for a in args[1:] if isinstance(a, Name) and a.name in TRUTH]
    rest = (*args[:1], *(a for a in args[1:] if a not in flags))
    stated = [*(v for k, v in named.items() if k in CORRECTIONS), *flags]
    by_numpy = library in _NUMPY or ("axis" in named and library != "torch") or not (before["dot"] or rest[1:] or named)
    less = stated[0] if stated else Number(int(not by_numpy), at)
    return name, rest, {**{k: v for k, v in named.items() if k not in CORRECTIONS}, "correction": less}


def corrected(words: Vocabulary, e: Reduction, value: Expr | tuple[Expr, ...]) -> Expr | None:
    """A variance, or its root, by the count, or by less than it; None where nothing says how many there are."""
    if _by(value) == Number(0, e.span):
        return e
    factor = factor_of(words, e, value)
    if factor is None:
        return None
    whole = replace(factor, factors=(("*", replace(e, name="var")), *factor.factors))
    return Call("sqrt", (whole,), e.span, e.name_span) if e.name == "std" else whole


def factor_of(words: Vocabulary, e: Reduction, value: Expr | tuple[Expr, ...]) -> Product | None:
    """What a variance is multiplied by that divides by less than the count."""
    less = _by(value)
    sizes = [_size(words, e, b) if isinstance(b, Binder) else None for b in e.binders]
    known = [size for size in sizes if size is not None]
    if less is None or len(known) < len(sizes) or not known:
        return None
    factors = tuple(("*", size) for size in known)
    count = known[0] if len(known) == 1 else Product(factors, e.span)
    return Product((*factors, ("/", Sum((("+", count), ("-", less)), e.span))), e.span)


def _by(value: Expr | tuple[Expr, ...]) -> Expr | None:
    """By how much less than the count is divided."""
    match value:
        case Name(name=word, span=span) if word in TRUTH:
            return Number(int(word.title() == "True"), span)
        case tuple():
            return None
        case _:
            return value


def _size(words: Vocabulary, e: Reduction, index: Binder) -> Expr | None:
    """How far an index of a reduction runs."""
    if index.extent is not None:
        return index.extent
    for a in (n for n in nodes(e.body) if isinstance(n, Access)):
        for item, size in zip(a.items, words.shapes.get(a.name, ()), strict=False):
            if isinstance(item, Name) and item.name == index.name and size != "...":
                return Name(size, item.span)
    return None
