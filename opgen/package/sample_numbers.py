"""Numbers that expressions of sizes, params and literals have in a sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from opgen.ir.declared import StatedCase
from opgen.ir.interp_functions import SCALARS
from opgen.ir.operator import Operator
from opgen.ir.program import Argument, DimSource, Kind
from opgen.ir.scalar import Apply, Const, Dim, Lit, Param, Scalar, walk


def default_value(a: Argument) -> object:
    """A param's default as a Python value; None where it has none."""
    match a.default:
        case Fraction():
            return float(a.default)
        case tuple():
            return [float(v) if isinstance(v, Fraction) else v for v in a.default]
        case Const("inf" | "nan" as name):
            return float(name)
        case Apply("neg", (Const("inf"),)):
            return -math.inf
        case _:
            return a.default


def check_sizes(
    dims: Sequence[DimSource],
    operator: Operator,
    stated: Mapping[str, int],
    known: Callable[[Scalar], float],
) -> None:
    """Raise where a derived dim is negative or not as it is stated, or a dim is no multiple of what it has to be."""
    for d in dims:
        size = 0 if d.value is None else int(known(d.value))
        if size < 0:
            raise ValueError(f"`{d.name}` is {size}")
        if d.value is not None and stated.get(d.name, size) != size:
            raise ValueError(f"`{d.name}` is stated as {stated[d.name]}, and computed it is {size}")
    there = {d.name for d in dims}
    for m in operator.multiples:
        needed = [Dim(m.dim), *(n for n in walk(m.by) if isinstance(n, Dim))]
        if there.issuperset(n.name for n in needed) and known(Dim(m.dim)) % known(m.by):
            raise ValueError(
                f"`{m.text}` must be a multiple of {int(known(m.by))}, and `{m.dim}` is {int(known(Dim(m.dim)))}"
            )


def check_domains(operator: Operator, case: StatedCase, known: Callable[[Scalar, Mapping[str, object]], float]) -> None:
    """Raise where a case states something that a call refuses: params and integers of inputs outside their domains."""
    kinds = {t.name: t.kind for t in operator.inputs}
    given: dict[str, Sequence[object]] = {n: v if isinstance(v, list) else [v] for n, v in case.params if v is not None}
    given |= {n: v.flat for n, v in case.inputs if v is not None and kinds.get(n) is Kind.INT}
    for d in operator.domains:
        for value in given.get(d.name, ()):
            if not known(d.holds, {d.name: value}):
                raise ValueError(f"`{d.text}` must hold, and `{operator.shown(d.name)}` is {value}")


def number(
    e: Scalar,
    values: Mapping[str, object],
    sizes: Mapping[str, int],
    dims: Sequence[DimSource],
    params: Sequence[Argument],
) -> float:
    """The value of an expression of literals, `sizes`, derived dims, and params with these values or their defaults."""

    def known(part: Scalar) -> float:
        return number(part, values, sizes, dims, params)

    match e:
        case Lit(value):
            return float(value)
        case Const(name):
            return {"pi": math.pi, "inf": math.inf, "nan": math.nan}[name]
        case Dim(name) | Param(name) if name in sizes:
            return float(sizes[name])
        case Dim(name) | Param(name) if any(d.name == name for d in dims):
            derived = next(d.value for d in dims if d.name == name)
            assert derived is not None
            return known(derived)
        case Param(name, item):
            held = values[name] if name in values else next(default_value(a) for a in params if a.name == name)
            chosen = held[item] if item is not None and isinstance(held, Sequence) else held
            return float(chosen) if isinstance(chosen, int | float) else 1.0
        case Apply("and", args):
            return float(all(known(a) for a in args))
        case Apply("or", args):
            return float(any(known(a) for a in args))
        case Apply(fn, args):
            whole = [known(a) for a in args]
            return float(SCALARS[fn](*(int(v) if v.is_integer() else v for v in whole)))
    raise ValueError(f"no number for {e}")
