"""The lines of several variants in one function: read by one variant, they still say what its own lines say.

Values are compared by how they are computed: two lines that write the same expression of the same values agree.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from pathlib import Path

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.lower.operator import lower
from opgen.opt.derive import derive
from opgen.schema.load import load
from opgen.torch import functions
from opgen.torch.functions import torch_function
from opgen.torch.merge import Line, merged
from opgen.torch.program import Listing
from opgen.torch.scope import Step
from tests.spec_files import SPECS

STAGES = ("forward", "backward", "tangent", "second", "backward_tangent")
QUICK = ("cross_entropy", "elu", "linear_activation", "rms_norm", "smooth_l1_loss")

# A result that one variant goes on computing with, and another computes in the same words and stops at.
SHORTER = """
op: chosen
summary: The largest, a count or a square, by variant.
inputs:
  x: {shape: [..., N]}
params:
  how: {choices: [argmax, max, count], default: max}
  keep: {type: bool, default: false}
outputs: [y, z]
forward: |
  y[...] = argmax[n](x[..., n]) if how == argmax
  y[...] = max[n](x[..., n]) if how == max
  y[...] = count[n](x[..., n] > 0) if how == count
  z[..., k < N] = argsort[k](x[..., k]) if keep
  z[..., k < N] = x[..., k]**2 if not keep
"""

# A comparison with a number in one variant, and with a larger one in another.
BEYOND = """
op: beyond
inputs:
  x: {shape: [M]}
params:
  flag: {type: bool, default: true}
forward: |
  y[i] = where(2*i + 1 < M, log(x[i]), 0) if flag
  y[i] = where(2*i + 1 < M - 1, log(x[i]), 0) if not flag
"""


class Values:
    """What names stand for, as numbers; equal computations have equal numbers."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}

    def number(self, node: ast.AST, names: dict[str, int]) -> int:
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        parts: list[Hashable] = [type(node).__name__]
        for _, value in ast.iter_fields(node):
            for item in value if isinstance(value, list) else (value,):
                parts.append(self.number(item, names) if isinstance(item, ast.AST) else repr(item))
        return self.known.setdefault(tuple(parts), len(self.known))

    def after(self, steps: Sequence[Step]) -> dict[str, int]:
        names: dict[str, int] = {}
        for s in steps:
            if "\n" in s.line:  # a loop, whose own names say nothing
                tree = ast.parse(s.line)
                order = dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
                own = {n: -1 - i for i, n in enumerate(n for n in order if n not in names)}
                names[s.target] = self.number(tree, {**names, **own})
            else:
                names[s.target] = self.number(ast.parse(s.text, mode="eval").body, names)
        return names


def check(listings: Sequence[Listing], lines: Sequence[Line]) -> None:
    for i, listing in enumerate(listings):
        values = Values()
        own = values.after(listing.steps)
        shared = values.after([x.step for x in lines if i in x.variants])
        for result, name in listing.returns:
            assert own.get(name) == shared.get(name), (result, listing.steps, lines)


def functions_of(text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Print every function of a spec and check what was merged; how many there were."""
    found: list[tuple[Sequence[Listing], Sequence[Line]]] = []

    def noted(
        listings: Sequence[Listing], results: tuple[str, ...], *, masked: bool, joins: bool, taken: Sequence[str]
    ) -> tuple[Line, ...]:
        lines = merged(listings, results, masked=masked, joins=joins, taken=taken)
        found.append((listings, lines))
        return lines

    monkeypatch.setattr(functions, "merged", noted)
    bag = Bag()
    spec = load(Source(name, text), bag)
    operator = lower(spec, bag) if spec is not None else None
    assert operator is not None, bag.items
    variants = derive(operator)
    for stage in STAGES:
        programs = [(d.variant, p) for d in variants if (p := getattr(d, stage)) is not None]
        if programs:
            torch_function(stage, programs, operator, masked=stage in ("backward", "second"))
    for listings, lines in found:
        check(listings, lines)
    return len(found)


@pytest.mark.parametrize("path", [p for p in SPECS if p.stem in QUICK], ids=lambda p: p.stem)
def test_variants_keep_their_values(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert functions_of(path.read_text(encoding="utf-8"), path.name, monkeypatch) >= len(STAGES)


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in SPECS if p.stem not in QUICK], ids=lambda p: p.stem)
def test_variants_of_every_spec_keep_their_values(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert functions_of(path.read_text(encoding="utf-8"), path.name, monkeypatch)


def test_a_line_is_not_taken_apart_where_its_end_reads_what_it_assigns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert functions_of(SHORTER, "chosen.yaml", monkeypatch) >= len(STAGES)


def test_a_comparison_is_not_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    assert functions_of(BEYOND, "beyond.yaml", monkeypatch) >= len(STAGES)
