"""Diagnostics for programs: the fields are those of docs/output.md, whatever stands in a spec."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from opgen.diagnostics.model import Diagnostic, Label, Severity, Source, Span
from opgen.diagnostics.records import FORMATS, as_github, as_json, as_sarif

SOURCE = Source("dir/a b.yaml", "op: a\ninputs: [x]\nforward: y = 漢*zz\n")
ROOT = Path(__file__).resolve().parent.parent.parent


def closed(required: str, **properties: object) -> dict[str, object]:
    return {
        "type": "object", "additionalProperties": False, "required": required.split(), "properties": properties,
    }  # fmt: skip


def array(items: object) -> dict[str, object]:
    return {"type": "array", "uniqueItems": True, "items": items}


# What SARIF 2.1.0 says of the parts that are written, and nothing besides them.
COUNT, WORD = {"type": "integer", "minimum": 1}, {"type": "string", "minLength": 1}
INDEX = {"type": "integer", "minimum": 0}
TEXT = closed("text", text=WORD)
REGION = closed("startLine", startLine=COUNT, startColumn=COUNT, endLine=COUNT, endColumn=COUNT)
FILE = closed("uri", uri={"type": "string", "pattern": r"^[!#-;=?-Z_a-z~]+$"})
PLACE = closed("artifactLocation", artifactLocation=FILE, region=REGION)
MESSAGE = closed("text", text={"type": "string"})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
CHANGE = closed("deletedRegion", deletedRegion=REGION, insertedContent=TEXT)
WHERE = closed("artifactLocation replacements", artifactLocation=FILE, replacements=array(CHANGE))
FIX = closed("artifactChanges", description=MESSAGE, artifactChanges=array(WHERE))
RESULT = closed(
    "message", ruleId=WORD, ruleIndex=INDEX, level=LEVEL, message=MESSAGE,
    locations={"type": "array", "items": closed("", physicalLocation=PLACE)},
    relatedLocations=array(closed("", id=INDEX, physicalLocation=PLACE, message=MESSAGE)), fixes=array(FIX),
)  # fmt: skip
RULE = closed("id", id=WORD, shortDescription=TEXT, fullDescription=TEXT, help=TEXT)
TOOL = closed("driver", driver=closed("name", name=WORD, version={"type": "string"}, rules=array(RULE)))
RUN = closed(
    "tool", tool=TOOL, columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)  # fmt: skip
SARIF = Draft7Validator(closed("version runs", **{
    "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
    "runs": {"type": "array", "items": RUN},
}))  # fmt: skip


def at(text: str) -> Span:
    start = SOURCE.text.index(text)
    return Span(SOURCE, start, start + len(text))


FOUND = Diagnostic("OPG205", "there is no `zz`", at("zz"), "unknown", (Label(at("[x]"), "known"),), ("a",), ("b", "c"))


def test_json_has_every_field() -> None:
    document = json.loads(as_json([FOUND], "1.2"))
    assert document["opgen"] == "1.2"
    assert document["diagnostics"] == [
        {
            "code": "OPG205", "severity": "error", "message": "there is no `zz`", "label": "unknown",
            "file": "dir/a b.yaml", "line": 3, "column": 16, "end_line": 3, "end_column": 18,
            "related": [
                {"label": "known", "file": "dir/a b.yaml", "line": 2, "column": 9, "end_line": 2, "end_column": 12}
            ],
            "notes": ["a"], "hints": ["b", "c"], "edit": None,
        }
    ]  # fmt: skip


def test_every_field_is_documented() -> None:
    page = (ROOT / "docs/output.md").read_text(encoding="utf-8")
    for field in json.loads(as_json([FOUND], ""))["diagnostics"][0]:
        assert f"`{field}`" in page


def test_without_a_place_there_are_nulls() -> None:
    [record] = json.loads(as_json([Diagnostic("OPG507", "m", None)], ""))["diagnostics"]
    assert (record["file"], record["line"], record["end_column"]) == (None, None, None)


def test_nothing_found_is_a_document_too() -> None:
    assert json.loads(as_json([], "1"))["diagnostics"] == []
    assert json.loads(as_sarif([], "1"))["runs"][0]["results"] == []
    assert as_github([], "1") == ""


def test_annotation() -> None:
    assert as_github([FOUND], "1") == (
        "::error title=OPG205%3A Unknown name,file=dir/a b.yaml,line=3,endLine=3,col=16,endColumn=18"
        "::there is no `zz` (unknown)%0Anote: a%0Ahelp: b%0Ahelp: c\n"
    )


def test_nothing_in_a_message_ends_an_annotation() -> None:
    found = as_github([Diagnostic("OPG205", "100%\n::set-output::\r", None, severity=Severity.NOTE)], "1")
    assert found == "::notice title=OPG205%3A Unknown name::100%25%0A::set-output::%0D\n"


def test_sarif() -> None:
    document = json.loads(as_sarif([FOUND, FOUND], "1.2"))
    SARIF.validate(document)
    [run] = document["runs"]
    assert run["tool"]["driver"]["version"] == "1.2"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["OPG205"]
    first, second = run["results"]
    assert first == second
    assert (first["level"], first["ruleIndex"]) == ("error", 0)
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "dir/a%20b.yaml"}
    assert place["region"] == {"startLine": 3, "startColumn": 16, "endLine": 3, "endColumn": 18}
    assert first["relatedLocations"][0]["message"] == {"text": "known"}


def test_an_absolute_path_is_a_file_uri(tmp_path: Path) -> None:
    source = Source(str(tmp_path / "a.yaml"), "op: a\n")
    [run] = json.loads(as_sarif([Diagnostic("OPG101", "m", Span(source, 0, 2))], ""))["runs"]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("file:///")


@pytest.mark.parametrize("form", sorted(FORMATS))
@given(st.text(max_size=40), st.integers(-5, 50), st.integers(-5, 50))
def test_any_text_and_any_span_can_be_told(form: str, text: str, start: int, end: int) -> None:
    diagnostic = Diagnostic("OPG101", text, Span(Source("a.yaml", text), start, end), text, notes=(text,))
    told = FORMATS[form]([diagnostic], "1")
    told.encode("ascii" if form != "github" else "utf-8", "surrogatepass")
    if form == "github":
        assert re.fullmatch(r"::error [^\n\r]*\n", told)
        return
    record: Any = json.loads(told)
    if form == "sarif":
        SARIF.validate(record)
    else:
        [found] = record["diagnostics"]
        assert 1 <= found["line"] <= found["end_line"]
        assert (found["line"], found["column"]) <= (found["end_line"], found["end_column"])
