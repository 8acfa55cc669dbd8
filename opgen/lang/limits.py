"""Limits in the brackets of a reduction, `sum[j <= i](x[j])`, as the conditions that they are."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang.layout import CONSTANTS
from opgen.lang.nodes import Access, Binder, Call, Compare, Dots, Expr, Logic, Name, Number, Product, Reduction, Unary
from opgen.lang.slices import is_open
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

_EMPTY: Mapping[str, Callable[[Span], Expr]] = MappingProxyType({  # what adds nothing to a reduction
    "sum": lambda at: Number(0, at),
    "prod": lambda at: Number(1, at),
    "max": lambda at: Unary("-", Name("inf", at), at),
    "min": lambda at: Name("inf", at),
    **dict.fromkeys(("logsumexp", "softmax", "log_softmax"), lambda at: Unary("-", Name("inf", at), at)),
    "any": lambda at: Name("false", at),
    "all": lambda at: Name("true", at),
    "count": lambda at: Name("false", at),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limited:
    """A reduction whose brackets hold a condition, as it is written here."""

    condition: Compare
    reduction: Expr
    clear: bool  # nothing in it is left unbound


def under_limit(
    words: Vocabulary, name: str, items: Sequence[Expr | Dots], body: Expr, bound: Sequence[str], span: Span
) -> Limited | None:
    """The reduction over the places that meet the one item that is a condition; None where that is not so.

    `bound` are the indices of the target and of the reductions around it: `i < n` states an extent, unless it reads
    one of them. Indices of the condition that the body reads and nothing binds are bound beside its own.
    """
    limited = [i for i in items if isinstance(i, Compare)]
    plain = all(isinstance(i, Compare | Dots | Name) for i in items)
    match limited:
        case [Compare(operands=(Name(), limit), ops=(sign,)) as item] if plain and (name in _EMPTY or name == "mean"):
            names = dict.fromkeys(
                o.name if isinstance(o, Name) else "..."
                for o in (i.operands[0] if isinstance(i, Compare) else i for i in items)
            )
            loose = [i for i in _indices(words, body) if i not in names and i not in bound and _reads(limit, (i,))]
            moves = bool(loose) or _reads(limit, {*bound} - {*words.names})
            if sign not in ("<=", "!=", ">", ">=") and not (sign == "<" and moves):
                return None
            over = tuple(Dots(span) if i == "..." else Binder(i, None, span) for i in (*names, *loose))
            nothing = _EMPTY["sum" if name == "mean" else name](span)
            chosen = Call("where", (item, body, nothing), span, span)
            made: Expr = Reduction("sum" if name == "mean" else name, over, chosen, span, span)
            if name == "mean":
                counted = tuple(b if isinstance(b, Dots) else replace(b, extent=_size(words, b, body)) for b in over)
                made = Product((("*", made), ("/", Reduction("count", counted, item, span, span))), span)
            known = {*bound, *names, *loose, *CONSTANTS}
            clear = not is_open(words, made, frozenset(bound)) and all(
                n.name in known or words.knows(n.name) or n.name in words.letters
                for n in nodes(limit)
                if isinstance(n, Name)
            )
            return Limited(item, made, clear)
        case _:
            return None


def _indices(words: Vocabulary, body: Expr) -> dict[str, None]:
    """What stands alone as a position in the body and is the name of nothing."""
    items = (i for a in nodes(body) if isinstance(a, Access) for i in a.items)
    return dict.fromkeys(
        i.name for i in items if isinstance(i, Name) and not words.knows(i.name) and i.name not in words.letters
    )


def _reads(e: Expr, names: Container[str]) -> bool:
    return any(isinstance(n, Name) and n.name in names for n in nodes(e))


def over_picked(name: str, binders: Sequence[Binder | Dots | None], body: Expr, by: Sequence[Expr]) -> Expr | None:
    """`mean[v if c](x)`, the reduction over the places that meet a condition; a mean of none of them is 0."""
    over = tuple(b for b in binders if b is not None)
    if len(over) < len(binders) or len(by) > 1 or (name not in _EMPTY and name != "mean"):
        return None
    condition, span = by[0], by[0].span
    nothing = _EMPTY["sum" if name == "mean" else name](span)
    chosen = Call("where", (condition, body, nothing), span, span)
    if name in ("any", "all", "count"):
        both = Logic("and", (condition, body), span)
        return Reduction(name, over, both if name != "all" else chosen, span, span)
    if name != "mean":
        return Reduction(name, over, chosen, span, span)
    count = Call("max", (Reduction("count", over, condition, span, span), Number(1, span)), span, span)
    return Product((("*", Reduction("sum", over, chosen, span, span)), ("/", count)), span)


def bounded(
    words: Vocabulary, limits: Mapping[str, str], item: Binder | Dots | Expr, value: Expr
) -> Binder | Dots | Expr:
    """An index of the target that only limits another one, with the extent of that one, which `limits` names."""
    if not isinstance(item, Binder) or item.extent is not None or item.name not in limits:
        return item
    alone = {i.name for a in nodes(value) if isinstance(a, Access) for i in a.items if isinstance(i, Name)}
    return (
        item if item.name in alone else replace(item, extent=_size(words, replace(item, name=limits[item.name]), value))
    )


def _size(words: Vocabulary, index: Binder, e: Expr) -> Name | None:
    """The dim that an index goes over in what an expression reads; None where that is not known."""
    for a in nodes(e):
        shape = words.shapes.get(a.name, ()) if isinstance(a, Access) else ()
        if isinstance(a, Access) and len(shape) == len(a.items):
            for size, i in zip(shape, a.items, strict=True):
                if isinstance(i, Name) and i.name == index.name:
                    return Name(size, index.span)
    return None
