"""Formulas as users write them: value, first and second derivative in float32 over everything float32 holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from mpmath import mp

from opgen.torch.functions import torch_function
from tests.accuracy import measure
from tests.accuracy.kernels import Arrays, Floats, torch_form
from tests.accuracy.operators import Case, formula_case
from tests.accuracy.truth import Formula
from tests.torch.execute import function

# Formula, and how many units in the last place the value and the first derivative may be off between -30 and 30.
NAIVE = {
    "log(1 + exp(x))": (4, 4),
    "1 - cos(x)": (4, 4),
    "x/(1 + exp(-x))": (4, 4),
    "exp(x) - 1": (4, 4),
    "log(1 + exp(-x))": (4, 4),
    "1/(1 + exp(-x))": (4, 4),
    "-log(1 - sigmoid(x))": (4, 4),
    "log(sigmoid(x))": (4, 4),
    "1 - sigmoid(x)": (4, 4),
    "x*tanh(log(1 + exp(x)))": (4, 8),
    "(1 - cos(x))/x**2": (16, 64),
    "sin(x)/x": (16, 64),
    "(x - sin(x))/x**3": (16, 64),
    "(exp(x) - 1)/x": (4, 16),
    "x/(exp(x) - 1)": (16, 64),
    "tanh(x)/x": (4, 32),
    "exp(x)/(1 + exp(x))**2": (4, math.inf),  # the derivative is 0 at 0
    "1 - erf(x)": (4, 8),
    "log(erfc(x))": (16, 16),
    "log(erfc(-x/sqrt(2))/2)": (16, 64),
    "log1p(-sigmoid(x))": (4, 4),
    "log2(1 + exp(x))": (8, 8),
    "exp(x)/(exp(x) + exp(2*x))": (4, 8),
    "softplus(x) - x": (4, 4),
    "1 - tanh(x)**2": (8, 8),
    "2*sigmoid(x) - 1": (4, 8),
    "1 - 2*sigmoid(x)": (4, 8),
    "sigmoid(x + 0.5) - sigmoid(x - 0.5)": (32, math.inf),  # of the sums, x is rounded; the derivative is 0 at 0
}


def second(c: Case, arrays: Arrays) -> Floats:
    """The second derivative: what the generated double backward gives for cotangents of ones."""
    d = c.derived
    assert d.second is not None
    f = torch_function("second", [(d.variant, d.second)], c.operator)
    ones = torch.ones(len(arrays["x"]))
    given = {t.name: torch.from_numpy(arrays[t.name]) if t.name in arrays else ones for t in d.second.inputs}
    made = function(f)(*(given[n] for n in f.arguments))
    found = dict(zip([o.of for o in d.second.outputs], made if isinstance(made, tuple) else (made,), strict=True))
    return np.asarray(found["x"].numpy(), np.float32)


def curvature(c: Case, x: float) -> float:
    """The true second derivative, by differences of the true first one."""
    f = Formula(c.body, c.inputs, {}, 1200)
    with mp.workprec(f.bits):
        at, step = mp.mpf(x), mp.ldexp(abs(x) or 1, -150)
        up, down = (f._dual({"x": at + s}).slopes[0] for s in (step, -step))
        return float((up - down) / (2 * step))


@pytest.mark.parametrize("formula", NAIVE)
def test_values_and_derivatives(formula: str) -> None:
    c = formula_case("naive", formula, ("x",), None)
    assert c.derived.rewrites
    x = np.concatenate([measure.axis(0), np.float32([-30, -5, -1, -0.3, 0.3, 1, 5, 30])])
    arrays = {"x": x[np.isfinite(x)]}
    truth = measure.sampled(c, arrays, 1200)
    got = torch_form(c, arrays)
    near = np.abs(arrays["x"]) <= 30
    for mine, true, most in zip(
        (got.value, got.slopes[0]), (truth.value, truth.slopes[0]), NAIVE[formula], strict=True
    ):
        assert not np.isnan(mine[~np.isnan(true) & (np.abs(true) < 3e38)]).any()
        error = measure.ulps(mine, true)[near]
        assert np.nanmax(error) <= most, arrays["x"][near][np.nanargmax(error)]
    bent = second(c, arrays)
    for k in np.flatnonzero(near & (np.abs(arrays["x"]) > 1e-3)):
        want = curvature(c, float(arrays["x"][k]))
        assert bent[k] == pytest.approx(want, rel=2e-3, abs=1e-6), arrays["x"][k]
    assert np.isfinite(bent[near]).all()


@pytest.mark.parametrize(
    ("formula", "slope", "curve"),
    [
        ("sin(x)/x", 0.0, -1 / 3),
        ("(1 - cos(x))/x**2", 0.0, -1 / 12),
        ("(x - sin(x))/x**3", 0.0, -1 / 60),
        ("(exp(x) - 1)/x", 1 / 2, 1 / 3),
        ("x/(exp(x) - 1)", -1 / 2, 1 / 6),
        ("log(1 + x)/x", -1 / 2, 2 / 3),
        ("tanh(x)/x", 0.0, -2 / 3),
    ],
)
def test_removable_singularities_at_exactly_0(formula: str, slope: float, curve: float) -> None:
    c = formula_case("quotient", formula, ("x",), None)
    at = {"x": np.zeros(2, np.float32)}
    assert torch_form(c, at).slopes[0][0] == pytest.approx(slope, rel=1e-6)
    assert second(c, at)[0] == pytest.approx(curve, rel=1e-6)
