"""Rows of the catalogue as a person reads them: one on the terminal, or all of them as a Markdown page.

Text in, text out, like the renderer of diagnostics; colour is the caller's choice.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.catalogue.row import Code
from opgen.diagnostics.codes import CATALOGUE, GROUPS
from opgen.diagnostics.text import Paint

_TITLE, _WRONG, _RIGHT = "1", "1;31", "1;32"
_INTRODUCTION = """\
# Errors

Every diagnostic has a code. `opgen explain OPG204` shows one of these entries on the terminal. This page is written
by `opgen explain --markdown`.
"""


def entry(row: Code, *, color: bool = False) -> str:
    """One row: title, explanation, and the examples."""
    paint = Paint(color, _TITLE)
    parts = [paint(f"{row.code}: {row.title}", _TITLE), row.explanation]
    for head, style, example in (("Wrong:", _WRONG, row.bad), ("Right:", _RIGHT, row.good)):
        lines = [f"    {_visible(line)}" for line in row.spec(example).split("\n")]
        parts.append("\n".join([paint(head, style), *lines]))
    return "\n\n".join(parts) + "\n"


def overview(*, color: bool = False) -> str:
    """Every code with its title, by group."""
    paint = Paint(color, _TITLE)
    blocks = []
    for number, title in GROUPS.items():
        rows = [f"  {row.code}  {row.title}" for row in _group(number)]
        blocks.append("\n".join([paint(title, _TITLE), *rows]))
    return "\n\n".join(blocks) + "\n"


def page() -> str:
    """The whole catalogue as Markdown."""
    blocks = [_INTRODUCTION]
    for number, title in GROUPS.items():
        blocks.append(f"## {title}\n")
        blocks += [_section(row) for row in _group(number)]
    return "\n".join(blocks)


def _group(number: str) -> Iterator[Code]:
    return (row for row in CATALOGUE.values() if row.code[3] == number)


def _section(row: Code) -> str:
    fence = "yaml" if row.in_spec else "text"
    wrong, right = (f"```{fence}\n{_visible(row.spec(e))}\n```" for e in (row.bad, row.good))
    return f"### {row.code}: {row.title}\n\n{row.explanation}\n\nWrong:\n\n{wrong}\n\nRight:\n\n{right}\n"


def _visible(text: str) -> str:
    """An example with the characters that nobody can see spelt out."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
