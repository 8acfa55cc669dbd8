"""Reductions whose body has no index of theirs, though that is one of the statement."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.lower.unused import unused
from opgen.schema.load import load
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = "inputs: {w: {shape: [J]}, x: {shape: [J, S]}, seed: {dtype: seed}}"


def told(line: str) -> tuple[Diagnostic, ...]:
    spec = load(Source("spec.yaml", whole(FIELDS, line)), Bag())
    assert spec is not None
    return tuple(d for d in unused(spec) if "input" not in d.message)


@pytest.mark.parametrize(
    ("line", "at", "body"),
    [
        ("y[s] = sum[j](softmax[s](w[j])*x[j, s])", "softmax[j](w[j])", "w[j]"),
        ("y[s] = sum[j](log_softmax[s](2*w[j])*x[j, s])", "log_softmax[j](2*w[j])", "2*w[j]"),
        ("y[j, s] = w[j]/sum[s < S](w[j])*x[j, s]", "sum[j](w[j])", "w[j]"),
        ("y[s] = sum[j](softmax[s](w[0])*x[j, s])", "", "w[0]"),
        ("y[j, s] = w[j]/sum[s < S, j](w[j])*x[j, s]", "", "w[j]"),
        ("y[j, s] = sum[s < S](w[j])*x[0, s]", "", "w[j]"),  # nothing else would say how far `j` runs
    ],
)
def test_what_does_not_move_along_an_index_around_is_told(line: str, at: str, body: str) -> None:
    (found,) = told(line)
    assert found.message == f"`{body}` is the same at each `s`"
    meant = re.findall(r"write `([^`]*)`", " ".join(found.hints))
    assert meant == ([at] if at else [])
    if at and found.span is not None:
        better = line.replace(found.span.text, at)
        assert not told(better)
        built(whole(FIELDS, better), warned=True)


@pytest.mark.parametrize("line", ["y = sum[i < 3](w[0]) + sum[j](w[j])", "y[s] = x[0, s] + sum[i < 3](w[0])"])
def test_an_index_that_stands_nowhere_else_is_never_used(line: str) -> None:
    (found,) = told(line)
    assert found.message == "the index `i` is never used"


def test_one_without_an_extent_is_moved() -> None:
    (found,) = diagnosed(whole(FIELDS.replace(", seed: {dtype: seed}", ""), "y[j, s] = w[j]/sum[s](w[j])*x[j, s]"))
    assert found.hints[1:] == ("for what runs along `j` write `sum[j](w[j])`",)
