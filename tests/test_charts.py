"""The chart of the README shows the measurements that are committed."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.charts import CHART, RESULTS, Row, chart, current, shown

ROOT = Path(__file__).resolve().parents[1]
SVG = "{http://www.w3.org/2000/svg}"
ROWS: list[Row] = [
    {"op": op, "direction": direction, "size": size, "threads": threads, "ratios": {"plain": {"median": ratio}}}
    for direction in ("forward", "both")
    for size in (1000, 100000)
    for op, threads, ratio in (("a", 1, 0.5), ("b", 1, 0.25), ("c", 1, 2.0), ("a", 2, 0.01))
]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found: list[Row] = json.loads((RESULTS / "cpu.json").read_text(encoding="utf-8"))["rows"]
    return found


def test_it_is_up_to_date() -> None:
    assert CHART.read_text(encoding="utf-8") == current(), "python -m benchmarks.charts --write"


def test_the_readme_shows_it() -> None:
    assert f"]({CHART.relative_to(ROOT).as_posix()})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_measurement_that_is_shown_is_a_dot(rows: list[Row]) -> None:
    dots = list(ElementTree.fromstring(current()).iter(f"{SVG}circle"))
    single = shown(rows)
    assert {row["threads"] for row in single} == {1}
    assert {row["direction"] for row in single} == {"forward", "both"}
    faster = sum(row["ratios"]["plain"]["median"] < 1 for row in single)
    assert len(dots) == len(single)
    assert sum(dot.get("class") == "faster" for dot in dots) == faster


def test_places_are_those_of_a_logarithm() -> None:
    drawn = ElementTree.fromstring(chart(ROWS, "2.13"))
    dots = [float(dot.attrib["cx"]) for dot in drawn.iter(f"{SVG}circle")][:3]
    assert dots == sorted(dots)
    quarter, half, two = dots  # of one row: the distances are those of the powers of 2
    assert (two - half) == pytest.approx(2 * (half - quarter), abs=0.2)
    told = [text.text for text in drawn.iter(f"{SVG}text")]
    assert told.count("median 0.50, 2 of 3 faster") == 4
    assert "Compiled kernels against plain torch: 3 operators" in told


def test_text_is_readable_in_light_and_dark_and_inside() -> None:
    drawn = ElementTree.fromstring(current())
    left, top, width, height = map(float, drawn.attrib["viewBox"].split())
    style = next(drawn.iter(f"{SVG}style")).text or ""
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    for kind in ("text", ".quiet", ".axis", ".faster", ".slower", ".median"):
        assert f"{kind} {{" in light
        assert f"{kind} {{" in dark
    for text in drawn.iter(f"{SVG}text"):
        long = 7.5 * len(text.text or "")  # of 13 px
        start = float(text.attrib["x"]) - {"start": 0, "middle": 0.5, "end": 1}[text.attrib["text-anchor"]] * long
        assert left <= start
        assert start + long <= width + left
        assert top < float(text.attrib["y"]) < height
