"""A program as a graph: arguments above, statements in layers below, as a drawing in SVG.

In goes a Program; out comes a tree of elements. What is kept for the backward program is drawn with a dashed line.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from opgen.ir import text
from opgen.ir.program import Program, Recurrence, Role, Statement, parts, statement_reads, targets

_CHARACTER, _HEIGHT, _GAP, _LAYER = 7.2, 26, 16, 58  # pixels
_LONGEST = 24  # characters of a name


@dataclass(slots=True)
class _Node:
    name: str
    label: str
    sort: str  # a class of the style sheet: input, cotangent, saved, statement
    reads: tuple[str, ...] = ()
    layer: int = 0
    x: float = 0.0
    more: str = field(default="", repr=False)  # what is shown where one points at it

    @property
    def width(self) -> float:
        return len(self.label) * _CHARACTER + 18


def drawing(p: Program, kept: Container[str] = ()) -> Element:
    """The graph of a program; results and what is `kept` have lines of their own."""
    nodes = _nodes(p)
    rows: list[list[_Node]] = []
    for n in nodes.values():
        rows += [[] for _ in range(n.layer + 1 - len(rows))]
        rows[n.layer].append(n)
    width = max(sum(n.width + _GAP for n in row) for row in rows) if rows else 0.0
    for row in rows:
        _place(row, nodes, width)
    height = max(1, len(rows)) * _LAYER - (_LAYER - _HEIGHT) + 8
    svg = Element("svg", {
        "viewBox": f"0 0 {width:.0f} {height}", "width": f"{width:.0f}", "height": str(height), "role": "img",
        "aria-label": f"graph of {p.name}", "class": "graph",
    })  # fmt: skip
    results = {o.value for o in p.outputs if not o.kept}
    for n in nodes.values():
        for other in n.reads:
            _edge(svg, nodes[other], n)
    for n in nodes.values():
        _box(svg, n, " ".join((n.sort, *["result"] * (n.name in results), *["kept"] * (n.name in kept))))
    return svg


def _nodes(p: Program) -> dict[str, _Node]:
    sorts = {Role.INPUT: "input", Role.TANGENT: "input", Role.COTANGENT: "cotangent", Role.SAVED: "saved"}
    read = {r.tensor for s in p.statements for r in statement_reads(s)} | {o.value for o in p.outputs}
    nodes = {
        t.name: _Node(t.name, _short(t.name), sorts[t.role], more=f"{t.role.value} {t.name}{text.shape(t.shape)}")
        for t in p.inputs
        if t.name in read
    }
    for s in p.statements:
        _add(nodes, s)
    return nodes


def _add(nodes: dict[str, _Node], s: Statement) -> None:
    own = targets(s)
    found = tuple(dict.fromkeys(r.tensor for r in statement_reads(s) if r.tensor not in own and r.tensor in nodes))
    layer = 1 + max((nodes[n].layer for n in found), default=-1)
    shown = text.statement(s)
    for part in parts((s,)):
        op = "recurrence" if isinstance(s, Recurrence) else part.op
        label = _short(part.target) + (f" · {op}" if op else "")
        nodes[part.target] = _Node(part.target, label, "statement", found, layer, more=shown)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _place(row: list[_Node], nodes: dict[str, _Node], width: float) -> None:
    """Put the nodes of a layer side by side, each near the middle of what it reads."""

    def wanted(n: _Node) -> float:
        places = [nodes[r].x for r in n.reads]
        return sum(places) / len(places) if places else 0.0

    row.sort(key=wanted) if any(n.reads for n in row) else None
    free = (width - sum(n.width for n in row)) / (len(row) + 1)
    x = 0.0
    for n in row:
        x += free
        n.x = x + n.width / 2
        x += n.width


def _edge(svg: Element, a: _Node, b: _Node) -> None:
    top, bottom = a.layer * _LAYER + _HEIGHT + 4, b.layer * _LAYER + 4
    middle = (top + bottom) / 2
    path = f"M{a.x:.1f} {top}C{a.x:.1f} {middle} {b.x:.1f} {middle} {b.x:.1f} {bottom}"
    SubElement(svg, "path", {"d": path, "class": "edge"})


def _box(svg: Element, n: _Node, sort: str) -> None:
    group = SubElement(svg, "g", {"class": sort})
    SubElement(group, "title").text = n.more
    y = n.layer * _LAYER + 4
    round_ = "3" if n.sort == "statement" else "13"
    SubElement(group, "rect", {
        "x": f"{n.x - n.width / 2:.1f}", "y": str(y), "width": f"{n.width:.1f}", "height": str(_HEIGHT), "rx": round_,
    })  # fmt: skip
    SubElement(group, "text", {"x": f"{n.x:.1f}", "y": str(y + 17), "text-anchor": "middle"}).text = n.label
