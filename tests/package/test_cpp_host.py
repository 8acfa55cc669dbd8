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


RESIDUAL = """
op: damped
inputs: [x, y]
forward: |
  gap = x - y
  z = exp(-gap**2)*cos(gap)
"""


def test_what_is_kept_for_a_gradient_is_not_stored_where_none_can_be_asked_for() -> None:
    text = binding(RESIDUAL.replace("op: damped", "op: masked"))
    assert re.search(r"masked_forward\(const Tensor& x, const Tensor& y, bool recorded\)", text)
    assert re.search(r"masked_forward\(Tensor x, Tensor y, bool recorded=True\)", text)
    stored = re.findall(r'call\.allocate(?:_stored)?\("(\w+)", \S+ \{.*?\}(.*?)\);', text)
    assert ("z", "") in stored
    assert {more for name, more in stored if name.startswith("gap")} == {", true, recorded"}


def test_a_gradient_that_nobody_asks_for_is_not_stored() -> None:
    text = binding(RESIDUAL.replace("op: damped", "op: masked"))
    stored = dict(re.findall(r'call\.allocate(?:_stored)?\("(grad_\w+)", \S+ \{.*?\}, (.*?)\);', text))
    assert {condition.rpartition(", ")[2] for condition in stored.values()} == {"mask[0]", "mask[1]"}
