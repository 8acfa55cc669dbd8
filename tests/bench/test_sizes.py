"""How calls grow from the sample of a test: what grows, what hangs together, and what stays as it is."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from opgen.bench.sizes import Growth
from opgen.bench.subject import operands
from opgen.package.sample_arrays import InputSample
from opgen.package.samples import Chooser, SampleCase
from opgen.pipeline import SpecFile, Stage, run

SPECS = Path(__file__).resolve().parents[2] / "specs"


def growth(text: str, refused: tuple[str, ...] = ()) -> Growth:
    """The growth of a spec; calls are refused in which the dims `refused` have not grown alike."""
    made = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"), Stage.DERIVED)
    assert made.operator is not None
    assert made.derived is not None
    chooser = Chooser(made.operator, made.derived[0], stated=False)
    case = chooser.case()
    assert case is not None

    def elements(c: SampleCase) -> int | None:
        grown = {dict(c.sizes)[d] / dict(case.sizes)[d] for d in refused}
        if len(grown) > 1:
            return None
        return max(math.prod(shape(s)) for _, s in c.inputs if s is not None)

    return Growth(chooser, case, elements)


def shape(s: InputSample) -> tuple[int, ...]:
    return tuple(n for item in s.shape for n in (item if isinstance(item, tuple) else (item,)))


def shapes(case: SampleCase) -> dict[str, tuple[int, ...]]:
    return {n: shape(s) for n, s in case.inputs if s is not None}


ROWS = "op: rows\ninputs: {x: {shape: [..., D]}}\nforward: y[..., d] = 2*x[..., d]\n"


@pytest.mark.parametrize("wanted", [6, 1_000, 100_000, 10_000_000])
def test_rows_grow_to_what_is_wanted(wanted: int) -> None:
    rows, width = shapes(growth(ROWS).at(wanted))["x"]
    assert wanted / 2 < rows * width <= wanted


def test_what_has_batch_dims_alone_is_as_large_as_wanted() -> None:
    found = growth("op: each\ninputs: {x: {shape: [...]}}\nforward: y[...] = 2*x[...]\n").at(1_000)
    assert shapes(found) == {"x": (1_000,)}


def test_no_call_is_smaller_than_the_sample() -> None:
    grown = growth(ROWS)
    assert shapes(grown.at(1)) == shapes(grown.base)


def test_windows_stay_as_they_are() -> None:
    made = growth((SPECS / "conv2d.yaml").read_text())
    found = shapes(made.at(1_000_000))
    assert found["weight"][2:] == shapes(made.base)["weight"][2:]
    assert min(found["input"]) > 8


def test_dims_that_hang_together_grow_together() -> None:
    inputs = "{x: {shape: [..., D]}, w: {shape: [H]}}"
    text = f"op: pair\ninputs: {inputs}\nforward: y[...] = sum[d](x[..., d]) + sum[h](w[h])\n"
    made = growth(text, refused=("D", "H"))
    before, after = shapes(made.base), shapes(made.at(100_000))
    assert after["x"][-1] * before["w"][0] == before["x"][-1] * after["w"][0]
    assert math.prod(after["x"]) > 50_000


def test_a_param_that_counts_a_dim_grows_and_positions_are_spread_over_it() -> None:
    found = growth((SPECS / "segment_sum.yaml").read_text()).at(1_000_000)
    segments = dict(found.params)["num_segments"]
    assert isinstance(segments, int)
    assert segments > 8
    assert next(s.high for n, s in found.inputs if n == "segment" and s is not None) == segments


def test_operands_have_the_dtypes_that_the_spec_declares() -> None:
    declared = ", ".join(
        f"{n}: {{shape: [..., D], dtype: {d}}}" for n, d in (("a", "int8"), ("b", "bool"), ("c", "int"))
    )
    text = f"op: kinds\ninputs: {{x: {{shape: [..., D]}}, {declared}}}\n"
    case = growth(f"{text}forward: y[..., d] = where(b[..., d], x[..., d]*a[..., d], c[..., d])\n").at(1_000)
    made = {name: t for (name, _), t in zip(case.inputs, operands(case, torch.bfloat16, "cpu", ("x",)), strict=True)}
    wanted = {"x": torch.bfloat16, "a": torch.int8, "b": torch.bool, "c": torch.int64}
    assert {n: t.dtype for n, t in made.items() if t is not None} == wanted
