"""The JSON Schema of specs: it holds for every spec that is right, and what it refuses opgen refuses too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from opgen.cli import run
from opgen.diagnostics.codes import CATALOGUE
from opgen.diagnostics.model import Bag, Source
from opgen.lower.operator import lower
from opgen.schema.json_schema import schema
from opgen.schema.leaves import plain
from opgen.schema.load import known_fields, load
from opgen.schema.model import OpSpec
from opgen.schema.yaml_nodes import parse

ROOT = Path(__file__).resolve().parent.parent.parent
VALIDATOR = Draft7Validator(schema())
GOLDEN = sorted((ROOT / "tests/diagnostics/golden").glob("*.md"))
OP = "op: a\n"
BODY = OP + "inputs: [x]\nforward: y = x\n"
WRONG = {
    "no op": "inputs: [x]\nforward: y = x\n",
    "no forward": OP + "inputs: [x]\n",
    "unknown field": BODY + "summry: text\n",
    "op in capitals": BODY.replace("op: a", "op: MyOp"),
    "op that is a keyword": BODY.replace("op: a", "op: lambda"),
    "input that is a keyword": BODY.replace("[x]", "[in]"),
    "unknown dtype": BODY.replace("[x]", "{x: {dtype: flaot}}"),
    "unknown field of an input": BODY.replace("[x]", "{x: {optinal: true}}"),
    "absent without optional": BODY.replace("[x]", "{x: {absent: 1}}"),
    "small dim": BODY.replace("[x]", "{x: {shape: [k]}}"),
    "computed dim": BODY.replace("[x]", "{x: {shape: [2*K]}}"),
    "shape without brackets": BODY.replace("[x]", "{x: {shape: K}}"),
    "flag in words": BODY + "exact: maybe\n",
    "param without a type": BODY + "params: {p: {doc: text}}\n",
    "param of an unknown type": BODY + "params: {p: flaot}\n",
    "int without a type": BODY + "params: {p: {default: 1.5, type: integer}}\n",
    "function without arguments": BODY + "functions: {f: 2}\n",
    "function without a value": BODY + "functions: {f(t): {derivative: 1}}\n",
    "two callables": BODY.replace("y = x", "{torch: torch.exp, numpy: numpy.exp}"),
    "callable of C++": BODY.replace("y = x", "{cpp: exp}"),
    "negative size": BODY + "tests: {sizes: {K: -1}}\n",
    "tolerance of no dtype": BODY + "tests: {tolerances: {float8: 0.1}}\n",
    "module class in small letters": BODY + "module: {name: my_module}\n",
    "compute dtype": BODY + "compute_dtype: float64\n",
    "case that is no mapping": BODY + "tests: {cases: [1]}\n",
}


def data(text: str) -> Any:
    """A document as an editor sees it; None where it is no YAML."""
    node = parse(Source("a.yaml", text), Bag())
    return None if node is None else plain(node)


def mistakes(text: str) -> list[str]:
    bag = Bag()
    spec = load(Source("a.yaml", text), bag)
    if spec is not None:
        lower(spec, bag)
    return [d.code for d in bag.items]


def golden_specs() -> Iterator[tuple[str, str]]:
    for path in GOLDEN:
        for number, spec in enumerate(re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)):
            yield f"{path.stem} {number}", spec


def test_the_schema_is_one() -> None:
    Draft7Validator.check_schema(schema())


def test_every_field_is_described() -> None:
    fields = schema()["properties"]
    assert list(fields) == list(known_fields(OpSpec))
    parts = schema()["definitions"]
    for entry in (fields, *(parts[name]["properties"] for name in ("input", "param", "output", "module", "tests"))):
        assert [name for name, value in entry.items() if not value["description"]] == []


@pytest.mark.parametrize("path", sorted((ROOT / "specs").rglob("*.yaml")), ids=lambda p: p.stem)
def test_specs_are_valid(path: Path) -> None:
    assert [e.message for e in VALIDATOR.iter_errors(data(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize("code", [code for code, row in CATALOGUE.items() if row.in_spec])
def test_the_good_examples_are_valid(code: str) -> None:
    row = CATALOGUE[code]
    assert [e.message for e in VALIDATOR.iter_errors(data(row.spec(row.good)))] == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_by_both(name: str) -> None:
    assert VALIDATOR.is_valid(data(BODY))
    assert not VALIDATOR.is_valid(data(WRONG[name]))
    assert mistakes(WRONG[name])


def test_what_the_schema_refuses_opgen_refuses() -> None:
    refused = [(name, spec) for name, spec in golden_specs() if not VALIDATOR.is_valid(data(spec))]
    assert len(refused) > 10
    assert [name for name, spec in refused if not mistakes(spec)] == []


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()
