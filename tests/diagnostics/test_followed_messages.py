"""A spec with all that its messages say in it builds at once, and computes what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import opgen
from tests.diagnostics.cures import diagnosed, whole

Results = tuple[Tensor, ...]

NORM = whole(
    "inputs: {x: {shape: [..., D]}, weight: {shape: [D], optional: true}, bias: {shape: [D], optional: true}}",
    "mu[...] = mean[d](x[..., d])",
    "y[..., d] = (x[..., d] - mu[...])*rsqrt(var[d](x[..., d]) + 1e-5)*weight[d] + bias[d]",
)
ROUTER = whole(
    "inputs: {x: {shape: [N, E]}}\nparams: {k: {type: int, default: 2}}\noutputs: [gate, idx]",
    "p[n, e] = softmax[e](x[n, e])",
    "vals[n, j], idx[n, j] = topk[e](p[n, e], k)",
    "gate[n, j] = vals[n, j]/sum[j](vals[n, j])",
)
VOXELS = whole(
    "inputs: {x: {shape: [P, 2]}, feat: {shape: [P, D]}}\nparams: {size: float, grid: int}\ndims: {G: grid}\n"
    "outputs: {y: {shape: [G, G, D]}}",
    "cnt[floor(x[p, 0]/size), floor(x[p, 1]/size)] += 1",
    "y[floor(x[p, 0]/size), floor(x[p, 1]/size), d] += feat[p, d]/cnt[floor(x[p, 0]/size), floor(x[p, 1]/size)]",
)
ROWS = whole(
    "inputs: {x: {shape: [..., K]}}\noutputs: [q, scale]",
    "scale[...] = max[k](abs(x[..., k]))/127",
    "q[..., k] = clamp(round(x[..., k]/scale), -128, 127).to(torch.int8)",
    "return q, scale",
)
MOMENTUM = whole("inputs: [x, g, m]", "m = 0.9*m + g", "x = x - 0.1*m")
HEAT = whole(
    "inputs: {x: {shape: [..., X, Y]}}",
    "y[..., i, j] = x[..., i-1, j] + x[..., i+1, j] + x[..., i, j-1] + x[..., i, j+1] - 4*x[..., i, j]",
)
GROUPS = whole(
    "inputs: {x: {shape: [N, C, ...]}}\nparams: {num_groups: {type: int, default: 2}}\n"
    "dims: {G: num_groups, S: C//num_groups}",
    "mu[n, g] = mean[s, ...](x[n, g*S + s, ...])",
    "va[n, g] = var[s, ...](x[n, g*S + s, ...])",
    "y[n, c, ...] = (x[n, c, ...] - mu[n, c//S])*rsqrt(va[n, c//S] + 1e-5)",
)
SINKHORN = whole(
    "inputs: {x: {shape: [N, M]}}\nparams: {steps: {type: int, default: 3}}\noutputs: [plan]",
    "f[-1, i] = 0",
    "g[-1, j] = 0",
    "f[t, i] = -logsumexp[j](g[t-1, j] - x[i, j])",
    "g[t, j] = -logsumexp[i](f[t, i] - x[i, j])",
    "plan[i, j] = exp(f[steps - 1, i] + g[steps - 1, j] - x[i, j])",
)
SCAN = whole(
    "inputs: {x: {shape: [..., T, D]}, a: {shape: [D]}}\noutputs: [h]",
    "h[..., 0, d] = x[..., 0, d]",
    "for t in range(1, T):",
    "  h[..., t, d] = a[d]*h[..., t-1, d] + (1 - a[d])*x[..., t, d]",
)


def _gated(x: Tensor) -> Results:
    values, places = torch.topk(x.softmax(1), 2, dim=1)
    return values / values.sum(1, keepdim=True), places


def _voxels(x: Tensor, feat: Tensor) -> Results:
    at = (x / 0.25).floor().long()
    flat = at[:, 0] * 4 + at[:, 1]
    count = torch.zeros(16).index_add(0, flat, torch.ones(len(x)))
    return (torch.zeros(16, feat.shape[1]).index_add(0, flat, feat / count[flat, None]).view(4, 4, -1),)


def _rows(x: Tensor) -> Results:
    scale = x.abs().amax(-1) / 127
    return (x / scale[..., None]).round().clamp(-128, 127).to(torch.int8), scale


def _heat(x: Tensor) -> Results:
    return (sum((x.roll(k, axis) for k in (1, -1) for axis in (-1, -2)), -4 * x),)


def _plan(x: Tensor) -> Results:
    g = torch.zeros(x.shape[1])
    for _ in range(3):
        f = -torch.logsumexp(g[None] - x, 1)
        g = -torch.logsumexp(f[:, None] - x, 0)
    return (torch.exp(f[:, None] + g[None] - x),)


def _scanned(x: Tensor, a: Tensor) -> Results:
    rows = [x[..., 0, :]]
    for t in range(1, x.shape[-2]):
        rows.append(a * rows[-1] + (1 - a) * x[..., t, :])
    return (torch.stack(rows, -2),)


# A spec, what takes the place of what in it wherever it stands, the shapes of the inputs, params, and what is meant.
CASES: list[tuple[str, dict[str, str], list[tuple[int, ...]], dict[str, float], Callable[..., Results]]] = [
    (
        NORM,
        {"weight: {shape: [D], optional: true": "weight: {shape: [D], optional: true, absent: 1"},
        [(3, 5)],
        {},
        lambda x: (functional.layer_norm(x, (5,)),),
    ),
    (
        ROUTER,
        {
            "vals[n, j], idx[n, j] = topk[e](p[n, e], k)": "order[n, e] = argsort[e](-p[n, e])\n"
            "  vals[n, j < k] = p[n, order[n, j]]\n  idx[n, j < k] = order[n, j]"
        },
        [(4, 6)],
        {},
        _gated,
    ),
    (
        VOXELS,
        {
            "forward: |": "forward: |\n  cnt[g < G, g2 < G] = 0",
            "floor(x[p, 0]/size)": "int(floor(x[p, 0] / size))",
            "floor(x[p, 1]/size)": "int(floor(x[p, 1] / size))",
        },
        [(9, 2), (9, 3)],
        {"size": 0.25, "grid": 4},
        _voxels,
    ),
    (
        ROWS,
        {
            "q[..., k] = clamp(round(x[..., k]/scale), -128, 127).to(torch.int8)": (
                "q[..., k] = cast(clamp(round(x[..., k] / scale), -128, 127), int8)"
            ),
            "outputs: [q, scale]": "outputs: {q: {dtype: int8}, scale: {}}",
            "  return q, scale\n": "",
        },
        [(3, 7)],
        {},
        _rows,
    ),
    (
        MOMENTUM,
        {
            "m = 0.9*m + g": "m2 = 0.9 * m + g",
            "x = x - 0.1*m": "x2 = x - 0.1 * m2",
            "inputs: [x, g, m]": "inputs: [x, g, m]\noutputs: [m2, x2]",
        },
        [(4,), (4,), (4,)],
        {},
        lambda x, g, m: (0.9 * m + g, x - 0.1 * (0.9 * m + g)),
    ),
    (
        HEAT,
        {"i-1": "(i-1) % X", "i+1": "(i+1) % X", "j-1": "(j-1) % Y", "j+1": "(j+1) % Y"},
        [(2, 4, 5)],
        {},
        _heat,
    ),
    (
        GROUPS,
        {"[n, g] =": "[n, g < G] =", "[s, ...](": "[s < S, ...]("},
        [(2, 6, 5)],
        {},
        lambda x: (functional.group_norm(x, 2),),
    ),
    (
        SINKHORN,
        {"f[t, i] =": "f[t < steps, i] ="},
        [(3, 4)],
        {},
        _plan,
    ),
    (
        SCAN,
        {
            "  h[..., 0, d] = x[..., 0, d]\n": "",
            "  for t in range(1, T):\n": "",
            "h[..., t, d] = a[d]*h[..., t-1, d] + (1 - a[d])*x[..., t, d]": (
                "h[..., t, d] = where(t == 0, x[..., 0, d], a[d] * h[..., t - 1, d] + (1 - a[d]) * x[..., t, d])"
            ),
        },
        [(2, 5, 3), (3,)],
        {},
        _scanned,
    ),
]  # fmt: skip
# What stands in a message of something beside it: the same of other indices, and what was renamed above.
ALIKE = {"(i+1) % X", "(j-1) % Y", "(j+1) % Y", "x2 = x - 0.1 * m2"}


@pytest.mark.parametrize(("text", "cure", "shapes", "params", "meant"), CASES)
def test_all_that_the_messages_say_gives_what_was_meant(
    text: str,
    cure: dict[str, str],
    shapes: list[tuple[int, ...]],
    params: dict[str, float],
    meant: Callable[..., Results],
) -> None:
    said = re.findall(r"`([^`]+)`", " ".join(h for d in diagnosed(text) for h in d.hints))
    for old, new in cure.items():
        for line in (line.strip() for line in new.splitlines() if line.strip() != old and new not in ALIKE):
            parts = [line, *re.findall(r"\w+: (?:\d+|\{.*\})|\w+ < \w+", line)]
            assert any(part in one for part in parts for one in said), (line, said)
        text = text.replace(old, new)
    assert diagnosed(text) == (), text
    torch.manual_seed(0)
    given = [torch.rand(shape) for shape in shapes]
    found = opgen.load(text, compiled=False)(*given, **params)
    wanted = meant(*given)
    for one, other in zip((found,) if isinstance(found, Tensor) else found, wanted, strict=True):
        torch.testing.assert_close(one, other)
