"""Rows and tiles that random programs came down to when they failed. `SHAPES`: those of specs that need some."""

from __future__ import annotations

FOUND = {
    "conditions that go past each other in tiles": (
        "inputs:\n  s: {shape: [..., N]}\n  g: {shape: [..., N]}\n  t: {shape: [...]}\n"
        "  ok: {shape: [..., N], dtype: bool}\n"
        "forward: |\n"
        "  h[..., i, j] = where(ok[..., i] and ok[..., j] and g[..., i] > g[..., j],\n"
        "    log(1 + exp(s[..., j] - s[..., i]))/max(t[...], 0.1), 0)\n"
        "  y[...] = sum[i, j](h[..., i, j])\n"
    ),
    "a row that is read while the next one is computed": (
        "inputs: {x: {shape: [N]}, y: {shape: [..., N]}}\n"
        "outputs: [t]\n"
        "forward: 't[i, ...] = tanh(log_softmax[i](x[i]**2*y[..., i]))'\n"
    ),
    "a value of a row that only others of it are made of": (
        "inputs: {y: {shape: [..., N]}}\n"
        "outputs: [u]\n"
        "forward: |\n"
        "  t[..., i] = tanh(y[..., i])\n"
        "  s[...] = sum[i](sin(t[..., i])*exp(t[..., i]))\n"
        "  u[..., i] = s[...]*(sin(t[..., i]) + exp(t[..., i]) + t[..., i])\n"
    ),
}

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "conditions that go past each other in tiles": {"s": (2, 3), "g": (2, 3), "t": (2,), "ok": (2, 3)},
    "a row that is read while the next one is computed": {"x": (2,), "y": (2, 2)},
    "a value of a row that only others of it are made of": {"y": (2, 2)},
}
