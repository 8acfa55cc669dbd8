"""Measured times against those of plain torch, as bars: from 1 to the left where kernels are faster, else to the right.

In: rows of `opgen bench --format json`. Out: a drawing in SVG on a logarithmic axis, with the quartiles of each ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement

_WIDTH, _ROW, _TOP, _BOTTOM = 380, 34, 8, 34
_LEFT, _RIGHT = 14, 366  # of the axis
_LEAST, _MOST = 1 / 64, 64.0  # what is beyond is drawn at the end


@dataclass(frozen=True, slots=True)
class Measured:
    """A ratio of times, kernel over plain torch, with its quartiles; `label` says of what."""

    op: str
    label: str
    ratio: float
    low: float
    high: float


def measured(rows: Iterable[Mapping[str, Any]]) -> Iterator[Measured]:
    """The ratios of rows that have one. LookupError, TypeError or ValueError where they are no measurements."""
    for row in rows:
        found = row["ratios"].get("plain")
        if found is None:
            continue
        elements = row["elements"] or row["size"]
        label = f"{row['direction']}, {row['dtype']}, {elements:,} elements, {_threads(row['threads'])}"
        yield Measured(str(row["op"]), label, *map(_time, (found["median"], found["low"], found["high"])))


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count != 1 else ''}"


def _time(ratio: object) -> float:
    """A ratio of times; small ones may have been rounded to 0."""
    value = float(ratio)  # type: ignore[arg-type]
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError(f"{ratio} is no ratio of times")
    return value


def bars(found: Sequence[Measured]) -> Element:
    """The drawing; `found` is not empty."""
    low = min(0.5, max(_LEAST, min(m.low for m in found)))
    high = max(2.0, min(_MOST, max(m.high for m in found)))
    height = _TOP + _ROW * len(found) + _BOTTOM
    told = "time of the compiled kernels over that of plain torch"
    svg = Element("svg", {
        "viewBox": f"0 0 {_WIDTH} {height}", "role": "img", "aria-label": told, "class": "bars",
    })  # fmt: skip

    def at(ratio: float) -> float:
        inside = min(max(ratio, low), high)
        return _LEFT + (_RIGHT - _LEFT) * math.log(inside / low) / math.log(high / low)

    foot = height - _BOTTOM
    for tick in ticks(low, high, 7):
        sort = "one" if tick == 1 else "axis"
        for k in range(len(found)):
            _line(svg, at(tick), _TOP + _ROW * k + 16, at(tick), _TOP + _ROW * k + 28, sort)
        _text(svg, at(tick), foot + 14, fraction(tick), "middle")
    for k, m in enumerate(found):
        y = _TOP + _ROW * k
        sort = "faster" if m.ratio <= 1 else "slower"
        _text(svg, _LEFT, y + 12, m.label, "start")
        _text(svg, _RIGHT, y + 12, f"{m.ratio:.3g}", "end")
        left, right = sorted((at(1.0), at(m.ratio)))
        box = {"x": left, "y": y + 17, "width": max(right - left, 1.0), "height": 10}
        SubElement(svg, "rect", {**{n: f"{v:.1f}" for n, v in box.items()}, "class": sort})
        _line(svg, at(m.low), y + 22, at(m.high), y + 22, "quartiles")
    _text(svg, _LEFT, foot + 30, "← faster", "start")
    _text(svg, _RIGHT, foot + 30, "slower →", "end")
    return svg


def ticks(low: float, high: float, most: int) -> list[float]:
    """Powers of 2 within two ratios, not more than so many; 1 is one of them."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [2.0**k for k in range(first, last + 1) if k % step == 0]


def fraction(ratio: float) -> str:
    """A power of 2 as a person writes it."""
    return f"{ratio:g}" if ratio >= 1 else f"1/{1 / ratio:g}"


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, sort: str) -> None:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    SubElement(svg, "line", {**{n: f"{v:.1f}" for n, v in ends.items()}, "class": sort})


def _text(svg: Element, x: float, y: float, words: str, anchor: str) -> None:
    SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}).text = words
