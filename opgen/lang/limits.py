"""Limits in the brackets of a reduction, `sum[j <= i](x[j])`, as the conditions that they are."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Access, Binder, Call, Compare, Dots, Expr, Logic, Name, Number, Product, Reduction, Unary
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


def under_limit(
    name: str, items: Sequence[Expr | Dots], body: Expr, others: Container[str], span: Span
) -> tuple[Compare, Expr] | None:
    """The one item that is a condition, and the reduction over the places that meet it; None where that is not so.

    `i < n` states an extent, unless it reads one of the `others`: indices of the target.
    """
    limited = [i for i in items if isinstance(i, Compare)]
    plain = all(isinstance(i, Compare | Dots | Name) for i in items)
    match limited:
        case [Compare(operands=(Name(), limit), ops=(sign,)) as item] if plain and (name in _EMPTY or name == "mean"):
            moves = any(isinstance(n, Name) and n.name in others for n in nodes(limit))
            if sign not in ("<=", "!=", ">", ">=") and not (sign == "<" and moves):
                return None
            names = [i.operands[0] if isinstance(i, Compare) else i for i in items]
            over = tuple(Binder(i.name, None, span) if isinstance(i, Name) else Dots(span) for i in names)
            nothing = _EMPTY["sum" if name == "mean" else name](span)
            chosen = Call("where", (item, body, nothing), span, span)
            if name != "mean":
                return item, Reduction(name, over, chosen, span, span)
            total = Reduction("sum", over, chosen, span, span)
            return item, Product((("*", total), ("/", Reduction("count", over, item, span, span))), span)
        case _:
            return None


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
    places = [(a, i.name, k) for a in nodes(value) if isinstance(a, Access) for k, i in enumerate(a.items)
              if isinstance(i, Name)]  # fmt: skip
    if any(name == item.name for _, name, _ in places):
        return item
    over = limits[item.name]
    sizes = [words.shapes[a.name][k] for a, name, k in places if name == over and a.name in words.shapes]
    return replace(item, extent=Name(sizes[0], item.span)) if sizes else item
