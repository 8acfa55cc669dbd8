"""The CPU kernels of everything the language can say, and of its gradients, compute what the interpreter computes."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import Array, run
from opgen.ir.program import Program, Role
from tests.cuda import emulate
from tests.cuda.harness import near, needs_compiler, sample
from tests.native.cpu import Compiled, compile_plans
from tests.plain import planned
from tests.plan.language import CASES, Case

pytestmark = [pytest.mark.thorough, needs_compiler]


def arguments(p: Program, case: Case, given: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs of a case; cotangents have the shapes of the results they belong to."""
    rng = random.Random(3)
    arrays: dict[str, Array] = {}
    for t in p.inputs:
        if t.role is Role.COTANGENT:
            arrays[t.name] = sample(given[t.of].shape, t.kind, rng)
        else:
            arrays[t.name] = sample(case.shapes[t.name], t.kind, rng)
    return arrays


def compare(
    made: emulate.Emulated, p: Program, case: Case, given: Mapping[str, Array], spread: int
) -> dict[str, Array]:
    arrays = arguments(p, case, given)
    expected = run(p, arrays, case.params)
    got = made.run(arrays, case.params, "float64", spread, spread - 1)
    for name, want in expected.items():
        assert got[name].shape == want.shape, name
        wrong = [(x, y) for x, y in zip(got[name].data, want.data, strict=True) if not near(float(x), float(y), 1e-9)]
        assert not wrong, f"{name}: {wrong[:4]}"
    return expected


def every_program() -> dict[str, Program]:
    """The program of each case, and its gradient as `NAME_backward`."""
    primal = {name: case.program() for name, case in CASES.items()}
    return primal | {
        f"{name}_backward": adjoint(p) for name, p in primal.items() if CASES[name].gradient and not CASES[name].raises
    }


def check(made: Mapping[str, emulate.Emulated], name: str) -> None:
    """What is made of a case, called with tensors of every layout."""
    case = CASES[name]
    p = case.program()
    if case.raises:
        with pytest.raises(IndexError):
            made[name].run(arguments(p, case, {}), case.params)
        return
    results = compare(made[name], p, case, {}, 1)
    compare(made[name], p, case, {}, 2)
    if case.gradient:
        compare(made[f"{name}_backward"], adjoint(p), case, results, 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, emulate.Emulated]:
    """The programs of all cases, in one library."""
    plans = [(name, planned(p)) for name, p in every_program().items()]
    library, launches = compile_plans(plans, tmp_path_factory.mktemp("language"), only="double")
    return {name: Compiled(plan, library, own) for (name, plan), own in zip(plans, launches, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_kernels(made: dict[str, emulate.Emulated], name: str) -> None:
    check(made, name)
