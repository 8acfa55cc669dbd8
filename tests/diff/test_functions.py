"""Every row of the function table: its stated derivatives against finite differences, of first and second order."""

from __future__ import annotations

import random

import pytest

from opgen.diff.partials import partials
from opgen.ir.formula import scalar
from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.interp import array, run
from opgen.ir.program import Compute, Output, Program, Tensor
from opgen.ir.scalar import ZERO, Apply, Lit, Param, Read, Scalar, substitute, walk

DIFFERENTIABLE = [
    row for row in FUNCTIONS.values() if row.derivatives is not None and row.name not in ("where", "polygamma")
]
STEP = 1e-5


def evaluate(e: Scalar, values: dict[str, float]) -> float:
    inputs = tuple(Tensor(n, ()) for n in values)
    p = Program("f", inputs, (), (), (Compute("value", (), e),), (Output("value", "value", ()),))
    return run(p, {n: array(v) for n, v in values.items()})["value"].data[0]


def difference(e: Scalar, values: dict[str, float], name: str) -> float:
    up, down = {**values, name: values[name] + STEP}, {**values, name: values[name] - STEP}
    return (evaluate(e, up) - evaluate(e, down)) / (2 * STEP)


def points(row: ScalarFunction) -> list[dict[str, float]]:
    rng = random.Random(row.name)
    low, high = row.domain
    found: list[dict[str, float]] = []
    while len(found) < 5:
        values = {a: rng.uniform(low, high) for a in row.args}
        near = any(abs(v - k) < 0.05 for v in values.values() for k in row.avoid)
        if not near and len({round(v, 1) for v in values.values()}) == len(values):
            found.append(values)
    return found


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda r: r.name)
def test_derivatives_of_both_orders_match_finite_differences(row: ScalarFunction) -> None:
    args = tuple(Read(a, ()) for a in row.args)
    e = Apply(row.name, args)
    first = partials(e, args)
    for values in points(row):
        for a, d in zip(args, first, strict=True):
            assert evaluate(d, values) == pytest.approx(difference(e, values, a.tensor), rel=1e-5, abs=1e-7)
            for b, dd in zip(args, partials(d, args), strict=True):
                assert evaluate(dd, values) == pytest.approx(difference(d, values, b.tensor), rel=1e-5, abs=1e-6)


def test_polygamma_counts_up() -> None:
    x = Read("x", ())
    (d,) = partials(Apply("polygamma", (Lit(1), x)), (x,))
    assert evaluate(d, {"x": 1.5}) == pytest.approx(
        difference(Apply("polygamma", (Lit(1), x)), {"x": 1.5}, "x"), rel=1e-5
    )


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda r: r.name)
def test_derivatives_only_call_functions_of_the_table(row: ScalarFunction) -> None:
    assert row.derivatives is not None
    assert len(row.derivatives) == len(row.args)
    for text in row.derivatives:
        for node in walk(scalar(text, row.args)):
            if isinstance(node, Apply):
                assert node.fn in FUNCTIONS


# What stable derivatives must survive, by order: no nan, no inf, at large arguments.
SMOOTH = ["sigmoid", "logsigmoid", "softplus", "silu", "tanh", "atan", "erf", "erfc", "log1mexp", "asinh"]


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("x", [1e-3, 40.0, 700.0])
def test_derivatives_stay_finite_in_the_tails(name: str, x: float) -> None:
    r = Read("x", ())
    e: Scalar = Apply(name, (r,))
    for _ in range(2):
        e = partials(e, (r,))[0]
        for at in (x, -x) if name != "log1mexp" else (x,):
            assert abs(evaluate(e, {"x": at})) < 1e7


def partial(text: str, **values: float) -> float:
    names = tuple(values)
    e = substitute(scalar(text, names), {Param(n): Read(n, ()) for n in names})
    return evaluate(partials(e, (Read("x", ()),))[0], values)


def test_kinks_follow_torch() -> None:
    assert partial("abs(x)", x=0.0) == 0
    assert partial("relu(x)", x=0.0) == 0
    assert partial("max(x, 0)", x=0.0) == 0.5
    assert partial("max(x, y)", x=1.0, y=1.0) == 0.5
    assert partial("min(x, y)", x=1.0, y=1.0) == 0.5
    assert partial("clamp(x, -1, 1)", x=1.0) == 1
    assert partial("clamp(x, -1, 1)", x=-1.0) == 1
    assert partial("atan2(x, y)", x=0.0, y=0.0) == 0
    assert partial("x**y", x=0.0, y=0.0) == 0


def test_nothing_leaks_from_the_branch_not_taken() -> None:
    assert partial("where(x > 0, log(x), 0)", x=0.0) == 0
    assert partial("sqrt(where(x > 0, x, 0))", x=0.0) == 0
    assert partial("where(x > 0, x*log(x), 0)*y", x=0.0, y=float("inf")) == 0


def test_detached_values_are_constants() -> None:
    x = Read("x", ())
    assert partials(Apply("detach", (x,)), (x,)) == (ZERO,)
    assert partials(Apply("floor", (x,)), (x,)) == (ZERO,)
