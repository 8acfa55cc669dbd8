"""Positions of two digits on the left of `=`, with the line that is said: what PyTorch computes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import pixel_shuffle

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole


def merged(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).flatten(2)


@pytest.mark.parametrize(
    ("fields", "line", "shape", "meant"),
    [
        (
            "inputs: {x: {shape: [N, K, H, W]}}\nparams: {r: {type: int, default: 2}}\ndims: {C: K//(r*r)}",
            "y[n, c, h*r + i, w*r + j] = x[n, c*r*r + i*r + j, h, w]",
            (2, 8, 3, 2),
            lambda x: pixel_shuffle(x, 2),
        ),
        (
            "inputs: {x: {shape: [N, K, H, W]}}",
            "y[n, c, i + 2*h, w*2 + j] = x[n, c*4 + i*2 + j, h, w]",
            (2, 8, 3, 2),
            lambda x: pixel_shuffle(x, 2),
        ),
        ("inputs: {x: {shape: [B, H, T, D]}}", "y[b, t, h*D + d] = x[b, h, t, d]", (2, 3, 4, 2), merged),
        (
            "inputs: {x: {shape: [B, H, T, D]}}\ndims: {Z: H*D}\noutputs: {y: {shape: [B, T, Z]}}",
            "y[b, t, h*D + d] = x[b, h, t, d]",
            (2, 3, 4, 2),
            merged,
        ),
        ("inputs: {x: {shape: [N]}}", "y[2*n + k] = x[n]", (3,), lambda x: x.repeat_interleave(2)),
    ],
)
def test_the_statement_read_backwards_computes_what_was_meant(
    fields: str, line: str, shape: tuple[int, ...], meant: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    text = whole(fields, line)
    (found,) = diagnosed(text)
    (said,) = (m[1] for hint in found.hints if (m := re.fullmatch(r"a position of two digits.*: `(.*)`", hint)))
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    program = built(text.replace(line, said)).variants[0].program
    got = run(program, {"x": array(x.tolist())}, {"r": 2} if "params" in fields else {})["y"]
    torch.testing.assert_close(torch.tensor(got.data).reshape(got.shape).float(), meant(x))


@pytest.mark.parametrize("line", ["y[n*K + k] = x[n]*w[n, k]*v[k]", "y[n*2 + k] = x[n]*v[k]", "y[n*2 + 1] = x[n]"])
def test_what_is_no_digit_is_not_taken_for_one(line: str) -> None:
    text = whole("inputs: {x: {shape: [N]}, w: {shape: [N, K]}, v: {shape: [K]}}", line)
    digits = [d for d in diagnosed(text) if any("two digits" in hint for hint in d.hints)]
    assert bool(digits) is ("n*K" in line)


def test_a_part_of_a_dim_that_is_scattered_is_told_nothing() -> None:
    fields = "inputs: {x: {shape: [N, C]}, at: {shape: [N], dtype: int, domain: 0 <= at < R}}\nparams: {r: int}"
    text = whole(f"{fields}\ndims: {{R: r, H: C//2}}\noutputs: {{y: {{shape: [R, H]}}}}", "y[at[n], c] += x[n, c]")
    assert diagnosed(text) == ()
