"""Stated derivatives are what every further derivative goes by, whichever mode each order is taken in."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import product
from types import ModuleType

import pytest
import torch

import opgen

Function = Callable[[torch.Tensor], torch.Tensor]


class _Step(torch.autograd.Function):
    """A step with a smooth gradient, as one writes it by hand."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + v.abs()) ** 2


STEP = 'functions: {st(v): {value: "where(v > 0, 1, 0)", derivative: "1/(1 + abs(v))**2"}}\n'
OTHER = torch.tensor([0.5, -2.0, 1.5], dtype=torch.float64)
X = torch.tensor([0.3, -0.4, 1.2], dtype=torch.float64)


def _recurrent(x: torch.Tensor) -> torch.Tensor:
    h, steps = x.new_zeros(()), []
    for t in range(len(x)):
        h = x[t] * _Step.apply(x[t] + 0.5 * h)
        steps.append(h)
    return torch.stack(steps)


def _scattered(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(2, dtype=x.dtype).index_add(0, torch.tensor([0, 1, 0]), x * _Step.apply(x))


CASES: dict[str, tuple[str, tuple[torch.Tensor, ...], Function]] = {
    "product of inputs": (
        f'inputs: {{x: {{shape: [N]}}, w: {{shape: [N]}}}}\n{STEP}forward: "y[n] = tanh(w[n]*st(x[n]*w[n])*x[n])"',
        (OTHER,),
        lambda x: torch.tanh(OTHER * _Step.apply(x * OTHER) * x),
    ),
    "reduction": (
        f'inputs: {{x: {{shape: [N]}}}}\n{STEP}forward: "y = exp(sum[n](x[n]*st(x[n])))"',
        (),
        lambda x: (x * _Step.apply(x)).sum().exp(),
    ),
    "recurrence": (
        f'inputs: {{x: {{shape: [T]}}}}\n{STEP}forward: "h[t] = x[t]*st(x[t] + 0.5*h[t - 1])"',
        (),
        _recurrent,
    ),
    "scatter": (
        "inputs: {x: {shape: [N]}, at: {shape: [N], dtype: int}}\nparams: {size: {type: int, default: 2}}\n"
        f'{STEP}forward: "out[at[n]] += x[n]*st(x[n])"\ndims: {{S: size}}\noutputs: {{out: {{shape: [S]}}}}',
        (torch.tensor([0, 1, 0]),),
        _scattered,
    ),
}


def _derivative(f: Function, modes: str) -> Function:
    for mode in modes:
        f = torch.func.jacfwd(f) if mode == "f" else torch.func.jacrev(f)
    return f


def _by_hand(f: Function) -> torch.Tensor:
    x = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sin().sum(), x, create_graph=True)
    return torch.stack([torch.autograd.grad(g, x, retain_graph=True)[0] for g in gradient])


@pytest.mark.parametrize("case", CASES)
def test_surrogate_gradients_in_both_modes(case: str) -> None:
    spec, more, formula = CASES[case]
    made = opgen.load(f"op: surrogate\n{spec}\n", compiled=False)
    wanted = _by_hand(formula)
    found = {m: _derivative(lambda x: made(x, *more).sin().sum(), m)(X) for m in ("rr", "rf", "fr", "ff")}
    for modes, hessian in found.items():
        torch.testing.assert_close(hessian, wanted, msg=lambda text, m=modes: f"{m}: {text}")


def test_derivatives_of_any_order_follow_the_stated_one() -> None:
    made = opgen.load(
        """
op: stat
inputs: [x]
functions: {f(v): {value: v*v, derivative: 3*v}}
forward: y = f(x)*x*x
""",
        compiled=False,
    )
    one = torch.tensor(1.0, dtype=torch.float64)
    for order, wanted in ((1, 5.0), (2, 17.0), (3, 36.0)):
        for modes in map("".join, product("fr", repeat=order)):
            assert _derivative(made, modes)(one).item() == wanted, modes


def test_derivatives_that_read_params_and_call_functions() -> None:
    made = opgen.load(
        """
op: several
inputs: [x, w]
params: {a: {type: float, default: 2.0}}
functions:
  f(v): {value: "v*v", derivative: "3*v"}
  g(v, u): {value: "a*v*u", derivative: {v: "2*a*u + f(v)", u: "a*g(v, u)"}}
forward: y = f(x)*x*g(x, w)
""",
        compiled=False,
    )
    w = torch.tensor(0.7, dtype=torch.float64)
    x = torch.tensor(1.3, dtype=torch.float64)
    # by the product rule, with f' = 3x, g' = 2aw + f and g'' = f'
    f, g, slope = x**2, 2 * x * w, 4 * w + x**2
    first_of_rest = 3 * x * x + f  # of f*x
    second_of_rest = 3 * x + 3 * x + 3 * x
    wanted = second_of_rest * g + 2 * first_of_rest * slope + f * x * 3 * x
    for modes in ("rr", "rf", "fr", "ff"):
        torch.testing.assert_close(_derivative(lambda x: made(x, w), modes)(x), wanted)


@pytest.mark.parametrize("outer", ["reverse", "forward"])
def test_compilers_trace_the_derivative_of_a_tangent(outer: str) -> None:
    spec, _, formula = CASES["recurrence"]
    made = opgen.load(f"op: traced\n{spec}\n", compiled=False)

    def along(x: torch.Tensor) -> torch.Tensor:
        return torch.func.jvp(lambda x: made(x).sin().sum(), (x,), (OTHER,))[1]

    def twice(x: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(along)(x) if outer == "reverse" else torch.func.jvp(along, (x,), (OTHER,))[1]

    wanted = _by_hand(formula) @ OTHER
    found = torch.compile(twice, fullgraph=True, backend="aot_eager")(X)
    torch.testing.assert_close(found, wanted if outer == "reverse" else wanted @ OTHER)


def _agree(spec: str, wanted: float) -> None:
    made = opgen.load(f"op: agreeing\n{spec}", compiled=False)
    found = {m: _derivative(made, m)(torch.tensor(1.0, dtype=torch.float64)).item() for m in ("rr", "rf", "fr", "ff")}
    assert found == pytest.approx(dict.fromkeys(found, wanted))


def test_functions_whose_names_differ_in_case_only() -> None:
    _agree(
        """
inputs: [x]
functions:
  f(v): {value: v*v, derivative: 3*v}
  F(v): {value: v*v*v, derivative: 5*v}
forward: y = f(x)*F(x)
""",
        3 + 3 * 5 + 5 * 3 + 5,
    )


def test_a_function_of_another_library_whose_derivative_goes_on_to_a_stated_one() -> None:
    # at 1: f = 1, f' = b, j = sin, j' = f, j'' = f'
    _agree(
        """
inputs: [x]
params: {b: {type: float, default: 2.0}}
functions:
  f(v): {value: v*v, derivative: b*v}
  j(v): {extern: {cpp: "::sin"}, value: sin(v), derivative: f(v)}
forward: y = x*j(x)
""",
        1 + 1 + 2,
    )


GUARDED = {
    "alone": 'inputs: {x: {shape: [T]}}\nforward: "y[t] = where(x[t] > 0, root(x[t])*x[t], 0)"',
    "in a recurrence": 'inputs: {x: {shape: [T]}}\nforward: "h[t] = h[t - 1] + where(x[t] > 0, root(x[t])*x[t], 0)"',
}


@pytest.mark.parametrize("case", GUARDED)
def test_a_branch_that_is_not_taken_does_no_harm(case: str) -> None:
    function = 'functions: {root(v): {value: sqrt(v), derivative: "1/(2*sqrt(v))"}}\n'
    made = opgen.load(f"op: guarded\n{function}{GUARDED[case]}\n", compiled=False)
    x = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64)
    weight = 1.0 if case == "alone" else 3.0  # how many sums the first element is in
    for modes in ("rr", "rf", "fr", "ff"):
        hessian = _derivative(lambda x: made(x).sum(), modes)(x)
        torch.testing.assert_close(hessian, torch.diag(torch.tensor([0.75 * weight, 0, 0], dtype=torch.float64)))


def test_the_autograd_function_refuses_what_torch_would_get_wrong(build_alone: Callable[[str], ModuleType]) -> None:
    spec, _, _ = CASES["recurrence"]
    made = build_alone(f"op: refusing\n{spec}\n")
    function = importlib.import_module(f"{made.__name__}.function").RefusingFunction
    x = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function.apply(x).sin().sum(), x, create_graph=True)
    torch.testing.assert_close(gradient, torch.autograd.grad(made.refusing(x).sin().sum(), x)[0])
    with pytest.raises(RuntimeError, match="RefusingFunction cannot be differentiated twice: its gradient calls"):
        torch.autograd.grad(gradient.sum(), x)
