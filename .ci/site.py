"""What mkdocs is told beside mkdocs.yml: pages link to files outside of docs/, and the site has those that are linked.

They lie below `project/` there: texts are pages, everything else is copied.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def _named(page: str, target: str) -> str:
    """A link of a page, from the root of the repository."""
    file = page.removeprefix("project/") if page.startswith("project/") else f"docs/{page}"
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), target))


def on_files(files: Files, config: Any) -> Files:
    """Add what pages link to outside of docs/."""
    outside: dict[str, None] = {}
    for file in [*files.documentation_pages()]:
        for target in _LINK.findall((ROOT / "docs" / file.src_uri).read_text(encoding="utf-8")):
            path = _named(file.src_uri, target)
            if not path.startswith("docs/") and (ROOT / path).is_file():
                outside.setdefault(path)
    for path in outside:
        name = f"project/{path}"
        level = InclusionLevel.UNDEFINED if name in str(config.nav) else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path), inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point the links that lead out of docs/ to where the site has what they mean, and back."""
    here = page.file.src_uri
    start = posixpath.dirname(here)

    def moved(match: re.Match[str]) -> str:
        path = _named(here, match[1])
        place = path.removeprefix("docs/") if path.startswith("docs/") else f"project/{path}"
        known = files.get_file_from_path(place) or files.get_file_from_path(f"{place}/README.md")
        return f"]({posixpath.relpath(known.src_uri, start)}" if known else match[0]

    return _LINK.sub(moved, markdown)
