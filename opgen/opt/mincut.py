"""A minimum cut through the values of a program: which to keep so that all that is needed can be computed from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_INFINITE = 1 << 200


@dataclass(frozen=True, slots=True)
class Value:
    """A value one could keep. `cost` None: it cannot be kept; one that is not recomputable has to come from a cut."""

    name: str
    needs: tuple[str, ...]  # what recomputing it reads
    cost: int | None
    recomputable: bool
    wanted: bool


def minimum_cut(values: Sequence[Value]) -> tuple[str, ...]:
    """The cheapest set to keep, nearest to where the values are wanted, so that least is computed again."""
    graph = _Graph(values)
    graph.saturate()
    beyond = graph.reaches_sink()
    return tuple(v.name for v in values if (v.name, 1) in beyond and (v.name, 0) not in beyond)


_Node = tuple[str, int]  # a value's entry (0) and exit (1)
_SOURCE, _SINK = ("", 0), ("", 1)


class _Graph:
    def __init__(self, values: Sequence[Value]) -> None:
        self.capacity: dict[_Node, dict[_Node, int]] = {_SOURCE: {}, _SINK: {}}
        known: Mapping[str, Value] = {v.name: v for v in values}
        for v in values:
            self.edge((v.name, 0), (v.name, 1), _INFINITE if v.cost is None else v.cost)
            if not v.recomputable:
                self.edge(_SOURCE, (v.name, 0), _INFINITE)
            else:
                for n in v.needs:
                    if n in known:
                        self.edge((n, 1), (v.name, 0), _INFINITE)
            if v.wanted:
                self.edge((v.name, 1), _SINK, _INFINITE)

    def edge(self, a: _Node, b: _Node, capacity: int) -> None:
        forth = self.capacity.setdefault(a, {})
        forth[b] = forth.get(b, 0) + capacity
        self.capacity.setdefault(b, {}).setdefault(a, 0)

    def saturate(self) -> None:
        """Along shortest paths until there is none: all those of one length together."""
        while True:
            away = self._distances()
            if _SINK not in away:
                return
            ways = {a: [b for b in self.capacity[a] if away.get(b) == d + 1] for a, d in away.items()}
            while self._augment(ways):
                pass

    def _distances(self) -> dict[_Node, int]:
        """How far nodes are from the source, up to the sink."""
        found = {_SOURCE: 0}
        queue = deque([_SOURCE])
        while queue and _SINK not in found:
            a = queue.popleft()
            for b, free in self.capacity[a].items():
                if free > 0 and b not in found:
                    found[b] = found[a] + 1
                    queue.append(b)
        return found

    def _augment(self, ways: dict[_Node, list[_Node]]) -> bool:
        """Saturate one path; ways that lead nowhere are forgotten."""
        path = [_SOURCE]
        while path and path[-1] != _SINK:
            a = path[-1]
            while ways.get(a) and self.capacity[a][ways[a][-1]] == 0:
                ways[a].pop()
            if ways.get(a):
                path.append(ways[a][-1])
                continue
            path.pop()
            if path:
                ways[path[-1]].pop()
        steps = list(pairwise(path))
        flow = min((self.capacity[a][b] for a, b in steps), default=0)
        assert flow < _INFINITE, "a value that is needed can neither be kept nor computed"
        for a, b in steps:
            self.capacity[a][b] -= flow
            self.capacity[b][a] += flow
        return flow > 0

    def reaches_sink(self) -> dict[_Node, None]:
        reached: dict[_Node, None] = {_SINK: None}
        queue = deque([_SINK])
        while queue:
            b = queue.popleft()
            for a in self.capacity[b]:
                if a not in reached and self.capacity[a][b] > 0:
                    reached[a] = None
                    queue.append(a)
        return reached
