"""Scatters that random programs came down to when they failed. `SHAPES`: those of specs that need some."""

from __future__ import annotations

FOUND = {
    "a choice on a line of its own that is called like another local": (
        "inputs: {x: {shape: [N, N]}}\n"
        "params: {step: {type: int, default: 1, domain: step >= 0}}\n"
        "functions: {spike(v): {value: 'where(v > 0, 1, 0)', derivative: 1/(1 + abs(v))**2}}\n"
        "outputs: {t2: {shape: [N, 1]}, t3: {shape: [N, 3]}}\n"
        "forward: |\n"
        "  t1 = spike(exp(0.5*tanh(-1.2))**1.5)"
        "/exp(0.5*tanh(x[clamp(int(floor(2*x[3, step] + 1)), 0, N - 1), 1]*pad(x[1, 1], 1)))\n"
        "  t2[p, i < 1] = where(t1 >= x[3, p] + 0.11, t1, pad(x[p, -2*p - 3*i], -1.5))\n"
        "  t2[q//2, i] max= 0.5*(tanh(prod[...](tanh(x[N - 1 - q, q] - x[q, q])))*x[q, 0])\n"
        "  t3[q, i] += x[q, q]\n"
    ),
    "what is told by a number of the call, at every third place": (
        "inputs: {x: {shape: [N]}, w: {shape: [M]}}\ndims: {P: 2*M}\noutputs: {t: {shape: [1, P]}}\nforward: |\n"
        "  t[0, i < P] = where(any[j < 2](w[j] > 0), where(i < P - 1, 0.5, pad(x[i//3], 0)), 0)\n"
    ),
    "a sum at one point of a map, where a dim is long enough": (
        "inputs: {x: {shape: [N]}, y: {shape: [N, M, 2]}}\noutputs: [t3]\nforward: |\n"
        "  t2[p, i < M] = sin(x[p])\n  pad(t2[2*q - 1, i]) max= 0.5*y[q, i, 0]\n"
        "  t3[i < 3] = pad(y[i, -i + 1, 1], -1.5)*sin(t2[i//3, 2])\n"
    ),
    "products of ones at places that data tell": (
        "inputs: {x: {shape: [N]}, ids: {shape: [M], dtype: int, domain: 0 <= ids < N}}\n"
        "outputs: {t: {shape: [N], dtype: int}, y: {}}\n"
        "forward: |\n  t[ids[m]] *= 1\n  y[n] = x[n]*t[n]\n"
    ),
    "what is added to places that data tell, read from the end on": (
        "inputs: {x: {shape: [N]}, y: {shape: [N, ...], optional: true, absent: 0.7}, z: {shape: [N]},"
        ' ids: {shape: [N, ...], dtype: int, domain: "0 <= ids < N"}}\n'
        "params: {scale: {type: float, default: 0.8}}\n"
        "functions:\n  mix(v, u):\n    value: v*exp(0.5*tanh(u))\n    derivative:\n      v: exp(0.5*tanh(u))\n"
        "      u: 0.5*v*exp(0.5*tanh(u))*(1 - square(tanh(u)))\n"
        "outputs: {t1: {shape: [N, ..., 1]}}\n"
        "forward: 't1[ids[q, ...], ..., i] += atan(mix(z[i], y[N - 1 - q, ...])/(0.5 + square(scale)))'\n"
    ),
    "a row beside its first element, where it has none": (
        "inputs: {x: {shape: [M]}}\nforward: |\n  t1 = pad(x[0], 0)\n"
        "  t2[..., i] = softmax[i](where(t1 > 0.3, sqrt(t1), x[i]))\n"
    ),
    "rows that are added to none": (
        "inputs: {x: {shape: [N, M]}, y: {shape: [W, M]}}\noutputs: {t: {shape: [N, M]}}\n"
        "forward: 't[q//2, i] += 0.5*y[q, i]'\n"
    ),
    "a place that data tell, of neighbours that are scattered together": (
        "inputs: {x: {shape: [M, N]}}\noutputs: [y]\nforward: |\n"
        "  y[i < N, s < M] = x[s, clamp(int(floor(2*x[i//3, i//2] + 1)), 0, N - 1)]*x[s, i]\n"
    ),
    "neighbours that are read where a fold ends, and not in it": (
        "inputs: {x: {shape: [M, ..., N]}, y: {shape: [M, N, ...]}}\noutputs: [t1]\nforward: |\n"
        "  t1[..., i < M] = max(logsumexp[j < M](y[i, (j - 2) % N, ...]), pad(y[i, 2*i - 2, ...], 0))"
        " + var[j < 3](x[i//2, ..., i//2]*(1 + 0.1*j))\n"
    ),
    "an extreme of a function that is computed for each row": (
        "inputs: {y: {shape: [M]}}\noutputs: {t1: {shape: [M, M]}, t2: {shape: [M]}}\nforward: |\n"
        "  t1[q, i] max= 0.5*atanh(0.8*tanh(sinc(y[q] + 0.37)))\n  pad(t2[2*q - 1]) += min(t1[q, 2], 0.5)*y[q]\n"
    ),
    "a place in each row but the last": (
        "inputs: {x: {shape: [W, V]}, ids: {shape: [U], dtype: int, domain: 0 <= ids < V}}\ndims: {W: U + 1}\n"
        "outputs: [y]\nforward: |\n  t[u, v] = log_softmax[v](x[u, v])\n  at[u < U] = t[u, ids[u]]\n"
        "  y = sum[u](at[u]) + sum[u](t[u, 0])\n"
    ),
    "a quantile that is scattered, whose place is found by a number of the call": (
        "inputs: {x: {shape: [N]}}\noutputs: {t1: {shape: [N, N]}}\nforward: 't1[q, i] += quantile[j < N](x[i], 0.5)'\n"
    ),
    "a draw for each of several batch dims that is scattered": (
        "inputs: {x: {shape: [..., M, M]}, seed: {dtype: seed}}\noutputs: {y: {shape: [M, ..., M]}}\n"
        "forward: 'y[(2*q + 1) % M, ..., i] *= normal(seed)*x[..., q, i]'\n"
    ),
    "an input that is only asked for, called like a local": (
        "inputs:\n  mask: {shape: [..., N]}\n  position: {shape: [N], dtype: bool, optional: true}\n"
        "params:\n  flag: {type: bool, default: true}\nforward: |\n"
        "  total[..., i < 2] = hypot(mask[..., i]*0.5, 1.5 + sin(0.5)) if flag\n"
        "  total[..., i < 2] = tanh(sin((1.5 + sin(mask[..., i % N]))**0.5)) if not flag\n"
        "  point[p < N, ...] = mask[..., 0]\n"
        "  point[q, ...] += -tanh(total[..., 0]*total[..., clamp(int(floor(2*pad(total[..., q - 2], 0) + 1)), 0, 1)])\n"
    ),
    "ties of what could be written otherwise": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: |\n"
        "  y[p < 2, ...] = 4\n"
        "  y[(2*n + 1) % 2, ...] min= 0.5*(x[..., n]*1/(1.5 + sin(0.5))*x[..., n])\n"
    ),
    "a place beside itself": (
        "inputs: {x: {shape: [N]}, ids: {shape: [N], dtype: int}}\n"
        "forward: |\n"
        "  y[p, i < N] = where(p != i, x[i], x[p])\n"
        "  y[ids[q], i] max= 0.5*x[q] + sin(x[i])\n"
    ),
    "one number for every element of a batch": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [..., N]}}\n"
        "outputs: {t: {shape: [N]}, y: {doc: made}}\n"
        "forward: |\n"
        "  t[p] += 0.5\n"
        "  y[i] = sum[...](t[i]*w[..., i])\n"
    ),
    "an input of which only the dtype is asked": (
        "inputs: {x: {shape: [N, ...]}, w: {shape: [N]}}\n"
        "forward: |\n"
        "  y[i < N, ...] = 2\n"
        "  y[(2*q + 1) % 2, ...] min= cast(w[q] + w[0], x)*w[q]\n"
    ),
    "fractions of totals that start somewhere": (
        "inputs: {x: {shape: [E, D]}, w: {shape: [S, D]}, ids: {shape: [E], dtype: int}}\n"
        "outputs: [y, t]\n"
        "forward: |\n"
        "  t[s, k] = 1 + square(w[s, k])\n"
        "  t[ids[f], d] += 1 + square(x[f, d])\n"
        "  y[d, e] = (1 + square(x[e, d]))/t[ids[e], d]\n"
    ),
    "exponentials as fractions": (
        "inputs: {x: {shape: [..., E]}, ids: {shape: [E], dtype: int}}\n"
        "dims: {S: 2}\n"
        "outputs: [y, z]\n"
        "forward: |\n"
        "  h[e, ...] = exp(sin(x[..., e]))\n"
        "  t[s < S, ...] = 0\n"
        "  t[ids[f], ...] += h[f, ...]\n"
        "  y[..., e] = h[e, ...]/t[ids[e], ...]\n"
        "  z[..., e] = exp(-x[..., e])/t[ids[e], ...]\n"
    ),
    "added to a part": (
        "inputs: {x: {shape: [N]}, w: {shape: [M]}}\n"
        "dims: {E: N + M}\n"
        "outputs: {y: {shape: [E]}}\n"
        "forward: |\n"
        "  y[n < N] += x[n]\n"
        "  y[m < M] += w[m]\n"
    ),
    "dropped beyond the end": (
        "inputs: {x: {shape: [N]}, w: {shape: [M]}}\nforward: |\n  y[n < M] = 0.5*w[n]\n  pad(y[n]) += x[n]\n"
    ),
    "one position under a condition, which a host compares, and padded": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: 'y[..., i < N] = pad(x[..., i - 2], -1.5) + where(i - 2 >= 0, x[..., i - 2]**2, 0)'\n"
    ),
    "places beside the batch that all are one": (
        "inputs: {x: {shape: [N, ...]}, y: {shape: [N, M, 2]}}\n"
        "dims: {P: (N + 1)//2}\n"
        "outputs: [t2]\n"
        "forward: |\n"
        "  t1[..., i < P, -1] = sin(asinh(y[i + 1, (i + 1) % M, 0]))\n"
        "  t1[..., i < P, s < P] = tanh(t1[..., i, s - 1])\n"
        "  t2[p < N, i < 2, ...] = t1[..., 0, 0]*t1[..., clamp(int(floor(2*t1[..., 0, 0] + 1)), 0, P - 1), 0]\n"
        "  t2[q, i, ...] min= 0.5*x[q, ...]\n"
    ),
    "a place drawn for what is read along the lanes, below a place of its own": (
        "inputs: {x: {shape: [N, ...]}, y: {shape: [N, M]}, seed: {dtype: seed}}\n"
        "outputs: [t2]\n"
        "forward: |\n"
        "  t1[i < 3, j < N, ...] = median[k < M, l < 2](-y[N - 1 - j, k])\n"
        "  t2[p, i < 2, ...] = "
        "reciprocal(0.5 + square(t1[clamp(int(floor(2*x[integer(seed, N), ...] + 1)), 0, 3 - 1), p, ...]))\n"
        "  pad(t2[N - 1 - q, i, ...]) *= t1[q, 0, ...]\n"
    ),
    "a third of an index beside a local, under a condition": (
        "inputs: {x: {shape: [N, N]}, ids: {shape: [N], dtype: int}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  t[p < 2] = x[p, 0]*(x[p, clamp(int(x[2, 1]), 0, N - 1)] > pad(x[p//3, -2*p - 1], 0))\n"
        "  pad(t[ids[q]]) *= sin(x[1, ids[q]])\n"
        "  y[i < 2] = t[i]\n"
    ),
    "a place of what is the same along an axis, in what is scattered and where to": (
        "inputs: {x: {shape: [N]}, y: {shape: [M]}}\n"
        "params: {step: {type: int, default: 1, domain: step >= 0}}\n"
        "outputs: {t1: {shape: [..., N, M], dtype: int8}, t2: {shape: [M, ...]}}\n"
        "forward: |\n"
        "  t1[..., i < N, j < M] = 2*x[N - 1 - i]\n"
        "  t2[j < M, ...] = tanh(y[j])*t1[..., step, 0]\n"
        "  pad(t2[int(t1[..., step, 0]) + step, ...]) += t1[..., 0, step]*x[0]\n"
    ),
    "a place that neighbours share, which one asks for under a condition, and another one for what is there": (
        "inputs:\n"
        "  x: {shape: [N, M]}\n"
        "  ids: {shape: [M], dtype: int, domain: 0 <= ids < N}\n"
        "params: {scale: {type: float, default: 0.9}, step: {type: int, default: 1, domain: step >= 0}}\n"
        "outputs: [t1, t2]\n"
        "forward: |\n"
        "  t1[i < 2, j < M] = log_softmax[i, j](scale)*pad(x[j//2, 2*j + 1], -1.5)\n"
        "  t2 = x[step, 2]*x[0, ids[step]] + x[ids[3], pad(ids[2], 0)]\n"
    ),
}

SHAPES = {
    "a choice on a line of its own that is called like another local": {"x": (4, 4)},
    "what is told by a number of the call, at every third place": {"x": (2,), "w": (3,)},
    "a sum at one point of a map, where a dim is long enough": {"x": (3,), "y": (3, 4, 2)},
    "products of ones at places that data tell": {"x": (3,), "ids": (4,)},
    "what is added to places that data tell, read from the end on": {"x": (3,), "y": (3,), "z": (3,), "ids": (3,)},
    "a place that data tell, of neighbours that are scattered together": {"x": (3, 4)},
    "neighbours that are read where a fold ends, and not in it": {"x": (3, 2, 3), "y": (3, 3, 2)},
    "an extreme of a function that is computed for each row": {"y": (3,)},
    "a place in each row but the last": {"x": (4, 3), "ids": (3,)},
    "a quantile that is scattered, whose place is found by a number of the call": {"x": (3,)},
    "a draw for each of several batch dims that is scattered": {"x": (3, 2, 2, 2), "seed": ()},
    "an input that is only asked for, called like a local": {"mask": (2, 2), "position": (2,)},
    "a place beside itself": {"x": (3,), "ids": (3,)},
    "an input of which only the dtype is asked": {"x": (2, 3), "w": (2,)},
    "fractions of totals that start somewhere": {"x": (3, 2), "w": (2, 2), "ids": (3,)},
    "exponentials as fractions": {"x": (2, 3), "ids": (3,)},
    "a row beside its first element, where it has none": {"x": (0,)},
    "rows that are added to none": {"x": (2, 3), "y": (4, 3)},
    "added to a part": {"x": (3,), "w": (2,)},
    "dropped beyond the end": {"x": (3,), "w": (2,)},
    "one position under a condition, which a host compares, and padded": {"x": (2, 5)},
    "places beside the batch that all are one": {"x": (3, 2), "y": (3, 2, 2)},
    "a place drawn for what is read along the lanes, below a place of its own": {
        "x": (1,),
        "y": (1, 2),
        "seed": (),
    },
    "a third of an index beside a local, under a condition": {"x": (3, 3), "ids": (3,)},
    "a place of what is the same along an axis, in what is scattered and where to": {"x": (2,), "y": (3,)},
    "a place that neighbours share, which one asks for under a condition, and another one for what is there": {
        "x": (3, 4),
        "ids": (4,),
    },
}
