"""What one message proposes in place of notation that is not that of the language computes what was meant."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import follow, whole

B, T, N = 2, 4, 3
SHAPES = {"x": (B, T), "w": (B,), "q": (N, N), "r": (N, N)}
VALUES = {name: torch.randn(shape, generator=torch.Generator().manual_seed(0)) for name, shape in SHAPES.items()}


def legendre(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([torch.special.legendre_polynomial_p(x, n) for n in range(3)])


def downwards(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    steps = {T - 1: x[:, T - 1], T - 2: w}
    for t in reversed(range(T - 2)):
        steps[t] = steps[t + 1] / 2 + steps[t + 2] + x[:, t]
    return torch.stack([steps[t] for t in range(T)], 1)


def series(x: torch.Tensor) -> torch.Tensor:
    steps = [torch.ones(B)]
    for t in range(1, T):
        steps.append(steps[-1] * x[:, t] / t)
    return torch.stack(steps)


def changed(x: torch.Tensor) -> torch.Tensor:
    steps, v = [], torch.zeros(B)
    for t in range(T):
        v = v / 2 + x[:, t] + 2 * x[:, 0]
        steps.append(v)
    return torch.stack(steps, 1)


# Inputs, a spec, what takes the place of what in it (each as a hint says it), and what is computed then.
CASES: list[tuple[str, str, dict[str, str], Callable[..., torch.Tensor]]] = [
    (
        "x",
        whole(
            "inputs: {x: {shape: [B, T]}}",
            "p[0, b, t] = 1",
            "p[1, b, t] = x[b, t]",
            "p[l < 3, b, t] = ((2*l - 1)*x[b, t]*p[l - 1, b, t] - (l - 1)*p[l - 2, b, t])/l",
        ),
        {
            "  p[0, b, t] = 1\n  p[1, b, t] = x[b, t]\n": "",
            "p[l < 3, b, t] = ((2*l - 1)*x[b, t]*p[l - 1, b, t] - (l - 1)*p[l - 2, b, t])/l":
            "p[l < 3, b, t] = where(l == 0, 1, where(l == 1, x[b, t], "
            "((2 * l - 1) * x[b, t] * p[l - 1, b, t] - (l - 1) * p[l - 2, b, t]) / l))",
        },
        legendre,
    ),
    (
        "x w",
        whole(
            "inputs: {x: {shape: [B, T]}, w: {shape: [B]}}",
            "v[c, T - 1] = x[c, T - 1]",
            "v[c, T - 2] = w[c]",
            "v[b, t] = v[b, t + 1]/2 + v[b, t + 2] + x[b, t]",
        ),
        {
            "  v[c, T - 1] = x[c, T - 1]\n  v[c, T - 2] = w[c]\n": "",
            "v[b, t] = v[b, t + 1]/2 + v[b, t + 2] + x[b, t]":
            "v[b, t] = where(t == T - 1, x[b, T - 1], where(t == T - 2, w[b], "
            "v[b, t + 1] / 2 + v[b, t + 2] + x[b, t]))",
        },
        downwards,
    ),
    (
        "x",
        whole("inputs: {x: {shape: [B, T]}}", "h[0, b] = 1", "h[t, b] = h[t - 1, b]*x[b, t]/t"),
        {
            "  h[0, b] = 1\n": "",
            "h[t, b] = h[t - 1, b]*x[b, t]/t": "h[t, b] = where(t == 0, 1, h[t - 1, b] * x[b, t] / t)",
        },
        series,
    ),
    (
        "x",
        whole("inputs: {x: {shape: [B, T]}}", "y[b] = 2*sum[t](x[b, t]*complex(0, 1)**t).real"),
        {
            "y[b] = 2*sum[t](x[b, t]*complex(0, 1)**t).real":
            "y[b] = 2 * real(sum[t](x[b, t] * complex(0, 1)**t))",
        },
        lambda x: 2 * (x[:, 0] - x[:, 2]),
    ),
    (
        "q",
        whole("inputs: {q: {shape: [N, N]}}", "y = trace(q)"),
        {"y = trace(q)": "y = sum[n](q[n, n])"},
        torch.trace,
    ),
    (
        "x w",
        whole("inputs: {x: {shape: [B, T]}, w: {shape: [B]}}", "y[b] = max[t where x[b, t] < w[b]](x[b, t])"),
        {
            "y[b] = max[t where x[b, t] < w[b]](x[b, t])":
            "y[b] = max[t](where(x[b, t] < w[b], x[b, t], -inf))",
        },
        lambda x, w: torch.where(x < w[:, None], x, -math.inf).amax(1),
    ),
    (
        "w x",
        whole("inputs: {w: {shape: [L]}, x: {shape: [L, R]}}",
              "y[i, j] = w[i] + w[j] + x[0, j - i]"),
        {"x[0, j - i]": "pad(x[0, j - i], 0)"},
        lambda w, x: w[:, None] + w + torch.stack((x[0, :2], torch.stack((torch.tensor(0.0), x[0, 0])))),
    ),
    (
        "x",
        whole("inputs: {x: {shape: [B, T]}}\noutputs: [v]",
              "v[b, t] = v[b, t - 1]/2 + x[b, t]", "v[b, t] += 2*x[b, 0]"),
        {
            "v[b, t] = v[b, t - 1]/2": "v1[b, t] = v[b, t - 1] / 2",
            "v[b, t] += 2*x[b, 0]": "v[b, t] = v1[b, t] + 2 * x[b, 0]",
        },
        changed,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "written", "cure", "meant"), CASES)
def test_the_line_that_is_proposed_computes_what_was_meant(
    inputs: str, written: str, cure: dict[str, str], meant: Callable[..., torch.Tensor]
) -> None:
    operator = follow(written, cure)
    (variant,) = operator.variants
    given = {n: VALUES[n] for n in inputs.split()}
    made = run(variant.program, {n: array(v.tolist()) for n, v in given.items()})[operator.outputs[-1]]
    torch.testing.assert_close(torch.tensor(made.data).reshape(made.shape).float(), meant(*given.values()))
