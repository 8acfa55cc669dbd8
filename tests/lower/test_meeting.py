"""Pairs of an element with itself: where a division by their distance is told, what is told of it, and where not."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

POINTS = "inputs: {x: {shape: [..., N, 3]}, z: {shape: [N, 3]}, q: {shape: [N]}, soft: {shape: []}}"
DISTANCE = "r[..., i, j] = norm[a](x[..., i, a] - x[..., j, a])"
APART = "sum[a](square(x[..., i, a] - x[..., j, a]))"

LOST = [
    ("y[..., i, b] = sum[j](q[j]*(x[..., j, b] - x[..., i, b])/r[..., i, j]**3)", "this is nan"),
    ("y[...] = sum[i, j](q[i]*q[j]/r[..., i, j])", "this divides by 0"),
    (f"y[...] = sum[i, j](q[i]*rsqrt({APART}))", "this divides by 0"),
    ("y[..., i, j] = (i != j)*(x[..., i, 0] - x[..., j, 0])/r[..., i, j]", "this is nan"),
    (
        "u[..., i, j] = (x[..., i, 0] - x[..., j, 0])/r[..., i, j]\n  y[..., i] = sum[j](q[j]*u[..., i, j])",
        "this is nan",
    ),
    ("y[...] = mean[i, j](r[..., i, j]**(-2))", "this divides by 0"),
]


def _spec(formula: str) -> str:
    distance = [DISTANCE] if "r[" in formula else []
    return whole(POINTS, *distance, formula) + "outputs: [y]\n"


@pytest.mark.parametrize(("formula", "value"), LOST)
def test_a_pair_of_an_element_with_itself_is_told(formula: str, value: str) -> None:
    (found,) = diagnosed(_spec(formula))
    assert (found.code, found.severity) == ("OPG261", Severity.WARNING)
    assert found.message == f"where `i` and `j` are equal, {value}"
    assert any("eps" in hint for hint in found.hints) == (value == "this is nan")


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        ("y[i] = cumsum[i](q[i]) / i", "y[i] = cumsum[i](q[i]) / (i + 1)"),
        ("y = sum[i](q[i]/i)", "y = sum[i](q[i] / (i + 1))"),
        ("y = sum[i](q[i]/log2(i + 1))", "y = sum[i](q[i] / log2(i + 2))"),
        ("y[i] = q[i]/(3*log(i + 1)) + i", "y[i] = q[i] / (3 * log(i + 2)) + i"),
    ],
)
def test_a_division_by_an_index_is_told(formula: str, meant: str) -> None:
    text = whole("inputs: {q: {shape: [N]}}", formula)
    (found,) = diagnosed(text)
    assert (found.code, found.hints[0]) == ("OPG262", f"write `{meant}`")
    built(text.replace(formula, meant))


@pytest.mark.parametrize(
    ("formula", "hints"),
    [
        (
            "y = sum[n](q[n]/sqrt(n))",
            ("for the size of the dim, `N`, write `y = sum[n](q[n] / sqrt(N))`",
             "or, counted from 1, write `y = sum[n](q[n] / sqrt(n + 1))`"),
        ),
        (
            "y[n] = cumsum[n](q[n])/n",
            ("write `y[n] = cumsum[n](q[n]) / (n + 1)`",
             "or for the size of the dim, `N`, write `y[n] = cumsum[n](q[n]) / N`"),
        ),
    ],
)  # fmt: skip
def test_the_size_of_its_dim_may_be_meant_by_an_index(formula: str, hints: tuple[str, ...]) -> None:
    text = whole("inputs: {q: {shape: [N]}}", formula)
    (found,) = diagnosed(text)
    assert (found.code, found.hints[:2]) == ("OPG262", hints)
    for hint in hints:
        built(text.replace(formula, hint.rpartition("write ")[2].strip("`")))


@pytest.mark.parametrize(
    "formula",
    [
        "y[i] = where(i > 0, q[i]/i, 0)",
        "y[i] = q[i]/max(i, 1)",
        "y[i] = q[i]*i/N",
        "y[i] = q[i]/(2*i + 1)",
        "y[i] = q[i]/log2(i + 2)",
    ],
)
def test_an_index_that_is_kept_from_0_is_not_told(formula: str) -> None:
    built(whole("inputs: {q: {shape: [N]}}", formula))


def test_what_is_told_leaves_the_pair_out() -> None:
    text = _spec("y[...] = sum[i, j](q[i]*q[j]/r[..., i, j])/2")
    (found,) = diagnosed(text)
    new = "sum[i, j](where(i != j, q[i] * q[j] / r[..., i, j], 0))"
    assert found.hints[0] == f"leave those out: `{new}`"
    built(text.replace("sum[i, j](q[i]*q[j]/r[..., i, j])", new))


@pytest.mark.parametrize(
    "formula",
    [
        "y[...] = sum[i, j](where(i < j, q[i]*q[j]/r[..., i, j], 0))",
        "y[...] = sum[i, j](q[i]*q[j]/max(r[..., i, j], 1e-6))",
        f"y[...] = sum[i, j](q[i]*rsqrt({APART} + soft))",
        "y[...] = sum[i, j](1/norm[a](x[..., i, a] - z[j, a]))",  # of two tensors
        "y[..., i, j] = 1/r[..., i, j]",  # may be meant
        "y[...] = sum[i, j](exp(-1/r[..., i, j]))",  # 0 there
        "u[..., i, j] = (q[i] - q[j])/r[..., i, j]\n  y[..., i] = sum[j](where(i == j, 0, u[..., i, j]))",
        "y[...] = sum[i, j](q[i]*r[..., i, j])",
    ],
)
def test_what_has_a_value_is_not_told(formula: str) -> None:
    built(_spec(formula))
