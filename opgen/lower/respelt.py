"""Lines that are proposed in a spec with misspelt names and signs: they stand with these as they have to be spelt.

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
_SIGN = re.compile(r"`(?P<sign>[^`]+)` is not an operator of the formula language")
_QUOTED = re.compile(r"`([^`]+)`")
_STATEMENT = re.compile(r"[\w\]] (?:[-+*/]|max|min)?= ")


def respelt(items: Iterable[Diagnostic], others: Iterable[Diagnostic], spec: OpSpec) -> Iterator[Diagnostic]:
    """The findings, each with lines that have the names and the signs which all of them say to write."""
    found = [*items]
    names = {d.span.text: new for d in (*others, *found) if d.span is not None and (new := _meant(d))}
    signs = _signs(found)
    dims = {w for t in spec.inputs for size in t.shape or () for w in re.findall(r"\w+", size.text)}
    for d in found:
        own = _meant(d) or _SIGN.fullmatch(d.message)
        hints = d.hints if own else tuple(_hint(h, names, dims, signs) for h in d.hints)
        yield replace(d, hints=hints) if names or signs else d


def _signs(found: Iterable[Diagnostic]) -> dict[str, str]:
    """The signs that the language does not have, each with what is certainly meant wherever it stands."""
    meant: dict[str, set[str]] = {}
    for d in found:
        if (said := _SIGN.fullmatch(d.message)) is not None:
            exact = [h for h in d.hints if isinstance(h, Hint) and h.old == said["sign"]]
            meant.setdefault(said["sign"], set()).update([h.new for h in exact] if exact else ["", said["sign"]])
    return {sign: next(iter(sorted(new))) for sign, new in meant.items() if len(new) == 1}


def _meant(d: Diagnostic) -> str:
    """How a name is to be spelt of which this says so; empty for all else."""
    said = _MEANT.fullmatch(d.hints[0]) if d.code in _CODES and len(d.hints) == 1 else None
    name = "" if d.span is None else d.span.text
    return said["new"] if said is not None and name.isidentifier() and not SNAKE.fullmatch(name) else ""


def _hint(hint: str, names: Mapping[str, str], dims: set[str], signs: Mapping[str, str]) -> str:
    def line(text: str) -> str:
        for sign, new in signs.items():
            text = text.replace(sign, new) if text != sign else text
        return _line(text, names, dims)

    made = _QUOTED.sub(lambda m: f"`{line(m[1])}`", hint)
    if isinstance(hint, Hint):
        return hint if made == hint else Hint(made, hint.old, line(hint.new), hint.at)
    return made


def _line(text: str, names: Mapping[str, str], dims: set[str]) -> str:
    """A line with these names; what is a dim as well is a tensor where brackets follow."""

    def step(found: re.Match[str]) -> str:
        name = found[0]
        read = text[found.end() : found.end() + 1] == "["
        return names[name] if name in names and (read or (name not in dims and _STATEMENT.search(text))) else name

    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", step, text)
