"""A spec as it was understood: what `opgen show --stage spec` prints.

In: a validated spec. Out: a line for each field that is not at its default; one for each input, param and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from opgen.schema.formula import Formula

_PLACE = ("span",)
_KEY = ("span", "name", "head")  # of an entry: what stands before the colon


def describe(spec: BaseModel) -> str:
    lines = [line for name, value in _said(spec, _PLACE) for line in _field(name, value)]
    return "\n".join(lines) + "\n"


def _said(entry: BaseModel, without: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """The fields that are not at their default."""
    for name, field in type(entry).model_fields.items():
        value = getattr(entry, name)
        if name not in without and value != field.default:
            yield name, value


def _field(name: str, value: object) -> Iterator[str]:
    match value:
        case BaseModel():
            yield f"{name}:"
            yield from (f"  {key}: {_inline(item)}" for key, item in _said(value, _PLACE))
        case tuple() if value and all(isinstance(v, BaseModel) for v in value):
            yield f"{name}:"
            for entry in value:
                key = getattr(entry, "head", None) or getattr(entry, "name", "")
                yield f"  {key}: {_inline(dict(_said(entry, _KEY)))}"
        case Formula() if "\n" in value.text.strip():
            yield f"{name}: |"
            yield from (f"  {line}".rstrip() for line in value.text.rstrip("\n").split("\n"))
        case _:
            yield f"{name}: {_inline(value)}"


def _inline(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case Mapping():
            return f"{{{', '.join(f'{_inline(k)}: {_inline(v)}' for k, v in value.items())}}}"
        case tuple() if value and all(isinstance(v, tuple) and len(v) == 2 for v in value):
            return _inline(dict(value))
        case tuple():
            return f"[{', '.join(map(_inline, value))}]"
        case None:
            return "argument"  # a derivative stated for the only one
        case _:
            return str(value).strip()
