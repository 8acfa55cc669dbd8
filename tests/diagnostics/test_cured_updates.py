"""Values that are made of themselves once more, with the names that are said: what PyTorch computes."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

X = torch.rand((3, 4), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "lines",
    [
        ("w[n, j] = relu(x[n, j]) + 1", "w[n, j] = w[n, j]/sum[j](w[n, j])"),
        ("w[n, e] = 2*x[n, e]", "w[n, e] = w[n, e] + 2", "w[n, j] = w[n, j]/sum[j](w[n, j])"),
    ],
)
def test_the_last_value_is_what_is_returned(lines: tuple[str, ...]) -> None:
    text = whole("inputs: {x: {shape: [N, E]}}\noutputs: [w]", *lines)
    (found,) = diagnosed(text)
    said = re.findall(r"`(w[^`]+)`", found.hints[0])
    for old, new in zip(lines, said, strict=True):
        text = text.replace(old, new)
    got = run(built(text).variants[0].program, {"x": array(X.tolist())})["w"]
    before = 2 * X + 2 if len(lines) > 2 else X + 1
    torch.testing.assert_close(torch.tensor(got.data).reshape(3, 4).float(), before / before.sum(1, keepdim=True))


def test_what_is_for_nothing_is_told_when_it_is_built() -> None:
    (found,) = diagnosed(whole("inputs: {x: {}}\noutputs: [y]", "y = relu(x)", "y2 = y + 1"))
    assert (found.code, found.message) == ("OPG240", "the tensor `y2` is never used")
