"""Scalar expressions as numbers, for the interpreters: plain recursion, one value at a time.

Every node becomes a function of a point, once for all points of a call. What an index and an access are worth at a
point is the interpreter's own; everything else is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from fractions import Fraction
from functools import partial
from typing import Generic, TypeVar, assert_never

from opgen.ir.interp_functions import SCALARS
from opgen.ir.numbers import nearest
from opgen.ir.program import Argument, Function
from opgen.ir.scalar import Apply, Cast, Const, Dim, Index, Lit, Param, Read, Scalar

Value = float | int | bool
Point = TypeVar("Point")  # where in its loops an interpreter stands
_CONSTANTS = {"pi": 3.141592653589793, "inf": float("inf"), "nan": float("nan")}


class UnknownValueError(Exception):
    """A function of another library whose value the spec does not state: no formula leads to a number."""


class Evaluator(ABC, Generic[Point]):
    """Evaluates expressions with the params, dims and functions of one call."""

    def __init__(
        self, declared: tuple[Argument, ...], functions: tuple[Function, ...], params: Mapping[str, object]
    ) -> None:
        self.params = {a.name: a.default for a in declared if isinstance(a.default, tuple)} | dict(params)
        self.functions = {f.name: f for f in functions}
        self.dims: dict[str, int] = {}
        self._known: dict[Scalar, Callable[[Point], Value]] = {}

    @abstractmethod
    def index(self, name: str) -> Callable[[Point], int]:
        """What an index is worth at a point."""

    @abstractmethod
    def read(self, e: Read) -> Callable[[Point], Value]:
        """What an access is worth at a point."""

    def value(self, e: Scalar, point: Point) -> Value:
        return self.at_point(e)(point)

    def at_point(self, e: Scalar) -> Callable[[Point], Value]:
        """What an expression is worth at a point."""
        found = self._known.get(e)
        if found is None:
            found = self._known[e] = self._function(e)
        return found

    def _function(self, e: Scalar) -> Callable[[Point], Value]:
        match e:
            case Lit(value):
                number = nearest(value) if isinstance(value, Fraction) or not -(2**63) <= value < 2**63 else value
                return lambda _: number
            case Const(name):
                constant = _CONSTANTS[name]
                return lambda _: constant
            case Param(name, item):
                return partial(self._param, name, item)
            case Dim(name):
                return lambda _: self.dims[name]
            case Index(name):
                return self.index(name)
            case Read():
                return self.read(e)
            case Cast(arg):
                return self.at_point(arg)
            case Apply(fn, args):
                return self._applied(fn, [self.at_point(a) for a in args])
            case _:
                assert_never(e)

    def _param(self, name: str, item: int | None, _: Point) -> Value:
        given = self.params[name]
        chosen = given if item is None else given[item]  # type: ignore[index]
        assert isinstance(chosen, (int, float, bool))
        return chosen

    def _applied(self, fn: str, args: list[Callable[[Point], Value]]) -> Callable[[Point], Value]:
        match fn:
            case "where":
                condition, then, otherwise = args
                return lambda point: then(point) if condition(point) else otherwise(point)
            case "and":
                return lambda point: all(a(point) for a in args)
            case "or":
                return lambda point: any(a(point) for a in args)
        if fn in self.functions:
            return self._called(self.functions[fn], args)
        computed = SCALARS[fn]
        match args:
            case [a]:
                return lambda point: computed(a(point))
            case [a, b]:
                return lambda point: computed(a(point), b(point))
            case _:
                return lambda point: computed(*[a(point) for a in args])

    def _called(self, f: Function, args: list[Callable[[Point], Value]]) -> Callable[[Point], Value]:
        """A function of the spec: its value, with the arguments as params."""

        def call(point: Point) -> Value:
            values = [a(point) for a in args]
            if f.value is None:
                raise UnknownValueError(f"{f.name} is computed elsewhere, and nothing says what it is")
            inner.params = {**self.params, **dict(zip(f.params, values, strict=True))}
            return inner.value(f.value, point)

        inner = copy(self)
        inner._known = {}
        return call
