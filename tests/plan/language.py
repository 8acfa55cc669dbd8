"""Small specs with everything of the language that needs more than plain positions and core reductions.

Each is a formula with its inputs, more of the spec, the shapes it is called with, and values of its params.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from opgen.ir.program import Program
from tests.lower.specs import elementwise, program


@dataclass(frozen=True)
class Case:
    """`shapes` of the inputs; `params` of the call; `raises` where a position is out of range."""

    formula: str
    inputs: str
    shapes: dict[str, tuple[int, ...]]
    more: str = ""
    params: dict[str, object] = field(default_factory=dict)
    raises: bool = False
    gradient: bool = True

    def program(self) -> Program:
        return program(elementwise(self.formula, self.inputs, self.more))


X = "{x: {shape: [..., N]}}"
WIDE = "outputs: {y: {shape: [..., N]}}"
STEP = f"params: {{k: {{type: int}}}}\n{WIDE}"
XW = "{x: {shape: [B, C, L]}, w: {shape: [O, C, K]}}"
IDS = "{ids: {shape: [B], dtype: int}, x: {shape: [B, D]}, s: {shape: [V, D]}}"
SOME = {"ids": (4,), "x": (4, 2), "s": (3, 2)}
SIZED = "outputs: {y: {shape: [V, D]}}"
AXH = "{a: {shape: [..., T]}, x: {shape: [..., T]}, h0: {shape: [...]}}"
SCAN = {"a": (2, 4), "x": (2, 4), "h0": (2,)}

DRAWN = "{x: {shape: [..., N]}, w: {shape: [..., N]}, s: {dtype: seed}}"

CASES: dict[str, Case] = {
    "draws": Case(
        "y[..., n] = x[..., n]*uniform(s) + w[..., n]*normal(s)", DRAWN, {"x": (2, 3, 5), "w": (3, 5), "s": ()}
    ),
    "draws_in_sums": Case(
        "y[...] = sum[n](x[..., n]*normal(s)*where(uniform(s) < w[..., n], 2, 1))", DRAWN,
        {"x": (2, 3, 5), "w": (2, 1, 5), "s": ()},
    ),
    "draws_as_positions": Case(
        "y[..., n] = x[..., integer(s, N)]*w[..., n]", DRAWN, {"x": (2, 5), "w": (3, 1, 5), "s": ()}
    ),
    "draws_beside_the_batch": Case(
        "y[n] = sum[...](x[..., n]*uniform(s))\nz[n < N] = normal(s)*mean[...](w[..., n])", DRAWN,
        {"x": (2, 3, 5), "w": (2, 3, 5), "s": ()},
    ),
    "draws_in_a_recurrence": Case(
        "h[..., t] = h[..., t - 1]*uniform(s) + x[..., t]", "{x: {shape: [..., T]}, s: {dtype: seed}}",
        {"x": (2, 4), "s": ()}, "outputs: [h]",
    ),
    "draws_in_a_scatter": Case(
        "y[(b + integer(s, 2))%3, d] += x[b, d]*uniform(s)", "{x: {shape: [B, D]}, s: {dtype: seed}}",
        {"x": (4, 2), "s": ()}, "outputs: {y: {shape: [3, D]}}",
    ),
    "truth_in_scans": Case(
        "y[k] = x[k]*cumsum[k](where(m[k], 1, 0)) + cumsum[k](x[k]*m[k])\ns[k] = s[k - 1] + m[k]",
        "{x: {shape: [K]}, m: {shape: [K], dtype: bool}}", {"x": (5,), "m": (5,)}, "outputs: [y, s]",
    ),
    "truth_in_orders": Case(
        "o[k] = argsort[k](where(m[k], 1, 0))\ny[k] = x[o[k]]", "{x: {shape: [K]}, m: {shape: [K], dtype: bool}}",
        {"x": (5,), "m": (5,)}, "outputs: [y]",
    ),
    "reversed": Case("y[..., n] = x[..., N - 1 - n]", X, {"x": (2, 5)}, WIDE),
    "shifted_with_fill": Case("y[..., n] = pad(x[..., n - 1], -2)*2", X, {"x": (2, 5)}, WIDE),
    "windows": Case(
        "y[b, o, i] = sum[c, k](pad(x[b, c, i + k - 1], 0)*w[o, c, k])", XW, {"x": (2, 3, 6), "w": (2, 3, 3)},
        "outputs: {y: {shape: [B, O, L]}}",
    ),
    "strided_by_a_param": Case(
        "y[b, o, i] = sum[c, k](x[b, c, s*i + k]*w[o, c, k])", XW, {"x": (2, 3, 9), "w": (2, 3, 3)},
        "params: {s: {type: int, default: 2, domain: s > 0}}\ndims: {M: (L - K)//s + 1}\n"
        "outputs: {y: {shape: [B, O, M]}}",
        {"s": 2},
    ),
    "diagonal": Case("y[i] = x[i, i]*2", "{x: {shape: [N, N]}}", {"x": (3, 3)}),
    "literal": Case("y[i] = x[i, 0] - x[i, 1]", "{x: {shape: [N, 2]}}", {"x": (3, 2)}),
    "integer_functions": Case(
        "y[..., n] = x[..., clamp(max(n - 1, 0), 0, N - 2)]*abs(min(n, 2) - max(x[..., n] > 0, 0))", X, {"x": (2, 5)}
    ),
    "sum_of_one_value": Case("y = sum[n < N](max(w[0], w[1]))", "{w: {shape: [N]}}", {"w": (5,)}),
    "out_of_range": Case(
        "y[..., n] = x[..., n + k]", X, {"x": (2, 5)}, STEP, {"k": 1},
        raises=True, gradient=False,
    ),
    "negative_does_not_wrap": Case(
        "y[..., n] = x[..., n - k]", X, {"x": (2, 5)}, STEP, {"k": 1},
        raises=True, gradient=False,
    ),
    "scatter_sum": Case("y[ids[b], d] += x[b, d]*s[0, d]", IDS, SOME, SIZED),
    "scatter_from_a_start": Case("y[v, d] = 1.5*s[v, d] + 1\ny[ids[b], d] *= x[b, d]", IDS, SOME),
    "scatter_max": Case("y[v, d] = s[v, d]\ny[ids[b], d] max= x[b, d]", IDS, SOME),
    "scatter_min": Case("y[v, d] = s[v, d]\ny[ids[b], d] min= x[b, d]", IDS, SOME),
    "scatter_max_of_integers": Case(
        "y[ids[b], d] max= b - d\nz[d, ids[b]] min= 2*d - b", IDS, SOME,
        "outputs: {y: {shape: [V, D]}, z: {shape: [D, V], dtype: int}}", gradient=False,
    ),
    "scatter_chain": Case("y[v, d] = s[v, d]\ny[ids[b], d] += x[b, d]\ny[ids[b], 0] *= 2", IDS, SOME),
    "scatter_dropped": Case("pad(y[ids[b] + 1, d]) += x[b, d]", IDS, SOME, SIZED),
    "scatter_out_of_range": Case("y[ids[b] + 3, d] += x[b, d]", IDS, SOME, SIZED, raises=True, gradient=False),
    "cumsum": Case("y[..., n] = cumsum[n](x[..., n]*2)", X, {"x": (2, 5)}),
    "cumprod": Case("y[..., n] = cumprod[n](x[..., n])", X, {"x": (2, 5)}),
    "logcumsumexp": Case("y[..., n] = logcumsumexp[n](x[..., n])", X, {"x": (2, 5)}),
    "scan_in_the_middle": Case("y[m, n] = cumsum[m](x[m, n])", "{x: {shape: [M, N]}}", {"x": (4, 300)}),
    "median_of_nothing": Case("y[...] = median[n](x[..., n])", X, {"x": (2, 0)}, raises=True, gradient=False),
    "quantile_of_nothing": Case(
        "y[...] = quantile[n](x[..., n], 0.3)", X, {"x": (2, 0)}, raises=True, gradient=False
    ),
    "median_of_no_rows": Case("y[m] = median[n](x[m, n])", "{x: {shape: [M, N]}}", {"x": (0, 0)}, gradient=False),
    "argsort": Case("y[..., n] = argsort[n](x[..., n])", X, {"x": (2, 6)}, gradient=False),
    "joint_softmax": Case("y[b, i, j] = softmax[i, j](x[b, i, j])", "{x: {shape: [B, I, J]}}", {"x": (2, 3, 4)}),
    "linear_recurrence": Case("h[..., -1] = h0\nh[..., t] = a[..., t]*h[..., t - 1] + x[..., t]", AXH, SCAN),
    "downwards": Case("h[..., T] = h0\nh[..., t] = a[..., t]*h[..., t + 1] + x[..., t]", AXH, SCAN),
    "two_together": Case(
        "u[..., -1] = h0\nu[..., t] = u[..., t - 1]*a[..., t] + v[..., t - 1]\n"
        "v[..., t] = tanh(u[..., t]) + v[..., t - 1]*x[..., t]",
        AXH, SCAN, "outputs: [u, v]",
    ),
    "recurrent_network": Case(
        "h[..., i, t] = tanh(sum[j](w[i, j]*h[..., j, t - 1]) + x[..., i, t])",
        "{x: {shape: [..., D, T]}, w: {shape: [D, D]}}", {"x": (2, 3, 4), "w": (3, 3)},
    ),
    "neighbours_of_the_step_before": Case(
        "u[-1, i] = x[0, i]\nu[t, i] = x[t, i] + pad(u[t - 1, i - 1], 0.5)*u[t - 1, i] + 0.1*pad(u[t - 1, i + 1], -1)",
        "{x: {shape: [T, N]}}", {"x": (4, 5)},
    ),
    "another_place_of_the_step_before": Case(
        "u[-1, i] = x[0, i]\nu[t, i] = x[t, i] + 0.5*u[t - 1, ids[i]]",
        "{x: {shape: [T, N]}, ids: {shape: [N], dtype: int}}", {"x": (4, 5), "ids": (5,)}, gradient=False,
    ),
    "out_of_range_of_the_step_before": Case(
        "u[-1, i] = x[0, i]\nu[t, i] = x[t, i] + 0.5*u[t - 1, ids[i] + 9]",
        "{x: {shape: [T, N]}, ids: {shape: [N], dtype: int}}",
        {"x": (4, 5), "ids": (5,)}, raises=True, gradient=False,
    ),
}  # fmt: skip

XYB = "{x: {shape: [M, D]}, y: {shape: [N, D]}, b: {shape: [N, E]}}"
QKV = "{q: {shape: [..., M, D]}, k: {shape: [..., N, D]}, v: {shape: [..., N, E]}}"
POINTS = {"x": (5, 3), "y": (67, 3), "b": (67, 2)}

STREAMS: dict[str, Case] = {
    "kernel_sum": Case(
        "a[i, e] = sum[j](exp(-sum[d]((x[i, d] - y[j, d])**2)/(2*g**2))*b[j, e])", XYB, POINTS,
        "params: {g: {type: float, default: 1.0}}", {"g": 0.75},
    ),
    "kernel_sum_of_numbers": Case(
        "u[i, j] = exp(-(x[i] - y[j])**2)\na[i] = sum[j](u[i, j]*b[j])",
        "{x: {shape: [M]}, y: {shape: [N]}, b: {shape: [N]}}", {"x": (40,), "y": (3,), "b": (3,)}, "outputs: [a]",
    ),
    "kernel_of_differences": Case(
        "u[i, j, d] = x[i, d] - y[j, d]\nr[i, j] = 1 + sum[d](u[i, j, d]**2)\n"
        "a[i, d] = sum[j](u[i, j, d]/r[i, j]*b[j])", XYB.replace("[N, E]", "[N]"), {**POINTS, "b": (67,)},
        "outputs: [a]",
    ),
    "attention": Case(
        "o[..., i, e] = sum[j](softmax[j](sum[d](q[..., i, d]*k[..., j, d])/sqrt(D))*v[..., j, e])", QKV,
        {"q": (2, 3, 2), "k": (66, 2), "v": (2, 66, 17)},
    ),
    "attention_where_allowed": Case(
        "o[i, e] = sum[j](softmax[j](where((j <= i) and (t[i] >= t[j]), sum[d](q[i, d]*k[j, d]), -inf))*v[j, e])",
        "{q: {shape: [N, D]}, k: {shape: [N, D]}, v: {shape: [N, E]}, t: {shape: [N], dtype: int}}",
        {"q": (34, 2), "k": (34, 2), "v": (34, 3), "t": (34,)},
    ),
    "soft_minimum": Case(
        "u[i] = -logsumexp[j](f[j] - sum[d]((x[i, d] - y[j, d])**2))",
        "{x: {shape: [M, D]}, y: {shape: [N, D]}, f: {shape: [N]}}", {"x": (3, 2), "y": (70, 2), "f": (70,)},
    ),
    "energy_of_pairs": Case(
        "u = sum[i, j](where(i != j, 1/(1 + sum[d]((x[i, d] - x[j, d])**2)), 0))", "{x: {shape: [N, D]}}",
        {"x": (6, 3)}, "outputs: {u: {shape: []}}",
    ),
}  # fmt: skip
ONE_SIDED = {  # an index that only one factor of a product has
    "summed_on_one_side": Case(
        "y[i] = sum[j, e](q[i, e]*k[j, e])", "{q: {shape: [M, E]}, k: {shape: [N, E]}}", {"q": (3, 2), "k": (4, 2)}
    ),
}
PAIRS_AS_EVER = {  # compares what it is reduced to with what is reduced
    "distance_to_a_set": Case(
        "u[i] = min[j](sum[d]((x[i, d] - y[j, d])**2))", "{x: {shape: [M, D]}, y: {shape: [N, D]}}",
        {"x": (3, 2), "y": (70, 2)},
    ),
}  # fmt: skip
NOTHING = {  # a sum over nothing is 0, whatever it is scaled by
    "attention_over_no_keys": replace(STREAMS["attention"], shapes={"q": (2, 3, 2), "k": (0, 2), "v": (2, 0, 3)}),
}
CASES |= STREAMS | ONE_SIDED | PAIRS_AS_EVER | NOTHING
