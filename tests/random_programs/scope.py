"""What a random formula can name: sizes, tensors and indices, and expressions with bounds on their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
ATOM, POWER, UNARY, TIMES, PLUS, COMPARE, NOT, AND, OR = range(9)
BATCH = "..."


@cache
def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


class Draw:
    """Choices that shrink to the first of what is offered, and to no."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return self._draw(_below(n)) if n > 1 else 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        point = self.below(sum(w for w, _ in options))
        for weight, option in options:
            point -= weight
            if point < 0:
                return option
        raise AssertionError(point)


@dataclass(frozen=True, slots=True)
class Size:
    """A size as it is written, and what it is in the calls of the program."""

    text: str
    value: int


@dataclass(frozen=True, slots=True)
class Expr:
    """A formula with the level of its outermost operator, and bounds on its values."""

    text: str
    level: int = ATOM
    low: float = 0.0
    high: float = 0.0

    def at(self, level: int) -> str:
        """The text where an operator of a level takes it."""
        return self.text if self.level <= level else f"({self.text})"

    @property
    def width(self) -> float:
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or a name that has been assigned; an int tensor holds `low <= value < high`."""

    name: str
    shape: tuple[Size | str, ...]
    kind: str = "float"
    low: float = -1.5
    high: float = 1.5

    @property
    def batched(self) -> bool:
        return BATCH in self.shape

    @property
    def dims(self) -> tuple[Size, ...]:
        return tuple(s for s in self.shape if isinstance(s, Size))


@dataclass(slots=True, eq=False)
class Index:
    """A bound index, and whether its accesses say how far it runs."""

    name: str
    size: Size
    plain: bool = False  # stands alone at a dim of its own size
    other: bool = False  # stands alone at another one
    statable: bool = True  # its extent can be written where it is bound

    @property
    def must_be_stated(self) -> bool:
        return self.other or not self.plain


@dataclass(frozen=True, slots=True)
class Scope:
    """The indices that are bound, and whether the batch dims are."""

    indices: tuple[Index, ...] = ()
    batch: bool = True

    def inside(self, bound: Sequence[Index], batch: bool) -> Scope:
        hidden = [i.name for i in bound]
        kept = tuple(i for i in self.indices if i.name not in hidden)
        return Scope((*kept, *bound), self.batch or batch)


@dataclass(slots=True)
class World:
    """Everything declared so far; `marks` are the constructs that were used.

    `infinite`: some name holds infinities, of which `int` makes no number.
    """

    choose: Draw
    tensors: list[Tensor] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    dims: dict[str, str] = field(default_factory=dict)  # derived
    params: dict[str, str] = field(default_factory=dict)  # declarations
    values: dict[str, object] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    marks: dict[str, None] = field(default_factory=dict)
    required: dict[str, tuple[Size | str, ...]] = field(default_factory=dict)  # shapes that outputs must state
    pair: tuple[Size | str, ...] | None = None  # the shape of inputs `u` and `v` that are read in one statement only
    kinked: bool = False  # that statement is linear in `u` but for kinks, and `v` has no gradient
    factor: Tensor | None = None  # an input that is 0 where it is missing
    serial: int = 0
    infinite: bool = False
    seeded: bool = False  # random numbers are drawn from an input `seed`
    stored: dict[str, str] = field(default_factory=dict)  # dtypes that outputs must state

    def mark(self, *names: str) -> None:
        self.marks.update(dict.fromkeys(names))

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"{stem}{self.serial}"

    def size_of(self, text: str) -> int:
        return next(s.value for s in self.sizes if s.text == text)


def number(value: float) -> str:
    return f"{value:g}"
