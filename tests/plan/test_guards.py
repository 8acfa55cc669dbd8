"""Conditions around an access enter the proof that it stays in its tensor; what they do not tell is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen import pipeline
from opgen.diagnostics.model import Bag
from opgen.plan.build import build
from opgen.plan.guards import guarded

SPEC = """
op: guarded
inputs: {{x: {{shape: [N]}}, ids: {{shape: [N], dtype: int}}, w: {{shape: [M]}}}}
params: {{s: {{type: int, default: 1}}, limit: {{type: float, default: 1.0}}}}
forward: y[i] = {value} + ids[i] + w[0]*0 + s*limit
"""


def places(value: str, folder: Path) -> list[str]:
    """The tensors with an access that its condition keeps in range."""
    return of_spec(SPEC.format(value=value), folder)


def of_spec(text: str, folder: Path) -> list[str]:
    path, bag = folder / "guarded.yaml", Bag()
    path.write_text(text, encoding="utf-8")
    spec = pipeline.read(path, bag)
    assert spec is not None
    made = pipeline.run(spec, pipeline.Stage.DERIVED)
    assert made.derived is not None, [d.message for d in made.diagnostics]
    plan = build(made.derived[0].forward)
    return sorted({f"{buffer}{axis}" for step in plan.steps for buffer, axis, _ in guarded(plan, step)})


@pytest.mark.parametrize(
    "value",
    [
        "where(i + 1 < N, x[i + 1], 0)",
        "where(i > 0, x[i - 1], 0)",
        "where(i == 0, 0, x[i - 1])",
        "where(i + 1 >= N, 0, x[i + 1])",
        "where(not (i + s >= N or i + s < 0), x[i + s], 0)",
        "where(0 <= 2*i - s < N, x[2*i - s], 0)",
        "where(i >= s and i - s < N, x[i - s], 0)",
        "where(i > 0, where(i + 1 < N, x[i - 1]*x[i + 1], 0), 0)",
        "sum[r < 3](where(0 <= i + r - 1 and i + r - 1 < N, x[i + r - 1], 0))",
    ],
)
def test_a_condition_keeps_an_access_in_range(value: str, tmp_path: Path) -> None:
    assert places(value, tmp_path) == ["x0"]


def test_values_of_an_integer_tensor_can_be_guarded(tmp_path: Path) -> None:
    assert places("where(0 <= ids[i] and ids[i] < M, w[ids[i]], 0)", tmp_path) == ["w0"]


@pytest.mark.parametrize(
    "value",
    [
        "where(i + s <= N, x[i + s], 0)",  # one too far
        "where(i - s < N, x[i - s], 0)",  # the other end
        "where(i + s < N, 0, x[i + s])",  # the other branch
        "where(i + 1 < N or i > 3, x[i + 1], 0)",
        "where(i + 1 < limit, x[i + s], 0)",  # no integers
        "where(i != 3, x[i - s], 0)",
        "where(0 <= ids[i], w[ids[i]], 0)",
        "where(i + s < N and i + s >= 0, x[i + s], 0) + where(x[i] > 9, x[i + s], 0)",  # once without
    ],
)
def test_what_a_condition_does_not_tell_is_checked(value: str, tmp_path: Path) -> None:
    assert places(value, tmp_path) == []


STEPS = """
op: steps
inputs: {ids: {shape: [N], dtype: int}, w: {shape: [M]}}
forward: |
  y[i] = where(0 <= ids[i] < M, w[ids[i]], 0)
  z[k < 3] = w[ids[k]]
outputs: [y, z]
"""


def test_what_another_step_reads_without_a_condition_changes_nothing(tmp_path: Path) -> None:
    assert of_spec(STEPS, tmp_path) == ["w0"]
