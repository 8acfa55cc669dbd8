"""Operators: all variants of one spec, and how they are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from opgen.diagnostics.model import Span
from opgen.ir.declared import Docs, Domain, Module, Multiple, Tests
from opgen.ir.program import Argument, Condition, Kind, Output, Program, Tensor
from opgen.ir.scalar import Scalar


@dataclass(frozen=True, slots=True)
class Variant:
    """One specialisation: what holds in it, and its program. Absent inputs are not inputs of the program."""

    conditions: tuple[Condition, ...]
    program: Program


@dataclass(frozen=True, slots=True)
class Pair:
    """A complex operand or result of an operator, and the float tensors that stand for it in programs."""

    name: str
    real: str
    imag: str


@dataclass(frozen=True, slots=True)
class Fill:
    """A missing optional input, and the number that it reads as."""

    name: str
    value: Scalar  # a literal, `inf` or `-inf`


@dataclass(frozen=True, slots=True)
class Callable:
    """A callable of Python by its dotted path; `numpy`: it takes and gives arrays of NumPy."""

    path: str
    numpy: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What computes an operator as a whole, and its gradient: programs then have no statements, only a surface."""

    forward: Callable
    backward: Callable | None = None


@dataclass(frozen=True, slots=True)
class Flags:
    """What of a spec decides how its programs are derived."""

    exact: bool = False
    once_differentiable: bool = False
    save: tuple[str, ...] | None = None  # names kept for backward; None: decided where it is derived


@dataclass(frozen=True, slots=True)
class Operator:
    """A resolved spec: all inputs and params, one program per variant, and what is said of it besides.

    The order of `variants` is fixed: for each switch in order of declaration, present before absent and choices in the
    order of the spec; the last switch varies fastest. A variant's number is its position. Inputs and outputs are those
    of the programs; `surface` gives them as the operator is called.
    """

    name: str
    inputs: tuple[Tensor, ...]
    optional: tuple[str, ...]
    params: tuple[Argument, ...]
    outputs: tuple[str, ...]
    variants: tuple[Variant, ...]
    elsewhere: Elsewhere | None = None
    pairs: tuple[Pair, ...] = ()
    fills: tuple[Fill, ...] = ()  # optional inputs that programs always have: a missing one is filled
    neutral: tuple[Fill, ...] = ()  # optional inputs that nothing asks for: missing, they are that number and no more
    seeds: tuple[str, ...] = ()  # inputs that random numbers are drawn from, drawn where a call leaves them out
    spelled: tuple[tuple[str, str], ...] = ()  # a name used inside, and how the spec spells it, where these differ
    stored: tuple[tuple[str, str], ...] = ()  # inputs whose dtype the spec names
    unbroadcast: tuple[str, ...] = ()  # inputs that have all batch dims of a call
    flags: Flags = Flags()
    inplace: str = ""  # the input that a variant with a trailing underscore overwrites
    domains: tuple[Domain, ...] = ()
    multiples: tuple[Multiple, ...] = ()
    docs: Docs = field(default_factory=Docs)
    module: Module = field(default_factory=Module)
    tests: Tests = field(default_factory=Tests)
    callables: tuple[Callable, ...] = ()  # all that the spec names, in Python

    def shown(self, name: str) -> str:
        """A tensor or param as the spec calls it."""
        return dict(self.spelled).get(name, name)

    def has_whole_batch(self, name: str) -> bool:
        """Whether an input, or the complex one that it is a part of, has all batch dims of a call."""
        return any(n in self.unbroadcast for n in (name, *(p.name for p in self.pairs if name in (p.real, p.imag))))

    def domain(self, name: str) -> Domain | None:
        """What an input or param keeps to."""
        return next((d for d in self.domains if d.name == name), None)

    @property
    def operands(self) -> tuple[Tensor, ...]:
        """The inputs as the operator is called with them."""
        return tuple(surface(self.pairs, self.inputs))

    @property
    def wide(self) -> bool:
        """Is there a complex operand? Then everything is computed in float32 at least."""
        return any(t.kind is Kind.COMPLEX for t in self.operands)

    @property
    def maybe_none(self) -> tuple[str, ...]:
        """The operands that may be left out."""
        missing = (*self.optional, *self.seeds, *(f.name for f in self.fills))
        return tuple(t.name for t in surface(self.pairs, (t for t in self.inputs if t.name in missing)))

    @property
    def stated(self) -> tuple[Argument, ...]:
        """The params that a call states."""
        return tuple(a for a in self.params if a.tells is None)


Surfaced = TypeVar("Surfaced", Tensor, Output)


def surface(pairs: Sequence[Pair], tensors: Iterable[Surfaced]) -> Iterator[Surfaced]:
    """Inputs or outputs with the two parts of a complex one as one."""
    whole = {p.real: p.name for p in pairs} | {p.imag: "" for p in pairs}
    for t in tensors:
        if whole.get(t.name, t.name):
            yield replace(t, name=whole[t.name], kind=Kind.COMPLEX) if t.name in whole else t
