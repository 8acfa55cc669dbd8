"""Times of several contenders, taken in turn: the measuring core of `opgen bench` and of `benchmarks/`.

In go calls; out come the seconds of a call in every round, and ratios as quartiles over rounds. What runs in turn, in
one process, is disturbed alike, so that ratios within a round say more than times do.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

LEAST = 2e-3  # seconds of calls in a round
FEWEST = 5  # rounds, as long as a call is not slow
SLOW = 0.5  # seconds of a call, of which two rounds must do
NEAR = 0.1  # ratios so close to 1 are measured with three times as many rounds
_MOST_CALLS = 1000

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Contender:
    """A call, and the context that it runs in: a choice of back end."""

    name: str
    call: Callable[[], Any]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


@dataclass(frozen=True, slots=True)
class Effort:
    """So many rounds, but none begins after these seconds once there are a few; `clock` tells the time."""

    rounds: int = 15
    seconds: float = 1.0
    clock: Clock = time.perf_counter


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The median of figures, and the quartiles around it."""

    low: float
    median: float
    high: float


def quartiles(figures: Sequence[float]) -> Quartiles:
    """The quartiles of at least one figure."""
    if len(figures) == 1:
        return Quartiles(figures[0], figures[0], figures[0])
    return Quartiles(*statistics.quantiles(figures, n=4))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Quartiles:
    """The ratios of the times of two contenders, round by round."""
    return quartiles([a / b for a, b in zip(ours, theirs, strict=True)])


def seconds(call: Callable[[], Any], count: int, clock: Clock) -> float:
    """The time of one call of so many in a row."""
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def interleaved(contenders: Sequence[Contender], effort: Effort) -> dict[str, list[float]]:
    """The seconds of a call of each contender in every round; more rounds where the first two are close to equal."""
    counts, slowest = {}, 0.0
    for c in contenders:
        with c.around():
            c.call()
            once = seconds(c.call, 1, effort.clock)
            if once < SLOW:
                once = seconds(c.call, 2, effort.clock)
        counts[c.name] = max(1, min(_MOST_CALLS, round(LEAST / max(once, 1e-7))))
        slowest = max(slowest, once)
    fewest = 2 if slowest > SLOW else FEWEST
    found: dict[str, list[float]] = {c.name: [] for c in contenders}
    _rounds(contenders, counts, found, fewest, effort)
    if len(contenders) > 1 and slowest <= SLOW:
        first, second = (found[c.name] for c in contenders[:2])
        if abs(ratio(first, second).median - 1) < NEAR:
            _rounds(contenders, counts, found, fewest, Effort(2 * effort.rounds, 2 * effort.seconds, effort.clock))
    return found


def _rounds(
    contenders: Sequence[Contender],
    counts: Mapping[str, int],
    found: Mapping[str, list[float]],
    fewest: int,
    effort: Effort,
) -> None:
    begun = time.perf_counter()
    for k in range(effort.rounds):
        if k >= fewest and time.perf_counter() - begun > effort.seconds:
            return
        for c in contenders[:: 1 if k % 2 else -1]:
            with c.around():
                found[c.name].append(seconds(c.call, counts[c.name], effort.clock))
