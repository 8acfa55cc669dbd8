"""The kind of an expression's elements, from the kinds of the tensors and params in it."""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir.functions import row
from opgen.ir.program import Argument, Kind
from opgen.ir.scalar import Apply, Dim, Index, Lit, Param, Read, Scalar


def kind_of(tensor: Callable[[str], Kind], params: tuple[Argument, ...], e: Scalar) -> Kind:
    """What an expression's elements are."""
    match e:
        case Read(tensor=name):
            return tensor(name)
        case Lit(value):
            return Kind.BOOL if isinstance(value, bool) else Kind.INT if isinstance(value, int) else Kind.FLOAT
        case Index() | Dim():
            return Kind.INT
        case Param(name):
            declared = next((a.type for a in params if a.name == name), "float")
            return Kind(declared) if declared in ("float", "int", "bool") else Kind.INT
        case Apply(fn, args):
            result = row(fn).result
            if result != "same":
                return Kind(result)
            kinds = [kind_of(tensor, params, a) for a in (args[1:] if fn == "where" else args)]
            if fn == "where" and all(k is Kind.BOOL for k in kinds):
                return Kind.BOOL
            return Kind.FLOAT if Kind.FLOAT in kinds else Kind.INT
        case _:
            return Kind.FLOAT
