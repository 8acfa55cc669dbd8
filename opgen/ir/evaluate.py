"""Scalar expressions as numbers, for the interpreters: plain recursion, one value at a time.

What an index and an access are worth at a point is the interpreter's own; everything else is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from fractions import Fraction
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

    @abstractmethod
    def index(self, name: str, point: Point) -> int: ...

    @abstractmethod
    def read(self, e: Read, point: Point) -> Value: ...

    def value(self, e: Scalar, point: Point) -> Value:
        match e:
            case Lit(value):
                return nearest(value) if isinstance(value, Fraction) or abs(value) >= 2**63 else value
            case Const(name):
                return _CONSTANTS[name]
            case Param(name, item):
                given = self.params[name]
                chosen = given if item is None else given[item]  # type: ignore[index]
                assert isinstance(chosen, (int, float, bool))
                return chosen
            case Dim(name):
                return self.dims[name]
            case Index(name):
                return self.index(name, point)
            case Read():
                return self.read(e, point)
            case Cast(arg):
                return self.value(arg, point)
            case Apply(fn, args):
                return self.apply(fn, args, point)
            case _:
                assert_never(e)

    def apply(self, fn: str, args: tuple[Scalar, ...], point: Point) -> Value:
        match fn:
            case "where":
                return self.value(args[1] if self.value(args[0], point) else args[2], point)
            case "and":
                return all(self.value(a, point) for a in args)
            case "or":
                return any(self.value(a, point) for a in args)
        values = [self.value(a, point) for a in args]
        if fn in self.functions:
            return self.call(self.functions[fn], values, point)
        return SCALARS[fn](*values)

    def call(self, f: Function, values: list[Value], point: Point) -> Value:
        if f.value is None:
            raise UnknownValueError(f"{f.name} is computed elsewhere, and nothing says what it is")
        inner = copy(self)
        inner.params = {**self.params, **dict(zip(f.params, values, strict=True))}
        return inner.value(f.value, point)
