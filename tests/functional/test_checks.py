"""The generated checks themselves, on operators for which a check says something wrong or takes too long.

In goes a spec; its generated test class is asked for one check, which must pass.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.autograd.gradcheck import GradcheckError

import opgen

Build = Callable[[str], ModuleType]


def checks(package: ModuleType) -> Any:
    """An instance of the generated test class."""
    name = package.__name__.rpartition(".")[2]
    module = importlib.import_module(f"{package.__name__}.test_{name}")
    (found,) = [v for n, v in vars(module).items() if n.startswith("Test")]
    return found()


def test_differences_leave_infinite_results_out(build_operator: Build) -> None:
    spec = """
op: tops
inputs: {x: {shape: [N]}}
outputs: {y: {shape: [2]}}
forward: "y[0*n] max= x[n]"
"""
    made = checks(build_operator(spec))
    assert torch.isinf(made.call(made.cases[0], *made.cases[0].arguments())[0]).any()
    made.test_gradcheck(made.cases[0])
    made.test_gradgradcheck(made.cases[0])


def test_a_gradient_is_as_exact_as_that_of_torch_where_terms_cancel(build_operator: Build) -> None:
    spec = """
op: of_one
inputs: {x: {shape: [N, T]}, scale: {shape: [N]}}
outputs: [y, mu]
forward: |
  mu[n] = mean[t](x[n, t])
  y[n, t] = scale[n]*(x[n, t] - mu[n])*rsqrt(mean[t](square(x[n, t] - mu[n])) + 1e-5)
tests: {sizes: {T: 1}}
"""
    made = checks(build_operator(spec))
    for case in made.cases:
        made.test_low_precision(case, torch.float32)


def test_a_gradient_that_is_less_exact_than_that_of_torch_is_told(build_operator: Build) -> None:
    spec = """
op: cancelling
inputs: [x]
functions: {squared(v): {value: v**2, derivative: 2*v*square(cosh(8*v)) - 2*v*square(sinh(8*v))}}
forward: y = squared(x)
"""
    made = checks(build_operator(spec))
    with pytest.raises(AssertionError, match="more than rounding inputs explains"):
        made.test_low_precision(made.cases[0], torch.float32)


def test_tangents_are_laid_out_as_results(build_operator: Build) -> None:
    spec = """
op: orbit
inputs: {f: {shape: [..., T, C]}, p0: {shape: [..., C]}}
outputs: [p, late]
forward: |
  v[..., t, c] = v[..., t - 1, c] + f[..., t, c]
  p[..., -1, c] = p0[..., c]
  p[..., t, c] = p[..., t - 1, c] + v[..., t - 1, c]
  g[..., t, c] = 0.5*g[..., t + 1, c] + v[..., t, c]
  late[..., t < T, c] = v[..., t - 1, c]*g[..., t + 1, c]
"""
    made = checks(build_operator(spec))
    made.test_gradcheck(made.cases[0])


@pytest.mark.parametrize("steps", ["h[-1, p] = s[p]\nh[t, p] = a[t]*h[t - 1, p]", "h[t, p] = a[t]*h[t - 1, p] + s[p]"])
def test_tangents_of_many_directions_where_a_result_is_a_part(steps: str) -> None:
    f = opgen.op(
        f"{steps}\nlast[p] = h[T - 1, p]\ny[p] = square(c[p])", name="last_step", outputs=["y", "last"], compiled=False
    )
    given = {"a": torch.rand(3), "c": torch.rand(2), "s": torch.rand(2)}
    y, last = torch.autograd.functional.jacobian(
        lambda c: f(**{**given, "c": c}), given["c"], strategy="forward-mode", vectorize=True
    )
    assert torch.equal(y, torch.diag(2 * given["c"]))
    assert not last.any()


def test_complex_results_of_floats_are_spread_over_devices(build_operator: Build) -> None:
    spec = "op: turn\ninputs: {x: {shape: [N]}}\nforward: y[n] = exp(complex(0, x[n]))\n"
    made = checks(build_operator(spec))
    made.test_sharding(made.cases[0])


def test_values_of_a_formula_whose_names_python_has(build_operator: Build) -> None:
    spec = """
op: scaled_bessel
inputs: [x, len]
params: {dtype: {type: float, default: 1.5}}
functions:
  j0(x): {extern: {torch: torch.special.bessel_j0}, derivative: -j1(x)}
  j1(x): {extern: {torch: torch.special.bessel_j1}, derivative: "where(x == 0, 1/2, j0(x) - j1(x)/x)"}
forward: y = j0(x/len)*dtype
"""
    made = checks(build_operator(spec))
    for case in made.cases:
        made.test_values(case)


def test_what_another_library_computes_is_exported_whole(build_operator: Build) -> None:
    spec = "op: grown\ninputs: [x]\noutputs: {y: {shape: [...]}}\nforward: {torch: torch.exp}\n"
    made = checks(build_operator(spec))
    made.test_export(made.cases[0])


def test_arrays_of_numpy_are_copies_where_torch_copies_late(build_operator: Build) -> None:
    spec = """
op: turned
inputs: [x]
functions:
  at(x): {extern: {numpy: numpy.arctan}, derivative: "1/(1 + x**2)"}
forward: y = at(x)
"""
    made = checks(build_operator(spec))
    made.test_copy_on_write(made.cases[0])


@pytest.mark.thorough
def test_many_tensors_are_not_watched_in_all_choices(build_operator: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "abcdefgh"
    made = checks(build_operator(f"op: many\ninputs: [{', '.join(names)}]\nforward: y = {'*'.join(names)}\n"))
    calls, call = [], type(made).call
    monkeypatch.setattr(type(made), "call", lambda *args: calls.append(1) or call(*args))
    made.test_composite_compliance(made.cases[0])
    few = 2 * len(names) + 2
    assert len(calls) <= few * few + 3 * few + 10


@pytest.mark.thorough
def test_many_tensors_are_not_batched_in_all_ways(build_operator: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "abcdefghijk"
    made = checks(build_operator(f"op: lot\ninputs: [{', '.join(names)}]\nforward: y = {'*'.join(names)}\n"))
    calls, call = [], type(made).call
    monkeypatch.setattr(type(made), "call", lambda *args: calls.append(1) or call(*args))
    made.test_vmap(made.cases[0])
    assert len(calls) == 3 * (2 * 2 * len(names) + 2)


def test_an_input_without_gradient_beside_one_that_is_overwritten(build_operator: Build) -> None:
    inputs = "{x: {shape: [...]}, label: {shape: [...], differentiable: false}}"
    made = checks(build_operator(f"op: over\ninputs: {inputs}\ninplace: x\nforward: y = max(0, 1 - label*x)\n"))
    made.test_inplace(made.cases[0])


HELD = """
op: straight_through
inputs: [x, w]
forward: y = x*w + detach(round(x)*w - x)
"""


def test_differences_hold_what_is_detached(build_operator: Build) -> None:
    package = build_operator(HELD)
    made = checks(package)
    for case in made.cases:
        made.test_gradcheck(case)
        with pytest.raises(pytest.skip.Exception, match="detached"):
            made.test_gradgradcheck(case)

    def wrong(x: torch.Tensor, w: torch.Tensor, **params: Any) -> torch.Tensor:
        return package.straight_through(x, w, **params) + (x - x.detach())  # type: ignore[no-any-return]

    wrong.__name__ = "straight_through"
    type(made).operator = staticmethod(wrong)
    with pytest.raises(GradcheckError):
        made.test_gradcheck(made.cases[0])


def test_where_torch_has_no_second_derivative_it_is_no_judge(
    build_operator: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = checks(
        build_operator("op: distances\ninputs: {x: {shape: [N, D]}}\nforward: y[i, j] = norm[d](x[i, d] - x[j, d])")
    )
    from torch.testing._internal import common_jit, common_utils

    monkeypatch.setattr(common_utils, "GRAPH_EXECUTOR", common_utils.ProfilingMode.PROFILING)
    made.test_opinfo_composition(common_jit.JitCommonTestCase())
    for case in made.cases:
        made.test_gradgradcheck(case)


def test_a_size_that_is_worked_out_of_another_says_of_which(build_operator: Build) -> None:
    spec = """
op: shorter
inputs: {value: {shape: [B, S]}, reward: {shape: [B, T]}}
dims: {T: S - 1}
forward: "delta[b, t < T] = reward[b, t] + value[b, t + 1] - value[b, t]"
"""
    shorter = build_operator(spec).shorter
    assert shorter(torch.ones(2, 5), torch.ones(2, 4)).shape == (2, 4)
    said = r"reward\[B, T\] has size 5 along T = S - 1 \(S of value\[B, S\]\), where 4 is needed"
    with pytest.raises(ValueError, match=said):
        shorter(torch.ones(2, 5), torch.ones(2, 5))
