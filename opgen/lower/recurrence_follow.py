"""Where each name of a recurrence runs, and by which index: the statements may call it as they like.

A read one place back says where a name runs, and by which index the name that reads it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opgen.lang.circles import Step, accesses, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Name

_Along = dict[str, tuple[str, ...]]
_Places = dict[str, tuple[int, ...]]


def followed(bodies: Mapping[str, Assign], step: Step, along: _Along, places: _Places) -> None:
    """Note the index of each name, and its place: those that are called as in the step first."""
    for only in (True, False):
        for _ in range(2 * len(bodies)):
            for n, s in bodies.items():
                for a in accesses((s,), tuple(bodies)):
                    for k, index in _told(n, a, step, along, places):
                        if along.get(n, (index,)) == (index,) and (index == step.index or not only):
                            _runs(bodies, a.name, k, None, along, places)
                            _runs(bodies, n, None, index, along, places)


def _told(n: str, a: Access, step: Step, along: _Along, places: _Places) -> Iterator[tuple[int, str]]:
    """The places at which a read may run, with the index there; where one is known, no other tells anything."""
    for k, item in enumerate(a.items):
        found = shift_of(item)
        if k != places.get(a.name, (k,))[0]:
            continue
        if found is not None and found.offset * step.offset > 0:
            yield k, found.index
        elif isinstance(item, Name) and (a.name in places or (item.name,) == along.get(n)):
            yield k, item.name


def _runs(
    bodies: Mapping[str, Assign], n: str, place: int | None, index: str | None, along: _Along, places: _Places
) -> None:
    """Note where a name runs along, unless that is known, or is no index of its target."""
    for k, item in enumerate(bodies[n].target.items or ()):
        if n not in along and isinstance(item, Binder) and (k == place or item.name == index):
            places[n], along[n] = (k,), (item.name,)
