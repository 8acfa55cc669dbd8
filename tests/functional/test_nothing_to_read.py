"""Plain torch where there is nothing to read: an IndexError that names the operator and the operand."""

from __future__ import annotations

from math import inf, nan

import pytest
import torch

import opgen

NOTHING = {
    "a part of a dim": (
        "{x: {shape: [D]}, z: {shape: [G]}}", "y[d] = x[d]*z[d//2]",
        (torch.ones(4), torch.ones(0)), "z",
    ),
    "a rest": (
        "{ids: {shape: [N], dtype: int}, table: {shape: [T]}}", "y[n] = table[ids[n]%T]",
        (torch.tensor([3, 4]), torch.ones(0)), "table",
    ),
    "one further back": (
        "{x: {shape: [K]}, d: {shape: [J]}}", "y[k] = where(k > 0, d[k - 1], 1)*x[k]",
        (torch.ones(3), torch.ones(0)), "d",
    ),
    "one element for all": (
        "{x: {shape: [N]}, y: {shape: [N, M]}}", "t[i] = x[i] + y[0, 0]",
        (torch.ones(2), torch.ones(2, 0)), "y",
    ),
    "a position that is chosen": (
        "{keep: {shape: [K], dtype: bool}, d: {shape: [J]}}", "y[k] = d[where(keep[k], k, 0)]",
        (torch.zeros(3, dtype=torch.bool), torch.ones(0)), "d",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTHING)
def test_it_is_said_what_is_empty(name: str) -> None:
    inputs, formula, given, named = NOTHING[name]
    op = opgen.load(f"op: made\ninputs: {inputs}\nforward: '{formula}'", compiled=False)
    with pytest.raises(IndexError, match="made: ") as raised:
        op(*given)
    assert named in str(raised.value)


@pytest.mark.parametrize("formula", [
    "y[k] = where(k > 0, d[k - 1], 1)*x[k]",
    "y[k] = where(x[k] > 1, d[ids[k]], 1)*x[k]",
    "y[k] = where(x[k] > 0, 1, where(x[k] > -1, 2, d[ids[k]]))*x[k]",
])  # fmt: skip
def test_what_is_not_wanted_needs_nothing(formula: str) -> None:
    inputs = "{x: {shape: [K]}, d: {shape: [J]}, ids: {shape: [K], dtype: int}}"
    op = opgen.load(f"op: made\ninputs: {inputs}\nforward: '{formula}'", compiled=False)
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    d, ids = torch.ones(0, dtype=torch.float64, requires_grad=True), torch.tensor([5])
    grad_x, grad_d = torch.autograd.grad(op(x, d, ids), (x, d), create_graph=True)
    assert grad_x == 1
    assert grad_d.shape == (0,)
    assert torch.autograd.grad(grad_x, x)[0] == 0
    assert torch.equal(torch.func.vmap(op, (0, None, None))(x[None], d, ids), x[None])


def test_a_condition_on_sizes_that_is_off_by_one() -> None:
    op = opgen.load("op: made\ninputs: {x: {shape: [N]}}\nforward: 'y = where(N > 1, x[2], 1)'", compiled=False)
    assert op(torch.zeros(1)) == 1
    assert op(torch.zeros(3)) == 0
    with pytest.raises(IndexError, match="made: "):
        op(torch.zeros(2))


@pytest.mark.parametrize("formula", ["sum[s < 3](x[(k + s) % N]*w[s])", "x[(2*k + 1) % N]*w[0]"])
def test_a_ring_without_places_has_gradients(formula: str) -> None:
    spec = f"op: ring\ninputs: {{x: {{shape: [N]}}, w: {{shape: [3]}}}}\nforward: y[k < N] = {formula}"
    op = opgen.load(spec, compiled=False)
    x, w = torch.ones(0, requires_grad=True), torch.ones(3, requires_grad=True)
    first = torch.autograd.grad(op(x, w).sum(), (x, w), create_graph=True)
    assert [g.shape for g in first] == [(0,), (3,)]
    assert not torch.autograd.grad(first[0].sum() + first[1].sum(), w, materialize_grads=True)[0].any()


@pytest.mark.parametrize(
    ("of_size", "value"), [("rsqrt(D)", inf), ("D**-0.5", inf), ("1/D", inf), ("log(D)", -inf), ("0/D", nan)]
)
def test_a_function_of_a_size_that_is_0_is_what_it_is_of_tensors(of_size: str, value: float) -> None:
    spec = f"op: empty_rows\ninputs: {{x: {{shape: [N, D]}}}}\nforward: y[n] = sum[d](x[n, d]) + {of_size}\n"
    x = torch.ones(2, 0, requires_grad=True)
    y = opgen.load(spec, compiled=False)(x)
    torch.testing.assert_close(y, torch.full((2,), value), equal_nan=True)
    assert torch.autograd.grad(y.sum(), x)[0].shape == (2, 0)
