"""What a spec says of an operator beside its formulas: documentation, domains, the module around it, tests.

`lower` makes these, and what a package holds is made of them: nothing behind it looks at the spec again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opgen.diagnostics.model import Span
from opgen.ir.evaluate import Value
from opgen.ir.scalar import Scalar


@dataclass(frozen=True, slots=True)
class Docs:
    """What an operator is, in the words of its spec."""

    summary: str = ""
    description: str = ""
    formula: tuple[str, ...] = ()  # the lines of the forward block as they were written; of a callable, the call
    reference: str = ""  # the path of a callable that computes the same


@dataclass(frozen=True, slots=True)
class Domain:
    """An inequality that an input or param keeps to: as it was written, and over dims and params.

    The name itself is a `Param` there, and stands for each element of a tensor or of a list.
    """

    name: str
    text: str
    holds: Scalar


@dataclass(frozen=True, slots=True)
class Multiple:
    """A dim of an input that has to be a multiple of something: as it was written, and over dims and params."""

    dim: str
    text: str
    by: Scalar


@dataclass(frozen=True, slots=True)
class Initialiser:
    """A function of torch.nn.init, and its arguments behind the tensor with their keywords."""

    name: str
    arguments: tuple[tuple[str | None, Scalar], ...]


@dataclass(frozen=True, slots=True)
class State:
    """An input that a module owns; a buffer is not trained."""

    input: str
    initialiser: Initialiser
    buffer: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """The module around an operator. `sizes` are the dims that its constructor takes, and what they are called.

    In training, buffers are overwritten with outputs (`updates`), which the module does not return.
    """

    name: str = ""  # empty: that of the operator
    doc: str = ""
    sizes: tuple[tuple[str, str], ...] = ()
    states: tuple[State, ...] = ()
    updates: tuple[tuple[str, str], ...] = ()  # buffer to output
    training: str = ""  # the bool param that says whether the module is in training; empty: none


@dataclass(frozen=True, slots=True)
class Nested:
    """A nested list of numbers as its shape and its elements in order."""

    shape: tuple[int, ...]
    flat: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class StatedCase:
    """What a case says of dims, params (None: missing) and inputs (None: absent)."""

    sizes: tuple[tuple[str, int], ...] = ()
    params: tuple[tuple[str, object], ...] = ()
    inputs: tuple[tuple[str, Nested | None], ...] = ()
    batch: tuple[int, ...] | None = None
    place: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Tests:
    """What the tests of an operator do beyond their defaults: sizes of dims, cases, tolerances by dtype."""

    sizes: tuple[tuple[str, int], ...] = ()
    cases: tuple[StatedCase, ...] = ()
    tolerances: tuple[tuple[str, tuple[float, float]], ...] = ()
