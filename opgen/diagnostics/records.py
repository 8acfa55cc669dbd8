"""Diagnostics for programs: one JSON document, annotations of a GitHub workflow, or SARIF 2.1.0.

Lines and columns count from 1, columns in characters; an end stands behind the last character. docs/output.md has the
fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from opgen.diagnostics.codes import CATALOGUE
from opgen.diagnostics.model import Diagnostic, Hint, Severity, Span

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_json(diagnostics: Sequence[Diagnostic], version: str) -> str:
    """All diagnostics as one document."""
    found = {"opgen": version, "diagnostics": [_record(d) for d in diagnostics]}
    return json.dumps(found, indent=2) + "\n"


def _record(d: Diagnostic) -> dict[str, Any]:
    return {
        "code": d.code,
        "severity": d.severity.value,
        "message": d.message,
        "label": d.label,
        **_place(d.span),
        "related": [{"label": label.text, **_place(label.span)} for label in d.related],
        "notes": list(d.notes),
        "hints": list(d.hints),
        "edit": None if d.edit is None else {**_place(d.edit.span), "text": d.edit.text},
    }


def _place(span: Span | None) -> dict[str, str | int | None]:
    """Where a span is; nulls for no place."""
    if span is None:
        return dict.fromkeys(("file", "line", "column", "end_line", "end_column"))
    inner = span.clamped()
    line, column = inner.source.line_col(inner.start)
    end_line, end_column = inner.source.line_col(inner.end)
    return {
        "file": inner.source.path, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
    }  # fmt: skip


def as_github(diagnostics: Sequence[Diagnostic], version: str) -> str:
    """A workflow command for each diagnostic, which GitHub shows beside the line."""
    del version
    return "".join(_annotation(d) + "\n" for d in diagnostics)


def _annotation(d: Diagnostic) -> str:
    place = _place(d.span)
    fields = {"title": f"{d.code}: {CATALOGUE[d.code].title}"}
    if d.span is not None:
        fields |= {"file": str(place["file"]), "line": str(place["line"]), "endLine": str(place["end_line"])}
        if place["line"] == place["end_line"]:  # GitHub knows columns within one line only
            fields |= {"col": str(place["column"]), "endColumn": str(place["end_column"])}
    told = ",".join(f"{name}={_property(value)}" for name, value in fields.items())
    text = _data("\n".join(_words(d)))
    return f"::{_LEVELS[d.severity]} {told}::{text}"


def _words(d: Diagnostic) -> Iterable[str]:
    yield f"{d.message} ({d.label})" if d.label else d.message
    yield from (f"note: {note}" for note in d.notes)
    yield from (f"help: {hint}" for hint in d.hints)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(diagnostics: Sequence[Diagnostic], version: str) -> str:
    """A log of one run; the rules are the entries of the catalogue that were met."""
    codes = sorted(dict.fromkeys(d.code for d in diagnostics))
    driver = {"name": "opgen", "version": version, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, codes.index(d.code)) for d in diagnostics],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    row = CATALOGUE[code]
    return {
        "id": code,
        "shortDescription": {"text": row.title},
        "fullDescription": {"text": row.explanation},
        "help": {"text": f"Wrong:\n{row.spec(row.bad)}\n\nRight:\n{row.spec(row.good)}"},
    }


def _result(d: Diagnostic, rule: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": rule,
        "level": d.severity.value,
        "message": {"text": "\n".join(_words(d))},
    }
    if d.span is not None:
        found["locations"] = [_location(d.span)]
    if d.related:
        found["relatedLocations"] = [
            {"id": number, **_location(label.span), "message": {"text": label.text}}
            for number, label in enumerate(d.related, 1)
        ]
    if (edit := d.edit) is not None:
        change = {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
        hint = next(hint for hint in d.hints if isinstance(hint, Hint))
        artifact = {"artifactLocation": {"uri": _uri(edit.span.source.path)}, "replacements": [change]}
        found["fixes"] = [{"description": {"text": hint}, "artifactChanges": [artifact]}]
    return found


def _location(span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(span.source.path)}, "region": _region(span)}}


def _region(span: Span) -> dict[str, str | int | None]:
    place = _place(span)
    return {
        "startLine": place["line"], "startColumn": place["column"],
        "endLine": place["end_line"], "endColumn": place["end_column"],
    }  # fmt: skip


def _uri(path: str) -> str:
    pure = PurePath(path)
    return Path(pure).as_uri() if pure.is_absolute() else quote(pure.as_posix())


FORMATS: Mapping[str, Callable[[Sequence[Diagnostic], str], str]] = MappingProxyType(
    {"json": as_json, "github": as_github, "sarif": as_sarif}
)
