"""Functions of other libraries as their own notation says them, with the arguments of a call in place of the names.

Names and arguments in, a formula out that is read once more as if it had been written there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from opgen.lang.formulas import declared
from opgen.lang.nodes import Access, Call, Expr, Name, Number, Reduction, Text
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class _Row:
    """The arguments in order, those that may be left out with their value, and the formula of them."""

    arguments: str
    formula: str
    is_loss: bool = False  # whose mean is taken, unless `reduction` says otherwise


_HUBER = "where(abs(x - t) < delta, 0.5*(x - t)**2, delta*(abs(x - t) - 0.5*delta))"
_LOGITS = _Row("x, t", "softplus(x) - x*t", is_loss=True)
_LEAKY = "where(x > 0, x, negative_slope*x)"
_ROWS: Mapping[str, _Row] = MappingProxyType({
    **dict.fromkeys(("mse_loss", "mse"), _Row("x, t", "(x - t)**2", is_loss=True)),
    "l1_loss": _Row("x, t", "abs(x - t)", is_loss=True),
    **dict.fromkeys(("huber_loss", "huber"), _Row("x, t, delta=1", _HUBER, is_loss=True)),
    **dict.fromkeys(("binary_cross_entropy_with_logits", "bce_with_logits"), _LOGITS),
    **dict.fromkeys(("binary_cross_entropy", "bce", "bce_loss"),
                    _Row("p, t", "-(xlogy(t, p) + xlogy(1 - t, 1 - p))", is_loss=True)),
    **dict.fromkeys(("layer_norm", "layernorm"),
                    _Row("x, shape=0, weight=1, bias=0, eps=1e-5", "(x - mean(x, -1))*rsqrt(var(x, -1) + eps)")),
    **dict.fromkeys(("rms_norm", "rmsnorm"),
                    _Row("x, shape=0, weight=1, eps=1e-6", "x*rsqrt(mean(x**2, -1) + eps)")),
    "normalize": _Row("x, p=2, dim=-1, eps=1e-12", "x/max(norm(x, dim), eps)"),
    **dict.fromkeys(("cosine_similarity", "cos_sim", "cosine_sim"),
                    _Row("x, y, dim=-1, eps=1e-8", "sum(x*y, dim)/max(norm(x, dim)*norm(y, dim), eps)")),
    "pairwise_distance": _Row("x, y", "norm(x - y, -1)"),
    "linear": _Row("x, w, bias=0", "x @ w.T"),
    "embedding": _Row("ids, table", "table[ids]"),
    "cross_entropy": _Row("x, t", "-mean(log_softmax(x, -1)[t])"),
    **dict.fromkeys(("scaled_dot_product_attention", "sdpa"),
                    _Row("q, k, v", "softmax(q @ k.mT / sqrt(k.shape[-1]), -1) @ v")),
    "softmin": _Row("x, dim=-1", "softmax(-x, dim)"),
    "gelu": _Row("x, approximate", "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))"),
    "leaky_relu": _Row("x, negative_slope=0.01", _LEAKY),
    "elu": _Row("x, alpha=1", "where(x > 0, x, alpha*expm1(x))"),
    "softplus": _Row("x, beta=1", "softplus(beta*x)/beta"),
})  # fmt: skip
_AFFINE = (("weight", "1", "({})*{}"), ("bias", "0", "{} + {}"))  # of norms, where they are given
_ATOMS = (Name, Number, Access, Call, Reduction)


def takes_shape(name: str) -> bool:
    """Whether the second argument is the shape of what is normalised."""
    row = _ROWS.get(name)
    return row is not None and ", shape" in row.arguments


def formula(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]], *, each: bool
) -> str | None:
    """The formula of a call; None where an argument has no place in it. `each`: of an element, for a loss."""
    row = _ROWS.get(name)
    if row is None or (not named and declared(name, len(args)) is not None):
        return None
    if row.arguments.startswith("x, y") and not _side_by_side(words, args):
        return None
    wanted = [part.strip().partition("=") for part in row.arguments.split(",")]
    values = {key: default for key, _, default in wanted}
    rest = dict(named)
    reduction = rest.pop("reduction", None) if row.is_loss else None
    given = [*zip([key for key, _, _ in wanted], args, strict=False), *rest.items()]
    if len(args) > len(wanted) or not {key for key, _ in given} <= {*values}:
        return None
    if any(isinstance(v, tuple) and key != "shape" for key, v in given):
        return None
    values |= {key: _written(v) for key, v in given if not isinstance(v, tuple)}
    if "" in values.values() or (values.get("p", "2") != "2" and "dim" in values):
        return None
    text = re.sub(r"\b[a-z_]\w*\b", lambda word: values.get(word[0], word[0]), row.formula)
    for key, neutral, more in _AFFINE:
        if values.get(key, neutral) not in (neutral, "None"):
            text = more.format(text, values[key])
    return _reduced(text, reduction) if row.is_loss and not each else text


def _side_by_side(words: Vocabulary, args: Sequence[Expr]) -> bool:
    """Whether the axes of all tensors are the last ones of that with the most."""
    own = sorted((words.letters.get(a.name, ()) for a in args if isinstance(a, Name)), key=len)
    return all(letters == own[-1][len(own[-1]) - len(letters) :] for letters in own)


def _is_other(values: Mapping[str, str]) -> bool:
    """Whether the formula is that of another value of `approximate`."""
    return values.get("approximate", "'tanh'").strip("'\"") != "tanh"


def _reduced(text: str, reduction: Expr | tuple[Expr, ...] | None) -> str | None:
    match reduction:
        case None:
            return f"mean({text})"
        case Text(value="mean" | "sum" as how):
            return f"{how}({text})"
        case Text(value="none"):
            return text
        case _:
            return None


def _written(e: Expr) -> str:
    text = unparse(e)
    return text if isinstance(e, _ATOMS) else f"({text})"
