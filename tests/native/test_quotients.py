"""Positions divided by a derived size: compiled and in plain torch, the same is said where they are wrong."""

from __future__ import annotations

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.slow, needs_compiler]

SPEC = """op: levelled
inputs: {x: {shape: [N, C]}}
params: {groups: {type: int, domain: groups > 0}}
dims: {S: C // groups}
outputs: {y: {shape: [N, C]}}
forward: |
  mu[n, g < groups] = mean[s < S](x[n, g*S + s])
  y[n, c] = x[n, c] - mu[n, c // S]
"""
UNEVEN = "levelled: C = 4 is not a multiple of groups = "
WRONG = {
    3: "0 <= c//S < groups for c < C, with C = 4, groups = 3 and S = C//groups = 1",
    5: "S = C//groups is 0, and a whole number is divided by it, with C = 4 and groups = 5",
}


def test_the_size_that_is_cut_is_told_first() -> None:
    op, x = opgen.load(SPEC, compiled=True), torch.randn(2, 4)
    for backend in ("torch", "native"):
        with opgen.use_backend(backend):
            for groups, end in WRONG.items():
                with pytest.raises(IndexError if groups == 3 else ZeroDivisionError) as raised:
                    op(x, groups=groups)
                assert str(raised.value).startswith(f"{UNEVEN}{groups}; ")
                assert str(raised.value).endswith(end)
            assert op(x, groups=2).shape == (2, 4)
            assert op(x[:, :0], groups=2).shape == (2, 0)
