"""Limits in the brackets of a reduction, `sum[j <= i](x[j])`, as the conditions that they are."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Binder, Call, Compare, Dots, Expr, Name, Number, Product, Reduction, Unary
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


def under_limit(name: str, item: Expr | Dots | None, body: Expr, others: Container[str], span: Span) -> Expr | None:
    """A reduction over the places that meet a condition; None where `item` is none, or no such reduction is known.

    `i < n` states an extent, unless it reads one of the `others`: indices of the target.
    """
    match item:
        case Compare(operands=(Name(name=index), limit), ops=(sign,)) if name in _EMPTY or name == "mean":
            moves = any(isinstance(n, Name) and n.name in others for n in nodes(limit))
            if sign not in ("<=", "!=", ">", ">=") and not (sign == "<" and moves):
                return None
            over = (Binder(index, None, span),)
            nothing = _EMPTY["sum" if name == "mean" else name](span)
            chosen = Call("where", (item, body, nothing), span, span)
            if name != "mean":
                return Reduction(name, over, chosen, span, span)
            total = Reduction("sum", over, chosen, span, span)
            return Product((("*", total), ("/", Reduction("count", over, item, span, span))), span)
        case _:
            return None
