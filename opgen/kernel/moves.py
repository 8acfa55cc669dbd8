"""Kernels that compute with no float: they move what tensors hold, or put zeros there.

Such a kernel can move words of whatever floats are in memory, without widening and narrowing those of 16 bits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Kind
from opgen.ir.scalar import ZERO, Apply, Batch, Const, Lit, Param, Read, Scalar, walk
from opgen.kernel.model import Body, For, If, Store
from opgen.kernel.walk import inside
from opgen.plan.model import Let


def moves_alone(body: Body, slots: Mapping[str, Kind], reals: Collection[Param]) -> bool:
    """Whether all that a kernel does with floats is to move them; `slots` are the kinds of its tensors.

    `reals`: its params that are floats. A condition on them, or on a fraction, is computed with floats, too.
    """
    kinds = dict(slots)  # and of locals

    def exact(e: Scalar) -> bool:
        """Whether a value has nothing to do with floats."""
        return not any(is_float(n) for n in walk(e))

    def is_float(n: Scalar) -> bool:
        match n:
            case Read(tensor=tensor):
                return kinds[tensor] is Kind.FLOAT
            case Lit(value):
                return not isinstance(value, int)
            case Apply(fn=fn):
                return fn not in FUNCTIONS or FUNCTIONS[fn].result == "float"
            case _:
                return isinstance(n, Const) or n in reals

    def moved(e: Scalar) -> bool:
        match e:
            case Read(tensor, at, fill) if kinds[tensor] is Kind.FLOAT:
                return all(isinstance(p, Batch) or exact(p) for p in at) and fill in (None, ZERO)
            case Apply("where", (condition, a, b)):
                return exact(condition) and moved(a) and moved(b)
            case _:
                return e == ZERO

    stored = False
    for n in inside(body):
        match n:
            case Let(name, value) if exact(value):
                kinds[name] = Kind.INT
            case Let(name, value) if moved(value):
                kinds[name] = Kind.FLOAT
            case Store(slot, at, value) if all(isinstance(p, Batch) or exact(p) for p in at):
                if not (moved(value) if kinds[slot] is Kind.FLOAT else exact(value)):
                    return False
                stored |= kinds[slot] is Kind.FLOAT
            case For():
                pass
            case If(condition) if exact(condition):
                pass
            case _:
                return False
    return stored
