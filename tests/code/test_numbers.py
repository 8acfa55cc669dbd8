"""Functions of params are worth what they are of tensors: every row of the table at special points, without exceptions.

The value of a formula of params is printed for Python numbers; here the same formula is printed for tensors as well.
"""

from __future__ import annotations

import itertools
import math

import pytest

pytest.importorskip("torch")

import torch

from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.interp import array, run
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Argument, Compute, Kind, Output, Program, Tensor
from opgen.ir.scalar import Apply, Lit, Param, Read, Scalar, where
from opgen.torch.functions import torch_function
from tests.torch.execute import function

NAN, INF = math.nan, math.inf
POINTS = (-INF, -1e300, -1000.0, -2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 1000.0, 1e300, INF, NAN)
FEW = (-INF, -2.0, 0.0, 1.0, 3.0, INF, NAN)
WHOLE = (-7, -2, -1, 0, 1, 2, 3, 9)
# Not functions of numbers alone: conditions, what takes integers only, and what a position is made of.
APART = ("where", "and", "or", "not", "int", "bitand", "bitor", "bitxor", "polygamma", "log1mexp", "decay")
DRAWN = ("philox", "uniform_of", "normal_of")  # of seeds, which are never numbers of Python
ROWS = [row for row in FUNCTIONS.values() if row.name not in (*APART, *DRAWN)]
# Torch's own of tensors rounds 1/3 in the exponent, and its whole powers go by multiplication.
LOOSE = {"cbrt": 1e-12, "pow": 1e-12}


def operator(body: Scalar, tensors: dict[str, Kind], params: dict[str, str], kind: Kind) -> tuple[Operator, Program]:
    inputs = (Tensor("like", ()), *(Tensor(n, (), k) for n, k in tensors.items()))
    arguments = tuple(Argument(n, t) for n, t in params.items())
    outputs = (Output("y", "y", (), kind),)
    p = Program("f", inputs, arguments, (), (Compute("y", (), body, kind=kind),), outputs)
    return Operator("f", inputs, (), arguments, ("y",), (Variant((), p),)), p


def printed(body: Scalar, tensors: dict[str, Kind], params: dict[str, str], kind: Kind):  # type: ignore[no-untyped-def]
    made, p = operator(body, tensors, params, kind)
    f = torch_function("f", [(made.variants[0], p)], made)
    run_it = function(f)
    return lambda **known: run_it(*({"like": torch.zeros((), dtype=torch.float64), **known}[n] for n in f.arguments))


def result(row: ScalarFunction, kind: Kind) -> Kind:
    return kind if row.result == "same" else Kind(row.result)


def same(a: float, b: float, tolerance: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(abs(a), abs(b)) + 1e-15


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_of_floats(row: ScalarFunction) -> None:
    kind = result(row, Kind.FLOAT)
    of_numbers = printed(Apply(row.name, tuple(Param(a) for a in row.args)), {}, dict.fromkeys(row.args, "float"), kind)
    of_tensors = printed(
        Apply(row.name, tuple(Read(a, ()) for a in row.args)), dict.fromkeys(row.args, Kind.FLOAT), {}, kind
    )
    points = list(itertools.product(POINTS if len(row.args) < 3 else FEW, repeat=len(row.args)))
    columns = torch.tensor(points, dtype=torch.float64)
    want = of_tensors(**{a: columns[:, k] for k, a in enumerate(row.args)}).tolist()
    found = [of_numbers(**dict(zip(row.args, point, strict=True))).item() for point in points]
    tolerance = LOOSE.get(row.name, 1e-13)
    wrong = [(p, f, w) for p, f, w in zip(points, found, want, strict=True) if not same(f, w, tolerance)]
    assert not wrong, wrong[:8]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_of_whole_numbers(row: ScalarFunction) -> None:
    """As tensors are, and of the kind that the table says."""
    kind = result(row, Kind.INT)
    of_numbers = printed(Apply(row.name, tuple(Param(a) for a in row.args)), {}, dict.fromkeys(row.args, "int"), kind)
    reads = Apply(row.name, tuple(Read(a, ()) for a in row.args))
    of_tensors = printed(reads, dict.fromkeys(row.args, Kind.INT), {}, kind)
    for point in itertools.product(WHOLE if len(row.args) < 3 else WHOLE[1:6], repeat=len(row.args)):
        if row.name in ("floordiv", "mod", "fmod", "remainder") and point[1] == 0:
            continue
        if row.name == "pow" and point[1] < 0:
            continue  # a float by the language, which lowering says
        known = dict(zip(row.args, point, strict=True))
        want = of_tensors(**{n: torch.tensor(v) for n, v in known.items()})
        found = of_numbers(**known)
        assert found.dtype == want.dtype, point
        assert same(found.item(), want.item(), LOOSE.get(row.name, 1e-13)), point
        oracle = run(operator(reads, dict.fromkeys(row.args, Kind.INT), {}, kind)[1],
                     {"like": array(0.0), **{n: array(v) for n, v in known.items()}})["y"].data[0]  # fmt: skip
        assert same(want.item(), oracle, 1e-9), point


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_of_conditions(row: ScalarFunction) -> None:
    """A condition in arithmetic is 0 or 1."""
    kind = result(row, Kind.INT)
    tests = {a: where(Apply("gt", (Read(a, ()), Lit(0))), Lit(1), Lit(0)) for a in row.args}
    of_tensors = printed(Apply(row.name, tuple(tests.values())), dict.fromkeys(row.args, Kind.FLOAT), {}, kind)
    whole = Apply(row.name, tuple(Read(a, ()) for a in row.args))
    for point in itertools.product((0, 1), repeat=len(row.args)):
        if row.name in ("floordiv", "mod", "fmod", "remainder") and point[1] == 0:
            continue
        known = dict(zip(row.args, point, strict=True))
        found = of_tensors(**{n: torch.tensor(float(v), dtype=torch.float64) for n, v in known.items()})
        oracle = run(operator(whole, dict.fromkeys(row.args, Kind.INT), {}, kind)[1],
                     {"like": array(0.0), **{n: array(v) for n, v in known.items()}})["y"].data[0]  # fmt: skip
        assert same(found.item(), oracle, 1e-9), point
        assert found.dtype == {Kind.INT: torch.int64, Kind.FLOAT: torch.float64, Kind.BOOL: torch.bool}[kind]
