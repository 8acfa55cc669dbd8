"""Specs that random programs came down to when they failed, by what they show, and shapes of those that need some."""

from __future__ import annotations

from tests.random_programs import (
    found_choices,
    found_combs,
    found_nothing,
    found_orders,
    found_recurrences,
    found_rows,
    found_scatters,
)
from tests.random_programs.specs import Case

X = "inputs: {x: {shape: [..., N]}}\n"

_OTHERS = {
    "a long line with a read that has no positions in its text": (
        "inputs: {x: {shape: [N]}, y: {shape: [N, ...], optional: true}, u: {shape: [N]}}\n"
        "params: {step: {type: int, default: 1, domain: step >= 0}}\n"
        "functions: {bump(v): {value: exp(-square(v)), derivative: -2*v*exp(-square(v))}}\n"
        "forward: |\n"
        "  t1[i] = x[i]*x[i]\n"
        "  t2[i, j < N] = t1[1]/(0.5 + square(tanh(t1[i])))\n"
        "  t3 = sum[i](max(u[i], -0.5*u[i]))\n"
        "  t4[i] = sum[...](y[i, ...]*bump(hypot(tanh(t3), 0.4 + sigmoid(t2[N - 1 - i, step]))))\n"
    ),
    "a tangent of a softplus on a long line": (
        "inputs: {y: {shape: [..., N, M]}, z: {shape: [N, N]}}\n"
        "outputs: [t1]\n"
        "forward: |\n"
        "  t1[..., s < 1, r < M] = 0.1*tanh(log1p(exp(0.5*tanh("
        "y[..., clamp(int(floor(2*z[s + 1, (s + 1) % N] + 1)), 0, N - 1), r]))))\n"
    ),
    "a scale that an exponential takes in, of what has a local": (
        "inputs: {x: {shape: [N, K]}}\n"
        "functions: {bump(v): {value: exp(-square(v)), derivative: -2*v*exp(-square(v))}}\n"
        "forward: 't1[i] = exp2(bump(x[1, i]/(0.5 + square(-1.2))))'\n"
    ),
    "the greatest of all batches, read backwards": (f"{X}forward: 't[..., i < N] = max[...](x[..., N - 1 - i])'\n"),
    "results of few bits that a gradient reads as they were": (
        "inputs: {x: {shape: [N, M]}}\n"
        "outputs: {s: {dtype: half}, q: {dtype: bfloat16}, n: {dtype: int16}, y: {}, z: {}}\n"
        "forward: |\n"
        "  s[i] = sum[j](x[i, j]**2)\n"
        "  q[i] = logsumexp[j](40*x[i, j])\n"
        "  n[i] = argmax[j](x[i, j])\n"
        "  y[i, j] = x[i, j]*s[i]*exp(40*x[i, j] - q[i])\n"
        "  z[i] = x[i, n[i]]**2\n"
    ),
    "the median of a window of no elements": (
        X + "params: {none: {type: int, default: 0}}\n"
        "forward: 'y[..., i < N] = where(none > 0, median[k < none](x[..., i - k]), 0.5)'\n"
    ),
    "a condition on a power where the rest is moved": (
        "inputs: {x: {shape: [..., N]}}\nforward: 't[..., n] = where(0.5**(n - 1) > 0.11, x[..., n], 0)'\n"
    ),
    "a place that is drawn for each of the batch": (
        "inputs:\n  x: {shape: [N]}\n  y: {shape: [..., N]}\n  seed: {dtype: seed}\n"
        "forward: |\n  t = x[integer(seed, N)]\n  z[..., n] = 2*y[..., n]\n"
    ),
    "a gradient that another one reads": (
        "inputs: {x: {shape: [N]}, y: {shape: [M]}, z: {shape: [N]}}\n"
        "forward: 't[q, i] = y[q]*sin((sin(z[i]) + x[i])*y[q])'\n"
    ),
    "two that go on from each other at a single place": (
        "inputs: {x: {shape: [N]}, y: {shape: [N]}}\noutputs: [t2]\nforward: |\n"
        "  t1[s < 1, i < N] = tanh(where(y[s] > 0.1, x[N - 1 - i]/(0.4 + sigmoid(x[i])), 0.5*t2[s - 1, i]))\n"
        "  t2[s < 1, i < N] = tanh(where(y[s + i] > 0.1, x[i] + s, 0.5*t1[s - 1, i]))\n"
    ),
    "a drawn place beside one that is out of range": (
        "inputs: {x: {shape: [...]}, seed: {dtype: seed}}\noutputs: {t1: {shape: [..., 2, 2]}, t2: {shape: [...]}}\n"
        "forward: |\n  t1[..., i < 2, j < 2] = 2*x[...]\n  t2[...] = pad(t1[..., 2, integer(seed, 2)], 0)\n"
    ),
    "a factor that may be missing": (
        "inputs:\n"
        "  x: {shape: [N, M]}\n"
        "  y: {shape: [N, M]}\n"
        "  w: {shape: [N], optional: true}\n"
        "forward: loss = mean[n, m](w[n]*square(x[n, m] - y[n, m]))\n"
    ),
    "a number beside tensors": X + "params: {p: {type: float}}\nforward: 'y[..., n] = lerp(x[..., n], p, x[..., n])'\n",
    "a diagonal of what is stored": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [N]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  t[i < N, j < N] = sin(w[i])*pad(w[j - i], 0)\n"
        "  y[..., i < N] = x[..., i]*cumprod[i](sin(t[i, i]))\n"
    ),
    "the position of a long value": (
        X + "forward: 'y[..., i < N] = argmax[j < N](max(j, i))*x[..., i] + argmax[j](tanh(x[..., j]))'\n"
    ),
    "the rest of constants": X + "forward: |\n  a = 1 // 2\n  b = 7 % 3\n  y[..., n] = x[..., n]\n",
    "an index in the dtype of a tensor": X + "forward: 'y[..., n] = cast(n, x)*x[..., n]'\n",
    "bits of constants": (
        "inputs: {x: {shape: [N]}}\nparams: {flag: {type: bool, default: true}}\nforward: |\n"
        "  t[i < 2] = hypot(0.5, 1.5 + sin(0.5)) if flag\n"
        "  t[i < 2] = sin(0.5*bitand(1, 1)) if not flag\n"
        "  y[n] = x[n]*t[0]\n"
    ),
    "one point": "inputs: {x: {shape: []}}\nforward: 'y = sin(x)*sum[i < 1](0.5*x)'\n",
    "a gradient without the cotangent": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [N]}}\n"
        "forward: |\n"
        "  t[i, ...] = sin((x[..., i] - w[i])*i)\n"
        "  y[..., i < 1] = pad(t[-i - 1, ...], 1)\n"
    ),
    "a remainder behind a plus": (
        "inputs: {x: {shape: [N]}}\nforward: 'y[i] = where(i == 0, sin(x[(i - 2) % N])*x[i], x[i])'\n"
    ),
    "a whole number where nothing can be read": "inputs: {x: {shape: [N]}}\nforward: 'y = 3*pad(x[1], 0) + x[0]'\n",
    "nothing to read": "inputs: {x: {shape: [N]}}\nforward: 'y[i < 2] = square(pad(x[i + 2], 1))'\n",
    "nothing to read at a quotient": (
        "inputs: {x: {shape: [N]}}\nforward: 'y[i < 2] = square(pad(x[(i + 2)//2], 1))'\n"
    ),
    "no row to read": (
        "inputs: {x: {shape: [N, N]}}\nforward: 'y[i < 1] = pad(x[i + 2, 3*i + 1], 1)*pad(x[1 - 2*i, 2*i - 2], 1)'\n"
    ),
    "a bound that only some elements have": (
        "inputs: {x: {shape: [N, ..., M]}, w: {shape: [M]}}\n"
        "dims: {P: N//2 + 1}\n"
        "forward: 'y[..., i < P] = tanh(log_softmax[i](sin(pad(x[i, ..., 2 - i], 0))))'\n"
    ),
    "an optional input of one variant": (
        "inputs: {x: {shape: [N]}, w: {shape: [N], optional: true}}\n"
        "params: {limit: {type: float, default: null}}\n"
        "forward: |\n"
        "  y = -w[0] if given(limit)\n"
        "  y = square(x[0]) if not given(limit)\n"
    ),
    "the order of integers": X + "forward: 'y[..., i < N] = argsort[i](where(-0.6 < i < 0.7, i, 2))*x[..., i]'\n",
    "an integer rounded": X + "forward: 'y[..., n < N] = x[..., clamp(int(floor(1)), 0, N - 1)]'\n",
    "a bound that is no number": X + "forward: 'y[..., n] = clamp(x[..., n], log(x[..., n] - 99), 1)'\n",
    "an integer between sums": X + "forward: 'y[..., n] = x[..., n]*clamp(0, 0, 0 + 1)'\n",
    "a product that is zero or not": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [N]}}\n"
        "forward: 'y[..., n] = x[..., n]*prod[...](clamp(w[0], -1, 1))'\n"
    ),
    "one value wherever it is read": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [N]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  t[i < N*N, j < N] = sum[k](w[k])\n"
        "  u[n < N] = t[N - 1 - n, 0]\n"
        "  y[..., n] = x[..., n]*u[n]\n"
    ),
    "a condition that looks at what another one keeps in range": (
        X + "outputs: [y]\n"
        "forward: |\n"
        "  t[i < 3, j < 1, ...] = x[..., j + 1]\n"
        "  y[..., i, j < N] = sin(t[i + 1, clamp(int(floor(x[..., i])), 0, 0), ...]*x[..., i])\n"
    ),
    "a place that conditions on deeper places keep in range": (
        "inputs: {x: {shape: [3]}, w: {shape: [2]}, ids: {shape: [2], dtype: int}}\n"
        "forward: 'y[i < 3] = "
        "where(i < 2, where(w[ids[i]] > 0, sin(x[clamp(int(floor(w[i])), 0, 2)]), 1), 0)'\n"
    ),
    "a batch that is empty elsewhere": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [..., N]}}\n"
        "forward: 'y[n] = tanh(min[...](w[..., n])) + sum[...](x[..., n])'\n"
    ),
    "a component without what another one sums": (
        X + "outputs: [t, y]\n"
        "forward: |\n"
        "  t[i < 3, 0, ...] = x[..., i]\n"
        "  t[i < 3, 1, ...] = -1.2\n"
        "  t[i < 3, 2, ...] = sum[j < 3](max[n < N](x[..., n]))\n"
        "  y[..., i < 3] = atan(0.3*t[i, 1, ...])\n"
    ),
    "the order of equals": X + "forward: 'y[..., i < N] = argsort[i](sum[n < N](x[..., n]))*x[..., i]'\n",
    "one place written in two ways": (
        "inputs: {x: {shape: [N]}}\n"
        "outputs: [t]\n"
        "forward: |\n"
        "  u[s < N*N] = where(s == N*N - 1, 0.5, x[s//N])\n"
        "  t[i] = x[i]*u[N*N - 1]\n"
    ),
    "one element where there is none": "inputs: {x: {shape: [N]}}\nforward: 'y[i < N] = x[0]*x[i]'\n",
    "a second element of one": (
        "inputs: {x: {shape: [N]}}\nforward: 'y[i < N] = min(where(i != 1, x[i//3], x[0]), x[i])'\n"
    ),
    "rows of which there may be fewer": "inputs: {x: {shape: [N, M]}}\nforward: 'y[i < M] = x[i, 0]'\n",
    "a second place beside a first one": (
        "inputs: {x: {shape: [..., N, N]}}\nforward: 'y[...] = pad(x[..., 0, 2], 0)**2'\n"
    ),
    "a fixed place that only values keep from being read": (
        "inputs: {x: {shape: [N, M]}}\nforward: 'y[i < N] = where(x[i, 0] > 100, x[0, 2]*x[i, 3], x[i, 1]**2)'\n"
    ),
    "a fixed place beside one that is drawn from values": (
        "inputs: {x: {shape: [N]}, z: {shape: [..., N, N]}}\n"
        "functions: {bump(v): {value: exp(-square(v)), derivative: -2*v*exp(-square(v))}}\n"
        "forward: 'y[...] = bump(z[..., clamp(int(floor(2*x[0] + 1)), 0, N - 1), 1])*x[1]'\n"
    ),
    "a function of a number that has no value where it is not wanted": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [..., N], optional: true}}\nparams: {p: {type: float}}\n"
        "forward: 'y[...] = tanh(where(p > 0.5, log(p - 0.4), pad(w[..., 3], 0))*pad(x[..., 2], 0)**2)'\n"
    ),
    "a batch that only an integer has": (
        "inputs: {x: {shape: [N, ...]}, ids: {shape: [...], dtype: int}}\nforward: 'y[n] = norm[...](exp(x[n, ...]))'\n"
    ),
    "a guarded place where there is none": (
        "inputs: {x: {shape: [N]}, ids: {shape: [K], dtype: int}}\n"
        "forward: 'y[k] = where(ids[k] >= 0 and ids[k] < N, square(x[ids[k]]), 1)'\n"
    ),
    "a logistic function of constants": "inputs: {x: {shape: [N]}}\nforward: y[n] = x[n]/(1 + exp(1.5**3))\n",
    "powers of literals around a rewrite": (
        "inputs: {x: {shape: [N]}, w: {shape: [N]}}\n"
        "outputs: [y, z]\n"
        "forward: |\n"
        "  y[n] = 1/(1 + exp(x[n]*2**3))\n"
        "  z[n] = (x[n]/2**2)/(1 + exp(w[n]))\n"
    ),
    "negative powers of an index": (
        "inputs: {x: {shape: [N]}}\nforward: 'y[n] = sin(x[n])*2**(-n) + tanh(x[n])*2.0**-n + x[n]*0.3**n'\n"
    ),
    "functions of a condition": (
        "inputs: {x: {shape: [N]}}\n"
        "forward: 'y[n] = x[n]*floor(x[n] > 0) + abs(x[n] > 0.5)*round(x[n] < 1)*sign(x[n] > 0)'\n"
    ),
    "functions of a size": (
        "inputs: {x: {shape: [N]}}\n"
        "outputs: [k, q, y]\n"
        "forward: |\n"
        "  k[n < N] = fmod(N, 3) + square(N) - remainder(-N, 2)\n"
        "  q[n < N] = 3**n\n"
        "  y[n] = x[n]*rsqrt(N)\n"
    ),
    "functions of a param at its limits": (
        "inputs: {x: {shape: [N]}}\n"
        "params: {zero: {type: float}, minus: {type: float}}\n"
        "outputs: [y, z]\n"
        "forward: |\n"
        "  y[n] = where(x[n] > 0, log(zero), 1/zero) + where(x[n] > 0.5, exp(1000 + zero), lgamma(zero))\n"
        "  z[n] = where(x[n] > 0, minus**0.5, sqrt(minus)) + zero**-2\n"
    ),
    "the order of a function": (
        "inputs: {x: {shape: [N]}}\nparams: {order: {type: int}}\n"
        "forward: y[n] = polygamma(order, 1 + x[n]**2) + polygamma(N, 2 + x[n]**2)\n"
    ),
    "a quotient of zeros": "inputs: {x: {shape: [N]}}\nforward: y[n] = where(n > 5, x[n]/(0/x[n]), x[n])\n",
    "one behind the other": (
        "inputs: {x: {shape: [N]}, w: {shape: [M]}}\n"
        "dims: {E: N + M}\n"
        "forward: 'y[i < E] = where(i < N, x[i], w[i - N])'\n"
    ),
    "one behind the other in a batch": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [..., M]}}\n"
        "dims: {E: N + M}\n"
        "outputs: {y: {shape: [..., E]}}\n"
        "forward: 'y[..., k] = where(k < N, x[..., k], w[..., k - N])'\n"
    ),
    "a diagonal of blocks": (
        "inputs: {x: {shape: [N, M]}, w: {shape: [P, Q]}}\n"
        "dims: {R: N + P, C: M + Q}\n"
        "outputs: {y: {shape: [R, C]}}\n"
        "forward: 'y[r, c] = where(r < N and c < M, x[r, c], where(r >= N and c >= M, w[r - N, c - M], 0))'\n"
    ),
    "nothing but padding behind": (
        "inputs: {x: {shape: [..., N]}}\ndims: {E: N + 3}\nforward: 'y[..., i < E] = pad(x[..., i], 0)'\n"
    ),
    "the first of what is joined": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [N]}}\n"
        "outputs: [y]\n"
        "forward: |\n"
        "  t[..., i < N + 2] = where(i < N, x[..., i]*w[i], 0.5)\n"
        "  y[..., i < N + 1] = t[..., i]\n"
    ),
    "the diagonal of a part": (
        "inputs: {x: {shape: [N, M]}}\nforward: 'y[i < 2] = where(x[i, i] > 0.3, sqrt(x[i, i]), x[i, 0])'\n"
    ),
    "scans that run further": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: |\n"
        "  y[..., i < N + 2] = cumsum[i](pad(x[..., i], 0))\n"
        "  z[..., i < N + 1] = cumprod[i](pad(x[..., i], 1))\n"
        "  u[..., i < N + 2] = softmax[i](pad(x[..., i], -1.5))\n"
        "  v[..., i < N - 1] = cumprod[i](x[..., i])\n"
    ),
    "outputs with slopes of their own": (
        "inputs: {x: {shape: [..., N]}, w: {shape: [N]}}\n"
        "outputs: [y, z, u]\n"
        "forward: |\n"
        "  y[..., n] = 2*x[..., n]*w[n]\n"
        "  t[..., n] = sqrt(1 + square(x[..., n]))\n"
        "  z[..., n] = log(t[..., n])\n"
        "  u[...] = logsumexp[n](x[..., n]*t[..., n])\n"
    ),
    "which cotangents there are, beside a slope": (
        "inputs: {x: {shape: [N]}}\n"
        "outputs: [centre, spread]\n"
        "forward: |\n"
        "  centre = median[k](x[k])\n"
        "  spread = median[k](abs(x[k] - centre))\n"
    ),
    "points of a device in loops beside each other": (
        "inputs: {x: {shape: [...]}, y: {shape: [...]}, z: {shape: [...]}}\n"
        "outputs: [t1]\n"
        "forward: |\n"
        "  t1[..., 1, i < 3] = sin(x*z)\n"
        "  t2[..., 1, i < 3] = y*z\n"
        "  t1[..., s < 1, i < 3] = tanh(tanh(t2[..., s + 1, i] + z))\n"
        "  t2[..., s < 1, i < 3] = tanh(t1[..., s + 1, i]*0.5 + y*z)\n"
    ),
    "a result that is part of one before it": (
        "inputs: {x: {shape: [...]}, ids: {shape: [...], dtype: int, domain: 0 <= ids < 3}}\noutputs: [t1, t2, t3]\n"
        "forward: |\n  t1[..., i < 3, j < 3] = tanh(x[...]*1.1)\n  t2[..., i] = t1[..., i, i]\n"
        "  t3[...] = t2[..., ids]\n"
    ),
    "an output that is a size, which a condition asks for": (
        "inputs: {x: {shape: [..., N, N]}}\nparams: {step: {type: int, default: 1, domain: step >= 0}}\n"
        "outputs: [t1, t2, t3]\nforward: |\n  t1 = N\n  t2[..., i] = sin(x[..., i, 0])*cos(sin(x[..., i, 0]))\n"
        "  t3[..., i] = where(isfinite(x[..., 0, i]), x[..., 0, 0], x[..., step, 0])\n"
    ),
    "a place of what is the same along the batch and an axis": (
        "inputs: {x: {shape: [N]}}\nparams: {step: {type: int, default: 1, domain: step >= 0}}\n"
        "outputs: {t1: {shape: [..., N, N], dtype: int8}, t2: {shape: [2, ...]}}\n"
        "forward: |\n  t1[..., i < N, j < N] = 2*(x[N - 1 - i])\n"
        "  t2[0, ...] = tanh((t1[..., step, 0] + 0.5)*2)\n  t2[1, ...] = 0.5\n"
    ),
    "a rounded power of an integer": (
        "inputs: {x: {shape: [N]}}\nforward: 'y[n] = x[n]*round(2**2) + floor(3**3) + trunc(n**3) + sign(2**3)'\n"
    ),
}

_SHAPES = {
    "a long line with a read that has no positions in its text": {"x": (2,), "y": (2, 2), "u": (2,)},
    "a tangent of a softplus on a long line": {"y": (2, 2, 4), "z": (2, 2)},
    "a result that is part of one before it": {"x": (2,), "ids": ()},
    "results of few bits that a gradient reads as they were": {"x": (2, 3)},
    "a condition on a power where the rest is moved": {"x": (2, 6)},
    "a place that is drawn for each of the batch": {"x": (3,), "y": (2, 3), "seed": ()},
    "a gradient that another one reads": {"x": (2,), "y": (3,), "z": (2,)},
    "two that go on from each other at a single place": {"x": (3,), "y": (3,)},
    "a drawn place beside one that is out of range": {"x": (2,), "seed": ()},
    "a factor that may be missing": {"x": (2, 3), "y": (2, 3), "w": (2,)},
    "bits of constants": {"x": (3,)},
    "one point": {"x": ()},
    "a remainder behind a plus": {"x": (3,)},
    "a whole number where nothing can be read": {"x": (1,)},
    "nothing to read": {"x": (0,)},
    "nothing to read at a quotient": {"x": (0,)},
    "no row to read": {"x": (0, 0)},
    "a bound that only some elements have": {"x": (3, 2, 3), "w": (3,)},
    "an optional input of one variant": {"x": (3,), "w": (3,)},
    "a condition that looks at what another one keeps in range": {"x": (2, 2)},
    "a place that conditions on deeper places keep in range": {"x": (3,), "w": (2,), "ids": (2,)},
    "a batch that is empty elsewhere": {"x": (0, 3), "w": (1, 3)},
    "one place written in two ways": {"x": (3,)},
    "one element where there is none": {"x": (0,)},
    "a second element of one": {"x": (1,)},
    "rows of which there may be fewer": {"x": (2, 2)},
    "a fixed place that only values keep from being read": {"x": (2, 2)},
    "a fixed place beside one that is drawn from values": {"x": (2,), "z": (2, 2, 2)},
    "a second place beside a first one": {"x": (2, 2, 2)},
    "a batch that only an integer has": {"x": (3, 1), "ids": (2,)},
    "a guarded place where there is none": {"x": (0,), "ids": (2,)},
    "a logistic function of constants": {"x": (3,)},
    "the greatest of all batches, read backwards": {"x": (2, 2)},
    "powers of literals around a rewrite": {"x": (3,), "w": (3,)},
    "negative powers of an index": {"x": (4,)},
    "functions of a condition": {"x": (4,)},
    "functions of a size": {"x": (24,)},
    "functions of a param at its limits": {"x": (4,)},
    "the order of a function": {"x": (3,)},
    "a quotient of zeros": {"x": (3,)},
    "one behind the other": {"x": (3,), "w": (2,)},
    "one behind the other in a batch": {"x": (1, 3), "w": (2, 2)},
    "a diagonal of blocks": {"x": (2, 3), "w": (1, 2)},
    "the diagonal of a part": {"x": (3, 2)},
    "which cotangents there are, beside a slope": {"x": (5,)},
    "points of a device in loops beside each other": {"x": (2,), "y": (2,), "z": (2,)},
    "an output that is a size, which a condition asks for": {"x": (2, 2, 2)},
    "a rounded power of an integer": {"x": (3,)},
    "a place of what is the same along the batch and an axis": {"x": (2,)},
}

_MORE = (found_choices, found_combs, found_nothing, found_orders, found_recurrences, found_rows, found_scatters)
FOUND = _OTHERS | {name: text for more in _MORE for name, text in more.FOUND.items()}
SHAPES = _SHAPES | {name: shapes for more in _MORE for name, shapes in more.SHAPES.items()}


def cases() -> dict[str, Case]:
    """Each of them with sizes and values."""
    usual = {"x": (2, 3), "w": (3,)}
    values = {"step": 1, "scale": 0.8, "p": 0.3, "limit": 0.7, "zero": 0.0, "minus": -1.0, "order": 2, "none": 0}
    return {name: Case(f"op: made\n{text}", SHAPES.get(name, usual), {}, values, ()) for name, text in FOUND.items()}
