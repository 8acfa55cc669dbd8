"""Which sums become one, and which stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.plan.model import Nest

HEAD = """op: summed
inputs: {x: {shape: [..., N], differentiable: false}, w: {shape: [..., N], differentiable: false}}
forward: |
  s[...] = sum[n](exp(x[..., n]))
  t[...] = sum[n](w[..., n]*x[..., n])
"""


def folds(lines: str, outputs: str = "[y]") -> list[str]:
    text = f"{HEAD}{lines}\noutputs: {outputs}\n"
    made = run(SpecFile(Path("summed.yaml"), text.encode(), "summed.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    steps = build(made.derived[0].forward).steps
    return [f.name for s in steps if isinstance(s, Nest) for p in s.passes for f in p.folds]


@pytest.mark.parametrize(
    "line",
    [
        "y[...] = s[...] + t[...]",
        "y[...] = s[...] - t[...]",
        "y[...] = exp(t[...] - s[...])",
        "y[...] = 1 - s[...] + t[...]",
    ],
)
def test_sums_that_only_meet_each_other_are_one(line: str) -> None:
    assert len(folds(f"  {line}")) == 1


@pytest.mark.parametrize(
    ("line", "outputs"),
    [
        ("y[...] = s[...] + t[...] + t[...]**2", "[y]"),  # one is read elsewhere as well
        ("y[...] = s[...] + t[...]", "[y, s]"),  # one is a result
        ("y[...] = s[...]*t[...]", "[y]"),
        ("y[...] = max[n](x[..., n]) + t[...]", "[y]"),
        ("y[...] = sum[n](w[..., n]*(x[..., n] - s[...])) + s[...]", "[y]"),  # one is needed for the other
    ],
)
def test_other_sums_stay(line: str, outputs: str) -> None:
    assert len(folds(f"  {line}", outputs)) == 2
