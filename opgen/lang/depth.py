"""How deep formulas may nest, and what Python is asked for while large ones are walked: room, and no interruptions.

Parser and passes walk trees by recursion, several calls for each level. Python's own limit of a thousand calls would
end that at less nesting than its parser takes.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import Lock

MAX_DEPTH = 640  # brackets and operators within each other: two hundred calls within each other, and more
MAX_NODES_DEPTH = 1320  # of an expression, with local functions written out: a level is several nodes
_CALLS = 12 * MAX_NODES_DEPTH
_AT_ONCE = 1_000_000  # so many objects are made before Python looks for cycles among them


class _Raised:
    """A setting of the interpreter that is raised while anybody needs it; threads may come and go in any order."""

    def __init__(self, get: Callable[[], int], put: Callable[[int], None], least: int) -> None:
        self._get, self._put, self._least = get, put, least
        self._lock = Lock()
        self._users = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._before = self._get()
                self._put(max(self._before, self._least))
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._put(self._before)


_ROOM = _Raised(sys.getrecursionlimit, sys.setrecursionlimit, _CALLS)
_COLLECTIONS = _Raised(lambda: gc.get_threshold()[0], gc.set_threshold, _AT_ONCE)


def deep_trees() -> AbstractContextManager[None]:
    """Room to walk the deepest expressions that are accepted."""
    return _ROOM


def few_collections() -> AbstractContextManager[None]:
    """Look for garbage in cycles less often: expressions are in none, and to look takes longer the more there are."""
    return _COLLECTIONS if gc.get_threshold()[0] else nullcontext()  # it may be switched off
