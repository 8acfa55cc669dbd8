"""Index operators with their derivatives in every order."""

from __future__ import annotations

import math
import random

import pytest

from opgen.diff.adjoint import adjoint
from opgen.diff.tangent import tangent
from opgen.ir.interp import Array, array, run
from opgen.ir.text import statement
from opgen.ir.verify import verify
from tests.diff.programs import check_gradient, check_tangent
from tests.lower.specs import elementwise, lines, program
from tests.lower.test_scatter import judge

X = "{x: {shape: [..., K]}}"
VALUES = Array((2, 4), [0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, -2.0])


@pytest.mark.parametrize("op", ["cumsum", "cumprod", "logcumsumexp"])
@pytest.mark.parametrize("body", ["x[..., k]", "sin(x[..., k])*x[..., 0]"])
def test_scans_in_every_order(op: str, body: str) -> None:
    p = verify(program(elementwise(f"y[..., k] = {op}[k]({body})*x[..., k]", X)))
    judge(p, {"x": VALUES})


@pytest.mark.parametrize("zeros", [(0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)])
def test_running_products_are_exact_through_zeros(zeros: tuple[int, ...]) -> None:
    p = verify(program(elementwise("y[..., k] = cumprod[k](x[..., k])", X)))
    judge(p, {"x": Array((1, 4), [0.0 if k in zeros else v for k, v in enumerate(VALUES.data[:4])])})


def test_running_logsumexp_is_stable() -> None:
    p = program(elementwise("y[..., k] = logcumsumexp[k](x[..., k])", X))
    arrays = {"x": Array((4,), [-math.inf, 1000.0, 1000.0, -1000.0]), "grad_y": Array((4,), [1.0, 1.0, 1.0, 1.0])}
    backward = adjoint(p)
    assert run(backward, arrays)["grad_x"].data == pytest.approx([0, 2.0, 1.0, 0.0])
    second = run(adjoint(backward), {**arrays, "grad_grad_x": Array((4,), [1.0] * 4)})
    assert all(math.isfinite(v) for a in second.values() for v in a.data)
    moved = run(tangent(p), {"x": arrays["x"], "tangent_x": Array((4,), [1.0] * 4)})
    assert moved["tangent_y"].data == pytest.approx([0, 1.0, 1.0, 1.0])


def test_a_running_sum_backwards_starts_at_the_end() -> None:
    p = program(elementwise("y[..., k] = cumsum[k](x[..., k])", X))
    backward = adjoint(p)
    assert lines(backward) == [
        "cumsum_grad_y[..., k < K] = cumsum[k](grad_y[..., K - 1 - k])",
        "grad_x[..., k < K] = cumsum_grad_y[..., K - 1 - k]",
    ]
    assert "cumsum[" in statement(adjoint(backward).statements[1])


def test_sorting_is_a_gather() -> None:
    text = elementwise("order[..., k] = argsort[k](x[..., k])\ny[..., k] = x[..., order[..., k]]", X)
    p = verify(program(text))
    assert run(p, {"x": array([2.0, -1.0, 0.5])})["y"].data == [-1.0, 0.5, 2.0]
    judge(p, {"x": VALUES})


def test_stable_and_integer_scans() -> None:
    text = elementwise("y[k] = argsort[k](x[k])\nc[k] = cumsum[k](where(x[k] > 0, 1, 0))", "{x: {shape: [K]}}")
    found = run(program(text), {"x": array([1.0, 0.0, 1.0, 0.0])})
    assert found["y"].data == [1, 3, 0, 2]
    assert found["c"].data == [1, 1, 2, 2]


@pytest.mark.parametrize("op", ["cumsum", "cumprod", "logcumsumexp"])
def test_scans_within_a_recurrence(op: str) -> None:
    text = f"h[..., t, k] = {op}[k](sin(x[..., t, k]) + where(t == 0, 1, 0.5*h[..., t - 1, k]))"
    p = verify(program(elementwise(text, "{x: {shape: [..., T, K]}}", "outputs: [h]")))
    judge(p, {"x": Array((2, 4), VALUES.data)})


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_joint_normalisation(op: str) -> None:
    p = verify(
        program(elementwise(f"y[..., i, j] = {op}[i, j](x[..., i, j])*x[..., j, i]", "{x: {shape: [..., N, N]}}"))
    )
    rng = random.Random(1)
    arrays = {"x": Array((2, 2, 2), [rng.uniform(-1, 1) for _ in range(8)])}
    judge(p, arrays)
    q = verify(program(elementwise(f"y[..., k] = {op}[..., k](x[..., k])", X)))
    found = run(q, {"x": VALUES})["y"].data
    total = sum(map(math.exp, found)) if op == "log_softmax" else sum(found)
    assert total == pytest.approx(1.0)
    backward = verify(adjoint(q))
    seeds = check_gradient(q, backward, {"x": VALUES})
    check_tangent(q, tangent(q), backward, {"x": VALUES})
    check_gradient(backward, verify(adjoint(backward)), seeds, tolerance=1e-4)
