"""The binding of a compiled operator: which variant runs is told from what a direction is given."""

from __future__ import annotations

import re
from pathlib import Path

from opgen.pipeline import SpecFile, run

MASKED = """
op: masked
inputs: {x: {shape: [N, V]}, labels: {shape: [N], dtype: int, optional: true}}
forward: |
  loss = sum[n, v](x[n, v]**2) if not given(labels)
  loss = sum[n, v](where(labels[n] != -100, x[n, v]**2, 0)) if given(labels)
"""
INPUT = re.compile(r'call\.input\("(\w+)", (\w+),')


def binding(spec: str) -> str:
    made = run(SpecFile(Path("masked.yaml"), spec.encode(), "masked.yaml"))
    assert made.files is not None, made.diagnostics
    return next(f.text for f in made.files if f.path.endswith("masked.cpp"))


def test_what_was_kept_tells_which_inputs_were_there() -> None:
    """Backward takes a condition over the labels, not the labels: where it was not kept, there were none."""
    text = binding(MASKED)
    functions = {m[1]: m[2] for m in re.finditer(r"^Tensor (masked_backward\w*)\((.*?)^}", text, re.M | re.S)}
    chosen = functions.pop("masked_backward")
    assert len(functions) == 2
    for name, body in functions.items():
        optional = {tensor for _, tensor in INPUT.findall(body)} & set(re.findall(r"Optional& (\w+)", body))
        tested = re.search(rf"if \(condition\.has_value\(\)\) return {name}\(", chosen)
        assert optional == ({"condition"} if tested else set())
