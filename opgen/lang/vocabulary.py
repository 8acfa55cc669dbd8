"""What the formulas of a block may name: by this a proposal is spelt with the tensors, dims and letters of the spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Vocabulary:
    """Each tensor with its shape and the indices that it is read at; other names; and the words of the language."""

    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    letters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)  # dims that are computed, each with its formula
    names: Sequence[str] = ()  # params, dims and all that is assigned
    reductions: Mapping[str, bool] = field(default_factory=dict)  # whether it keeps its index
    functions: Sequence[str] = ()
    further: Mapping[str, str] = field(default_factory=dict)  # reductions with an argument beside the body, and which

    def declare(self, name: str, shape: Sequence[str]) -> None:
        self.shapes[name] = tuple(shape)
        self.letters[name] = letters(shape)

    def knows(self, name: str) -> bool:
        return name in self.shapes or name in self.names


def letters(shape: Sequence[str]) -> tuple[str, ...]:
    """The indices at which a tensor of this shape is read: of `[..., K, 3]` they are `..., k, i`."""
    items: list[str] = []
    for size in shape:
        wish = size.lower() if size[:1].isalpha() else "i"
        if size == "...":
            wish = size
        elif wish in items:
            wish += str(len(items) + 1)
        items.append(wish)
    return tuple(items)
