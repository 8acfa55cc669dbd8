"""Reductions of nothing that random programs came down to when they failed. `SHAPES`: those of all of them."""

from __future__ import annotations

X = "inputs: {x: {shape: [..., N]}}\n"

FOUND = {
    "the median of nothing": X + "forward: 'y[...] = where(N > 0, median[n](x[..., n]), 0.5)'\n",
    "the quantile of nothing": X + "forward: 'y[...] = where(N > 0, quantile[n](x[..., n], 0.3), 0.5)'\n",
    "a mean over nothing": (
        "inputs: {x: {shape: [N]}, w: {shape: [M]}}\n"
        "forward: 'y[i < 2] = where(isfinite(mean[j < M](x[i])), mean[j < M](x[i]), 0.5)'\n"
    ),
    "a factor beside a mean over nothing": (
        "inputs: {x: {shape: []}, y: {shape: [...]}}\nforward: 'm = mean[...](y[...]**2*x)'\n"
    ),
}

SHAPES = {
    "the median of nothing": {"x": (2, 0)},
    "the quantile of nothing": {"x": (2, 0)},
    "a mean over nothing": {"x": (3,), "w": (0,)},
    "a factor beside a mean over nothing": {"x": (), "y": (0,)},
}
