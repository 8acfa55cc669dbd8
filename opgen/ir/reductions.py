"""The table of reductions and index operators: one row each, read by parser, differentiator, printers, docs and tests.

A *reduction* removes its indices; an *index operator* keeps them (they are bound outside). `identity` is the value over
an empty range (None: an error), and `of_integers` the one of integers where that is another. `core` rows are what
kernels implement; the others are expanded into core reductions and maps before planning (`opgen.opt.expand`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opgen.ir.scalar import INF, NAN, NEG_INF, ONE, ZERO, Lit, Scalar


@dataclass(frozen=True, slots=True)
class Reduction:
    name: str
    result: Literal["float", "int", "bool", "same"]
    identity: Scalar | None
    doc: str
    keeps_index: bool = False  # an index operator
    takes_condition: bool = False
    single_index: bool = False
    differentiable: bool = True
    core: bool = False
    passed_over: Scalar | None = None  # what counts for nothing beside others, where that is not the identity
    of_integers: Lit | None = None

    def start(self, *, whole: bool) -> Scalar | None:
        """The value over an empty range, of integers if they are `whole`."""
        return self.of_integers if whole and self.of_integers is not None else self.identity

    @property
    def neutral(self) -> Scalar | None:
        """An element that changes nothing where there are others."""
        return self.passed_over if self.passed_over is not None or self.identity == NAN else self.identity


_LEAST, _GREATEST = Lit(-(2**63)), Lit(2**63 - 1)
_ROWS = (
    Reduction("sum", "same", ZERO, "sum; 0 when empty", core=True),
    Reduction("prod", "same", ONE, "product, gradient exact with zeros; 1 when empty", core=True),
    Reduction("mean", "float", NAN, "arithmetic mean; nan when empty"),
    Reduction(
        "max",
        "same",
        NEG_INF,
        "maximum, gradient shared among ties; -inf when empty",
        core=True,
        of_integers=_LEAST,
    ),
    Reduction(
        "min",
        "same",
        INF,
        "minimum, gradient shared among ties; inf when empty",
        core=True,
        of_integers=_GREATEST,
    ),
    Reduction("logsumexp", "float", NEG_INF, "log of the sum of exponentials, stable; -inf when empty"),
    Reduction("norm", "float", ZERO, "Euclidean norm, gradient 0 at 0"),
    Reduction("var", "float", NAN, "biased variance; nan when empty"),
    Reduction("any", "bool", Lit(False), "some condition holds", takes_condition=True, differentiable=False, core=True),
    Reduction("all", "bool", Lit(True), "every condition holds", takes_condition=True, differentiable=False, core=True),
    Reduction(
        "count",
        "int",
        ZERO,
        "how many conditions hold",
        takes_condition=True,
        differentiable=False,
        passed_over=Lit(False),
    ),
    Reduction(
        "argmax",
        "int",
        None,
        "position of the first maximum",
        single_index=True,
        differentiable=False,
        core=True,
        passed_over=NEG_INF,
    ),
    Reduction(
        "argmin",
        "int",
        None,
        "position of the first minimum",
        single_index=True,
        differentiable=False,
        core=True,
        passed_over=INF,
    ),
    Reduction("softmax", "float", None, "exp(e) / sum(exp(e))", keeps_index=True, passed_over=NEG_INF),
    Reduction("log_softmax", "float", None, "e - logsumexp(e)", keeps_index=True, passed_over=NEG_INF),
    Reduction("cumsum", "same", None, "running sum", keeps_index=True, single_index=True, passed_over=ZERO),
    Reduction("cumprod", "same", None, "running product", keeps_index=True, single_index=True, passed_over=ONE),
    Reduction(
        "logcumsumexp", "float", None, "running logsumexp", keeps_index=True, single_index=True, passed_over=NEG_INF
    ),
    Reduction(
        "argsort",
        "int",
        None,
        "position of the k-th smallest, stable",
        keeps_index=True,
        single_index=True,
        differentiable=False,
    ),
)


@dataclass(frozen=True, slots=True)
class Order:
    """An order statistic: written like a reduction, lowered to `argsort` and reads. `takes`: a further argument.

    Of no elements there is none: its reads are out of range.
    """

    name: str
    doc: str
    takes: str = ""
    keeps_index: bool = False


ORDERS: dict[str, Order] = {
    row.name: row
    for row in (
        Order("sort", "the elements from the smallest on, nan last", keeps_index=True),
        Order("median", "the lower one of the two in the middle; nan with a nan"),
        Order("quantile", "between the two elements beside `q*(n - 1)`; nan with a nan", "q"),
        Order("kth", "the n-th smallest, counted from 1; nan counts as the greatest", "n"),
    )
}

REDUCTIONS: dict[str, Reduction] = {row.name: row for row in _ROWS}
