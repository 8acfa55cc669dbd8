"""A param outside of its domain is told as that, before sizes are computed of it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

GROUPS = """
op: grouped_sum
inputs: {x: {shape: [C]}}
params: {groups: {type: int, domain: groups >= 1}}
dims: {S: C//groups}
forward: y[g < groups] = sum[s < S](x[g*S + s])
"""


@pytest.mark.parametrize("groups", [0, -2])
def test_a_divisor_out_of_its_domain(build_operator: Callable[[str], ModuleType], groups: int) -> None:
    op = build_operator(GROUPS).grouped_sum
    assert op(torch.ones(8), groups=2).tolist() == [4.0, 4.0]
    with pytest.raises(ValueError, match=f"grouped_sum: groups must satisfy groups >= 1, but is {groups}"):
        op(torch.ones(8), groups=groups)
