"""The YAML document as a tree of typed nodes with spans; what the validators in this package work on.

A node under a mapping key knows that key (`key`), so a mistake about a whole entry points at the name of the entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Span
from opgen.schema.formula import Word

Value = None | bool | int | float | str


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
