"""The measuring core: contenders run in turn, and ratios are those of a round."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opgen.bench.timing import Contender, Effort, Quartiles, interleaved, quartiles, ratio


class Machine:
    """A clock that calls set forward, and what ran."""

    def __init__(self) -> None:
        self.now, self.ran, self.around = 0.0, "", ""

    def contender(self, name: str, takes: float) -> Contender:
        def call() -> None:
            assert self.around == name
            self.now += takes
            self.ran += name

        @contextmanager
        def around() -> Iterator[None]:
            self.around = name
            yield
            self.around = ""

        return Contender(name, call, around)


def test_contenders_run_in_turn_and_the_order_changes() -> None:
    machine = Machine()
    found = interleaved([machine.contender("a", 0.3), machine.contender("b", 0.1)], Effort(4, 1e9, lambda: machine.now))
    assert {n: [round(t, 6) for t in times] for n, times in found.items()} == {"a": [0.3] * 4, "b": [0.1] * 4}
    assert machine.ran.endswith("baabbaab")


def test_short_calls_are_measured_many_at_a_time() -> None:
    machine = Machine()
    interleaved([machine.contender("a", 1e-4)], Effort(1, 1e9, lambda: machine.now))
    assert len(machine.ran) > 20


def test_what_is_close_is_measured_longer() -> None:
    machine = Machine()
    close = interleaved(
        [machine.contender("a", 0.1), machine.contender("b", 0.101)], Effort(4, 1e9, lambda: machine.now)
    )
    assert len(close["a"]) == len(close["b"]) == 12


def test_ratios_are_of_the_same_round() -> None:
    assert ratio([1.0, 20.0, 3.0], [2.0, 40.0, 6.0]) == Quartiles(0.5, 0.5, 0.5)
    assert quartiles([3.0]) == Quartiles(3.0, 3.0, 3.0)
