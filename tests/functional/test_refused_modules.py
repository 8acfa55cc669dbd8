"""A module refuses what a call of its operator would: when it is made, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

Build = Callable[[str], ModuleType]
SPEC = """op: scaled
inputs: {x: {shape: [N, K]}}
params:
  way: {choices: [mean, sum, none], default: mean}
  gap: {type: int, default: 1, domain: gap > 0}
  steps: {type: [int, int], default: [1, 2], domain: 0 < steps <= gap + 4}
  share: {type: float, default: null, domain: 0 <= share < 1}
  self: {type: float, default: 1.0, domain: self > 0}
  check_params: {choices: [one, two], default: one}
  last: {type: int, default: 0, domain: 0 <= last < K}
  training: {type: bool, default: false}
forward: |
  s = share if given(share)
  s = 0 if not given(share)
  each[n, k] = x[n, k]*self*s*steps[1]/gap + x[n, last] if training
  each[n, k] = x[n, k]*steps[0] if not training
  y = way[n, k](each[n, k]) if check_params == "one"
  y = way[n, k](each[n, k] + 1) if check_params == "two"
module: {name: Scaled, training: training}
"""


@pytest.mark.parametrize(
    "params",
    [
        {"way": "maen"},
        {"gap": 0},
        {"steps": [1, 6]},
        {"steps": [1, 2, 3]},
        {"share": 1.0},
        {"self": -1.0},
        {"check_params": "tow"},
    ],
)
def test_a_param_that_a_call_refuses(build_operator: Build, params: dict[str, object]) -> None:
    made = build_operator(SPEC)
    with pytest.raises(ValueError, match=r"^scaled: ") as called:
        made.scaled(torch.ones(2, 3), **params)
    with pytest.raises(ValueError, match=r"^scaled: ") as told:
        made.Scaled(**params)
    assert str(told.value) == str(called.value)


def test_what_only_a_call_can_tell_waits_for_it(build_operator: Build) -> None:
    module = build_operator(SPEC).Scaled(last=3)
    with pytest.raises(ValueError, match="last must satisfy 0 <= last < K with K = 3, but is 3"):
        module(torch.ones(2, 3))
    module.way = "maen"
    with pytest.raises(ValueError, match=r"did you mean 'mean'\?"):
        module(torch.ones(2, 4))
