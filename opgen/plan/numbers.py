"""What a call computes once: expressions of params and sizes alone, such as `1/sqrt(E)` or `1 - label_smoothing`.

A quotient by a constant that is rounded anyway is a product with its inverse.

In goes a plan, out comes one whose kernels read such a number as they read a param; the binding computes it in double
on the host. A kernel does not compute it at every point, and variants that differ in nothing but how a number comes
about have equal kernels. Positions and sizes stay as they are: those are proven and checked by what they are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import TypeVar, cast

from opgen.ir.interp_functions import constant_value
from opgen.ir.kinds import kind_of
from opgen.ir.names import Names
from opgen.ir.numbers import rational
from opgen.ir.program import Axis, Kind
from opgen.ir.scalar import (
    Apply,
    Batch,
    Cast,
    Const,
    Dim,
    Index,
    Lit,
    Param,
    Position,
    Read,
    Scalar,
    children,
    reads,
    rebuild,
    transform,
    walk,
)
from opgen.plan.model import KernelPlan, Let, Library

# What the host computes: operators, and the functions of double in `opgen_numbers.h`.
_OPERATORS = {"add", "sub", "mul", "div", "neg", "pow", "where", "and", "or", "not", "lt", "le", "gt", "ge", "eq", "ne"}
HOST_FUNCTIONS = ("sqrt", "rsqrt", "reciprocal", "square", "abs", "exp", "expm1", "log", "log1p", "tanh", "max", "min")

_SMALL = 1e-30  # what is as small has no inverse in float

_SCALARS = (Lit, Const, Param, Dim, Index, Read, Apply, Cast)
# What a number is there for, by the operator around it.
_WISHES = {"mul": "factor", "add": "shift", "sub": "shift", "div": "divisor", "pow": "exponent"}
_Part = TypeVar("_Part")


def numbered(p: KernelPlan) -> KernelPlan:
    """The plan with what a call computes once taken out of its kernels, into `numbers`."""
    found = _Numbers(p, Names(words(p)))
    steps = tuple(s if isinstance(s, Library) else found.step(s) for s in p.steps)
    return replace(p, steps=steps, numbers={param.name: e for e, param in found.params.items()})


def words(p: KernelPlan) -> frozenset[str]:
    """Every word of a plan."""
    found: set[str] = set()
    _collect(p, found, set())
    return frozenset(found)


def _lets(x: object) -> Iterator[Let]:
    """The locals of a step, in order."""
    if isinstance(x, Let):
        yield x
    elif isinstance(x, tuple):
        for part in x:
            yield from _lets(part)
    elif is_dataclass(x) and not isinstance(x, _SCALARS):
        for f in fields(x):
            yield from _lets(getattr(x, f.name))


def _read(x: object) -> Iterator[str]:
    """What the values of a step read."""
    if isinstance(x, _SCALARS):
        yield from (r.tensor for r in reads(x))
    elif isinstance(x, tuple):
        for part in x:
            yield from _read(part)
    elif is_dataclass(x):
        for f in fields(x):
            yield from _read(getattr(x, f.name))


def _collect(x: object, words: set[str], seen: set[Scalar]) -> None:
    """Put every word of a part of a plan among `words`: a number is called what nothing else is."""
    if isinstance(x, str):
        words.add(x)
    elif isinstance(x, tuple | frozenset):
        for part in x:
            _collect(part, words, seen)
    elif isinstance(x, _SCALARS):
        if x not in seen:
            seen.add(x)
            words.update(getattr(x, name) for name in ("name", "tensor", "fn") if hasattr(x, name))
            for e in children(x):
                _collect(e, words, seen)
    elif is_dataclass(x):
        for f in fields(x):
            _collect(getattr(x, f.name), words, seen)


@dataclass(slots=True)
class _Numbers:
    plan: KernelPlan
    names: Names
    params: dict[Scalar, Param] = field(default_factory=dict)
    done: dict[Scalar, Scalar] = field(default_factory=dict)
    opened: dict[str, Scalar] = field(default_factory=dict)  # locals of a step that are numbers
    constants: dict[str, Scalar] = field(default_factory=dict)  # locals of a step that are formulas of literals
    hosted: dict[Scalar, bool] = field(default_factory=dict)  # whether the host could compute it

    def step(self, s: _Part) -> _Part:
        lets: dict[str, set[Scalar]] = {}
        for let in _lets(s):
            lets.setdefault(let.name, set()).add(let.value)
        self.done, self.opened, self.constants = {}, {}, {}
        for name, (value, *others) in lets.items():
            open_value = self._open(value)
            if not others and isinstance(open_value, Apply) and self._is_number(open_value):
                self.opened[name] = open_value
            elif not others and self._is_constant(value):
                self.constants[name] = transform(value, self._constant)
        made = self.inside(s)
        while self.constants and (left := self.constants.keys() - set(_read(made))):
            self.opened |= {name: self.constants.pop(name) for name in left}
            made = self.inside(made)
        return made

    def _open(self, e: Scalar) -> Scalar:
        """A value without locals that are numbers, in its positions too."""
        return transform(e, self._known) if self.opened else e

    def _known(self, e: Scalar) -> Scalar:
        return self.opened.get(e.tensor, e) if isinstance(e, Read) and not e.at else e

    def _constant(self, e: Scalar) -> Scalar:
        return self.constants.get(e.tensor, e) if isinstance(e, Read) and not e.at else e

    def inside(self, x: _Part) -> _Part:
        """A part of a step with its values rewritten; where things stand and how far loops go has no other params."""
        if isinstance(x, _SCALARS):
            return cast("_Part", self.value(self._open(x), ""))
        if isinstance(x, tuple):
            kept = (a for a in x if not (isinstance(a, Let) and a.name in self.opened))
            return cast("_Part", tuple(map(self.inside, kept)))
        if isinstance(x, Axis | Batch) or not is_dataclass(x) or isinstance(x, type):
            return x
        own = {f.name: getattr(x, f.name) for f in fields(x)}
        return replace(x, **{n: self._places(part) if n == "at" else self.inside(part) for n, part in own.items()})

    def _places(self, at: tuple[Position, ...]) -> tuple[Position, ...]:
        return tuple(p if isinstance(p, Batch) else self._open(p) for p in at)

    def value(self, e: Scalar, around: str) -> Scalar:
        if not isinstance(e, Apply):
            return e
        if self._is_number(e):
            return self._named(e, around)
        if e not in self.done:
            opened = self._product(self._multiplied(e))
            self.done[e] = _ordered(rebuild(opened, lambda a: self.value(a, opened.fn)))
        return self.done[e]

    def _named(self, e: Scalar, around: str) -> Param:
        if e not in self.params:
            self.params[e] = Param(self.names.fresh(_WISHES.get(around, "number")))
        return self.params[e]

    def _product(self, e: Apply) -> Apply:
        """A product whose first factors are numbers with these multiplied first, as it is evaluated anyway."""
        count = next((k for k, a in enumerate(e.args) if not self._is_hosted(a)), 0) if e.fn == "mul" else 0
        first = Apply("mul", e.args[:count])
        return Apply("mul", (first, *e.args[count:])) if count > 1 and self._is_number(first) else e

    def _multiplied(self, e: Apply) -> Apply:
        """A quotient by a constant that is rounded anyway, such as `x/sqrt(2)`, as a product."""
        if e.fn != "div" or not self._is_constant(e.args[1]) or self._is_constant(e.args[0]):
            return e
        factor = _inverse(transform(e.args[1], self._constant))
        return Apply("mul", (e.args[0], factor)) if factor else e

    def _is_constant(self, e: Scalar) -> bool:
        return all(isinstance(n, Lit | Const | Apply) or self._constant(n) is not n for n in walk(e))

    def _is_number(self, e: Apply) -> bool:
        """Whether the host computes it: a float that depends on the call and is more than a param with a sign."""
        if e.fn == "neg" and not isinstance(e.args[0], Apply):
            return False
        if not self._is_hosted(e) or not any(isinstance(a, Param | Dim) for a in walk(e)):
            return False
        return kind_of(_of_no_tensor, self.plan.params, e) is Kind.FLOAT

    def _is_hosted(self, e: Scalar) -> bool:
        if not isinstance(e, Apply):
            return isinstance(e, Lit | Const | Param | Dim)
        if e not in self.hosted:
            own = e.fn in _OPERATORS or e.fn in HOST_FUNCTIONS
            self.hosted[e] = own and all(map(self._is_hosted, e.args))
        return self.hosted[e]


def _inverse(e: Scalar) -> Lit | None:
    """One divided by a formula of literals that is no rational number; None for what is one, or far from 1."""
    value = constant_value(e) if rational(e) is None else None
    return Lit(Fraction(repr(1 / value))) if value and _SMALL < abs(value) < 1 / _SMALL else None


def _ordered(e: Scalar) -> Scalar:
    """A product of two with the param first, so that kernels are alike wherever it comes from."""
    match e:
        case Apply("mul", (a, Param() as b)):
            return Apply("mul", (b, a))
        case _:
            return e


def _of_no_tensor(name: str) -> Kind:
    raise AssertionError(f"{name}: a number reads no tensor")
