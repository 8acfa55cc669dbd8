"""Section 7 of the language page: a `backward` block states the gradient of some inputs."""

from __future__ import annotations

import torch

from .sections import Build, Refused, randn, refused


def gradients(op: object, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    leaves = [t.clone().requires_grad_() for t in inputs]
    results = op(*leaves)  # type: ignore[operator]
    many = results if isinstance(results, tuple) else (results,)
    return torch.autograd.grad(sum(r.sum() for r in many), leaves)


def test_reversal(build_operator: Build) -> None:
    spec = (
        "op: reversal\ninputs: [x]\nparams: {scale: {type: float, default: 2.0}}\nforward: y = x\n"
        "backward: grad_x = -scale * grad_y\n"
    )
    (grad,) = gradients(build_operator(spec).reversal, randn(3))
    assert torch.equal(grad, torch.full((3,), -2.0).double())


def test_inputs_that_are_not_assigned_are_derived(build_operator: Build) -> None:
    spec = "op: partial\ninputs: [x, z]\nforward: y = x*sin(z)\nbackward: grad_x = grad_y\n"
    x, z = randn(3), randn(3, seed=1)
    of_x, of_z = gradients(build_operator(spec).partial, x, z)
    assert torch.equal(of_x, torch.ones(3).double())
    torch.testing.assert_close(of_z, x * torch.cos(z))


def test_outputs_and_intermediates_are_in_scope(build_operator: Build) -> None:
    spec = "op: scoped\ninputs: [x]\nforward: |\n  e = exp(x)\n  y = e/2\nbackward: grad_x = grad_y*(e + y)*x\n"
    x = randn(3)
    (grad,) = gradients(build_operator(spec).scoped, x)
    torch.testing.assert_close(grad, 1.5 * x.exp() * x)


def test_a_gradient_of_the_batch_shape_is_summed_to_its_input(build_operator: Build) -> None:
    spec = "op: summed\ninputs: [x, z]\nforward: y = x + z\nbackward: |\n  grad_x = 2*grad_y\n  grad_z = 3*grad_y\n"
    of_x, of_z = gradients(build_operator(spec).summed, randn(4, 3), randn(3))
    assert torch.equal(of_x, torch.full((4, 3), 2.0).double())
    assert torch.equal(of_z, torch.full((3,), 12.0).double())


def test_the_cotangent_of_an_unused_output_is_zero(build_operator: Build) -> None:
    spec = (
        "op: two\ninputs: [x]\noutputs: [y, z]\nforward: |\n  y = x\n  z = x\nbackward: grad_x = grad_y + 10*grad_z\n"
    )
    x = randn(3).requires_grad_()
    (grad,) = torch.autograd.grad(build_operator(spec).two(x)[0].sum(), x)
    assert torch.equal(grad, torch.ones(3).double())


def test_the_stated_gradient_is_differentiated_again(build_operator: Build) -> None:
    spec = "op: stated\ninputs: [x]\nforward: y = x\nbackward: grad_x = grad_y*x**3\n"
    x = randn(3).requires_grad_()
    (first,) = torch.autograd.grad(build_operator(spec).stated(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second, 3 * x.detach() ** 2)


@refused(
    Refused(
        "gradient_of_no_input", "op: a\ninputs: [x]\nforward: y = x\nbackward: grad_z = grad_y\n", "OPG228", "grad_z"
    ),
    Refused("states_nothing", "op: a\ninputs: [x]\nforward: y = x\nbackward: g = grad_y\n", "OPG228", "g"),
    Refused("unknown_cotangent", "op: a\ninputs: [x]\nforward: y = x\nbackward: grad_x = grad_q\n", "OPG205", "grad_q"),
)
def test_overriding_a_gradient_refused(case: Refused) -> None:
    case.check()
