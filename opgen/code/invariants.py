"""What is the same at every lane of a run and has to be computed once, ahead of the lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from opgen.code.printer import Text
from opgen.ir.scalar import Apply, Read, Scalar, children, walk

QUOTIENTS = frozenset(("floordiv", "mod", "remainder", "fmod"))


def invariants(values: Iterable[Scalar], is_same: Callable[[Scalar], bool]) -> Iterator[Scalar]:
    """The largest parts of values with a quotient or a remainder that a lane does not change; each once.

    `is_same` tells it of reads and indices. A compiler does not move quotients of whole numbers out of a loop where a
    choice stands around them, and has no vectors of them; all else that does not change it moves itself.
    """
    known: dict[Scalar, bool] = {}
    seen: set[Scalar] = set()

    def same(e: Scalar) -> bool:
        found = known.get(e)
        if found is None:
            inner = () if isinstance(e, Read) else children(e)
            found = known[e] = is_same(e) and all(map(same, inner))
        return found

    def look(e: Scalar) -> Iterator[Scalar]:
        if e in seen or isinstance(e, Read):
            return
        seen.add(e)
        if isinstance(e, Apply) and same(e):
            if any(isinstance(a, Apply) and a.fn in QUOTIENTS for a in walk(e)):
                yield e
            return
        for a in children(e):
            yield from look(a)

    for value in values:
        yield from look(value)


class Known(dict[Scalar, Text]):
    """What a printer need not print again; notes which parts that are computed ahead it asks for."""

    def __init__(self, ahead: Mapping[Scalar, Text], asked: set[str]) -> None:
        super().__init__(ahead)
        self.ahead, self.asked = ahead, asked

    def get(self, e: Scalar, default: Text | None = None) -> Text | None:  # type: ignore[override]
        if e in self.ahead:
            self.asked.add(self.ahead[e].text)
        return super().get(e, default)
