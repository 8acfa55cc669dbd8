"""Reductions of other libraries that leave out what is `nan`: `nanmean[t](x[t])` as a quotient of a sum and a count.

A reduction under the name without `nan` in, its formula out.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.limits import NOTHING
from opgen.lang.nodes import Call, Expr, Number, Power, Product, Reduction, Sum, Unary

_PREFIX = "nan"
_PLAIN = {"sum": "sum", "prod": "prod", "max": "max", "min": "min", "argmax": "max", "argmin": "min",
          "cumsum": "sum", "cumprod": "prod"}  # fmt: skip
_AVERAGES = ("mean", "var", "std")
NAMES = tuple(f"{_PREFIX}{name}" for name in (*_PLAIN, *_AVERAGES))


def over_all(name: str) -> str:
    """The reduction of all values under the name of one that leaves some out, as another function has it for `std`."""
    plain = name.lower().removeprefix(_PREFIX)
    return "var" if plain == "std" else plain


def without_nan(name: str, e: Reduction) -> Expr:
    """What `name` makes of the body of a reduction, and of its indices."""
    plain = name.lower().removeprefix(_PREFIX)
    if plain in _PLAIN:
        return replace(e, name=plain, body=_chosen(e.body, NOTHING[_PLAIN[plain]](e.span)))
    count = replace(e, name="count", body=Unary("not", _is_nan(e.body), e.span))
    mean = _quotient(replace(e, name="sum", body=_chosen(e.body, Number(0, e.span))), count)
    if plain == "mean":
        return mean
    away = Power(Sum((("+", e.body), ("-", mean)), e.span), Number(2, e.span), e.span)
    squares = Call("where", (_is_nan(e.body), Number(0, e.span), away), e.span, e.span)
    var = _quotient(replace(e, name="sum", body=squares), count)
    return Call("sqrt", (var,), e.span, e.span) if plain == "std" else var


def _is_nan(e: Expr) -> Expr:
    return Call("isnan", (e,), e.span, e.span)


def _chosen(body: Expr, nothing: Expr) -> Expr:
    return Call("where", (_is_nan(body), nothing, body), body.span, body.span)


def _quotient(a: Expr, b: Expr) -> Expr:
    return Product((("*", a), ("/", b)), a.span)
