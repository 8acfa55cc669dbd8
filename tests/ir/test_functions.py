"""Every row of the function table: nothing that it needs is missing, its derivatives are those of its values.

What a row lacks is told by name; a row of a function that nobody has yet goes all the way into a generated operator.
"""

from __future__ import annotations

import importlib
import math
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from opgen.diff.partials import partials
from opgen.ir.formula import scalar
from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.interp import array, run
from opgen.ir.interp_functions import SCALARS
from opgen.ir.program import Compute, Output, Program, Tensor
from opgen.ir.scalar import ZERO, Apply, Lit, Param, Read, Scalar, substitute, walk

DIFFERENTIABLE = [
    row for row in FUNCTIONS.values() if row.derivatives is not None and row.name not in ("where", "polygamma")
]
STEP = 1e-5
ROOT = Path(__file__).resolve().parents[2]
HEADERS = {
    "cpp": "".join(p.read_text() for p in sorted((ROOT / "templates/csrc").glob("*.h"))),
    "cuda": "".join(p.read_text() for p in sorted((ROOT / "templates/csrc").glob("*.*h"))),
}
RUNTIME = "".join((ROOT / "templates" / name).read_text() for name in ("runtime_math.py.j2", "runtime/draws.py.j2"))
NUMBERS_OF_CALLS = importlib.import_module("generated._runtime.numbers")
LANGUAGE = (ROOT / "docs/language.md").read_text(encoding="utf-8")
CALLED = [row for row in FUNCTIONS.values() if not row.infix]


def complaints(row: ScalarFunction) -> Iterator[str]:
    """What is missing, for whoever adds a row."""
    if row.name not in SCALARS and not row.value:
        yield f"{row.name} has no value: give its row a formula, or opgen/ir/interp_functions.py an entry"
    if not row.value:
        yield from (f"torch has no `{name}`" for name in re.findall(r"\btorch\.[\w.]+", row.torch) if not has(name))
        own = re.findall(r"(?<![\w.:])([a-z_]+)\(", row.torch)
        yield from (f"no `{name}` in templates/runtime_math.py.j2" for name in own if f"def {name}(" not in RUNTIME)
        for language, text in HEADERS.items():
            names = re.findall(r"rt::(\w+)", getattr(row, language))
            yield from (f"no header in templates/csrc has `rt::{n}`" for n in names if not re.search(rf"\b{n}\b", text))
    for formula in (row.value, *(row.derivatives or ())):
        calls = walk(scalar(formula, row.args)) if formula else ()
        unknown = dict.fromkeys(n.fn for n in calls if isinstance(n, Apply) and n.fn not in FUNCTIONS)
        yield from (f"`{formula}` calls `{name}`, which has no row" for name in unknown)
    if row.derivatives is not None and len(row.derivatives) != len(row.args):
        yield f"{row.name} has {len(row.args)} arguments and {len(row.derivatives)} derivatives (None: 0 everywhere)"
    if not row.doc:
        yield f"{row.name} has no doc"
    if not row.internal and not re.search(rf"`[^`]*\b{row.name}\b[^`]*`", LANGUAGE):
        yield f"docs/language.md does not list `{row.name}`"


def has(name: str) -> bool:
    """Whether torch has what a spelling calls; behind brackets stand methods of tensors."""
    found: object = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


@pytest.mark.parametrize("row", CALLED, ids=lambda r: r.name)
def test_nothing_is_missing(row: ScalarFunction) -> None:
    assert [*complaints(row)] == []


NEW = ScalarFunction("twice", ("x",), ("2",), "2*x", doc="two times x")


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (
            replace(NEW, value="", torch="torch.twice({0})", cpp="rt::exp({0})", cuda="rt::exp({0})"),
            "twice has no value",
        ),
        (replace(NEW, value="", torch="torch.twice({0})"), "torch has no `torch.twice`"),
        (replace(NEW, value="", torch="wide_twice({0})"), "no `wide_twice` in templates/runtime_math.py.j2"),
        (replace(NEW, value="", cpp="rt::twice({0})"), "no header in templates/csrc has `rt::twice`"),
        (replace(NEW, value="thrice(x) - x"), "`thrice(x) - x` calls `thrice`, which has no row"),
        (replace(NEW, derivatives=("half(x)",)), "`half(x)` calls `half`, which has no row"),
        (replace(NEW, derivatives=("2", "0")), "twice has 1 arguments and 2 derivatives"),
        (replace(NEW, doc=""), "twice has no doc"),
        (NEW, "docs/language.md does not list `twice`"),
    ],
)
def test_what_is_missing_is_told(row: ScalarFunction, complaint: str) -> None:
    assert any(found.startswith(complaint) for found in complaints(row)), [*complaints(row)]


NUMBERS = [
    row for row in CALLED if row.python and row.name in SCALARS and row.result != "bool" and "bit" not in row.name
]


@pytest.mark.parametrize("row", NUMBERS, ids=lambda r: r.name)
def test_numbers_are_what_the_interpreter_says(row: ScalarFunction) -> None:
    for values in points(row):
        text = row.python.format(*values.values())
        assert eval(text, {"math": math, "numbers": NUMBERS_OF_CALLS}) == pytest.approx(
            SCALARS[row.name](*values.values()), rel=1e-12
        ), text


GUDERMANN = """
import opgen.ir.functions as table

table.FUNCTIONS["gudermann"] = table._row(
    "gudermann", "x", ("1/cosh(x)",), "the Gudermannian", value="2*atan(tanh(x/2))"
)

import importlib
import sys
from pathlib import Path

import torch

from opgen import build

folder = Path(sys.argv[1])
spec = folder / "turned.yaml"
spec.write_text("op: turned\\ninputs: [x, w]\\nforward: y = w*gudermann(2*x)\\n")
result = build(spec, folder / "built")
assert not result.failed, result.diagnostics
sys.path.insert(0, str(folder))
turned = importlib.import_module("built.turned").turned
x, w = torch.randn(2, 5, dtype=torch.float64).requires_grad_().unbind()
assert torch.allclose(turned(x, w), w * 2 * torch.atan(torch.sinh(2 * x).div(1 + torch.cosh(2 * x))))
assert torch.autograd.gradcheck(turned, (x, w))
assert torch.autograd.gradgradcheck(turned, (x, w))
"""


def test_one_row_is_enough_for_a_new_function(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", GUDERMANN, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = tmp_path / "built/turned"
    assert "gudermann(2*x)" in (made / "function.py").read_text()  # the formula, in the documentation
    assert "torch.atan(" in (made / "function.py").read_text()
    assert "rt::atan(" in (made / "csrc/turned_kernels.cpp").read_text()
    assert "rt::atan(" in (made / "csrc/turned.cu").read_text()
    assert "rt::gudermann" not in "".join(p.read_text() for p in (made / "csrc").iterdir())
    assert (made / "test_turned.py").exists()


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
