"""The blocks of code of a page, and what its source says of each.

A comment right before a block tells how it is run; a page shows nothing of it:

    <!-- takes long -->             in the thorough tier only
    <!-- compiles -->               there as well, and where a C++ compiler is
    <!-- not run: REASON -->        never; commands of opgen in it are still compared with the command line
    <!-- completed by: YAML -->     of a part of a spec: what it lacks
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONG, COMPILES, NOT_RUN, COMPLETED = "takes long", "compiles", "not run", "completed by"
MARKS = (LONG, COMPILES, NOT_RUN, COMPLETED)
# pages that opgen writes, of what is built or lowered elsewhere, and where they are compared with it
GENERATED = {"docs/catalogue.md": ".ci/run", "docs/errors.md": "tests/diagnostics/test_codes.py"}

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>(?:(?!-->).)*?)\s*-->\n+)?^```(?P<language>.*?)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its language, its text, the line it begins in, its mark and what the mark says."""

    page: str
    line: int
    language: str
    text: str
    mark: str = ""
    said: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def path(self) -> str:
        """The file that the block is, where its first line names one: `# specs/shrink.yaml`."""
        found = re.match(r"(?:#|//) ([\w/]+\.\w+)\n", self.text)
        return found[1] if found else ""


def pages() -> list[str]:
    """All pages that people read, beside those that are generated."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [p.relative_to(ROOT).as_posix() for p in found]
    return [name for name in names if name not in GENERATED]


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return blocks_of(page, text)


def blocks_of(page: str, text: str) -> list[Block]:
    """The blocks of the text of a page."""
    found = []
    for m in _BLOCK.finditer(text):
        mark, _, said = (m["mark"] or "").partition(":")
        known = mark.strip() in MARKS
        line = text.count("\n", 0, m.start("language")) + 1
        words = (mark.strip(), said.strip()) if known else ("", "")
        found.append(Block(page, line, m["language"].strip(), m["text"], *words))
    return found
