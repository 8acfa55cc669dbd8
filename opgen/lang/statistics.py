"""Statistics of vectors as formulas, with the names that a call has: integrals over points, ranks, weighted means.

A call in; out the text of its formula, which is read once more as if it had been written there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.lang.habits import AXES
from opgen.lang.limits import size_of
from opgen.lang.nodes import Access, Binder, Expr, Name, Product, Reduction, Sum
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer

WEIGHTED = ("average", "weighted_mean", "weighted_average", "wmean", "mean")
TOGETHER = "what two vectors have in common is a mean of products, which divides by the count of elements"
_CORRELATIONS = ("cor", "corr", "corrcoef", "correlation", "pearson", "pearsonr")
_COVARIANCES = ("cov", "covar", "covariance")
OF_TWO = (*_CORRELATIONS, *_COVARIANCES)
_WEIGHTS = ("weights", "w", "weight")


def statistic(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]
) -> str | None:
    """The formula of a call; None of other functions, and where an argument is no vector."""
    given = [*args, *(v for k, v in named.items() if k in (*_WEIGHTS, "x") and not isinstance(v, tuple))]
    read = [r for r in (_read(words, e) for e in given) if r is not None]
    if not read or len(read) != len(given) or len(given) != len(args) + len(named):
        return _weighted_along(words, name, args, named)
    index = read[0][1]
    size = size_of(words, index, Access(read[0][0], (Name(index, args[0].span),), args[0].span, args[0].span))
    if size is None or any(i != index for _, i in read) or index in words.left or index in words.bound:
        return None
    own = [name for name, _ in read]
    match name, own:
        case "trapz" | "trapezoid", [y]:
            return f"sum[{index} < {size.name} - 1](({y}[{index}] + {y}[{index} + 1])/2)"
        case "trapz" | "trapezoid", [y, x]:
            mean = f"({y}[{index}] + {y}[{index} + 1])/2"
            return f"sum[{index} < {size.name} - 1]({mean}*({x}[{index} + 1] - {x}[{index}]))"
        case _, [x, w] if name in WEIGHTED and (named or name not in ("average", "mean")):
            return f"sum[{index}]({w}[{index}]*{x}[{index}])/sum[{index}]({w}[{index}])"
        case _:
            return None


def _weighted_along(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]
) -> str | None:
    """The mean of a tensor of any axes by weights of the same ones, or of the last one; over all without an axis."""
    axes = [*args[1:], *(v for k, v in named.items() if k in AXES)]
    of, by = (args[0] if args else None), next((named[k] for k in _WEIGHTS if k in named), None)
    if name not in WEIGHTED or len(axes) > 1 or len(args) + len(named) > 2 + len(axes):
        return None
    match of, by, axes:
        case Name(name=x), Name(name=w), []:
            return f"sum({w}*{x})/sum({w})" if words.shapes.get(x) == words.shapes.get(w) else None
        case Name(name=x), Name(name=w), [axis] if not isinstance(axis, tuple):
            whole, own = words.shapes.get(x, ()), words.shapes.get(w, ())
            last = integer(axis) in (-1, len(whole) - 1) and len(own) == 1 and own == whole[-1:]
            if whole == own:
                return f"sum({w}*{x}, {unparse(axis)})/sum({w}, {unparse(axis)})"
            return f"sum({w}*{x}, -1)/sum({w})" if last else None
        case _:
            return None


def rank(words: Vocabulary, name: str, args: Sequence[Expr]) -> str | None:
    """The formula of the rank of an element, which equal values share; None of other functions."""
    read = _read(words, args[0]) if name in ("rank", "rankdata") and len(args) == 1 else None
    if read is None:
        return None
    x, i = read
    j = next(c for c in SPARE if c != i and not words.knows(c) and c not in (*words.left, *words.bound))
    return f"(count[{j}]({x}[{j}] < {x}[{i}]) + count[{j}]({x}[{j}] <= {x}[{i}]) + 1)/2"


def weighted(e: Reduction, left: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]) -> Expr | None:
    """`average[n](x[n], weights=w[n])`, by what stands beside the body; None of other reductions."""
    by = [*named.values(), *(left if e.name not in ("average", "mean") else ())]
    plain = e.name in WEIGHTED and all(isinstance(b, Binder) for b in e.binders) and {*named} <= {*_WEIGHTS}
    if not plain or len(by) != 1 or len(left) + len(named) != 1 or isinstance(by[0], tuple):
        return None
    top = Reduction("sum", e.binders, Product((("*", by[0]), ("*", e.body)), e.span), e.span, e.span)
    return Product((("*", top), ("/", Reduction("sum", e.binders, by[0], e.span, e.span))), e.span)


def together(e: Reduction, left: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]) -> Expr | None:
    """`cor[n](x[n], y[n])` and `cov[n](x[n], y[n])`, of what stands beside the body; None of other reductions."""
    if e.name.lower() not in OF_TWO or len(left) != 1 or named:
        return None

    def over(name: str, body: Expr) -> Expr:
        return Reduction(name, e.binders, body, e.span, e.span)

    away = [Sum((("+", of), ("-", over("mean", of))), e.span) for of in (e.body, left[0])]
    product = Product(tuple(("*", a) for a in away), e.span)
    if e.name.lower() in _COVARIANCES:
        return over("mean", product)
    lengths = Product(tuple(("*", over("norm", a)) for a in away), e.span)
    return Product((("*", over("sum", product)), ("/", lengths)), e.span)


def _read(words: Vocabulary, e: Expr) -> tuple[str, str] | None:
    """The name and the index of a vector that is read at one, or as a whole."""
    match e:
        case Access(name=name, items=(Name(name=index),)):
            return name, index
        case Name(name=name) if len(words.letters.get(name, ())) == 1 and words.letters[name] != ("...",):
            return name, words.letters[name][0]
        case _:
            return None
