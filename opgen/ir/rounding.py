"""Is a value the same to the last bit wherever it is computed?

One operation of IEEE arithmetic is; of two, a compiler may make one that rounds once, here and not there, and functions
are not the same for one number as for a vector.
"""

from __future__ import annotations

from opgen.ir.scalar import Apply, Cast, Read, Scalar, children

_EXACT = frozenset("abs and ceil eq floor ge gt le lt max min ne neg not or relu round sign trunc where".split())  # noqa: SIM905
_ROUNDED_ONCE = {"add": 2, "div": 2, "mul": 2, "reciprocal": 1, "sqrt": 1, "square": 1, "sub": 2}  # of so many numbers


def is_reproducible(e: Scalar) -> bool:
    """Whether its bits do not depend on what stands around it."""
    return _roundings(e) <= 1


def _roundings(e: Scalar) -> int:
    """How many operations that round lie on one another; 2 stands for any more."""
    if isinstance(e, Read) or not children(e):
        return 0
    below = max(map(_roundings, children(e)))
    if isinstance(e, Cast) or (isinstance(e, Apply) and e.fn in _EXACT):
        return below
    return below + 1 if isinstance(e, Apply) and _ROUNDED_ONCE.get(e.fn) == len(e.args) else 2
