"""The YAML document as a tree of typed nodes with spans; what the validators in this package work on.

A node under a mapping key knows that key (`key`), so a mistake about a whole entry points at the name of the entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Span
from opgen.schema.formula import Word

Value = None | bool | int | float | str

_LONGEST_NUMBER = 1000
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INT = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A leaf: `value` typed by the YAML 1.2 core rules, `text` as YAML reads it, `style` the quote or block sign."""

    value: Value
    text: str
    span: Span = field(repr=False)
    style: str = ""
    key: Word | None = field(default=None, repr=False)
    size: int = 1

    @property
    def kind(self) -> str:
        match self.value:
            case None:
                return "nothing" if not self.text else "null"
            case bool():
                return f"the truth value `{self.text}`"
            case int() | float():
                return f"the number `{self.text}`"
            case _:
                return "text" if len(self.text) > 40 or "\n" in self.text else f"`{self.text}`"


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    items: tuple[Node, ...]
    span: Span = field(repr=False)
    key: Word | None = field(default=None, repr=False)
    size: int = 1

    @property
    def kind(self) -> str:
        return "a list"


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """Entries in order of writing; keys are distinct."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span = field(repr=False)
    key: Word | None = field(default=None, repr=False)
    size: int = 1
    flow: bool = False

    @property
    def kind(self) -> str:
        return "a mapping"

    def get(self, name: str) -> Node | None:
        return next((value for key, value in self.entries if key.text == name), None)


Node = Scalar | Sequence | Mapping


def under(node: Node, key: Word) -> Node:
    """The same node as the value of an entry named `key`."""
    return replace(node, key=key)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, in order of writing."""
    yield node
    match node:
        case Sequence():
            for item in node.items:
                yield from walk(item)
        case Mapping():
            for _, value in node.entries:
                yield from walk(value)
        case Scalar():
            pass


def typed(text: str) -> Value:
    """The value of a bare scalar by the YAML 1.2 core rules; `010` is ten."""
    if len(text) > _LONGEST_NUMBER:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        return float(text.replace(".inf", "inf").replace(".nan", "nan") if text[-1].isalpha() else text)
    return text
