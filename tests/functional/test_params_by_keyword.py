"""A number where a tensor stands is told the params that would take it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

FOCAL = """op: weighed
inputs: {x: {shape: [N]}, weight: {shape: [N], optional: true, absent: 1}}
params: {gamma: {type: float, default: 2.0}, order: {type: int, default: 1}, shown: {type: bool, default: true}}
forward: "y[n] = weight[n]*x[n]**order*where(shown, gamma, 1)"
"""


@pytest.mark.parametrize(
    ("given", "named"), [(2.5, "gamma=2.5"), (3, "gamma=3 or order=3"), (True, "shown=True"), ("sum", None)]
)
def test_params_are_named(build_operator: Callable[[str], ModuleType], given: object, named: str | None) -> None:
    weighed = build_operator(FOCAL).weighed
    with pytest.raises(TypeError) as told:
        weighed(torch.ones(3), given)
    message = str(told.value)
    assert message.startswith("weighed: weight must be a Tensor")
    assert ("params are keywords" in message) is (named is not None)
    assert named is None or message.endswith(f"; params are keywords: {named}")
