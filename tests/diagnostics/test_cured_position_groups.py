"""Groups of einops in the place of a position, with the line that is said: what einops computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import pixel_unshuffle

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

IMAGES = "inputs: {x: {shape: [N, C, H, W]}}"
HEADS = "inputs: {x: {shape: [N, L, D]}}\nparams: {heads: {type: int, default: 2}}\ndims: {E: D//heads}"


def flat(x: torch.Tensor) -> torch.Tensor:
    return x.flatten(2)


def apart(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(2, (2, -1)).transpose(1, 2)


@pytest.mark.parametrize(
    ("fields", "line", "shape", "meant"),
    [
        (IMAGES, "y[n, c, (h w)] = x[n, c, h, w]", (2, 2, 3, 2), flat),
        (IMAGES, "y[n, c, (h, w)] = x[n, c, h, w]", (2, 2, 3, 2), flat),
        (f"{IMAGES}\ndims: {{Z: H*W}}\noutputs: {{y: {{shape: [N, C, Z]}}}}", "y[n, c, (h w)] = x[n, c, h, w]",
         (2, 2, 3, 2), flat),
        (f"{IMAGES}\ndims: {{P: H//2, Q: W//2}}", "y[n, (c r s), p < P, q < Q] = x[n, c, 2*p + r, 2*q + s]",
         (2, 3, 4, 2), lambda x: pixel_unshuffle(x, 2)),
        (f"{IMAGES}\ndims: {{P: H//2, Q: W//2}}", "y[n, (c i j), p < P, q < Q] = x[n, c, (p i), (q j)]",
         (2, 3, 4, 2), lambda x: pixel_unshuffle(x, 2)),
        (HEADS, "y[n, h < heads, l, e < E] = x[n, l, (h e)]", (2, 3, 4), apart),
        (HEADS, "y[n, h < heads, l, e] = x[n, l, (h e)]", (2, 3, 4), apart),
    ],
)  # fmt: skip
def test_a_group_is_the_digits_of_one_position(
    fields: str, line: str, shape: tuple[int, ...], meant: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    text = whole(fields, line)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    program = built(text.replace(line, said(text)[-1])).variants[0].program
    got = run(program, {"x": array(x.tolist())}, {"heads": 2} if "heads" in fields else {})["y"]
    torch.testing.assert_close(torch.tensor(got.data).reshape(got.shape).float(), meant(x))


@pytest.mark.parametrize("line", ["y[n, h, l, e] = x[n, l, (h e)]", "y[n, (a b)] = sum[d](x[n, a*2 + b + d, d])"])
def test_a_group_of_unknown_parts_is_no_product(line: str) -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N, L, D]}}", line))
    assert "digits of one position" in str(found.hints[0])
    assert "where they are bound" in str(found.hints[1])
    assert len(found.hints) == 2


def test_a_factor_beside_an_index_is_still_one() -> None:
    assert said(whole("inputs: {x: {shape: [N, M]}}", "y[n, k < 2] = x[n, (2 k)]"))[-1].endswith("x[n, (2*k)]")


@pytest.mark.parametrize("line", ["y[dst[e], d] += x[e, d]", "y[e, d] = x[dst[e], d]"])
def test_what_stands_at_a_position_is_declared_with_integers(line: str) -> None:
    assert "inputs: {dst: {shape: [E], dtype: int}}" in said(whole("inputs: {x: {shape: [N, D]}}", line))


def test_a_default_names_the_dim_whose_size_is_meant() -> None:
    fields = 'inputs: {x: {shape: [N, D]}}\nparams: {s: {type: float, default: "x.shape[-1] ** 0.5"}}'
    assert "D**0.5" in said(whole(fields, "y[n, d] = x[n, d]*s"))
