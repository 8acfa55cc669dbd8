"""Orders and extremes that random programs came down to when they failed. `SHAPES`: those of specs that need some."""

from __future__ import annotations

FOUND = {
    "the median of nothing, which neighbours share, where a gradient may be missing": (
        "inputs: {y: {shape: [..., M]}, z: {shape: [N, N]}}\nforward: |\n  t1[...] = pad(y[..., 2], -1.5)\n"
        "  t2[i, j] = z[i, j]*where(M > 0, median[k < M](0.5*z[(2*i + 1) % N, 2]), 0.5)\n"
    ),
    "what nobody reads once a median of one is picked": (
        "inputs: {x: {shape: [N]}}\nforward: |\n  t1[i] = (1.5 + sin(median[j < 1](x[i])))**0.5\n"
    ),
    "the order of what is the same everywhere": (
        "inputs: {x: {shape: [N]}, z: {shape: [N, ..., M]}}\n"
        "outputs: {y: {}, s: {}, t: {}}\n"
        "forward: |\n"
        "  y[..., i < 2*N] = argsort[i](max[j < 2](x[1]))\n"
        "  s[n, ..., m] = sort[n](z[n, ..., m]*x[n])\n"
        "  t[..., m] = median[n](z[n, ..., m])\n"
    ),
    "the third least of what conditions leave": (
        "inputs: {x: {shape: [N, D]}}\n"
        "outputs: [h]\n"
        "forward: |\n"
        "  z[i, j] = where(i == j, inf, sum[d](square(x[i, d] - x[j, d])))\n"
        "  e[i] = kth[j](z[i, j], 3)\n"
        "  h = sum[i](log(e[i]))\n"
    ),
    "the median of nothing that a size keeps from being asked for": (
        "inputs: {x: {shape: [K]}, y: {shape: []}}\nforward: 't = where(K > 0, median[i < K, j < K](y), 0.5)'\n"
    ),
    "the median of nothing at each of a batch": (
        "inputs: {x: {shape: [K]}, y: {shape: [...]}}\n"
        "forward: 't[...] = y*where(K > 0, median[i < K](0.5*y), 0.5) + sum[i](x[i])'\n"
    ),
    "the least of no numbers": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [..., N, N], optional: true}}\n"
        "forward: 'y[i < 2, ...] = x[..., 0]*min[k, ...](w[..., k, k])'\n"
    ),
    "the greatest of no integers": (
        "inputs: {x: {shape: [..., N]}}\nforward: 'y[i < 2] = clamp(max[...](i), -3, 3) + clamp(min[...](i), -4, 5)'\n"
    ),
    "a gradient of the median of nothing": (
        "inputs: {x: {shape: [N]}}\noutputs: [y]\nforward: y[i < 2] = where(N > 0, median[j](x[j]), 0.5)\n"
    ),
    "a gradient of the median of no first elements": (
        "inputs: {x: {shape: [N, M]}}\noutputs: [y]\nforward: y[i < 2] = where(N > 0, median[j](x[j, 0]), 0.5)\n"
    ),
    "the first of what may have none, beside each": (
        "inputs: {x: {shape: [N]}}\noutputs: [y]\nforward: y[i < 1, j] = x[j] + x[i]\n"
    ),
    "a sine of the greatest of no integers": (
        "inputs: {x: {shape: [N]}}\noutputs: [y]\nforward: y[i < 2] = sin(max[j < N, k < 2](i) + min[j < N](j)//2)\n"
    ),
    "the median of what is the same everywhere, added up along a diagonal": (
        "inputs: {y: {shape: [N]}}\n"
        "outputs: [t]\n"
        "forward: |\n"
        "  s[i < N, j < N] = logcumsumexp[i](median[k < N, l < N](y[0]))\n"
        "  t[i] = softmax[i](s[i, i])\n"
    ),
    "the median of what is repeated, added up along a diagonal": (
        "inputs: {y: {shape: [N]}}\n"
        "outputs: [t]\n"
        "forward: |\n"
        "  s[i < N, j < N] = logcumsumexp[i](median[k < N, l](y[l]))\n"
        "  t[i] = softmax[i](s[i, i])\n"
    ),
    "the greatest of a function whose last bits the place decides": (
        "inputs: {x: {shape: [..., N, N]}}\nforward: 't[..., i] = max[j < N](exp2(x[..., i, j//2]))'\n"
    ),
}

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "the median of nothing, which neighbours share, where a gradient may be missing": {"y": (0, 0), "z": (4, 4)},
    "the order of what is the same everywhere": {"x": (3,), "z": (3, 2, 2)},
    "the third least of what conditions leave": {"x": (5, 2)},
    "the median of nothing that a size keeps from being asked for": {"x": (0,), "y": ()},
    "the median of nothing at each of a batch": {"x": (0,), "y": (2,)},
    "the least of no numbers": {"x": (0, 2), "w": (0, 2, 2)},
    "what nobody reads once a median of one is picked": {"x": (3,)},
    "the greatest of no integers": {"x": (0, 2)},
    "a gradient of the median of nothing": {"x": (0,)},
    "a gradient of the median of no first elements": {"x": (0, 2)},
    "the first of what may have none, beside each": {"x": (1,)},
    "a sine of the greatest of no integers": {"x": (0,)},
    "the median of what is the same everywhere, added up along a diagonal": {"y": (2,)},
    "the median of what is repeated, added up along a diagonal": {"y": (2,)},
    "the greatest of a function whose last bits the place decides": {"x": (3, 3)},
}
