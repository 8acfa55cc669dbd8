"""A dim that counts windows and is a number too large: the formula that it has under `dims`.

In goes a position that leaves its tensor at the end; out comes a hint.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir import text
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.scalar import Dim
from opgen.lower.scope import Check, Frame, IndexInfo

_Room = Callable[[Frame, Check, IndexInfo], tuple[Polynomial, Polynomial] | None]


def fewer_windows(f: Frame, c: Check, step_and_room: _Room) -> tuple[str, ...]:
    """How many windows fit, where an index runs as far as a dim under `dims` that says more by a number.

    `step_and_room`: by how much an index moves the position, and how many places there are for it.
    """
    for _, i in c.indices if len(c.indices) > 1 else ():
        dim = i.stated
        parts = step_and_room(f, c, i) if isinstance(dim, Dim) and dim.name in f.decl.derived else None
        if not isinstance(dim, Dim) or parts is None or parts[0] != number(1):
            continue
        count = parts[1].scalar()
        more = (polynomial(dim, f.state.dims) - polynomial(count, f.state.dims)).constant
        if more is not None and more > 0:
            return (f"so many windows fit: `dims: {{{dim.name}: {text.scalar(count)}}}`",)
    return ()
