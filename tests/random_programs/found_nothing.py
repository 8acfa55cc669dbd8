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
    "a place of an empty table at a step that nothing reads": (
        "inputs: {x: {shape: [M]}, y: {shape: [M, 2]}}\n"
        "forward: |\n"
        "  t1[i < 1, j < M] = 4\n"
        "  t[s < 2] = tanh(where(s == 0, 0, t[s - 1])*0.5"
        " + pad(y[s - 2, s], 0)/(1.5 + sin(pad(t1[0, 3*s - 2], -1.5))))\n"
    ),
    "a cotangent that only a place of an order of nothing keeps": (
        "inputs: {y: {shape: [N]}, u: {shape: [M]}, v: {shape: [M]}}\n"
        "forward: |\n"
        "  t[i < M] = tanh(0.5*v[i] - 1 - u[i]/4)/(2 + cos(0.5*v[i] - 1 - u[i]/4))"
        "*where(N > 0, quantile[j](y[j], 0.5), 0.5)\n"
    ),
    "a place that a step reads for sure along one of two axes": (
        "inputs: {x: {shape: [..., N, M]}}\nforward: 't[s < N, ...] = tanh(t[s - 1, ...]*0.5 + x[..., 0, 0])'\n"
    ),
}

SHAPES = {
    "the median of nothing": {"x": (2, 0)},
    "the quantile of nothing": {"x": (2, 0)},
    "a mean over nothing": {"x": (3,), "w": (0,)},
    "a factor beside a mean over nothing": {"x": (), "y": (0,)},
    "a place of an empty table at a step that nothing reads": {"x": (0,), "y": (0, 2)},
    "a cotangent that only a place of an order of nothing keeps": {"y": (0,), "u": (3,), "v": (3,)},
    "a place that a step reads for sure along one of two axes": {"x": (2, 2)},
}
