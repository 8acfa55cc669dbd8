"""The text of a spec that was put together in Python: a dict of its fields, or a formula alone.

In go values that a person would write in Python, as `1e-5` or `[..., "K"]`; out comes YAML as a person would write it,
so that mistakes are shown in it as they are in files. Nothing is judged here.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from opgen.lower.draft import drafted

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\.\.\.")
_WORDS = ("true", "false", "null")  # that mean something else where they stand without quotes
_TYPES = {float: "float", int: "int", bool: "bool"}


def of_formula(formula: str, name: str | None, params: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    """The spec of a formula, whose inputs are declared as they are read.

    Without a name, the operator is called like its last result, in small letters. A param is stated by its default, by
    its type, or as in a spec. `fields` are more of a spec; of its `inputs`, the formula tells what they do not.
    """
    made = drafted(formula, params)
    own = fields.get("inputs", {})
    given: Mapping[str, Any] = own if isinstance(own, Mapping) else dict.fromkeys(own)
    inputs = {**given, **{n: {**said, **(given.get(n) or {})} for n, said in made.inputs.items()}}
    spec = {
        "op": (made.result or "unnamed").lower() if name is None else name,
        **{k: v for k, v in fields.items() if k != "inputs"},
        **({"inputs": inputs if any(inputs.values()) else [*inputs]} if inputs else {}),
        **({"params": {n: _param(p) for n, p in params.items()}} if params else {}),
        "forward": f"{made.statements}\n",
    }
    return of_fields(spec)


def of_fields(spec: Mapping[str, Any]) -> str:
    """The fields of a spec, one on a line; the entries of a table below it, statements as a block."""
    return "".join(line for name, value in spec.items() for line in _field(name, value))


def _param(value: Any) -> Any:
    """What is said of a param by its type, or by its default."""
    if isinstance(value, type):
        return _TYPES.get(value, value.__name__)
    if type(value) in _TYPES:
        return {"type": _TYPES[type(value)], "default": value}
    return value


def _field(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [f"{_inline(name)}:\n", *(f"  {_inline(k)}: {_inline(v)}\n" for k, v in value.items())]
    lines = textwrap.dedent(value).strip().split("\n") if isinstance(value, str) else []
    if isinstance(value, str) and not _PLAIN.fullmatch(value) and all(map(str.isprintable, lines)) and any(lines):
        return [f"{_inline(name)}: |\n", *(f"  {line}".rstrip() + "\n" for line in lines)]
    return [f"{_inline(name)}: {_inline(value)}\n"]


def _inline(value: Any) -> str:
    match value:
        case str() if _PLAIN.fullmatch(value) and value not in _WORDS:
            return value
        case Mapping():
            return f"{{{', '.join(f'{_inline(k)}: {_inline(v)}' for k, v in value.items())}}}"
        case type() if value in _TYPES:
            return _TYPES[value]
        case Sequence() if not isinstance(value, str):
            return f"[{', '.join(map(_inline, value))}]"
        case None | bool() | int() | float() | str():
            return json.dumps(value)
        case _ if value is ...:
            return "..."
        case _:
            return json.dumps(str(value))
