"""Variants have structure: a function asks a condition of its call once, or twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen import build
from tests.torch.conditions_asked import ROOT, often

SETTLED = ("smooth_l1_loss", "layer_norm", "max_pool2d", "avg_pool2d")
LEFT = 55  # functions of the shipped operators that ask more: a number that may only become smaller


def test_few_functions_ask_a_condition_often() -> None:
    found = often(ROOT / "generated", "if")
    assert len(found) <= LEFT, found


@pytest.mark.parametrize("name", SETTLED)
def test_an_autograd_function_asks_a_condition_twice_at_most(name: str, tmp_path: Path) -> None:
    assert not build(ROOT / "specs" / f"{name}.yaml", tmp_path).failed
    assert {place for place in often(tmp_path, "if") if "function.py" in place} == set()
