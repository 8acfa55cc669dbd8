"""Fresh names: the one way in which programs, plans and printers name what a spec does not.

In go the names that are taken; out come names that are not, each handed out once.
"""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Names that are taken, and fresh ones beside them: the wish itself, or the wish with the first free number."""

    def __init__(self, taken: Iterable[str] = (), first: int = 2) -> None:
        self.taken = dict.fromkeys(taken)
        self._first = first
        self._next: dict[str, int] = {}  # the number to try next, by wish

    def fresh(self, wish: str) -> str:
        name, number = wish, self._next.get(wish, self._first)
        while name in self.taken:
            name, number = f"{wish}_{number}", number + 1
        self.taken[name] = None
        self._next[wish] = number
        return name

    def release(self, name: str) -> None:
        """Give a name back whose scope has ended."""
        self.taken.pop(name, None)
