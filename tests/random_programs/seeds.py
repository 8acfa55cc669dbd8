"""The programs of a seed, confirmed in the interpreter; how those that fail in compiled code are shrunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from opgen.toolchain.compiler import instruction_sets
from tests.random_programs.calls import Checked, check
from tests.random_programs.compiled import Batch, DiffersError
from tests.random_programs.lengthened import lengthen
from tests.random_programs.specs import Case, cases

EXAMPLES = 100  # of which about half are distinct
QUICK = (16, 59, 26, 63, 31, 39)  # the first in the thorough tier
QUICK_KERNELS = (0,)
SLOW = range(100, 320)
TOGETHER = 20  # programs in one library
SINGLE = 4  # one of so many is called in float32, too
OPTIMISED = range(105, 320, 10)  # with all optimisations, what is computed twice need not be the same to the last bit


def each(number: int, test: Callable[[Case], None], count: int = EXAMPLES) -> None:
    """The cases of a seed, each once."""
    seen: set[str] = set()

    @seed(number)
    @settings(
        max_examples=count, deadline=None, database=None, print_blob=False, report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(cases())
    def run(case: Case) -> None:
        if case.text not in seen:
            test(case)
            seen.add(case.text)

    run()


def programs_of(number: int, also: Callable[[Checked], None] = lambda _: None) -> list[Checked]:
    """The programs of a seed that the interpreter confirms, and `also` what is told."""
    found: list[Checked] = []

    def one(case: Case) -> None:
        done = check(case)
        also(done)
        found.append(done)

    each(number, one)
    return found


def compile_and_compare(number: int, programs: Sequence[Checked], folder: Path, stages: Sequence[str]) -> None:
    """The kernels of the programs of a seed; a failure is shrunk."""
    sets = instruction_sets()
    isa = sets[-1] if number in OPTIMISED else None
    for first in range(0, len(programs), TOGETHER):
        try:
            _run(programs[first : first + TOGETHER], folder, stages, isa)
        except DiffersError as e:
            _shrink(number, e, folder, stages, isa)
            raise


def _run(programs: Sequence[Checked], folder: Path, stages: Sequence[str], isa: str | None) -> None:
    for done in programs:
        lengthen(done)
    batch = Batch.of(programs, stages, isa)
    for emulated in (False, True):
        batch.run(folder, emulated)
    Batch.of(programs[::SINGLE], stages, dtype="float32").run(folder, emulated=True)


def _shrink(number: int, failure: DiffersError, folder: Path, stages: Sequence[str], isa: str | None) -> None:
    """The same failure from there on towards simpler specs; earlier cases are known to pass."""
    reached = False

    def one(case: Case) -> None:
        nonlocal reached
        reached = reached or case.text == failure.done.case.text
        if reached:
            _run([check(case)], folder, stages, isa)

    each(number, one)
