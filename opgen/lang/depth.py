"""How deep formulas may nest, and the room on Python's stack that walking them takes.

Parser and passes walk trees by recursion, several calls for each level. Python's own limit of a thousand calls would
end that at less nesting than its parser takes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

MAX_DEPTH = 640  # brackets and operators within each other: two hundred calls within each other, and more
MAX_NODES_DEPTH = 1320  # of an expression, with local functions written out: a level is several nodes
_CALLS = 12 * MAX_NODES_DEPTH


@contextmanager
def deep_trees() -> Iterator[None]:
    """Room to walk the deepest expressions that are accepted."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _CALLS))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
