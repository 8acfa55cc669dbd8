"""Names of a stream for the CPU: what is read along it, or with its rows, is copied into tiles first.

In goes an access, out comes an element of a tile; the scope collects how tiles are declared and filled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opgen.code.cpp_scope import CpuScope
from opgen.code.native_scope import value_type
from opgen.code.printer import NATIVE, Text
from opgen.ir.program import Axis
from opgen.ir.scalar import ONE, Index, Read

ROW, POINT, INNER = "r", "i", "e"


@dataclass(slots=True)
class Tile:
    """Memory close together: declared once, filled where its tensor moves to."""

    name: str
    declared: str
    filled: str
    flows: bool  # filled anew for every tile of a sweep


@dataclass(slots=True)
class StreamScope(CpuScope):
    """Names of a stream: an access is an element of a tile."""

    along: Axis = field(default_factory=lambda: Axis("", ONE))
    rows: str = ""  # the index of the rows
    inner: Axis | None = None  # the loop that the code stands in
    across: bool = False  # whether that loop goes through the rows of a tile
    dots: frozenset[str] = frozenset()
    tiles: dict[tuple[Read, str, bool], Tile] = field(default_factory=dict)
    widths: dict[Axis, str] = field(default_factory=dict)  # of rows of tiles along a loop, by its name

    def width(self, a: Axis) -> str:
        """How many elements a row along a loop takes in a tile."""
        if a not in self.widths:
            size = self.extent(a)
            name = self.widths[a] = self.fresh(f"{a.name}_padded")
            self.numbers[name] = f"const int64_t {name} = rt::padded({size});"
        return self.widths[a]

    def load(self, r: Read) -> Text:
        if r.tensor in self.dots:
            return Text(f"{self.locals[r.tensor][0]}({ROW}, {POINT})", NATIVE.atom)
        flows, turns = Index(self.along.name) in r.at, Index(self.rows) in r.at
        inner = self.inner if self.inner is not None and Index(self.inner.name) in r.at else None
        kind = self.formal.slots[r.tensor].kind
        tile = self._tile(r, flows, turns, inner)
        lead = POINT if flows else ROW if turns else ""
        if inner is None:
            return Text(f"{tile.name}[{lead or 0}]", NATIVE.atom, kind)
        if flows and self.across:
            return Text(f"{tile.name}[{INNER} * rt::tile_width + {lead}]", NATIVE.atom, kind)
        place = f"{lead} * {self.width(inner)} + {INNER}" if lead else INNER
        return Text(f"{tile.name}[{place}]", NATIVE.atom, kind)

    def _tile(self, r: Read, flows: bool, turns: bool, inner: Axis | None) -> Tile:
        across = flows and inner is not None and self.across
        key = (r, "" if inner is None else inner.name, across)
        if key in self.tiles:
            return self.tiles[key]
        access = self.find(r.tensor, r.at)
        assert access is not None
        tensor = self.tensor(r.tensor)
        name = self.fresh(f"{tensor}_{'tile' if flows else 'rows'}")
        long = "1" if inner is None else self.extent(inner)
        step = "0" if inner is None else f"{tensor}.stride({r.at.index(Index(inner.name))})"
        at = f"rows.at[{access.number}]"
        if flows:
            flow = f"{tensor}.stride({r.at.index(Index(self.along.name))})"
            at, count, move, room = f"{at} + start * {flow}", "size", flow, "rt::tile_width"
        else:
            count, move, room = (
                ("rows.size", f"rows.step[{access.number}]", "rt::tile_rows") if turns else ("1", "0", "1")
            )
        if inner is None:
            sides = f"1, 0, {count}, {move}, {room}"
        elif across:
            sides = f"{long}, {step}, {count}, {move}, {room}"
        else:
            sides = f"{count}, {move}, {long}, {step}, {self.width(inner)}"
        wide = "1" if inner is None else long if across else self.width(inner)
        area = room if inner is None else wide if room == "1" else f"{room} * {wide}"
        type_ = value_type(self.formal.slots[r.tensor].kind)
        declared = f"rt::Tile<{type_}> {name}({area});"
        self.tiles[key] = Tile(name, declared, f"{name}.fill({tensor}, {at}, {sides});", flows)
        return self.tiles[key]
