"""What a new spec begins with: the first line for editors, and the bodies of common kinds of operators."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# The fields behind `op` and `summary`; every one builds as it is.
KINDS: Mapping[str, str] = MappingProxyType({
    "elementwise": "inputs: [x]\nforward: y = x*sigmoid(x)\n",
    "reduction": "inputs: {x: {shape: [..., K]}}\nforward: y[...] = mean[k](square(x[..., k]))\n",
    "contraction": (
        "inputs:\n  a: {shape: [..., M, K]}\n  b: {shape: [..., K, N]}\n"
        "forward: y[..., m, n] = sum[k](a[..., m, k]*b[..., k, n])\n"
    ),
    "normalisation": (
        "inputs: {x: {shape: [..., K]}}\nparams: {eps: {type: float, default: 1e-5}}\nforward: |\n"
        "  centred[..., k] = x[..., k] - mean[k](x[..., k])\n"
        "  y[..., k] = centred[..., k]*rsqrt(mean[k](square(centred[..., k])) + eps)\n"
    ),
    "loss": (
        "inputs: [x, target]\nparams: {reduction: {choices: [mean, sum, none], default: mean}}\n"
        "forward: loss = reduction[...](square(x - target))\n"
    ),
    "gather": (
        "inputs:\n  table: {shape: [V, K]}\n  ids: {dtype: int}\n"
        "forward: y[..., k] = table[ids[...], k]\n"
    ),
    "recurrence": (
        "inputs: {x: {shape: [..., T]}, decay: {shape: [..., T]}}\noutputs: [h]\n"
        "forward: h[..., t] = decay[..., t]*h[..., t - 1] + x[..., t]\n"
    ),
    "module": (
        "inputs:\n  x: {shape: [..., K]}\n  weight: {shape: [K]}\n  bias: {shape: [K], optional: true}\n"
        "forward: y[..., k] = x[..., k]*weight[k] + bias[k]\n"
        "module:\n  dims: {K: features}\n  parameters: {weight: ones, bias: zeros}\n"
    ),
})  # fmt: skip


def of_kind(op: str, kind: str, schema: str) -> str:
    """The spec of a kind."""
    return head(op, schema) + KINDS[kind]


def head(op: str, schema: str) -> str:
    """The lines every new spec begins with; `schema` is where its JSON Schema lies."""
    return f"# yaml-language-server: $schema={schema}\nop: {op}\nsummary: One line that says what it computes.\n"
