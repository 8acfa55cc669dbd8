"""Where in a spec the code comes from that a compiler refuses.

In goes what the compiler printed, out comes the statement or function of the spec that the first refused line was made
from. Generated functions end in the name of what they compute, which is all that is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from opgen.diagnostics.model import Source, Span
from opgen.write.cache import origins
from opgen.write.compare import read_manifest
from opgen.write.manifest import sha256

_ERROR = re.compile(r"(?m)^(.+?)[:(](\d+)(?::\d+:|\):) (?:fatal )?error")
_FUNCTION = re.compile(r"\b(\w+)\([^;]*\)? \{$|\b(\w+)\($")


def blamed(out: Path, op: str, printed: str) -> Span | None:
    """The place in the spec of an operator that is to blame for a compiler's first error, if that can be told."""
    source = _spec(out, op)
    if source is None:
        return None
    for name in _names(out / op / "csrc", printed):
        parts = name.split("_")
        for k in range(len(parts)):
            place = _stated(source, "_".join(parts[k:]))
            if place is not None:
                return place
    return None


def _names(folder: Path, printed: str) -> Iterator[str]:
    """The generated functions that errors are in."""
    for m in _ERROR.finditer(printed):
        path = Path(m[1])
        if path.parent.name == folder.name and (folder / path.name).is_file():
            lines = (folder / path.name).read_text(encoding="utf-8").split("\n")[: int(m[2])]
            heads = (f for line in reversed(lines) if line[:1].strip() and (f := _FUNCTION.search(line)))
            found = next(heads, None)
            if found is not None:
                yield found[1] or found[2]


def _spec(out: Path, op: str) -> Source | None:
    """The spec that an operator was generated from, where it is still there and the same."""
    manifest = read_manifest(out, op)
    if manifest is None:
        return None
    for path in (*origins(out, op), *(folder / manifest.spec for folder in out.absolute().parents)):
        if path.is_file():
            data = path.read_bytes()
            shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
            return Source(str(shown), data.decode()) if sha256(data) == manifest.spec_sha256 else None
    return None


def _stated(source: Source, name: str) -> Span | None:
    """The statement that assigns a name, or the function of that name."""
    word = re.escape(name)
    found = re.search(
        rf"(?m)(?:^|[{{,;]|\w:)\s*(?P<function>{word}\([^)\n]*\))\s*:"
        rf"|(?:^|:)[ \t]*(?P<statement>{word}(?:\[[^\]\n]*\])?[ \t]*(?:[+*]|max|min)?=(?!=).*)",
        source.text,
    )
    if found is None:
        return None
    group = "function" if found["function"] else "statement"
    return Span(source, found.start(group), found.end(group))
