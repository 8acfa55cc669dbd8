"""Functions and operators that other libraries compute, from the spec to values and derivatives.

The callables are written into a module beside the generated package, as a user's would be.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import mpmath
import pytest
import torch
from torch.autograd.gradcheck import gradcheck, gradgradcheck

Build = Callable[[str], ModuleType]

LIBRARY = """
import numpy
import torch

def doubled(x):
    return x * 2

def folded(x):
    return x.sum()

def solve(a, b):
    return torch.linalg.solve(a, b)

def solve_backward(grad, a, b, x):
    grad_b = torch.linalg.solve(a.mT, grad)
    return -grad_b @ x.mT, grad_b

def running(x, weight, scale=1.0):
    y = numpy.cumsum(x, -1) * scale
    return y if weight is None else y * weight

def running_backward(grad, x, weight, y, scale=1.0):
    weighted = grad if weight is None else grad * weight
    grad_x = numpy.flip(numpy.cumsum(numpy.flip(weighted, -1), -1), -1) * scale
    return grad_x, None if weight is None else grad * numpy.cumsum(x, -1) * scale

def sorted_with_places(x):
    return tuple(torch.sort(x))
"""

BESSEL = """
op: bessel
inputs: [x]
functions:
  j0(x): {extern: {torch: torch.special.bessel_j0, cpp: "::j0", cuda: "::j0"}, derivative: -j1(x)}
  j1(x):
    extern: {torch: torch.special.bessel_j1, cpp: "::j1", cuda: "::j1"}
    derivative: where(x == 0, 1/2, j0(x) - j1(x)/x)
forward: y = x * j0(x)
"""


@pytest.fixture
def library(tmp_path: Path) -> None:
    (tmp_path / "somebodys.py").write_text(LIBRARY)


def _float64(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_derivatives_that_call_one_another_work_to_any_order(build_alone: Build) -> None:
    bessel = build_alone(BESSEL).bessel
    points = (-1.3, 0.7, 5.0)
    x = _float64(*points).requires_grad_()
    value = bessel(x)
    function = bessel
    for order in range(1, 5):
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
        function = torch.func.grad(function)
        wanted = [float(mpmath.diff(lambda t: t * mpmath.besselj(0, t), p, order)) for p in points]
        assert torch.allclose(value, _float64(*wanted), rtol=1e-7)
        assert torch.allclose(torch.func.vmap(function)(x.detach()), _float64(*wanted), rtol=1e-7)


def test_forward_mode_of_third_order(build_alone: Build) -> None:
    bessel = build_alone(BESSEL).bessel
    third = torch.func.jacfwd(torch.func.jacfwd(torch.func.jacfwd(bessel)))(torch.tensor(0.7, dtype=torch.float64))
    assert third.item() == pytest.approx(float(mpmath.diff(lambda t: t * mpmath.besselj(0, t), 0.7, 3)), rel=1e-9)


@pytest.mark.thorough
def test_numpy_function_equals_the_formula(build_alone: Build) -> None:
    theirs = build_alone("""
op: angle_elsewhere
inputs: [a, b]
params: {gain: {type: float, default: 2.0}}
functions:
  turn(y, x): {extern: {numpy: numpy.arctan2}, derivative: {y: "x/(x**2 + y**2)", x: "-y/(x**2 + y**2)"}}
  scaled(x): {extern: {numpy: numpy.exp}, derivative: "gain*scaled(x)/gain"}
forward: y = gain * turn(a, b) * scaled(a)
""").angle_elsewhere
    ours = build_alone("""
op: angle_here
inputs: [a, b]
params: {gain: {type: float, default: 2.0}}
forward: y = gain * atan2(a, b) * exp(a)
""").angle_here
    arguments = [torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.allclose(theirs(*arguments, gain=1.5), ours(*arguments, gain=1.5))
    found = [
        torch.func.vmap(torch.func.jacrev(torch.func.jacrev(torch.func.jacrev(lambda *x, f=f: f(*x).sum()))))(
            *arguments
        )
        for f in (theirs, ours)
    ]
    assert torch.allclose(*found)
    assert gradcheck(theirs, arguments, check_forward_ad=True, check_batched_grad=True)
    compiled = torch.compile(theirs, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(*arguments), theirs(*arguments))
    assert torch.allclose(theirs(*[a.bfloat16() for a in arguments]).double(), ours(*arguments), rtol=0.1, atol=0.1)


def test_value_is_used_where_no_library_is_named(build_alone: Build, library: None, tmp_path: Path) -> None:
    module = build_alone("""
op: either
inputs: [x]
functions:
  f(x): {value: 3*x, extern: {torch: somebodys.doubled}}
  g(x): {value: 3*x, extern: {cpp: "::erf", cuda: "::erf"}}
forward: y = f(x) + 10*g(x)
""")
    assert module.either(_float64(1.0)).item() == 32
    x = _float64(1.0).requires_grad_()
    assert torch.autograd.grad(module.either(x), x)[0].item() == 33  # the derivative is that of the formula
    kernels = next(tmp_path.glob("*/either/csrc/either_kernels.cpp")).read_text()
    assert "::erf(x_)" in kernels
    assert "3 *" in kernels


def test_function_without_derivative_cuts_the_gradient(build_alone: Build) -> None:
    module = build_alone("""
op: dull
inputs: [x, z]
functions: {f(x): {extern: {numpy: numpy.sinc}}}
forward: |
  y = f(x) * z
  w = f(detach(x)) * z
""")
    x, z = (torch.ones(2, requires_grad=True) for _ in range(2))
    y, w = module.dull(x, z)
    assert (y.requires_grad, w.requires_grad) == (False, True)


def test_back_ends_that_are_not_named_are_reported(build_alone: Build, tmp_path: Path) -> None:
    build_alone(BESSEL.replace("bessel\n", "cpu_only\n", 1).replace(', cuda: "::j0"', ""))
    folder = next(tmp_path.glob("*/cpu_only"))
    assert "CUDA" in (folder / "no_cuda_kernels.txt").read_text()
    assert sorted(p.name for p in (folder / "csrc").iterdir()) == ["cpu_only.cpp", "cpu_only_kernels.cpp"]
    build_alone("op: torch_only\ninputs: [x]\nfunctions: {f(x): {extern: {torch: torch.sin}}}\nforward: y = f(x)\n")
    assert "C++" in next(tmp_path.glob("*/torch_only/no_kernels.txt")).read_text()
    module = build_alone(
        'op: native_only\ninputs: [x]\nfunctions: {f(x): {extern: {cpp: "::erf"}, derivative: x}}\nforward: y = f(x)\n'
    )
    with pytest.raises(RuntimeError, match=r"native_only: f has no form in plain torch"):
        module.native_only(torch.ones(2))


def test_header_is_included(build_alone: Build, tmp_path: Path) -> None:
    build_alone("""
op: with_header
inputs: [x]
functions: {f(x): {value: exp(x), extern: {cpp: "some::f", include: some/f.hpp}}}
forward: y = f(x)
""")
    folder = next(tmp_path.glob("*/with_header/csrc"))
    assert "#include <some/f.hpp>" in (folder / "with_header_kernels.cpp").read_text()
    assert "some" not in (folder / "with_header.cu").read_text()


def test_nothing_is_imported_before_the_first_call(build_alone: Build, tmp_path: Path) -> None:
    module = build_alone("""
op: absent
inputs: [x]
functions: {f(x): {extern: {torch: no_such_package.special.f}, derivative: x}}
forward: y = f(x)
""")
    assert module.absent(torch.empty(2, device="meta")).shape == (2,)
    with pytest.raises(ImportError, match=r"absent: no_such_package.special.f is needed.*'no_such_package'"):
        module.absent(torch.ones(2))


def test_function_must_keep_the_shape(build_alone: Build, library: None) -> None:
    module = build_alone("""
op: reshaped
inputs: [x]
functions: {f(x): {extern: {torch: somebodys.folded}, derivative: x}}
forward: y = f(x)
""")
    with pytest.raises(ValueError, match=r"reshaped: f is called for every element, but somebodys.folded gave \[\]"):
        module.reshaped(torch.ones(2))


def test_operator_named_like_a_row_of_the_table(build_alone: Build) -> None:
    module = build_alone("""
op: tables
inputs: [x]
functions:
  add(a, b): {value: a*b, derivative: {a: b, b: a}}
  neg(a): {extern: {torch: torch.exp}, derivative: neg(a)}
forward: y = add(x, x) + neg(x)
""")
    x = _float64(2.0).requires_grad_()
    (gradient,) = torch.autograd.grad(module.tables(x), x)
    assert gradient.item() == pytest.approx(4 + mpmath.e**2)


SOLVE = """
op: solve
inputs: {a: {shape: [N, N]}, b: {shape: [N, K]}}
outputs: {x: {shape: [N, K]}}
forward: {torch: somebodys.solve}
backward: {torch: somebodys.solve_backward}
"""


def test_operator_that_torch_computes(build_alone: Build, library: None) -> None:
    solve = build_alone(SOLVE).solve
    a = (torch.randn(3, 3, dtype=torch.float64) + 4 * torch.eye(3)).requires_grad_()
    b = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(a @ solve(a, b), b)
    assert gradcheck(solve, (a, b), check_batched_grad=True)
    assert gradgradcheck(solve, (a, b))
    stacked = torch.stack([a, 2 * a])
    assert torch.allclose(torch.func.vmap(solve, in_dims=(0, None))(stacked, b)[1], solve(2 * a, b))
    compiled = torch.compile(solve, fullgraph=True, backend="aot_eager")
    assert torch.allclose(torch.autograd.grad(compiled(a, b).sum(), a)[0], torch.autograd.grad(solve(a, b).sum(), a)[0])
    assert solve(a.half(), b.half()).dtype == torch.float16
    with pytest.raises(ValueError, match="solve"):
        solve(a[:2], b)


def test_operator_that_numpy_computes(build_alone: Build, library: None) -> None:
    running = build_alone("""
op: running
inputs: {x: {shape: [..., N]}, weight: {shape: [N], optional: true}}
params: {scale: {type: float, default: 1.0}}
outputs: {y: {shape: [..., N]}}
forward: {numpy: somebodys.running}
backward: {numpy: somebodys.running_backward}
""").running
    x = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(running(x, scale=2.0), 2 * x.cumsum(-1))
    assert gradcheck(running, (x,), check_batched_grad=True)
    (gradient,) = torch.autograd.grad(running(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_operator_without_backward_is_not_differentiable(build_alone: Build, library: None) -> None:
    ordered = build_alone("""
op: ordered
inputs: {x: {shape: [N]}}
outputs: {y: {shape: [N]}, places: {shape: [N], dtype: int}}
forward: {torch: somebodys.sorted_with_places}
""").ordered
    y, places = ordered(torch.tensor([3.0, 1.0, 2.0], requires_grad=True))
    assert (y.tolist(), places.tolist(), y.requires_grad) == ([1.0, 2.0, 3.0], [1, 2, 0], False)


@pytest.mark.parametrize(
    ("outputs", "callable_name", "message"),
    [
        ("{y: {shape: [N, N]}}", "doubled", r"y must come as a tensor of shape \[3, 3\], not \[3\]"),
        ("{y: {shape: [N]}, z: {shape: [N]}}", "doubled", r"must return 2 results, not 1"),
        ("{y: {shape: [N]}}", "nothing", r"somebodys has no 'nothing'"),
    ],
)
def test_operator_whose_callable_does_not_fit(
    build_alone: Build, library: None, outputs: str, callable_name: str, message: str
) -> None:
    module = build_alone(
        f"op: unfit\ninputs: {{x: {{shape: [N]}}}}\noutputs: {outputs}\nforward: {{torch: somebodys.{callable_name}}}\n"
    )
    with pytest.raises((ValueError, ImportError), match=f"unfit: .*{message}"):
        module.unfit(torch.ones(3))
