"""An access without the axes of size 1 of its tensor: it is offered with a 0 at each of these, and builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole


@pytest.mark.parametrize(
    ("shapes", "target", "read", "meant"),
    [
        ("x: [B, C, H, W], g: [C, 1, 1]", "y[b, c, h, w] = x[b, c, h, w]*{}", "g[c]", "g[c, 0, 0]"),
        ("x: [B, C, H, W], g: [C, 1, 1]", "y[b, k, h, w] = x[b, k, h, w]*{}", "g[k]", "g[k, 0, 0]"),
        ("x: [B, C, H, W], g: [1, C, 1, 1]", "y[b, c, h, w] = x[b, c, h, w]*{}", "g[c]", "g[0, c, 0, 0]"),
        ("x: [..., C, H], g: [..., C, 1]", "y[..., c, h] = x[..., c, h] - {}", "g[..., c]", "g[..., c, 0]"),
        ("x: [B, H, T, S], g: [B, 1, 1, S]", "y[b, h, t, s] = x[b, h, t, s] + {}", "g[b, s]", "g[b, 0, 0, s]"),
        ("x: [B, K], g: [B, 1]", "y[b, k] = x[b, k] - {}", "g[b]", "g[b, 0]"),
        ("x: [B, K], g: [B, 1]", "loss[...] = mean[b](x[b, 0]*{})", "g[b]", "g[b, 0]"),
    ],
)
def test_an_access_has_a_0_at_each_axis_of_size_1(shapes: str, target: str, read: str, meant: str) -> None:
    parts = [p.split(": ") for p in shapes.replace("], ", "];").split(";")]
    fields = f"inputs: {{{', '.join(f'{n}: {{shape: {shape}}}' for n, shape in parts)}}}"
    assert said(whole(fields, target.format(read))) == [meant]
    built(whole(fields, target.format(meant)))


def test_an_index_along_another_axis_is_not_put_there() -> None:
    fields = "inputs: {x: {shape: [B, C, H]}, g: {shape: [C, 1]}}"
    assert "g[h, 0]" not in said(whole(fields, "y[b, c, h] = x[b, c, h]*g[h]"))
