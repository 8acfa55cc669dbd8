"""Choices that keep what they choose from being read out of range, in every derivative. `SHAPES`: of some specs."""

from __future__ import annotations

_IDS = "inputs: {x: {shape: [N, M]}, ids: {shape: [N], dtype: int, domain: 0 <= ids < M}}\n"

FOUND = {
    "a place that is read a step back, in the row of each index": (
        f"{_IDS}forward: |\n  y[i < N] = where(i > 0, x[i, ids[i - 1]], 0)\n"
    ),
    "one that is read a step ahead, of a value": (
        f"{_IDS}forward: |\n  z[i, j] = log_softmax[j](x[i, j])\n  y[i < N] = where(i + 1 < N, z[i, ids[i + 1]], 0)\n"
    ),
    "a list that ends before the rows do": (
        "inputs: {x: {shape: [N, M]}, ids: {shape: [W], dtype: int}}\n"
        "forward: |\n  y[i < N] = where(i < W, x[i, ids[i]], 0)\n"
    ),
    "a place that is read at a place": (
        "inputs: {x: {shape: [N, M]}, ids: {shape: [N], dtype: int}, on: {shape: [W], dtype: int}}\n"
        "forward: |\n  y[i < N] = where(ids[i] > 0, x[i, on[ids[i] - 1]], 0)\n"
    ),
    "a remainder by what may be zero": (
        "inputs: {x: {shape: [N, M]}, ids: {shape: [N], dtype: int}}\n"
        "forward: |\n  y[i < N] = where(i < ids[i], x[i, (i + 1) % ids[i]], 0)\n"
    ),
    "a wave between walls": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [u]\nforward: |\n"
        "  u[t, i] = where(w[i] > 0.5, 0, x[t, i] + 0.5*(u[t - 1, i - 1] + u[t - 1, i + 1] - u[t - 2, i]))\n"
    ),
    "a diagonal whose first row is chosen": (
        "inputs: {x: {shape: [T, N]}}\noutputs: [u]\n"
        "forward: 'u[t, i] = x[t, i] + where(t == 0, 0.5, u[t - 1, i - 1])'\n"
    ),
    "a diagonal with a start at its side": (
        "inputs: {x: {shape: [T, N]}}\noutputs: [u]\nforward: |\n  u[t < T, -1] = 1\n"
        "  u[t, i] = x[t, i] + where(t % 2 == 0, 0.5, 0.3*u[t - 1, i - 1])\n"
    ),
    "a half of what is chosen, which an exponential takes in as well": (
        "inputs: {initial_temperatures: {shape: [N]}, ids: {shape: [N], dtype: int, domain: 0 <= ids < N}}\n"
        "forward: |\n  y[i] = where(i > 1, sin(exp(H)) + sinh(H) + cosh(H) + atan(H) + erf(H), 0)\n"
    ).replace("H", "0.5*tanh(initial_temperatures[ids[ids[i]]])"),
}

SHAPES = {
    "a place that is read a step back, in the row of each index": {"x": (3, 2), "ids": (3,)},
    "one that is read a step ahead, of a value": {"x": (3, 2), "ids": (3,)},
    "a list that ends before the rows do": {"x": (3, 2), "ids": (2,)},
    "a place that is read at a place": {"x": (3, 2), "ids": (3,), "on": (2,)},
    "a remainder by what may be zero": {"x": (3, 2), "ids": (3,)},
    "a wave between walls": {"x": (4, 3), "w": (3,)},
    "a diagonal whose first row is chosen": {"x": (3, 4)},
    "a diagonal with a start at its side": {"x": (3, 4)},
    "a half of what is chosen, which an exponential takes in as well": {"initial_temperatures": (4,), "ids": (4,)},
}
