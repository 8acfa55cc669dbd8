"""Distributions by the names that R and Stan have for them: densities written out, and draws made from a seed.

A name and arguments in, the text of a formula out; a function of a distribution begins or ends with what it is of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

Row = tuple[str, str]
_HALF = "log(2*pi)/2"


@dataclass(frozen=True, slots=True)
class Family:
    """A distribution: its arguments behind `x`, and its formulas with all of these.

    `names`: what R calls the arguments; `defaults`: what those are that it may be called without; `standard`: the log
    density, the distribution function and the quantile without any, where these are shorter.
    """

    arguments: str
    log_density: str
    names: Sequence[str] = ()
    defaults: Sequence[str] = ()
    drawn: str = ""
    below: str = ""  # the distribution function
    quantile: str = ""
    standard: tuple[str, str, str] | None = None

    @property
    def letters(self) -> list[str]:
        return self.arguments.split(", ") if self.arguments else []


_NORMAL = Family(
    "m, s", f"-((x - m)/s)**2/2 - log(s) - {_HALF}", ("mean", "sd"), ("0", "1"), "m + s*normal(seed)",
    "erfc(-(x - m)/(s*sqrt(2)))/2", "m + s*sqrt(2)*erfinv(2*x - 1)",
    (f"-x**2/2 - {_HALF}", "erfc(-x/sqrt(2))/2", "sqrt(2)*erfinv(2*x - 1)"),
)  # fmt: skip
_UNIFORM = Family(
    "a, b", "where(a <= x and x <= b, -log(b - a), -inf)", ("min", "max"), ("0", "1"), "a + (b - a)*uniform(seed)",
    "clamp((x - a)/(b - a), 0, 1)", "a + (b - a)*x",
)  # fmt: skip
_EXPONENTIAL = Family(
    "r", "log(r) - r*x", ("rate",), ("1",), "-log1p(-uniform(seed))/r", "-expm1(-r*x)", "-log1p(-x)/r",
    ("-x", "-expm1(-x)", "-log1p(-x)"),
)  # fmt: skip
_BINOMIAL = Family(
    "n, p", "lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + xlogy(x, p) + xlogy(n - x, 1 - p)", ("size", "prob")
)
_CAUCHY = Family(
    "m, s", "-log(pi*s) - log1p(((x - m)/s)**2)", ("location", "scale"), ("0", "1"),
    "m + s*tan(pi*(uniform(seed) - 1/2))", "1/2 + atan((x - m)/s)/pi", "m + s*tan(pi*(x - 1/2))",
    ("-log(pi) - log1p(x**2)", "1/2 + atan(x)/pi", "tan(pi*(x - 1/2))"),
)  # fmt: skip
_LOGNORMAL = Family(
    "m, s", f"-((log(x) - m)/s)**2/2 - log(x) - log(s) - {_HALF}", ("meanlog", "sdlog"), ("0", "1"),
    "exp(m + s*normal(seed))", "erfc(-(log(x) - m)/(s*sqrt(2)))/2", "exp(m + s*sqrt(2)*erfinv(2*x - 1))",
)  # fmt: skip
_LOGISTIC = Family(
    "m, s", "-(x - m)/s - log(s) - 2*softplus(-(x - m)/s)", ("location", "scale"), ("0", "1"), "",
    "sigmoid((x - m)/s)", "m + s*(log(x) - log1p(-x))", ("-x - 2*softplus(-x)", "sigmoid(x)", "log(x) - log1p(-x)"),
)  # fmt: skip
_OF_R: Mapping[str, Family] = MappingProxyType({
    "norm": _NORMAL, "unif": _UNIFORM, "exp": _EXPONENTIAL, "binom": _BINOMIAL, "cauchy": _CAUCHY,
    "lnorm": _LOGNORMAL, "logis": _LOGISTIC,
    "pois": Family("r", "xlogy(x, r) - r - lgamma(x + 1)", ("lambda",)),
    "gamma": Family("a, r", "a*log(r) + (a - 1)*log(x) - r*x - lgamma(a)", ("shape", "rate"), ("", "1")),
    "beta": Family(
        "a, b", "(a - 1)*log(x) + (b - 1)*log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)", ("shape1", "shape2")
    ),
    "weibull": Family(
        "a, s", "log(a/s) + (a - 1)*log(x/s) - (x/s)**a", ("shape", "scale"), ("", "1"), "", "-expm1(-(x/s)**a)"
    ),
    "bern": Family("p", "xlogy(x, p) + xlogy(1 - x, 1 - p)", ("prob",), (), "uniform(seed) < p"),
    "laplace": Family("m, s", "-abs(x - m)/s - log(2*s)", ("location", "scale")),
    "t": Family("v", "lgamma((v + 1)/2) - lgamma(v/2) - log(v*pi)/2 - (v + 1)/2*log1p(x**2/v)", ("df",)),
})  # fmt: skip
_NAMED = MappingProxyType({  # as Stan calls those of R
    "normal": "norm", "uniform": "unif", "exponential": "exp", "binomial": "binom", "cauchy": "cauchy",
    "lognormal": "lnorm", "logistic": "logis", "poisson": "pois", "gamma": "gamma", "beta": "beta",
    "weibull": "weibull", "bernoulli": "bern", "double_exponential": "laplace",
})  # fmt: skip
_OF_STAN: Mapping[str, Family] = MappingProxyType({
    **{name: _OF_R[own] for name, own in _NAMED.items()},
    "std_normal": Family("", f"-x**2/2 - {_HALF}", (), (), "normal(seed)", "erfc(-x/sqrt(2))/2"),
    "student_t": Family(
        "v, m, s", "lgamma((v + 1)/2) - lgamma(v/2) - log(v*pi)/2 - log(s) - (v + 1)/2*log1p(((x - m)/s)**2/v)"
    ),
    "bernoulli_logit": Family("a", "x*a - softplus(a)", (), (), "uniform(seed) < sigmoid(a)"),
    "poisson_log": Family("a", "x*a - exp(a) - lgamma(x + 1)"),
    "neg_binomial_2": Family(
        "m, f", "lgamma(x + f) - lgamma(f) - lgamma(x + 1) + f*log(f/(m + f)) + xlogy(x, m/(m + f))"
    ),
})  # fmt: skip
_OF_PAPER = MappingProxyType({"u": "uniform", "bern": "bernoulli", "laplace": "double_exponential",
                              "exp": "exponential", "studentt": "student_t"})  # fmt: skip
_LOGS = ("lpdf", "lpmf", "lupdf", "lupmf")
GIVEN = re.compile(r"\b\w+_(?:l?pdf|l?pmf|lupdf|lupmf|l?cdf|lccdf)\s*\([^()]*(?:\([^()]*\)[^()]*)*$")
_LETTER = re.compile(r"\b[a-z]\b")


def _rows(f: Family, formula: str, standard: str = "") -> tuple[Row, ...]:
    return ((", ".join(("x", *f.letters)), formula), *([("x", standard)] if standard else []))


def _all() -> dict[str, tuple[Row, ...]]:
    found: dict[str, tuple[Row, ...]] = {}
    for name, f in _OF_R.items():
        density, below, quantile = f.standard or ("", "", "")
        found[f"d{name}"] = _rows(f, f"exp({f.log_density})", density and f"exp({density})")
        found |= {f"p{name}": _rows(f, f.below, below)} if f.below else {}
        found |= {f"q{name}": _rows(f, f.quantile, quantile)} if f.quantile else {}
    for name, f in _OF_STAN.items():
        found |= {f"{name}_{log}": _rows(f, f.log_density) for log in _LOGS}
        found |= {f"{name}_cdf": _rows(f, f.below), f"{name}_lcdf": _rows(f, f"log({f.below})")} if f.below else {}
    found["dnorm"] = (("x, m, s", "exp(-((x - m)/s)**2/2)/(s*sqrt(2*pi))"), ("x", "exp(-x**2/2)/sqrt(2*pi)"))
    return found


FORMULAS: Mapping[str, tuple[Row, ...]] = MappingProxyType(_all())
DRAWN: Mapping[str, Family] = MappingProxyType({
    **{f"r{name}": f for name, f in _OF_R.items() if f.drawn},
    **{f"{name}_rng": f for name, f in _OF_STAN.items() if f.drawn},
})  # fmt: skip
_GUMBEL = Family(
    "m, s", "-(x - m)/s - exp(-(x - m)/s) - log(s)", ("loc", "scale"), ("0", "1"), "m - s*log(-log(uniform(seed)))"
)
_PLAIN = MappingProxyType({name: f for name, f in _OF_STAN.items() if f.drawn} | {"gumbel": _GUMBEL})

UNDRAWN = tuple(
    name
    for every, shown in ((_OF_R, "r{}"), (_OF_STAN, "{}_rng"))
    for name in (shown.format(n) for n, f in every.items() if not f.drawn)
)


def filled(formula: str, letters: Sequence[str], values: Sequence[str]) -> str:
    """A formula with these in place of its letters."""
    of = dict(zip(letters, values, strict=True))
    return _LETTER.sub(lambda m: of.get(m[0], m[0]), formula)


def logarithm(name: str, formula: str) -> str | None:
    """The log density of a density of R; None for other functions."""
    f = _OF_R.get(name[1:]) if name[:1] == "d" else None
    whole = f is not None and (formula == f"exp({f.log_density})" or name == "dnorm")
    return f.log_density if f is not None and whole else None


def by_name(name: str, given: Sequence[str], named: Mapping[str, str]) -> str | None:
    """The formula of a density, distribution function or quantile of R whose arguments are named, `dnorm(x, sd=s)`.

    None where one of the names is none of it, or where one that it needs is missing.
    """
    f = _OF_R.get(name[1:]) if name[:1] in ("d", "p", "q") else None
    rest = dict(named)
    log = rest.pop("log", rest.pop("log_p", "false")).lower() in ("true", "t")
    if f is None or not given or not {*rest} <= {*f.names} or len(given) > len(f.names) + 1:
        return None
    values = list(given)
    for place, key in enumerate(f.names[len(given) - 1 :], len(given) - 1):
        value = rest.pop(key, (*f.defaults, "", "")[place])
        if not value:
            return None
        values.append(value)
    formula = {"d": f.log_density, "p": f.below, "q": f.quantile}[name[0]]
    if not formula or rest:
        return None
    text = filled(formula, ("x", *f.letters), values)
    return f"log({text})" if log and name[0] == "p" else f"exp({text})" if name[0] == "d" and not log else text


def draw_of(name: str, given: Sequence[str], named: Mapping[str, str]) -> str | None:
    """The draw of `rnorm(n, mean, sd)`, `normal_rng(mean, sd)` or `gumbel()`; None where its arguments are others."""
    f = DRAWN.get(name) or _PLAIN.get(name)
    if f is None:
        return None
    rest = [v for k, v in zip(("n", *f.names), given, strict=False) if k != "n"] if name.startswith("r") else [*given]
    rest += [named.get(key, (*f.defaults, "", "")[k]) for k, key in enumerate(f.names) if k >= len(rest)]
    if len(rest) != len(f.letters) or not all(rest):
        return None
    return _short(filled(f.drawn, f.letters, rest))


def _short(text: str) -> str:
    """A draw without a mean of 0, and a deviation or a range of 1, at its beginning."""
    for neutral in ("0 + ", "1*", "(1 - 0)*"):
        text = text.removeprefix(neutral)
    return re.sub(r"^0 - (?:1\*)?", "-", text).removesuffix("/1")


def of_statement(name: str, args: Sequence[str], of: str) -> tuple[str, str] | None:
    """The draw and the log density of `of ~ name(args)`, either of which may be empty; None of no distribution."""
    plain = name.lower()
    f = _OF_STAN.get(plain) or _OF_STAN.get(_OF_PAPER.get(plain, ""))
    if f is None or len(args) != len(f.letters):
        return None
    return _short(filled(f.drawn, f.letters, args)), filled(f.log_density, ("x", *f.letters), (of, *args))
