"""Lines that are proposed in a spec with names that are misspelt: they stand with the names as these have to be spelt.

In: the findings of a spec, and those of its fields; out: the same with other hints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Hint
from opgen.schema.leaves import SNAKE
from opgen.schema.model import OpSpec

_MEANT = re.compile(r"(?:write|the name of a tensor starts with a lower-case letter:) `(?P<new>[a-z]\w*)`.*")
_CODES = ("OPG113", "OPG241")  # of names that are declared, and that formulas introduce
_QUOTED = re.compile(r"`([^`]+)`")
_STATEMENT = re.compile(r"[\w\]] (?:[-+*/]|max|min)?= ")


def respelt(items: Iterable[Diagnostic], others: Iterable[Diagnostic], spec: OpSpec) -> Iterator[Diagnostic]:
    """The findings, each with lines that have the names which all of them say to write."""
    found = [*items]
    names = {d.span.text: new for d in (*others, *found) if d.span is not None and (new := _meant(d))}
    dims = {w for t in spec.inputs for size in t.shape or () for w in re.findall(r"\w+", size.text)}
    for d in found:
        hints = tuple(h if d.code in _CODES and _meant(d) else _hint(h, names, dims) for h in d.hints)
        yield replace(d, hints=hints) if names else d


def _meant(d: Diagnostic) -> str:
    """How a name is to be spelt of which this says so; empty for all else."""
    said = _MEANT.fullmatch(d.hints[0]) if d.code in _CODES and len(d.hints) == 1 else None
    name = "" if d.span is None else d.span.text
    return said["new"] if said is not None and name.isidentifier() and not SNAKE.fullmatch(name) else ""


def _hint(hint: str, names: Mapping[str, str], dims: set[str]) -> str:
    made = _QUOTED.sub(lambda m: f"`{_line(m[1], names, dims)}`", hint)
    if isinstance(hint, Hint):
        return hint if made == hint else Hint(made, hint.old, _line(hint.new, names, dims), hint.at)
    return made


def _line(text: str, names: Mapping[str, str], dims: set[str]) -> str:
    """A line with these names; what is a dim as well is a tensor where brackets follow."""

    def step(found: re.Match[str]) -> str:
        name = found[0]
        read = text[found.end() : found.end() + 1] == "["
        return names[name] if name in names and (read or (name not in dims and _STATEMENT.search(text))) else name

    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", step, text)
