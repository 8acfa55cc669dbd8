"""Recurrences that random programs came down to when they failed. `SHAPES`: those of specs that need some."""

from __future__ import annotations

FOUND = {
    "what comes out is read one step back as well": (
        "inputs: {x: {shape: [T]}}\noutputs: [y, z]\n"
        "forward: |\n  y[t] = 2*x[t]\n  z[t < T] = where(t > 0, y[t - 1], 7)\n"
    ),
    "a first step that is chosen": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [h]\n"
        "forward: 'h[t, i] = where(t == 0, w[i], h[t - 1, i]) + x[t, i]'\n"
    ),
    "a first step that is an index": (
        "inputs: {x: {shape: [T, N]}}\noutputs: [h, y]\nforward: |\n"
        "  h[t < T, i < N] = tanh(where(t == 0, i, h[t - 1, i])*0.5 + 0.5)\n  y[q < 2] = 0\n"
        "  y[t % 2] += 0.5*h[t, 0]*x[t, 0]\n"
    ),
    "a first step that is chosen, and a start": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [h]\nforward: |\n"
        "  h[-1, i] = 5\n  h[t, i] = where(t == 0, w[i], h[t - 1, i]) + x[t, i]\n"
    ),
    "a last step that is chosen": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [h]\n"
        "forward: 'h[t, i] = where(t == T - 1, w[i], h[t + 1, i])*x[t, i]'\n"
    ),
    "a first row that is chosen, from another of the same recurrence": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [h, g]\nforward: |\n"
        "  h[t, i] = where(t == 0, w[i], g[t - 1, i]) + x[t, i]\n  g[t, i] = where(t == 0, 2, h[t - 1, i])*h[t, i]\n"
    ),
    "a lattice whose first row is chosen": (
        "inputs: {x: {shape: [N, M]}, w: {shape: [M]}}\noutputs: [r]\n"
        "forward: 'r[i, j] = where(i == 0, w[j], r[i - 1, j]) + where(j == 0, 0.5, r[i, j - 1])*x[i, j]'\n"
    ),
    "a wave that goes through pairs, beside what one of each reads": (
        "inputs: {x: {shape: [..., N, 2]}, y: {shape: [N, N]}}\nforward: |\n"
        "  t1[..., -1, r < 2] = -0.25\n  t1[..., -1, -1] = 0.125\n  t1[..., -1, -2] = 0.125\n"
        "  t1[..., s < N, -1] = 0.5\n  t1[..., s < N, -2] = -0.25\n"
        "  t1[..., s < N, r < 2] = max(0.3*t1[..., s - 1, r] + -0.4*t1[..., s - 1, r - 1] + 0.3*t1[..., s - 1, r - 2],"
        " tanh(y[N - 1 - s, 0] + y[N - 1 - s, r + 1]))\n"
    ),
    "a wave equation": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [u]\nforward: |\n  u[-1, i] = w[i]\n"
        "  u[t, i] = x[t, i] - 0.5*u[t - 2, i] + where(i > 0, sin(u[t - 1, i - 1]), 0) + pad(u[t - 1, i + 1], 0)\n"
    ),
    "a profile that spreads, with nothing at its ends": (
        "inputs: {x: {shape: [T, N]}, w: {shape: [N]}}\noutputs: [u]\nforward: |\n  u[-1, i] = w[i]\n"
        "  u[t, i] = x[t, i] + u[t - 1, i] + 0.1*(u[t - 1, i - 1]*u[t - 1, i] + sin(u[t - 1, i + 1]))\n"
    ),
    "neighbours with ends on both sides": (
        "inputs: {x: {shape: [T, N]}}\noutputs: [u]\nforward: |\n  u[t, -1] = 0.5\n  u[t, N] = -1\n"
        "  u[-1, -1] = 0\n  u[-1, N] = 0\n  u[t, i] = sin(x[t, i] + u[t - 1, i - 1]*u[t - 1, i + 1])\n"
    ),
    "a cotangent that one variant asks for": (
        "inputs: {x: {shape: [N]}, w: {shape: [N], optional: true}}\n"
        "outputs: [t, y]\n"
        "forward: |\n"
        "  t[s < N] = tanh(where(x[s] > 0.1, w[N - 1 - s] + w[s], 0.5*t[s + 1]))\n"
        "  y[..., i < N, N] = sum[j < 2](t[N - 1 - i])\n"
        "  y[..., i < N, s < N] = tanh(y[..., i, s + 1]*0.5 + t[s]*x[1])\n"
    ),
    "a start of fewer batch dims": (
        "inputs: {x: {shape: [...]}, ids: {shape: [...], dtype: int}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  t[s < 3] = tanh(t[s - 1]*0.5 + s)\n"
        "  y[-1, ...] = pad(t[ids], 1)\n"
        "  y[s < 2, ...] = tanh(z[s - 1, ...]*0.5 + sin(t[0]))\n"
        "  z[s < 2, ...] = tanh(y[s - 1, ...]*sin(t[1]))\n"
    ),
    "a sum of integers step by step": (
        "inputs: {x: {shape: [..., N]}, ids: {shape: [..., N], dtype: int}}\n"
        "outputs: [c, y]\n"
        "forward: |\n"
        "  c[..., t] = c[..., t - 1] + ids[..., t]\n"
        "  y[..., t] = x[..., t]*c[..., t] + 0.5*y[..., t - 1]\n"
    ),
    "conditions step by step": (
        "inputs: {x: {shape: [..., N]}}\n"
        "outputs: [seen, calm, y]\n"
        "forward: |\n"
        "  seen[..., t] = seen[..., t - 1] or x[..., t] > 0.5\n"
        "  calm[..., N] = true\n"
        "  calm[..., t] = calm[..., t + 1] and x[..., t] < 1\n"
        "  y[..., t] = where(seen[..., t], square(x[..., t]), 0) + where(calm[..., t], x[..., t], 0)\n"
    ),
    "pointers that are followed": (
        "inputs: {x: {shape: [T, S]}, ids: {shape: [T, S], dtype: int}}\n"
        "outputs: [path, y]\n"
        "forward: |\n"
        "  path[T] = 1\n"
        "  path[t] = ids[t, path[t + 1]]\n"
        "  y = sum[t](sin(x[t, path[t]]))\n"
    ),
    "the best path": (
        "inputs: {x: {shape: [..., T, S]}, w: {shape: [S, S]}}\n"
        "outputs: [best, path, score]\n"
        "forward: |\n"
        "  best[..., t, s < S] = x[..., t, s] + max[p < S](best[..., t - 1, p] + w[p, s])\n"
        "  back[..., t < T, s < S] = argmax[p < S](best[..., t, p] + w[p, s])\n"
        "  last[...] = argmax[s < S](best[..., T - 1, s])\n"
        "  path[..., T] = last[...]\n"
        "  path[..., t < T] = where(t == T - 1, path[..., t + 1], back[..., t, path[..., t + 1]])\n"
        "  score[...] = sum[t < T](x[..., t, path[..., t]])\n"
    ),
    "a float, an integer and a condition together": (
        "inputs: {x: {shape: [..., N]}}\n"
        "outputs: [h, c, on]\n"
        "forward: |\n"
        "  h[..., -1] = 0.5\n"
        "  c[..., -1] = 2\n"
        "  h[..., t] = where(on[..., t - 1], 0.5*h[..., t - 1], sin(x[..., t])) + 0.1*c[..., t - 1]\n"
        "  c[..., t] = where(h[..., t] > 0.3, c[..., t - 1] + 1, 0)\n"
        "  on[..., t] = c[..., t] % 2 == 1 and not on[..., t - 1]\n"
    ),
    "a start of a smaller kind": (
        "inputs: {x: {shape: [N]}, on: {shape: [], dtype: bool}}\n"
        "outputs: [c, y]\n"
        "forward: |\n"
        "  c[-1] = on\n"
        "  c[t < N] = 2*c[t - 1] + 1\n"
        "  h[-1] = on\n"
        "  h[t] = 0.5*h[t - 1] + x[t]\n"
        "  y[t] = h[t]*c[t]\n"
    ),
    "an index that cancels in a position out of range": (
        "inputs: {x: {shape: [N, N]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  t[i < 2] = sin(sum[j](x[0, j]))\n"
        "  y[s < N, r < N] = max(0.3*y[s + 1, r] + 0.3*y[s, r + 1], tanh(sin(x[s, r]*pad(t[2*r + 2*s], 0))))\n"
    ),
    "a sum over a dim at which a recurrence starts": (
        "inputs: {x: {shape: [N, M]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  y[N, j] = sum[i < N](sin(x[i, j]))\n"
        "  y[s < N, j] = 0.5*y[s + 1, j] + x[s, j]\n"
    ),
    "a start at two of what is the same at each": (
        "inputs: {x: {shape: [N]}}\n"
        "outputs: {t: {shape: [N], dtype: int8}, y: {shape: [2, 2]}}\n"
        "forward: |\n"
        "  t[i < N] = 2*(x[0])\n"
        "  y[-1, i < 2] = 0.5*t[i]\n"
        "  y[s < 2, i < 2] = tanh(y[s - 1, i]*0.5 + 0.5)\n"
    ),
    "an element in order of what is the same at each": (
        "inputs: {x: {shape: [...]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  y[-1, ..., i < 2] = tanh(sin(x[...]))\n"
        "  y[s < 2, ..., i < 2] = tanh(max(y[s - 1, ..., i], sort[s](x[...])))\n"
    ),
    "waves of one, whose second gradient moves numbers under a condition": (
        "inputs: {x: {shape: [...]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  y[..., s < 1, -1] = 0.5\n"
        "  y[..., 1, -1] = 0.125\n"
        "  y[..., s < 1, r < 1] = tanh(x + 0.3*y[..., s + 1, r] - 0.4*y[..., s, r - 1] + 0.3*y[..., s + 1, r - 1])\n"
    ),
    "a place that data tell, which is a factor too": (
        "inputs: {x: {shape: [M]}, ids: {shape: [N], dtype: int}}\n"
        "outputs: [t]\n"
        "forward: 't[s < 3, i < N] = t[s - 1, i]*0.5 + where(i > 0, x[ids[i - 1]]*ids[i - 1], 0.5)'\n"
    ),
    "a place that data tell one back, whose second gradient moves numbers there": (
        "inputs: {x: {shape: [..., N]}, ids: {shape: [N], dtype: int}}\n"
        "outputs: [t]\n"
        "forward: 't[s < N, ..., i < N] = tanh(t[s - 1, ..., i]*0.5 + where(i > 0, x[..., ids[i - 1]], 0))'\n"
    ),
    "waves that read a first element at the step after theirs where an element wants it": (
        "inputs: {x: {shape: [..., K, N]}, z: {shape: [..., N]}}\n"
        "outputs: [t]\n"
        "forward: |\n"
        "  t[..., s < K, -1] = 0.5\n"
        "  t[..., -1, -1] = 0.125\n"
        "  t[..., s < K, r < N] = tanh(where(z[..., N - 1 - r] < 0.7, 0.5, x[..., s, 0])\n"
        "      + where(0.5*x[..., 0, 0] > 0.1, 0.5*t[..., s - 1, r - 1], 0.2))\n"
    ),
    "waves that read a row of first elements at the step after theirs where an element wants it": (
        "inputs: {x: {shape: [K, N, M]}, z: {shape: [N]}}\n"
        "outputs: [t]\n"
        "forward: |\n"
        "  t[s < K, -1] = 0.5\n"
        "  t[-1, -1] = 0.125\n"
        "  t[s < K, r < N] = tanh(where(z[r] < 0.7 and r + 1 < M, x[s, 0, r + 1], 0.3)\n"
        "      + where(0.5*x[0, 0, 0] > 0.1, 0.5*t[s - 1, r - 1], 0.2))\n"
    ),
    "a sum over the batch beside the steps of what it is summed of": (
        "inputs: {x: {shape: [N, N]}, ids: {shape: [..., N], dtype: int}}\n"
        "forward: |\n"
        "  t1[..., s < N] = sin(where(median[i < 2](x[s % N, s]) > 0.1, 0.5*t1[..., s - 2], 0.2))"
        " + 0.1*tanh(softmax[s](x[0, s]))\n"
    ),
}

SHAPES = {
    "a first step that is an index": {"x": (3, 2)},
    "what comes out is read one step back as well": {"x": (4,)},
    "a wave that goes through pairs, beside what one of each reads": {"x": (2, 3, 2), "y": (3, 3)},
    "a wave equation": {"x": (4, 3), "w": (3,)},
    "neighbours with ends on both sides": {"x": (4, 3)},
    "a cotangent that one variant asks for": {"x": (2,), "w": (2,)},
    "a start of fewer batch dims": {"x": (0,), "ids": ()},
    "a sum of integers step by step": {"x": (2, 3), "ids": (2, 3)},
    "conditions step by step": {"x": (2, 4)},
    "pointers that are followed": {"x": (3, 2), "ids": (3, 2)},
    "the best path": {"x": (2, 3, 3), "w": (3, 3)},
    "a float, an integer and a condition together": {"x": (2, 5)},
    "a start of a smaller kind": {"x": (3,), "on": ()},
    "an index that cancels in a position out of range": {"x": (3, 3)},
    "a sum over a dim at which a recurrence starts": {"x": (3, 2)},
    "a start at two of what is the same at each": {"x": (2,)},
    "an element in order of what is the same at each": {"x": (2,)},
    "waves of one, whose second gradient moves numbers under a condition": {"x": (3,)},
    "a place that data tell, which is a factor too": {"x": (4,), "ids": (4,)},
    "a place that data tell one back, whose second gradient moves numbers there": {"x": (2, 4), "ids": (4,)},
    "waves that read a first element at the step after theirs where an element wants it": {"x": (3, 2), "z": (2,)},
    "waves that read a row of first elements at the step after theirs where an element wants it": {
        "x": (3, 2, 3),
        "z": (2,),
    },
    "a sum over the batch beside the steps of what it is summed of": {"x": (2, 2), "ids": (2, 2)},
}
