"""Every scalar function and every element-wise spec against mpmath: never worse than torch, no nan for a number.

The fast tier takes some functions, the slow one all of them, for the least and the best instruction set.
`benchmarks/accuracy.py` writes the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.toolchain.compiler import BASELINE, toolchain
from tests.accuracy import measure, operators
from tests.accuracy.kernels import Arrays, Library, torch_form
from tests.accuracy.operators import Case
from tests.accuracy.truth import Formula
from tests.compilers import available

needs_compiler = pytest.mark.skipif(not available(), reason="no C++ compiler")

QUICK = ("atan2", "digamma", "erfcx", "remainder", "sinc", "softplus", "tanh")
QUICK_SPECS = ("hinge_loss", "mish", "smooth_l1_loss", "swiglu")
QUICK_POINTS = 100  # of every spec
_TRUTHS: dict[tuple[str, int], measure.Sampled] = {}  # by name and points: the same for every instruction set

# torch.sigmoid rounds what is below the smallest normal number to 0, and the torch form says torch.sigmoid.
BELOW_NORMAL = ("f_logsigmoid", "f_softplus")


def wrong(case: Case, arrays: Arrays, library: Library) -> list[str]:
    key = case.name, len(arrays[case.inputs[0]])
    truth = _TRUTHS.get(key) or _TRUTHS.setdefault(key, measure.sampled(case, arrays, measure.bits(case)))
    found: list[str] = []
    for line in measure.lines(
        case, truth, {**library.implementation(), "form": torch_form, "torch": measure.torch_own}
    ):
        for name in (*library.implementation(), "form"):
            s = line.scores.get(name)
            far = s is not None and s.ulp > line.bound and not (name == "form" and case.name in BELOW_NORMAL)
            if s is not None and (s.nan or s.excused or far):
                at = s.nan or s.excused or "-"
                found.append(f"{line.name} by {line.of} ({name}): {s.ulp:.3g} ulp at {s.where}, nan at {at}")
    return found


@pytest.mark.thorough
@needs_compiler
def test_some_functions_on_a_coarse_grid(tmp_path: Path) -> None:
    cases = [operators.function_case(name) for name in QUICK]
    specs = operators.specs(QUICK_SPECS)
    library = Library([*cases, *specs], tmp_path)
    assert not [w for c in cases for w in wrong(c, measure.grid(c, 0), library)]
    assert not [w for c in specs for w in wrong(c, measure.some(measure.grid(c, 0), QUICK_POINTS), library)]


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("isa", sorted({BASELINE, *(toolchain().sets if available() else ())}))
@pytest.mark.parametrize("which", [operators.functions, operators.specs], ids=["functions", "specs"])
def test_everything(which: Callable[[], tuple[Case, ...]], isa: str, tmp_path: Path) -> None:
    cases = which()
    library = Library(cases, tmp_path, isa)
    assert not [w for c in cases for w in wrong(c, measure.grid(c, 1), library)]


def test_every_function_of_the_language_is_measured() -> None:
    """What is not takes or gives conditions and integers only."""
    from opgen.ir.functions import FUNCTIONS

    names = operators.measured()
    left = [r.name for r in FUNCTIONS.values() if not (r.infix or r.internal) and r.name not in names]
    assert sorted(left) == ["bitand", "bitor", "bitxor", "detach", "int", "isfinite", "isnan", "polygamma"]


def test_element_wise_specs_are_found() -> None:
    names = [c.name for c in operators.specs(("mish", "swiglu", "gelu", "huber_loss", "softmax", "linear", "spike"))]
    assert {"mish", "swiglu", "gelu_none", "gelu_tanh", "huber_loss_none"} <= set(names)
    assert not [n for n in names if n.startswith(("softmax", "linear", "spike"))]


@pytest.mark.parametrize(
    ("formula", "x", "value", "slope"),
    [
        ("log(1 + exp(x))", -200.0, math.exp(-200), math.exp(-200)),
        ("(x - sin(x))/x**3", 0.0, 1 / 6, 0.0),
        ("abs(x)", 0.0, 0.0, None),
        ("1/x", 0.0, math.inf, -math.inf),
        ("x*sigmoid(-x)", math.inf, 0.0, 0.0),
        ("sqrt(x)", 0.0, 0.0, None),
    ],
)
def test_the_truth_is_a_limit_where_there_is_one(formula: str, x: float, value: float, slope: float | None) -> None:
    c = operators.formula_case("f", formula, ("x",), None)
    found = Formula(c.body, c.inputs, {}, 700).at({"x": x})
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.slopes[0] == (slope if slope is None else pytest.approx(slope, rel=1e-12))


@pytest.mark.parametrize(
    ("formula", "at", "value", "slopes"),
    [
        ("xlogy(x, y)", (math.inf, 1.0), None, (0.0, math.inf)),  # 0 times inf beside y = 1
        ("x*sigmoid(x)*y", (-math.inf, math.inf), None, (None, 0.0)),  # which of the two goes ahead?
        ("x*sigmoid(x)*y", (-math.inf, 2.0), 0.0, (0.0, 0.0)),
        ("x*(1 + tanh(x))*y", (-2048.0, math.inf), -math.inf, (-math.inf, 0.0)),  # small, but not 0
        ("(1 - y)*softplus(x)", (math.inf, 1.0), None, (0.0, -math.inf)),
        ("x**y", (math.inf, -0.125), 0.0, (0.0, 0.0)),
        ("hypot(x, y)", (-math.inf, 3.0), math.inf, (-1.0, 0.0)),
    ],
)
def test_there_is_no_truth_where_the_limit_depends_on_the_way(
    formula: str, at: tuple[float, float], value: float | None, slopes: tuple[float | None, float | None]
) -> None:
    c = operators.formula_case("f", formula, ("x", "y"), None)
    found = Formula(c.body, c.inputs, {}, measure.bits(c)).at(dict(zip(c.inputs, at, strict=True)))
    assert (found.value, found.slopes) == (value, slopes)


def test_units_in_the_last_place() -> None:
    import numpy as np

    got = np.array([1.0, 1.0000001, 0.0, math.inf, math.inf, math.nan, -1e-45], np.float32)
    true = np.array([1.0, 1.0, 1e-45, 1e39, 3e38, 1.0, 0.0])
    found = measure.ulps(got, true)
    assert found[0] == 0
    assert found[1] == pytest.approx(1, rel=0.2)
    assert found[2] == pytest.approx(0.71, rel=0.01)
    assert found[3] == 0
    assert found[4] > 1e6
    assert math.isnan(found[5])
    assert found[6] == pytest.approx(1)
