"""The reduction of several values, `logaddexp(a, b)` for `logsumexp`: the name and the values in, their formula out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from opgen.lang.conversions import is_condition
from opgen.lang.nodes import Call, Compare, Expr, Logic, Number, Power, Product, Sum

OF_TWO = {"softmax": "sigmoid", "log_softmax": "logsigmoid"}  # of their difference


def of(name: str, values: Sequence[Expr]) -> Expr | None:
    """The reduction of several values; None where it has no formula."""
    at = values[0].span.to(values[-1].span)
    total = Sum(tuple(("+", v) for v in values), at)
    two = len(values) == 2
    match name:
        case "sum":
            return total
        case "mean":
            return Product((("*", total), ("/", Number(len(values), at))), at)
        case "prod":
            return Product(tuple(("*", v) for v in values), at)
        case "logsumexp":
            return reduce(lambda a, b: Call("logaddexp", (a, b), at, at), values)
        case "max" | "min":
            return Call(name, tuple(values), at, at)
        case "norm" if two:
            return Call("hypot", tuple(values), at, at)
        case "norm":
            return Call("sqrt", (Sum(tuple(("+", Power(v, Number(2, at), at)) for v in values), at),), at, at)
        case "any" | "all" if all(map(is_condition, values)):
            return Logic("or" if name == "any" else "and", tuple(values), at)
        case "count" if all(map(is_condition, values)):
            return total
        case "softmax" | "log_softmax" if two:
            return Call(OF_TWO[name], (Sum((("+", values[0]), ("-", values[1])), at),), at, at)
        case "median" if two:
            return Call("min", tuple(values), at, at)
        case "argmax" | "argmin" if two:
            chosen = Compare((values[1], values[0]), (">" if name == "argmax" else "<",), at)
            return Call("where", (chosen, Number(1, at), Number(0, at)), at, at)
        case _:
            return None
