"""Rows that are computed with for a while, in which nothing comes from memory: a processor then goes on to no next row.

In go the statements for one row of a kernel, with its passes along the row as loops, out comes whether there is such a
pass: it calls functions, and all that it reads was read by those before it.
"""

from __future__ import annotations

from opgen.ir.scalar import Apply, reads, walk
from opgen.kernel.kept import CALLS
from opgen.kernel.model import Atomic, Body, Store
from opgen.kernel.walk import bound, inside, loop_of, values


def pauses(row: Body) -> bool:
    """Whether a pass along a row takes long and comes to no memory for the first time."""
    own = bound(row)
    known: set[str] = set()
    for node in row:
        if (found := loop_of(node)) is None:
            continue
        along = (found[0],)
        here = {r.tensor for e in values(along) for r in reads(e)} - own.keys()
        stores = any(isinstance(n, Store | Atomic) and n.slot not in own for n in inside(along))
        calls = any(isinstance(e, Apply) and e.fn in CALLS for value in values(along) for e in walk(value))
        if known and calls and not stores and here <= known:
            return True
        known |= here
    return False
