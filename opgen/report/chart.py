"""Curves as drawings in SVG: axes, the curve, and dotted lines where it jumps or kinks."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement

from opgen.report.plots import Curve

_WIDTH, _HEIGHT, _MARGIN = 330, 190, 26
_LABELS = 60  # what stands left of the axis


def chart(title: str, curve: Curve, jumps: tuple[float, ...], marks: tuple[float, ...]) -> Element:
    """One curve; it is broken at `jumps`, and `marks` are dotted."""
    svg = Element("svg", {
        "viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img", "aria-label": title, "class": "chart",
    })  # fmt: skip
    finite = [y for _, y in curve if math.isfinite(y)]
    left, right = curve[0][0], curve[-1][0]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high - low < 1e-12:
        low, high = low - 1, high + 1
    wide, tall = _WIDTH - _LABELS - _MARGIN, _HEIGHT - 2 * _MARGIN

    def place(x: float, y: float) -> tuple[float, float]:
        return _LABELS + wide * (x - left) / (right - left), _HEIGHT - _MARGIN - tall * (y - low) / (high - low)

    zero = min(max(0.0, low), high)
    for (x1, y1), (x2, y2) in (((left, zero), (right, zero)), ((0.0, low), (0.0, high))):
        a, b = place(x1, y1), place(x2, y2)
        _line(svg, a, b, "axis")
    for x in marks:
        _line(svg, place(x, low), place(x, high), "kink")
        _label(svg, place(x, high)[0], _MARGIN - 8, f"{x:g}", "middle")
    for part in _parts(curve, jumps):
        points = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in part)
        SubElement(svg, "polyline", {"points": points, "class": "curve"})
    for x, anchor in ((left, "start"), (right, "end")):
        _label(svg, place(x, low)[0], _HEIGHT - 8, f"{x:g}", anchor)
    for y in (low, high):
        _label(svg, _LABELS - 6, place(left, y)[1] + 4, f"{y:.3g}", "end")
    _label(svg, _WIDTH - 4, 14, title, "end")
    return svg


def _parts(curve: Curve, jumps: tuple[float, ...]) -> list[list[tuple[float, float]]]:
    """The stretches between jumps and values that are no numbers."""
    parts: list[list[tuple[float, float]]] = [[]]
    for k, (x, y) in enumerate(curve):
        jumped = k > 0 and any(curve[k - 1][0] < j <= x for j in jumps)
        if not math.isfinite(y) or jumped:
            parts.append([])
        if math.isfinite(y):
            parts[-1].append((x, y))
    return [part for part in parts if len(part) > 1]


def _line(svg: Element, a: tuple[float, float], b: tuple[float, float], sort: str) -> None:
    ends = {"x1": a[0], "y1": a[1], "x2": b[0], "y2": b[1]}
    SubElement(svg, "line", {**{k: f"{v:.1f}" for k, v in ends.items()}, "class": sort})


def _label(svg: Element, x: float, y: float, words: str, anchor: str) -> None:
    SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}).text = words
