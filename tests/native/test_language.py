"""The CPU kernels of everything the language can say, and of its gradients, compute what the interpreter computes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import Array, run
from opgen.ir.program import Program, Role
from tests.cuda import emulate
from tests.cuda.harness import near, needs_compiler, sample
from tests.native.cpu import Compiled
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


@pytest.mark.parametrize("name", CASES)
def test_kernels(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    p = case.program()
    made = Compiled.alone(p, tmp_path)
    if case.raises:
        with pytest.raises(IndexError):
            made.run(arguments(p, case, {}), case.params)
        return
    results = compare(made, p, case, {}, 1)
    compare(made, p, case, {}, 2)
    if case.gradient:
        backward = adjoint(p)
        (tmp_path / "backward").mkdir()
        compare(Compiled.alone(backward, tmp_path / "backward"), backward, case, results, 1)
