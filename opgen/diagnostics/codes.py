"""The catalogue of diagnostic codes: what each means, why it is an error, and an example of wrong and right.

One table, grouped by stage: 1xx YAML and spec fields, 2xx the formula language, 3xx differentiation, 4xx planning,
5xx files, 6xx toolchain. To add a code, add a row to the group's module; numbers are never reused.
"""

from __future__ import annotations

from types import MappingProxyType

from opgen.diagnostics.catalogue import language, spec, stages
from opgen.diagnostics.catalogue.row import Code

GROUPS = {
    "1": "YAML and the fields of a spec",
    "2": "the formula language",
    "3": "differentiation",
    "4": "kernel planning",
    "5": "files",
    "6": "toolchain",
}


def _index(rows: tuple[Code, ...]) -> dict[str, Code]:
    table = {row.code: row for row in rows}
    if len(table) != len(rows):
        raise ValueError("a diagnostic code is listed twice")
    return dict(sorted(table.items()))


CATALOGUE = MappingProxyType(_index(spec.ROWS + language.ROWS + stages.ROWS))


def explain(code: str) -> str | None:
    """The entry of a code as plain text, or None for an unknown code (any letter case, with or without `OPG`)."""
    row = CATALOGUE.get(code.upper()) or CATALOGUE.get(f"OPG{code}")
    if row is None:
        return None
    parts = [f"{row.code}: {row.title}", row.explanation]
    if row.bad:
        parts.append("Wrong:\n" + _indented(row.bad))
    if row.good:
        parts.append("Right:\n" + _indented(row.good))
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
