"""What the formulas of a block may name: by this a proposal is spelt with the tensors, dims and letters of the spec."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opgen.lang.nodes import Assign, Expr

CLASSES = "num_classes"  # a param for a size that other libraries take from the numbers of a run
UNCLEAR = "?"  # a size that was not understood
FIRST = "0"  # where a tensor of one element is read
ROWS, LAST = "rows", "last"  # other readings of a statement
SPARE = "mpqrsuvwijk"  # letters for indices that a spec has no name for


@dataclass(slots=True)
class Vocabulary:
    """Each tensor with its shape and the indices that it is read at; other names; and the words of the language."""

    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    letters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)  # dims that are computed, each with its formula
    names: Sequence[str] = ()  # params, dims and all that is assigned
    assigned: Collection[str] = ()  # every name left of a `=`, as far as can be told from the text
    reductions: Mapping[str, bool] = field(default_factory=dict)  # whether it keeps its index
    functions: Sequence[str] = ()
    signatures: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the spec's own functions, with arguments
    further: Mapping[str, str] = field(default_factory=dict)  # reductions with an argument beside the body, and which
    settings: Sequence[str] = ()  # params that guards may ask about
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the words of those that have some
    lists: Collection[str] = ()  # params with several elements
    integers: Collection[str] = ()  # inputs that hold them
    masks: Collection[str] = ()  # inputs that hold conditions
    complexes: Collection[str] = ()  # inputs of complex numbers
    ends: dict[str, str] = field(default_factory=dict)  # what the elements of an input of integers stay below
    listed: Sequence[str] = ()  # all inputs, where they stand in a list
    inputs: Container[str] = ()  # those that stay as they are: no buffers, no outputs
    given: Container[str] = ()  # every input: what a statement reads of one is no value of its own
    buffers: Mapping[str, str] = field(
        default_factory=dict
    )  # those of a module that are no outputs, with what they become
    renewed: dict[str, str] = field(default_factory=dict)  # inputs that statements so far update, with their new name
    updates: dict[int, Assign] = field(default_factory=dict)  # those of inputs as new values, by where they begin
    outputs: Mapping[str, str | None] = field(default_factory=dict)  # with what each states; None: not listed
    batched: dict[str, None] = field(default_factory=dict)  # values that a proposal gives the batch that they lacked
    results: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # outputs with the shape that they state
    gradients: Sequence[str] = ()  # what a block of gradients assigns; nothing for any other block
    along: dict[str, frozenset[str]] = field(default_factory=dict)  # sizes that the statement reads an index along
    unsliced: frozenset[str] = frozenset()  # indices that it reads, and beside no slice
    places: dict[str, int] = field(default_factory=dict)  # of indices that stand beside new axes, from behind
    axes: list[tuple[Expr, tuple[str, ...]]] = field(default_factory=list)  # of reductions; empty: one element
    instead: Mapping[str, str] = field(default_factory=dict)  # letters that are names here, and what stands for them
    left: Sequence[str] = ()  # the indices of the target at hand
    bound: Sequence[str] = ()  # those of the reductions around what is read
    reading: str = ""  # `ROWS`: integers at a position list rows, where they may as well pick one element of each;
    # `LAST`: tensors are joined along the last axis, where nothing says that it is not the first
    doubts: dict[str, None] = field(default_factory=dict)  # the integers of the statement that may do either

    def declare(self, name: str, shape: Sequence[str]) -> None:
        self.shapes[name] = tuple(shape)
        self.letters[name] = (FIRST,) * len(shape) if {*shape} == {"1"} else letters(shape, self.instead)

    def has(self, function: str) -> bool:
        """Whether a function or a reduction is one of the language, as far as they are known."""
        return not self.functions or function in self.functions or function in self.reductions

    def lacks(self, function: str) -> bool:
        """Whether a function is certainly none of the language, nor a name of the spec."""
        return not self.has(function) and not self.knows(function)

    def is_size(self, name: str) -> bool:
        """Whether a name is that of a dim or a param, as far as can be told."""
        return name[:1].isupper() or (name in self.names and name not in self.shapes and name not in self.assigned)

    def knows(self, name: str) -> bool:
        return name in self.shapes or name in self.names

    def seeded(self, seed: str = "seed") -> str:
        """How a seed is declared beside the inputs that there are."""
        entries = [*(f"{name}: {{}}" for name in self.listed), f"{seed}: {{dtype: seed}}"]
        return f"inputs: {{{', '.join(entries)}}}"


def letters(shape: Sequence[str], instead: Mapping[str, str]) -> tuple[str, ...]:
    """The indices at which a tensor of this shape is read: of `[..., K, 3]` they are `..., k, i`."""
    items: list[str] = []
    for size in shape:
        wish = size.lower() if size[:1].isalpha() else "i"
        wish = instead.get(wish, wish)
        if size == "...":
            wish = size
        elif wish in items:
            wish += str(len(items) + 1)
        items.append(wish)
    return tuple(items)


def other_letters(dims: Iterable[str], names: Container[str]) -> dict[str, str]:
    """Letters for indices over these dims whose own letter is the name of something."""
    wishes = dict.fromkeys((*(d.lower() for d in dims), "i"))
    spare = (c for c in SPARE if c not in wishes and c not in names)
    return dict(zip((w for w in wishes if w in names), spare, strict=False))
