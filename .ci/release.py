"""Print the notes of a release, or fail where the tag, the version and CHANGELOG.md do not agree.

Usage: release.py TAG. The tag is `v` and the version in opgen/version.py, and CHANGELOG.md has a section of that
version with something in it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(tag: str, root: Path = ROOT) -> str:
    """The section of the version that a tag names; ValueError says what does not fit."""
    stated = re.search(r'__version__ = "([^"]+)"', (root / "opgen/version.py").read_text(encoding="utf-8"))
    version = stated[1] if stated else ""
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, and opgen/version.py says {version}: v{version} is meant?")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changes, re.DOTALL | re.MULTILINE)
    if section is None or not section[1].strip():
        raise ValueError(f"CHANGELOG.md has nothing under `## {version}`")
    return f"{section[1].strip()}\n"


if __name__ == "__main__":
    try:
        print(notes(sys.argv[1]), end="")
    except (IndexError, ValueError) as e:
        sys.exit(str(e) if isinstance(e, ValueError) else __doc__)
