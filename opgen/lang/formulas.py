"""Functions of other libraries that a formula says here: written out with the arguments of a call, or as one's own.

Arguments stand for the names of a row in order; the formulas of a name differ by how many there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from opgen.lang import densities
from opgen.lang.nodes import Access, Expr, Name, Number, Product, Unary
from opgen.lang.unparse import unparse

Rows = tuple[tuple[str, str], ...]

_FORMULAS: Mapping[str, Rows] = MappingProxyType({
    **densities.FORMULAS,
    "gelu": (("x", "x*(1 + erf(x/sqrt(2)))/2"),),
    "relu6": (("x", "clamp(x, 0, 6)"),),
    "leaky_relu": (("x", "where(x > 0, x, 0.01*x)"), ("x, a", "where(x > 0, x, a*x)")),
    "elu": (("x", "where(x > 0, x, expm1(x))"), ("x, a", "where(x > 0, x, a*expm1(x))")),
    "celu": (("x", "where(x > 0, x, expm1(x))"), ("x, a", "where(x > 0, x, a*expm1(x/a))")),
    "selu": (("x", "1.0507009873554805*where(x > 0, x, 1.6732632423543772*expm1(x))"),),
    "prelu": (("x, a", "where(x > 0, x, a*x)"),),
    "mish": (("x", "x*tanh(softplus(x))"),),
    **dict.fromkeys(("hardsigmoid", "hard_sigmoid"), (("x", "clamp(x/6 + 1/2, 0, 1)"),)),
    **dict.fromkeys(("hardswish", "hard_swish"), (("x", "x*clamp(x/6 + 1/2, 0, 1)"),)),
    "hardtanh": (("x", "clamp(x, -1, 1)"), ("x, a, b", "clamp(x, a, b)")),
    "softsign": (("x", "x/(1 + abs(x))"),),
    "tanhshrink": (("x", "x - tanh(x)"),),
    "softshrink": (("x", "sign(x)*max(abs(x) - 0.5, 0)"), ("x, a", "sign(x)*max(abs(x) - a, 0)")),
    "hardshrink": (("x", "where(abs(x) > 0.5, x, 0)"), ("x, a", "where(abs(x) > a, x, 0)")),
    "smoothstep": (
        ("x", "square(clamp(x, 0, 1))*(3 - 2*clamp(x, 0, 1))"),
        ("a, b, x", "square(clamp((x - a)/(b - a), 0, 1))*(3 - 2*clamp((x - a)/(b - a), 0, 1))"),
    ),
    "levi_civita": (("a, b, c", "(a - b)*(b - c)*(c - a)/2"),),
    **dict.fromkeys(("kronecker", "kronecker_delta", "kdelta"), (("a, b", "where(a == b, 1, 0)"),)),
    "trigamma": (("x", "polygamma(1, x)"),),
    "i0": (("x", "exp(abs(x))*i0e(x)"),),
    "i1": (("x", "exp(abs(x))*i1e(x)"),),
    "factorial": (("n", "exp(lgamma(n + 1))"),),
    **dict.fromkeys(("lfactorial", "log_factorial", "logfactorial", "lnfact"), (("n", "lgamma(n + 1)"),)),
    **dict.fromkeys(("lchoose", "log_choose", "logchoose", "binomial_coefficient_log", "lbinom"),
                    (("n, k", "lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)"),)),
    "log1m": (("x", "log1p(-x)"),),
    "log1p_exp": (("x", "softplus(x)"),),
    "log1m_exp": (("x", "log(1 - exp(x))"),),
    "log1m_inv_logit": (("x", "-softplus(x)"),),
    **dict.fromkeys(("cloglog", "comploglog"), (("p", "log(-log1p(-p))"),)),
    **dict.fromkeys(("inv_cloglog", "invcloglog"), (("x", "-expm1(-exp(x))"),)),
    "inv_sqrt": (("x", "rsqrt(x)"),),
    "inv_square": (("x", "1/x**2"),),
    "beta": (("a, b", "exp(lgamma(a) + lgamma(b) - lgamma(a + b))"),),
    **dict.fromkeys(("betaln", "lbeta"), (("a, b", "lgamma(a) + lgamma(b) - lgamma(a + b)"),)),
    **dict.fromkeys(("ndtr", "norm_cdf", "normal_cdf", "normcdf", "Phi", "phi_cdf"), (("x", "erfc(-x/sqrt(2))/2"),)),
    **dict.fromkeys(("ndtri", "norm_ppf", "norminv", "inv_Phi", "probit"), (("p", "sqrt(2)*erfinv(2*p - 1)"),)),
    **dict.fromkeys(("norm_pdf", "normal_pdf", "normpdf"), (("x", "exp(-x**2/2)/sqrt(2*pi)"),)),
    **dict.fromkeys(("log_ndtr", "norm_logcdf", "normal_logcdf"), (("x", "log(erfc(-x/sqrt(2))/2)"),)),
    "logit": (("p", "log(p) - log1p(-p)"),),
    "log1mexp": (("x", "log(1 - exp(-x))"),),
    "log1pexp": (("x", "softplus(x)"),),
    **dict.fromkeys(("log_cosh", "logcosh", "lncosh"), (("x", "log(cosh(x))"),)),
    **dict.fromkeys(("logsubexp", "logdiffexp", "log_sub_exp", "log_diff_exp"), (("x, y", "x + log(1 - exp(y - x))"),)),
    "rel_entr": (("x, y", "xlogy(x, x) - xlogy(x, y)"),),
    **dict.fromkeys(("binom", "comb"), (("n, k", "exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1))"),)),
    "erfcinv": (("x", "erfinv(1 - x)"),),
    "xlog1py": (("x, y", "x*log1p(y)"),),
    "entr": (("x", "-xlogy(x, x)"),),
    "sec": (("x", "1/cos(x)"),),
    "csc": (("x", "1/sin(x)"),),
    "cot": (("x", "1/tan(x)"),),
    "sech": (("x", "1/cosh(x)"),),
    "csch": (("x", "1/sinh(x)"),),
    "coth": (("x", "1/tanh(x)"),),
    "exp10": (("x", "10**x"),),
    "nan_to_num": (("x", "where(isnan(x), 0, x)"),),
    "ptp": (("x", "max(x) - min(x)"),),
})  # fmt: skip

SECOND = "1"  # the axis of channels, of tensors that have one

# The same for functions of the language, with other arguments than they take.
_OTHERWISE: Mapping[str, Rows] = MappingProxyType({
    "where": (("c, a", "where(c, a, 0)"),),
    "log": (("x, e", "log(x + e)"), ("x, b", "log(x)/log(b)")),
    "softplus": (("x, b", "softplus(b*x)/b"), ("x, b, t", "softplus(b*x)/b")),
    "round": (("x, d", "round(x*10**d)/10**d"),),
    "relu": (("x, e", "where(x > 0, x, e*x)"), ("x, n", "clamp(x, 0, n)"), ("x, i", "relu(x)")),
    "silu": (("x, b", "x*sigmoid(b*x)"),),
    "sigmoid": (("x, b", "sigmoid(b*x)"),),
    "sqrt": (("x, n", "x**(1/n)"), ("x, e", "sqrt(x + e)"), ("x, c", "sqrt(x + c)")),
    "rsqrt": (("x, n", "x**(-1/n)"), ("x, e", "rsqrt(x + e)"), ("x, c", "rsqrt(x + c)")),
    "reciprocal": (("x, e", "reciprocal(x + e)"),),
    "hypot": (("x, y, z", "hypot(hypot(x, y), z)"),),
    "logaddexp": (("x, y, z", "logaddexp(logaddexp(x, y), z)"),),
    "atan": (("y, x", "atan2(y, x)"),),
    "atan2": (("y/x", "atan2(y, x)"),),
})  # fmt: skip


def otherwise(name: str, args: Sequence[Expr]) -> str | None:
    """What a call of a function means that has as many arguments as it does not take."""
    match args:
        case [Product(factors=(("*", above), ("/", below)))]:
            sign, args = "/", (above, below)
        case _:
            sign = ", "
    rows = (r for r in _OTHERWISE.get(name, ()) if ("/" in r[0]) == (sign == "/"))
    row = next((r for r in rows if _takes(r[0].split(sign), args)), None)
    if row is None:
        return None
    shown = (unparse(a) if isinstance(a, Name | Number | Access) else f"({unparse(a)})" for a in args)
    values = dict(zip(row[0].split(sign), shown, strict=True))
    text = re.sub(r"\b[a-z]\b", lambda word: values.get(word[0], word[0]), row[1])
    return re.sub(r"(?<=[(])[(]([^()]*)[)](?=[,)])", r"\1", text)


def _takes(names: Sequence[str], args: Sequence[Expr]) -> bool:
    """Whether arguments stand for these names: `e` is a small number, `n` a whole one above 1."""

    def is_one(name: str, e: Expr) -> bool:
        if name == "e":
            return (isinstance(e, Number) and e.value < 1) or (isinstance(e, Name) and e.name.startswith(_SMALL))
        return name != "n" or (isinstance(e, Number) and e.value > 1 and e.value == int(e.value))

    return len(names) == len(args) and all(map(is_one, names, args))


def plain(name: str) -> str:
    """The formula of a function of one argument, or of as few as it takes."""
    return _FORMULAS[name][0][1]


def written_out(name: str, args: Sequence[Expr]) -> str | None:
    """The formula with these arguments; None where there is none, or where an argument is long."""
    found = _of(name, len(args))
    if found is None or not all(isinstance(a, Name | Number | Access) or _is_negative(a) for a in args):
        return None
    values = dict(zip(found[0].split(", "), (unparse(a) for a in args), strict=True))
    return re.sub(r"\b[a-z]\b", lambda word: values.get(word[0], word[0]), found[1])


def _is_negative(e: Expr) -> bool:
    return isinstance(e, Unary) and isinstance(e.operand, Number)


def substituted(name: str, args: Sequence[Expr]) -> str | None:
    """The formula with any arguments, in brackets where they are long."""
    found = _of(name, len(args))
    if found is None:
        return None
    shown = (unparse(a) if isinstance(a, Name | Number | Access) else f"({unparse(a)})" for a in args)
    values = dict(zip(found[0].split(", "), shown, strict=True))
    return re.sub(r"\b[a-z]\b", lambda word: values.get(word[0], word[0]), found[1])


def logarithm(name: str, args: Sequence[Expr]) -> tuple[str, bool] | None:
    """The logarithm of a function whose formula begins with an exponential, and whether it is a sum."""
    found, line = _of(name, len(args)), _LOGARITHMS.get(name)
    if found is not None and name in densities.FORMULAS and (line is None or len(args) > 1):
        line = densities.logarithm(name, found[1])
    if found is None or line is None:
        return None
    values = dict(zip(found[0].split(", "), map(unparse, args), strict=True))
    return re.sub(r"\b[a-z]\b", lambda word: values.get(word[0], word[0]), line), line not in _ALONE


def declared(name: str, count: int) -> str | None:
    """The function as one of the spec's own."""
    found = _of(name, count)
    return None if found is None else f"{name}({found[0]}): {found[1]}"


_SMALL = ("eps", "tiny", "small")  # what small numbers are called

# Arguments stand alone in calls, or in sums, and need no brackets.
_ALONE = ("lgamma(n + 1)",)
_LOGARITHMS = {
    "i0": "abs(x) + log(i0e(x))",
    "i1": "abs(x) + log(i1e(x))",
    "factorial": _ALONE[0],
    "beta": "lgamma(a) + lgamma(b) - lgamma(a + b)",
    **dict.fromkeys(("binom", "comb"), "lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)"),
    **dict.fromkeys(("norm_pdf", "normal_pdf", "normpdf", "dnorm"), "-square(x)/2 - log(2*pi)/2"),
}


def _of(name: str, count: int) -> tuple[str, str] | None:
    return next((row for row in _FORMULAS.get(name, ()) if row[0].count(",") + 1 == count), None)


NAMES = tuple(_FORMULAS)


@dataclass(frozen=True, slots=True)
class Row:
    """What a call means: its arguments, those that may be left out with their value, and the formula of them."""

    arguments: str
    formula: str
    is_loss: bool = False  # whose mean is taken, unless `reduction` says otherwise
    of_value: str = ""  # the formula where the first argument is no tensor, if that is another one


_HUBER = "where(abs(x - t) < delta, 0.5*(x - t)**2, delta*(abs(x - t) - 0.5*delta))"
_SMOOTH = "where(abs(x - t) < beta, 0.5*(x - t)**2/beta, abs(x - t) - 0.5*beta)"
_LOGITS = Row("x, t", "softplus(x) - x*t", is_loss=True)
_LEAKY = "where(x > 0, x, negative_slope*x)"
CALLS: Mapping[str, Row] = MappingProxyType({
    **dict.fromkeys(("mse_loss", "mse"), Row("x, t", "(x - t)**2", is_loss=True)),
    **dict.fromkeys(("SUMPRODUCT", "sumproduct"), Row("a, b", "sum(a*b)")),
    "SUMSQ": Row("x", "sum(x**2)"),
    "l1_loss": Row("x, t", "abs(x - t)", is_loss=True),
    **dict.fromkeys(("huber_loss", "huber"), Row("x, t, delta=1", _HUBER, is_loss=True)),
    "smooth_l1_loss": Row("x, t, beta=1", _SMOOTH, is_loss=True),
    **dict.fromkeys(("binary_cross_entropy_with_logits", "bce_with_logits"), _LOGITS),
    **dict.fromkeys(("binary_cross_entropy", "bce", "bce_loss"),
                    Row("p, t", "-(xlogy(t, p) + xlogy(1 - t, 1 - p))", is_loss=True)),
    **dict.fromkeys(("layer_norm", "layernorm"),
                    Row("x, shape=0, weight=1, bias=0, eps=1e-5",
                        "(x - mean(x, -1))*rsqrt(var(x, -1, correction=0) + eps)")),
    **dict.fromkeys(("rms_norm", "rmsnorm"),
                    Row("x, shape=0, weight=1, eps=1e-6", "x*rsqrt(mean(x**2, -1) + eps)")),
    "normalize": Row(f"x, p=2, dim={SECOND}, eps=1e-12", "x/max(norm(x, p, dim), eps)"),
    **dict.fromkeys(("cosine_similarity", "cos_sim", "cosine_sim"),
                    Row(f"x, y, dim={SECOND}, eps=1e-8", "sum(x*y, dim)/max(l2norm(x, dim)*l2norm(y, dim), eps)")),
    "pairwise_distance": Row("x, y, dim=-1", "l2norm(x - y, dim)"),
    "dist": Row("x, y, p=2", "norm(x - y, p)"),
    "linear": Row("x, w, bias=0", "x @ w.T"),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), Row("c, a, b, beta=1, alpha=1", "beta*c + alpha*(a @ b)")),
    "addr": Row("c, a, b, beta=1, alpha=1", "beta*c + alpha*outer(a, b)"),
    "addcmul": Row("a, b, c, value=1", "a + value*b*c"),
    "addcdiv": Row("a, b, c, value=1", "a + value*b/c"),
    "add": Row("a, b, alpha=1", "a + alpha*b"),
    "sub": Row("a, b, alpha=1", "a - alpha*b"),
    "rsub": Row("a, b, alpha=1", "b - alpha*a"),
    "lerp": Row("a, b, weight", "lerp(a, b, weight)"),
    "clamp_min": Row("a, min", "max(a, min)"),
    "clamp_max": Row("a, max", "min(a, max)"),
    "nan_to_num": Row("a, nan=0", "where(isnan(a), nan, a)"),
    "ldexp": Row("a, b", "a*2**b"),
    "ptp": Row("x, axis", "amax(x, axis) - amin(x, axis)"),
    "embedding": Row("ids, table", "table[ids]"),
    "cross_entropy": Row("x, t", "-mean(log_softmax(x, -1)[t])"),
    **dict.fromkeys(("scaled_dot_product_attention", "sdpa"),
                    Row("q, k, v", "softmax(q @ k.mT / sqrt(k.shape[-1]), -1) @ v")),
    **dict.fromkeys(("nll_loss", "nll"), Row("x, t", "-gather(x, 1, t)", is_loss=True, of_value="-x[t]")),
    "kl_div": Row("logp, p", "xlogy(p, p) - p*logp", is_loss=True),
    "dropout": Row("x, p=0.5, training=True, inplace=False", "where(uniform(seed) >= p, x/(1 - p), 0)"),
    "gumbel_softmax": Row(
        "x, tau=1, hard=False, eps=0, dim=-1", "softmax((x - log(-log(max(uniform(seed), 1e-20))))/tau, dim)"
    ),
    "linspace": Row("a, b, n", "a + (b - a)*arange(n)/(n - 1)"),
    "softmin": Row("x, dim=-1", "softmax(-x, dim)"),
    "gelu": Row("x, approximate", "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))"),
    "leaky_relu": Row("x, negative_slope=0.01", _LEAKY),
    "elu": Row("x, alpha=1", "where(x > 0, x, alpha*expm1(x))"),
    "softplus": Row("x, beta=1, threshold=20", "softplus(beta*x)/beta"),
    **dict.fromkeys(("silu", "swish"), Row("x, beta=1, inplace=False", "x*sigmoid(beta*x)")),
    "sigmoid": Row("x, beta=1", "sigmoid(beta*x)"),
    "relu": Row("x, inplace=False", "relu(x)"),
    "round": Row("x, decimals=0", "round(x*10**decimals)/10**decimals"),
    "log": Row("x, base", "log(x)/log(base)"),
    "logit": Row("x, eps", "log(clamp(x, eps, 1 - eps)) - log1p(-clamp(x, eps, 1 - eps))"),
    "threshold": Row("x, threshold, value, inplace=False", "where(x > threshold, x, value)"),
})  # fmt: skip

# Norms with other axes than the last: the arguments behind the tensor, and whether they go over all samples, too.
_RUNNING = ("running_mean", "running_var", "weight", "bias")
NORMS: Mapping[str, tuple[tuple[str, ...], bool]] = MappingProxyType({
    "batch_norm": ((*_RUNNING, "training", "momentum", "eps"), True),
    "instance_norm": ((*_RUNNING, "use_input_stats", "momentum", "eps"), False),
    "group_norm": (("num_groups", "weight", "bias", "eps"), False),
})  # fmt: skip
