"""How far an index runs that only windows or other dims say, as the message says it: what is computed then."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import follow, whole

VALUES = {
    "x": torch.arange(14.0).reshape(2, 7).cos(),
    "w": torch.arange(55.0).reshape(5, 11).sin(),
    "z": torch.ones(2, 4),
}
PARAMS = {"k": 3, "s": 2, "p": 1, "d": 2}
INTS = "params: {k: {type: int}, s: {type: int}, p: {type: int}, d: {type: int}}"


def pooled(x: torch.Tensor) -> torch.Tensor:
    return 3 * torch.nn.functional.avg_pool1d(x, 3, 2, 1)


def unpadded(x: torch.Tensor) -> torch.Tensor:
    return 3 * torch.nn.functional.avg_pool1d(x, 3, 2)


def apart(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.conv1d(x[:, None], torch.ones(1, 1, 3), stride=2, padding=1, dilation=2)[:, 0]


def joined(x: torch.Tensor, z: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.cat((x, z), 1) @ w.T


CASES: list[tuple[str, dict[str, str], Callable[..., torch.Tensor]]] = [
    *(
        (
            whole(
                f"inputs: {{x: {{shape: [N, H]}}}}\n{INTS}\ndims: {{P: {windows}}}\noutputs: {{y: {{shape: [N, P]}}}}",
                f"y[n, i] = sum[r]({read}) + 0*(k + p + s + d)",
            ),
            {"sum[r": "sum[r < k"},
            meant,
        )
        for windows, read, meant in (
            ("(H + 2*p - k)//s + 1", "pad(x[n, i*s + r - p], 0)", pooled),
            ("(H - k)//s + 1", "x[n, s*i + r]", unpadded),
            ("1 + (H + 2*p - d*(k - 1) - 1)//s", "pad(x[n, i*s + d*r - p], 0)", apart),
        )
    ),
    (
        whole(
            "inputs: {x: {shape: [..., K]}, z: {shape: [..., M]}, w: {shape: [N, J]}}",
            "c[..., i < K + M] = where(i < K, x[..., i], z[..., i - K])",
            "y[..., n] = sum[j](c[..., j]*w[n, j])",
        ),
        {"\nforward:": "\ndims: {J: K + M}\nforward:"},
        joined,
    ),
]


@pytest.mark.parametrize(("text", "cure", "meant"), CASES)
def test_with_its_extent_a_formula_computes_what_was_meant(
    text: str, cure: dict[str, str], meant: Callable[..., torch.Tensor]
) -> None:
    operator = follow(text, cure)
    (variant,) = operator.variants
    given = {t.name: VALUES[t.name] for t in operator.inputs}
    found = run(variant.program, {name: array(t.tolist()) for name, t in given.items()}, PARAMS)["y"]
    torch.testing.assert_close(torch.tensor(found.data).reshape(found.shape).float(), meant(**given))
