"""The catalogue of diagnostic codes: what each means, why it is an error, and an example of wrong and right.

One table, grouped by stage: 1xx YAML and spec fields, 2xx the formula language, 4xx planning, 5xx files, 6xx toolchain,
7xx opgen itself.
To add a code, add a row to the group's module; numbers are never reused.
"""

from __future__ import annotations

from types import MappingProxyType

from opgen.diagnostics.catalogue import doubts, language, spec, stages, statements
from opgen.diagnostics.catalogue.row import Code

GROUPS = {
    "1": "YAML and the fields of a spec",
    "2": "The formula language",
    "4": "Kernels",
    "5": "Files",
    "6": "Toolchain",
    "7": "opgen itself",
}


def _index(rows: tuple[Code, ...]) -> dict[str, Code]:
    table = {row.code: row for row in rows}
    if len(table) != len(rows):
        raise ValueError("a diagnostic code is listed twice")
    return dict(sorted(table.items()))


CATALOGUE = MappingProxyType(_index(spec.ROWS + language.ROWS + statements.ROWS + doubts.ROWS + stages.ROWS))


def lookup(code: str) -> Code | None:
    """The row of a code, in any letter case, with or without `OPG`."""
    return CATALOGUE.get(code.upper()) or CATALOGUE.get(f"OPG{code}")
