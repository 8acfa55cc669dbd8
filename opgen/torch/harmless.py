"""Arguments at which functions do no harm, for calls whose result is not taken.

In goes a function of the table or of the spec; out come arguments at which neither it nor its derivatives are singular
or overflow, by position. Those of functions of the spec are found by trying.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice, product

from opgen.ir.evaluate import Evaluator, UnknownValueError
from opgen.ir.program import Function
from opgen.ir.scalar import ONE, TWO, ZERO, Apply, Dim, Lit, Param, Read, Scalar, walk
from opgen.torch.elsewhere import is_formula

# Functions that are singular or overflow somewhere: an argument where they do neither, by argument position.
SAFE: dict[str, tuple[int, Scalar]] = {
    "div": (1, ONE),
    "floordiv": (1, ONE),
    "mod": (1, ONE),
    "fmod": (1, ONE),
    "remainder": (1, ONE),
    "reciprocal": (0, ONE),
    "pow": (0, ONE),
    "log": (0, ONE),
    "log2": (0, ONE),
    "log10": (0, ONE),
    "log1p": (0, ZERO),
    "log1mexp": (0, Lit(-1)),
    "sqrt": (0, ONE),
    "rsqrt": (0, ONE),
    "cbrt": (0, ONE),
    "hypot": (0, ONE),
    "xlogy": (1, ONE),
    "exp": (0, ZERO),
    "exp2": (0, ZERO),
    "expm1": (0, ZERO),
    "sinh": (0, ZERO),
    "cosh": (0, ZERO),
    "tan": (0, ZERO),
    "asin": (0, ZERO),
    "acos": (0, ZERO),
    "atanh": (0, ZERO),
    "acosh": (0, TWO),
    "atan2": (1, ONE),
    "erfinv": (0, ZERO),
    "erfcx": (0, ZERO),
    "lgamma": (0, ONE),
    "digamma": (0, ONE),
    "polygamma": (1, ONE),
}

_TRIED = (ONE, TWO, Lit(Fraction(1, 2)), Lit(-1), Lit(Fraction(-1, 2)), Lit(3), ZERO)
_MOST = 100  # combinations that are tried


def harmless(functions: Sequence[Function]) -> dict[str, tuple[Scalar, ...]]:
    """Of the functions that are formulas and may do harm, arguments at which they do none; 1 where none is found."""
    return {f.name: _found(f, functions) for f in functions if is_formula(f) and _may_harm(f, functions)}


def _may_harm(f: Function, functions: Sequence[Function]) -> bool:
    own = {g.name for g in functions}
    called = [n.fn for e in f.scalars for n in walk(e) if isinstance(n, Apply)]
    return any(name in SAFE or name in own for name in called)


def _found(f: Function, functions: Sequence[Function]) -> tuple[Scalar, ...]:
    tried = islice(product(_TRIED, repeat=len(f.params)), _MOST)
    return next((at for at in tried if _is_fine(f, at, functions)), (ONE,) * len(f.params))


def _is_fine(f: Function, at: tuple[Scalar, ...], functions: Sequence[Function]) -> bool:
    params = {n: float(a.value) for n, a in zip(f.params, at, strict=True) if isinstance(a, Lit)}
    leaves = [n for g in functions for e in g.scalars for n in walk(e)]
    others = {n.name: 1.0 for n in leaves if isinstance(n, Param) and n.name not in params}
    machine = _Machine((), tuple(functions), others | params)
    machine.dims = {n.name: 1 for n in leaves if isinstance(n, Dim)}
    try:
        return all(math.isfinite(machine.value(e, None)) for e in f.scalars)
    except (ArithmeticError, ValueError, TypeError, AssertionError, UnknownValueError):
        return False


class _Machine(Evaluator[None]):
    """Formulas of numbers alone."""

    def index(self, name: str) -> Callable[[None], int]:
        raise UnknownValueError(name)

    def read(self, e: Read) -> Callable[[None], float]:
        raise UnknownValueError(e.tensor)
