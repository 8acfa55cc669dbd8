"""The parts of a page: formulas, graphs, curves and bytes."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import tostring

import pytest

from opgen import pipeline
from opgen.ir.program import Program
from opgen.opt.derive import Derived
from opgen.pipeline import SpecFile, Stage
from opgen.plan.build import build
from opgen.report.chart import chart
from opgen.report.graph import drawing
from opgen.report.mathml import formula
from opgen.report.memory import Sizes, floor, moved, shown, sizes
from opgen.report.plots import plots


def derived(text: str) -> Derived:
    made = pipeline.run(SpecFile(Path("f.yaml"), f"op: f\n{text}".encode(), "f.yaml"), Stage.DERIVED)
    assert made.derived is not None, made.diagnostics
    return made.derived[0]


def typeset(p: Program) -> str:
    """The MathML of a program."""
    return tostring(formula(p.statements), encoding="unicode")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("y = x/(x + 1)", "<mfrac><mi>x</mi><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></mfrac>"),
        ("y = (x + 1)**3", "<msup><mrow><mo>(</mo><mrow>"),
        ("y = exp(-x)", '<msup><mi>e</mi><mrow><mo form="prefix">−</mo><mi>x</mi></mrow></msup>'),
        ("y = sqrt(abs(x))", "<msqrt><mrow><mo>|</mo><mi>x</mi><mo>|</mo></mrow></msqrt>"),
        ("y = where(x <= 1, x, 2)", "<mo>≤</mo>"),
        ("y = 3*x*cos(x)", "<mn>3</mn><mo>\N{INVISIBLE TIMES}</mo><mi>x</mi><mo>·</mo>"),
    ],
)
def test_formulas_are_typeset(statement: str, told: str) -> None:
    found = typeset(derived(f"inputs: {{x: {{shape: []}}}}\nexact: true\nforward: {statement}\n").primal)
    assert told in found


def test_reductions_and_scatters_are_typeset() -> None:
    found = typeset(derived("inputs: {x: {shape: [N, K]}}\nforward: y[n] = sum[k](x[n, k])\n").primal)
    assert '<munder><mo largeop="true">∑</mo><mrow><mi>k</mi></mrow></munder>' in found
    spec = "inputs: {x: {shape: [N]}, ids: {shape: [N], dtype: int}, start: {shape: [V]}}\n"
    found = typeset(derived(f"{spec}forward: |\n  y[v] = 2*start[v]\n  y[ids[n]] += x[n]\n").primal)
    assert "<mo>+=</mo>" in found


def test_a_graph_has_what_is_read_and_computed() -> None:
    inputs = "inputs: {x: {shape: [..., K]}}\n"
    d = derived(f"{inputs}forward: |\n  m[...] = mean[k](x[..., k])\n  y[..., k] = x[..., k] - m[...]\n")
    svg = drawing(d.primal, {"x"})
    groups = [g for g in svg if g.tag == "g"]
    labels = {str(g[2].text): str(g.get("class")) for g in groups}
    assert {"x", "m · mean"} <= {*labels}
    assert labels["x"] == "input kept"
    assert sum(e.tag == "path" for e in svg) >= 3
    assert float(str(svg.get("width"))) > 0


def test_curves_are_those_of_the_formula() -> None:
    (plot,) = plots(derived("inputs: [x]\nforward: y = x**3/3\n"))
    (f, slope, curvature) = plot.curves
    assert [c[0] for c in plot.curves] == ["f", "f′", "f″"]
    x, y = f[1][-1]
    assert (x, y, slope[1][-1][1], curvature[1][-1][1]) == pytest.approx((4, 64 / 3, 16, 8))
    assert all(not jumps for _, _, jumps in plot.curves)


@pytest.mark.parametrize(
    ("forward", "kinks"),
    [("abs(x)", {"f′": (0.0,)}), ("clamp(x, -1, 2)", {"f′": (-1.0, 2.0)}), ("floor(x/3)", {"f": (-3.0, 0.0, 3.0)}),
     ("where(x > 1, square(x - 1), 0)", {"f″": (1.0,)}), ("log(x)", {}), ("tanh(8*x)", {})],
)  # fmt: skip
def test_kinks_are_found(forward: str, kinks: dict[str, tuple[float, ...]]) -> None:
    (plot,) = plots(derived(f"inputs: [x]\nforward: y = {forward}\n"))
    found = {name: jumps for name, _, jumps in plot.curves if jumps}
    assert {n: tuple(sorted({round(j, 3) + 0.0 for j in jumps})) for n, jumps in found.items()} == kinks


def test_what_is_not_element_wise_has_no_curves() -> None:
    assert plots(derived("inputs: {x: {shape: [..., K]}}\nforward: y[...] = sum[k](x[..., k])\n")) == ()


def test_bytes_are_counted_against_the_floor() -> None:
    d = derived("inputs: {x: {shape: [..., K]}}\nforward: y[..., k] = 2*x[..., k]\n")
    plan = build(d.forward, ("y",))
    at = Sizes({"...": 8, "K": 4}, d.primal.dims, ())
    assert [moved(plan, s, at) for s in plan.steps] == [floor(plan, at)] == [2 * 8 * 4 * 4]
    assert sizes(d.primal).named.keys() == {"...", "K"}


@pytest.mark.parametrize(
    ("count", "text"), [(None, "—"), (12, "12 B"), (1536, "1.5 KiB"), (200 * 2**20, "200 MiB"), (2**40, "1024 GiB")]
)
def test_bytes_are_shown_as_a_person_reads_them(count: int | None, text: str) -> None:
    assert shown(count) == text


def test_labels_of_curves_stand_inside_and_beside_them() -> None:
    values = (-1.23e-5, -0.0998, 1234.5)
    curve = tuple((float(x), y) for x, y in zip((-4, 0, 4), values, strict=True))
    drawn = chart("f(x)", curve, (), (0.0,))
    left = min(float(x.split(",")[0]) for line in drawn.iter("polyline") for x in line.attrib["points"].split())
    low, high = (e for e in drawn.iter("text") if e.text in ("-0.0998", "1.23e+03"))
    for label in (low, high):
        end = float(label.attrib["x"])
        assert label.attrib["text-anchor"] == "end"
        assert end - 6.2 * len(label.text or "") >= 0
        assert end < left
