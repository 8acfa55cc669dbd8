"""Rows of `opgen bench` as a person reads them, line by line as they come, and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opgen.bench.measure import Measured
from opgen.bench.timing import Quartiles

_WIDTHS = {"operator": 20, "dtype": 8, "direction": 9, "elements": 10, "time": 9, "GB/s": 6, "of copy": 7}
_RATIO = 18
_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))


def head(peers: Sequence[str]) -> str:
    """The line above the rows."""
    names = [n.ljust(w) if k < 3 else n.rjust(w) for k, (n, w) in enumerate(_WIDTHS.items())]
    return "  ".join([*names, *(f"/ {p}".ljust(_RATIO) for p in peers), "auto"])


def line(row: Measured, peers: Sequence[str]) -> str:
    """A row: the time of a call, bytes per second, the share of a copy, and ratios with quartiles to each peer."""
    cells = [
        row.op.ljust(_WIDTHS["operator"]),
        row.dtype.ljust(_WIDTHS["dtype"]),
        row.direction.ljust(_WIDTHS["direction"]),
        str(row.elements or row.size).rjust(_WIDTHS["elements"]),
    ]
    if not row.us:
        return "  ".join([*cells, row.note])
    cells += [
        duration(row.us[row.subject]).rjust(_WIDTHS["time"]),
        _number(row.gbps, "{:.1f}").rjust(_WIDTHS["GB/s"]),
        _number(row.share, "{:.0%}").rjust(_WIDTHS["of copy"]),
        *(shown(row.ratios.get(p)).ljust(_RATIO) for p in peers),
        row.auto,
    ]
    return "  ".join(cells).rstrip() + (f"  ({row.note})" if row.note else "")


def shown(q: Quartiles | None) -> str:
    """A ratio with its quartiles."""
    return "—" if q is None else f"{q.median:.2f} ({q.low:.2f}–{q.high:.2f})"


def duration(us: float) -> str:
    """A time with three figures at least, in a unit that suits."""
    scale, unit = next((s for s in _UNITS if us >= s[0]), _UNITS[-1])
    amount = us / scale
    return f"{amount:.0f} {unit}" if amount >= 100 else f"{amount:.3g} {unit}"


def as_json(rows: Iterable[Measured], about: Mapping[str, Any]) -> str:
    """All rows for programs, a line each, with what is said of the run."""
    fields = "".join(f" {json.dumps(k)}: {json.dumps(v)},\n" for k, v in about.items())
    lines = ",\n".join(f"  {json.dumps(row.record, ensure_ascii=False)}" for row in rows)
    return f'{{\n{fields} "rows": [\n{lines}\n ]\n}}\n'


def _number(value: float | None, form: str) -> str:
    return "—" if value is None else form.format(value)
