"""Small specs with everything of the language that needs more than plain positions and core reductions.

Each is a formula with its inputs, more of the spec, the shapes it is called with, and values of its params.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opgen.ir.program import Program
from tests.ir.specs import elementwise, program


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

CASES: dict[str, Case] = {
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
    "scatter_chain": Case("y[v, d] = s[v, d]\ny[ids[b], d] += x[b, d]\ny[ids[b], 0] *= 2", IDS, SOME),
    "scatter_dropped": Case("pad(y[ids[b] + 1, d]) += x[b, d]", IDS, SOME, SIZED),
    "scatter_out_of_range": Case("y[ids[b] + 3, d] += x[b, d]", IDS, SOME, SIZED, raises=True, gradient=False),
    "cumsum": Case("y[..., n] = cumsum[n](x[..., n]*2)", X, {"x": (2, 5)}),
    "cumprod": Case("y[..., n] = cumprod[n](x[..., n])", X, {"x": (2, 5)}),
    "logcumsumexp": Case("y[..., n] = logcumsumexp[n](x[..., n])", X, {"x": (2, 5)}),
    "scan_in_the_middle": Case("y[m, n] = cumsum[m](x[m, n])", "{x: {shape: [M, N]}}", {"x": (4, 300)}),
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
}  # fmt: skip
