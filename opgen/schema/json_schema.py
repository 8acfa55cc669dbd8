"""The JSON Schema (draft 7) of specs, for editors that complete and check what is being written.

Fields and their descriptions come from the model; what values a field takes is said here, as far as a schema can: the
meaning of formulas, and names that refer to one another, are for opgen itself to check.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from opgen.schema import model
from opgen.schema.dtypes import DTYPES, OF_OUTPUTS
from opgen.schema.elsewhere import HEADER, LIBRARIES, NATIVE
from opgen.schema.entries import PRECISIONS
from opgen.schema.leaves import CAMEL, DOTTED, OPERATOR, SNAKE
from opgen.schema.load import known_fields
from opgen.schema.param_types import PARAM_TYPES
from opgen.version import LANGUAGE

Schema = dict[str, Any]

_DIALECT = "http://json-schema.org/draft-07/schema#"
_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_NUMBERS: Schema = {"type": "number", "minimum": 0}
_FORMULA: Schema = {"anyOf": [{"type": "string", "minLength": 1}, {"type": ["number", "boolean"]}]}
_DTYPE: Schema = {"enum": list(DTYPES)}
_OUTPUT_DTYPE: Schema = {"enum": list(OF_OUTPUTS)}
_HEAD = r"^\s*[A-Za-z_]\w*\s*\(.*\)\s*$"
_ITEM = {"anyOf": [{"type": "string", "pattern": r"^([A-Z][A-Za-z0-9_]*|\.\.\.|[0-9]+)$"}, {"type": "integer"}]}
_NAMES, _CAPITALS = f"^{SNAKE.pattern}$", f"^{CAMEL.pattern}$"
_TOLERANCE: Schema = {
    "anyOf": [
        _NUMBERS,
        {
            "type": "object",
            "properties": {"rtol": _NUMBERS, "atol": _NUMBERS},
            "additionalProperties": False,
            "minProperties": 1,
        },
    ]
}


def schema() -> Schema:
    """The schema of a whole spec."""
    found = _object(model.OpSpec, required=("op", "forward"))
    return {"$schema": _DIALECT, "title": "opgen spec", "definitions": _definitions(), **found}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _word(pattern: str) -> Schema:
    return {"type": "string", "pattern": f"^{pattern}$", "not": {"enum": sorted(keyword.kwlist)}}


def _list(items: Schema, at_least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": at_least}


def _map(keys: str, values: Schema) -> Schema:
    return {"type": "object", "patternProperties": {keys: values}, "additionalProperties": False}


def _either(*choices: Schema) -> Schema:
    return {"anyOf": list(choices)}


def _callable(keys: tuple[str, ...]) -> Schema:
    fields = {key: _word(DOTTED.pattern) for key in keys}
    return {
        "type": "object", "properties": fields, "additionalProperties": False, "minProperties": 1, "maxProperties": 1
    }  # fmt: skip


def _entries(entry: str, *short: Schema) -> Schema:
    """A list of names, or name to fields; `short` is what a value may be instead of fields."""
    fields = _either(_ref(entry), {"type": "null"}, *short)
    single = {**_map(_NAMES, fields), "minProperties": 1, "maxProperties": 1}
    return _either(_list(_either(_ref("name"), single)), _map(_NAMES, fields))


def _object(of: type[BaseModel], required: tuple[str, ...] = ()) -> Schema:
    """The fields of a model with their descriptions, and no others."""
    told = {info.validation_alias or name: info.description for name, info in of.model_fields.items()}
    kinds = _VALUES[of]
    fields = {name: _described(kinds[name], told[name]) for name in known_fields(of) if name != "span"}
    found: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def _described(values: Schema, text: str | None) -> Schema:
    """A draft-7 reader ignores what stands beside a `$ref`."""
    return {"description": text, **({"allOf": [values]} if "$ref" in values else values)}


def _definitions() -> Schema:
    types: Schema = {"enum": list(PARAM_TYPES)}
    param = _object(model.ParamSpec)
    inferred = {"required": ["default"], "properties": {"default": {"type": ["number", "boolean"]}}}
    function = _object(model.FunctionSpec)
    return {
        "name": _word(SNAKE.pattern),
        "formula": _FORMULA,
        "shape": _list(_ITEM),
        "block": _either(_FORMULA, _callable(LIBRARIES)),
        "type": _either({"enum": [*PARAM_TYPES, "str"]}, _list(types, 1)),
        "input": {**_object(model.InputSpec), "dependencies": {"absent": ["optional"]}},
        "param": {**param, "anyOf": [{"required": ["type"]}, {"required": ["choices"]}, inferred]},
        "function": {**function, "anyOf": [{"required": ["value"]}, {"required": ["extern"]}]},
        "output": _object(model.OutputSpec),
        "initialisers": _map(_NAMES, _FORMULA),
        "module": _object(model.ModuleSpec),
        "tests": _object(model.TestsSpec),
    }


_SPELLINGS: Schema = {
    "type": "object",
    "properties": dict.fromkeys((*LIBRARIES, *NATIVE, HEADER), _TEXT),
    "additionalProperties": False,
    "minProperties": 1,
}
_VALUES: Mapping[type[BaseModel], Mapping[str, Schema]] = {
    model.InputSpec: {
        "shape": _ref("shape"), "dtype": _DTYPE, "optional": _FLAG, "absent": _FORMULA, "domain": _FORMULA,
        "broadcast": _FLAG, "differentiable": _FLAG, "doc": _TEXT,
    },
    model.ParamSpec: {
        "type": _ref("type"), "choices": _list(_ref("name"), 1),
        "default": _either(_FORMULA, _list(_FORMULA), {"type": "null"}), "domain": _FORMULA, "doc": _TEXT,
    },
    model.FunctionSpec: {
        "value": _FORMULA, "derivative": _either(_FORMULA, _map(_NAMES, _FORMULA)),
        "extern": _SPELLINGS,
    },
    model.OutputSpec: {"shape": _ref("shape"), "dtype": _OUTPUT_DTYPE, "differentiable": _FLAG, "doc": _TEXT},
    model.ModuleSpec: {
        "name": _word(CAMEL.pattern), "dims": _map(_CAPITALS, _ref("name")),
        "parameters": _ref("initialisers"), "buffers": _ref("initialisers"), "updates": _map(_NAMES, _ref("name")),
        "training": _ref("name"), "doc": _TEXT,
    },
    model.TestsSpec: {
        "sizes": _map(_CAPITALS, {"type": "integer", "minimum": 0}),
        "cases": _list({"type": "object"}),
        "tolerances": _either(_TOLERANCE, _map(f"^({'|'.join(PRECISIONS)})$", _TOLERANCE)),
    },
    model.OpSpec: {
        "opgen": {"enum": [*range(1, LANGUAGE + 1)]},
        "op": _word(OPERATOR.pattern), "summary": _TEXT, "description": _TEXT, "reference": _word(DOTTED.pattern),
        "inputs": _entries("input"), "params": _entries("param", _ref("type")),
        "dims": _map(_CAPITALS, _ref("formula")),
        "functions": _map(_HEAD, _either(_FORMULA, _ref("function"))),
        "forward": _ref("block"), "outputs": _entries("output"), "backward": _ref("block"),
        "inplace": _ref("name"), "once_differentiable": _FLAG,
        "save": _either({"const": "auto"}, _list(_ref("name"))), "compute_dtype": {"const": "opmath"}, "exact": _FLAG,
        "module": _ref("module"), "tests": _either(_ref("tests"), {"type": "null"}),
    },
}  # fmt: skip
