"""Derived programs of the shipped specs against finite differences and each other, all in the interpreter.

No torch and no printed code: what is wrong here is wrong in the calculus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import isfinite
from pathlib import Path

import pytest

from opgen.diff.adjoint import adjoint
from opgen.diff.tangent import tangent
from opgen.ir.interp import Array, run
from opgen.ir.program import Kind, Program
from opgen.ir.verify import verify
from opgen.opt.derive import Derived, derive
from opgen.package.sample_arrays import InputSample
from opgen.package.sample_cases import holds_constant, sample_cases
from opgen.package.sample_values import states_gradients
from opgen.package.samples import SampleCase, default_value
from tests.spec_files import SPECS

from .conftest import lowered

pytestmark = pytest.mark.thorough

STEP = 1e-5
ALL_OF = 16  # elements: what has no more is differenced element by element
SOME = 6
MANY = 250  # elements: the interpreter takes long for second order of what has more
EACH = pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)


@cache
def derived(path: Path) -> tuple[Derived, ...]:
    return tuple(derive(lowered(path)))


@cache
def cases(path: Path) -> tuple[SampleCase, ...]:
    return sample_cases(lowered(path), derived(path))


def calls(path: Path, only_derived: bool = False) -> list[Call]:
    """Every case of a spec that differences can be taken of: what specs state is extreme.

    Stated gradients are left out where finite differences judge.
    """
    if only_derived and states_gradients(lowered(path)):
        pytest.skip("not applicable: another gradient is stated")
    if only_derived and holds_constant(derived(path)):
        pytest.skip("not applicable: differences would move what is detached; the generated tests hold it")
    found = [Call(path, k) for k, c in enumerate(cases(path)) if not c.name.startswith("case ")]
    finite = [call for call in found if call.is_finite()]
    if not finite:
        pytest.skip("not applicable: no sample has finite results")
    return finite


class Call:
    """One case, ready to be evaluated with changed inputs."""

    def __init__(self, path: Path, number: int) -> None:
        operator = lowered(path)
        case = cases(path)[number]
        stated = dict(case.params)
        defaults = {a.name: default_value(a) for a in operator.params}
        self.params = {k: v for k, v in {**defaults, **stated}.items() if v is not None}
        self.program = case.variant.program
        given = [s.arrays(operator.pairs) for _, s in case.inputs if s is not None]
        self.arrays = {name: a for arrays in given for name, a in arrays.items()}
        self.floats = [t.name for t in self.program.inputs if t.kind is Kind.FLOAT and t.differentiable]

    def is_finite(self) -> bool:
        """Whether there are differences of its results."""
        results = run(self.program, self.arrays, self.params)
        return all(isfinite(x) for o in self.program.outputs for x in results[o.name].data)

    def elements(self) -> int:
        return sum(len(a.data) for a in self.arrays.values())

    def weighted(self, p: Program, arrays: dict[str, Array], salts: dict[str, int]) -> float:
        """The sum of all float results of a program, each weighted by a fixed sequence."""
        results = run(p, arrays, self.params)
        total = 0.0
        for o in p.outputs:
            if o.kind is Kind.FLOAT and o.differentiable:
                weights = weighting(results[o.name], salts.get(o.name, 11)).data
                total += sum(w * v for w, v in zip(weights, results[o.name].data, strict=True))
        return total

    def cotangents(self, p: Program, primal: Program, arrays: dict[str, Array]) -> dict[str, Array]:
        results = run(primal, arrays, self.params)
        by_value = {o.name: results[o.name] for o in primal.outputs}
        return {t.name: weighting(by_value[t.of], 11) for t in p.inputs if t.name not in arrays}


def weighting(like: Array, salt: int) -> Array:
    return InputSample("", like.shape, Kind.FLOAT, -1.0, 1.0, salt).array()


def agrees(found: Array, f: Callable[[dict[str, Array]], float], arrays: dict[str, Array], name: str) -> bool:
    """Whether a gradient equals central differences: at every element if they are few, else at some and along lines."""
    count = len(found.data)
    some = range(count) if count <= ALL_OF else sorted({k * (count - 1) // (SOME - 1) for k in range(SOME)})
    lines = [[float(n == k) for n in range(count)] for k in some]
    if count > ALL_OF:
        lines += [weighting(found, salt).data for salt in (3, 17)]
    slopes = []
    for line in lines:
        ends = []
        for step in (STEP, -STEP):
            moved = [v + step * d for v, d in zip(arrays[name].data, line, strict=True)]
            ends.append(f({**arrays, name: Array(arrays[name].shape, moved)}))
        slopes.append((ends[0] - ends[1]) / (2 * STEP))
    along = [sum(g * d for g, d in zip(found.data, line, strict=True) if d) for line in lines]
    return along == pytest.approx(slopes, rel=2e-5, abs=2e-6)


@EACH
def test_adjoint_equals_finite_differences(path: Path) -> None:
    for call in calls(path, only_derived=True):
        _adjoint(call)


def _adjoint(call: Call) -> None:
    backward = verify(adjoint(call.program))
    given = {**call.arrays, **call.cotangents(backward, call.program, call.arrays)}
    found = run(backward, {t.name: given[t.name] for t in backward.inputs}, call.params)
    for o in backward.outputs:
        assert agrees(found[o.name], lambda a: call.weighted(call.program, a, {}), call.arrays, o.of), o.name


@EACH
def test_tangent_is_the_transpose_of_the_adjoint(path: Path) -> None:
    for call in calls(path):
        _transpose(call)


def _transpose(call: Call) -> None:
    backward, forward = verify(adjoint(call.program)), verify(tangent(call.program))
    given = {**call.arrays, **call.cotangents(backward, call.program, call.arrays)}
    pulled = run(backward, {t.name: given[t.name] for t in backward.inputs}, call.params)
    moves = {t.name: weighting(call.arrays[t.of], 5) for t in forward.inputs if t.name not in call.arrays}
    pushed = run(forward, {t.name: {**call.arrays, **moves}[t.name] for t in forward.inputs}, call.params)
    left = sum(
        w * v
        for o in forward.outputs
        for w, v in zip(weighting(pushed[o.name], 11).data, pushed[o.name].data, strict=True)
    )
    right = sum(
        w * v
        for o in backward.outputs
        for w, v in zip(weighting(call.arrays[o.of], 5).data, pulled[o.name].data, strict=True)
    )
    assert left == pytest.approx(right, rel=1e-9, abs=1e-11)


@EACH
def test_second_order_equals_finite_differences_of_the_gradient(path: Path) -> None:
    for call in calls(path):
        if call.elements() <= MANY:
            _second(call)


@pytest.mark.slow
@EACH
def test_second_order_of_large_cases(path: Path) -> None:
    for call in calls(path):
        if call.elements() > MANY:
            _second(call)


def _second(call: Call) -> None:
    backward = verify(adjoint(call.program))
    second = verify(adjoint(backward))
    given = {**call.arrays, **call.cotangents(backward, call.program, call.arrays)}
    given = {t.name: given[t.name] for t in backward.inputs}
    weights = call.cotangents(second, backward, given)
    found = run(second, {t.name: {**given, **weights}[t.name] for t in second.inputs}, call.params)
    for o in second.outputs:
        assert agrees(found[o.name], lambda a: call.weighted(backward, a, {}), given, o.of), o.name


def test_differences_would_notice_a_wrong_gradient() -> None:
    call = Call(next(p for p in SPECS if p.stem == "swiglu"), 0)
    backward = adjoint(call.program)
    wrong = replace(backward, outputs=tuple(replace(o, value=backward.outputs[0].value) for o in backward.outputs))
    given = {**call.arrays, **call.cotangents(wrong, call.program, call.arrays)}
    found = run(wrong, {t.name: given[t.name] for t in wrong.inputs}, call.params)
    o = wrong.outputs[1]
    assert not agrees(found[o.name], lambda a: call.weighted(call.program, a, {}), call.arrays, o.of)
