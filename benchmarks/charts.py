"""A chart of measured times for the README: each dot an operator, its kernels against plain torch.

    python -m benchmarks.charts [--write]

Prints the SVG, or writes it to `benchmarks/results/cpu.svg`. It shows what `cpu.json` beside it holds for one thread,
at sizes at which most operators were measured; `tests/test_charts.py` says whether it is up to date.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from opgen.report.bars import fraction, ticks

RESULTS = Path(__file__).resolve().parent / "results"
CHART = RESULTS / "cpu.svg"
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b1f24; }
.title { font-weight: 600; }
.quiet { fill: #57606a; }
.axis { stroke: #d4dae0; }
.one { stroke: #57606a; stroke-width: 1.5; }
.faster { fill: #0b62c4; fill-opacity: 0.55; }
.slower { fill: #b3541e; fill-opacity: 0.8; }
.median { stroke: #1b1f24; stroke-width: 2.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e8ec; }
  .quiet { fill: #9aa5b1; }
  .axis { stroke: #39424d; }
  .one { stroke: #9aa5b1; }
  .faster { fill: #6db0ff; }
  .slower { fill: #f0a06a; }
  .median { stroke: #e4e8ec; }
}
"""
_WIDTH, _LEFT, _RIGHT = 520, 12, 508
_TOP, _ROW, _BOTTOM = 54, 46, 44
_THREADS = 1

Row = dict[str, Any]


def shown(rows: list[Row]) -> list[Row]:
    """The rows of one thread that compare with the plain form, where these are of most operators."""
    kept = [r for r in rows if r["threads"] == _THREADS and "plain" in r["ratios"]]
    counts = Counter((r["direction"], r["size"]) for r in kept)
    return [r for r in kept if 2 * counts[r["direction"], r["size"]] > max(counts.values())]


def chart(rows: list[Row], torch: str) -> str:
    """The chart as the text of an SVG file."""
    kept = shown(rows)
    ratios: dict[tuple[str, int], list[float]] = {}
    for row in sorted(kept, key=lambda r: (r["direction"] != "forward", r["size"], r["ratios"]["plain"]["median"])):
        ratios.setdefault((row["direction"], row["size"]), []).append(row["ratios"]["plain"]["median"])
    groups = list(ratios)
    low = min(0.5, *(r[0] for r in ratios.values()))
    high = max(2.0, *(r[-1] for r in ratios.values()))
    height = _TOP + _ROW * len(groups) + _BOTTOM
    foot = height - _BOTTOM
    svg = Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {_WIDTH} {height}", "width": "640", "role": "img",
        "aria-label": "Times of compiled kernels over those of plain torch, by direction and size",
    })  # fmt: skip
    SubElement(svg, "style").text = STYLE

    def at(ratio: float) -> float:
        return _LEFT + 6 + (_RIGHT - _LEFT - 12) * math.log(ratio / low) / math.log(high / low)

    count = len({row["op"] for row in kept})
    _text(svg, _LEFT, 18, f"Compiled kernels against plain torch: {count} operators", "start", "title")
    _text(svg, _LEFT, 38, f"dots are operators, bars medians; one thread, torch {torch}", "start", "quiet")
    for tick in ticks(low, high, 9):
        for y in range(_TOP, foot, _ROW):
            _line(svg, at(tick), y + 19, at(tick), y + _ROW - 5, "one" if tick == 1 else "axis")
        _text(svg, at(tick), foot + 16, fraction(tick), "middle", "quiet")
    for k, group in enumerate(groups):
        found, y = ratios[group], _TOP + _ROW * k
        faster = sum(r < 1 for r in found)
        direction = {"both": "forward and backward"}.get(group[0], group[0])
        _text(svg, _LEFT, y + 14, f"{direction}, {group[1]:,} elements", "start", "")
        _text(svg, _RIGHT, y + 14, f"median {median(found):.2f}, {faster} of {len(found)} faster", "end", "quiet")
        for n, ratio in enumerate(found):
            place = {"cx": f"{at(ratio):.1f}", "cy": f"{y + 30 + 5 * (n % 3 - 1)}", "r": "3.5"}
            SubElement(svg, "circle", {**place, "class": "faster" if ratio < 1 else "slower"})
        _line(svg, at(median(found)), y + 20, at(median(found)), y + 40, "median")
    _text(svg, _LEFT, foot + 36, "← faster", "start", "quiet")
    _text(svg, _RIGHT, foot + 36, "slower →", "end", "quiet")
    return f"{tostring(svg, encoding='unicode')}\n"


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, sort: str) -> None:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    SubElement(svg, "line", {**{n: f"{v:.1f}" for n, v in ends.items()}, "class": sort})


def _text(svg: Element, x: float, y: float, words: str, anchor: str, sort: str) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    SubElement(svg, "text", {**place, **({"class": sort} if sort else {})}).text = words


def current() -> str:
    """The chart of the results that are there."""
    found = json.loads((RESULTS / "cpu.json").read_text(encoding="utf-8"))
    return chart(found["rows"], found["torch"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {CHART.name}")
    if parser.parse_args().write:
        CHART.write_text(current(), encoding="utf-8")
        print(CHART.relative_to(RESULTS.parent.parent))
    else:
        print(current(), end="")


if __name__ == "__main__":
    main()
