"""Random specs over the whole language: the interpreter, torch, the CPU kernels and the emulated CUDA kernels agree.

Every program goes the whole way from its text. Derivatives are confirmed by the dot-product test and, to second order,
by differences. What fails is shrunk to a small spec, which the message shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

pytest.importorskip("torch")

from opgen.native import emulate
from tests.random_programs.calls import STAGES, Checked, check
from tests.random_programs.compiled import Batch, DiffersError
from tests.random_programs.printed import check_torch
from tests.random_programs.specs import Case, cases

EXAMPLES = 100  # of which about half are distinct
QUICK_SEEDS = range(5)
SLOW_SEEDS = range(100, 220)
LEAST = {  # how often a construct occurs in the quick tier
    "components": 4, "scatter +=": 10, "scatter *=": 4, "scatter max=": 3, "scatter min=": 3, "padded scatter": 5,
    "scatter onto a base": 8, "scatter onto the identity": 4, "recurrence up": 8, "recurrence down": 5,
    "two states": 5, "recurrence with a start": 6, "recurrence with a reduction": 2, "pad": 40, "gather": 20,
    "nested gather": 2, "diagonal": 5, "reversed": 10, "% in a position": 10, "// in a position": 5,
    "int param in a position": 10, "int of a float in a position": 10, "checked position": 8, "constant position": 40,
    "coupled position": 1, "gather with pad": 2, "where": 20, "lazy where": 5, "chained comparison": 4,
    "condition over indices": 10, "bool tensor": 4, "and, or": 3, "not": 2, "condition as a number": 6,
    "integer as a number": 6, "index as a number": 10, "dim as a number": 5, "isnan, isfinite": 1,
    "int input": 60, "domain of an int input": 20, "optional input": 8, "absent value": 2, "guard: bool": 3,
    "guard: choices": 3, "guard: given(input)": 1, "guard: given(param)": 3, "reduction param": 6, "float param": 20,
    "list param": 5, "int param": 2, "derived dim": 10, "computed extent": 8, "stated extent": 80, "empty dim": 5,
    "empty batch": 8, "several batch dims": 20, "broadcast batch": 20, "batch behind": 20, "repeated dim": 15,
    "literal dim": 8, "dim of one": 15, "element-wise": 15, "hidden index": 2, "reduced batch": 15,
    "reduction sum": 8, "reduction mean": 5, "reduction max": 5, "reduction min": 5, "reduction prod": 5,
    "reduction logsumexp": 5, "reduction norm": 5, "reduction var": 5, "reduction any": 1, "reduction all": 1,
    "reduction count": 3, "reduction argmax": 1, "reduction argmin": 1, "argsort": 3, "empty reduction": 1,
    "operator softmax": 4, "operator log_softmax": 4, "operator cumsum": 4, "operator cumprod": 4,
    "operator logcumsumexp": 4, "joint softmax": 1, "local function": 5, "stated derivative": 3, "detach": 3, "cast": 2,
    "override": 1, "**": 8, "0-dim result": 20, "declared outputs": 4, "read and an output": 4, "integer result": 3,
    "condition as a result": 5, "exact": 10, "once_differentiable": 5, "input without gradient": 8,
}  # fmt: skip

needs_compiler = pytest.mark.skipif(emulate.compiler() is None, reason="no C++ compiler is installed")


def each(number: int, test: Callable[[Case], None], count: int = EXAMPLES) -> None:
    """The cases of a seed, each once."""
    seen: set[str] = set()

    @seed(number)
    @settings(
        max_examples=count, database=None, deadline=None, print_blob=False, report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(cases())
    def run(case: Case) -> None:
        if case.text not in seen:
            test(case)
            seen.add(case.text)

    run()


def confirmed(number: int, known: dict[int, list[Checked]] = {}) -> list[Checked]:  # noqa: B006
    """The programs of a seed, confirmed in the interpreter and in torch, once for all tests of a run."""
    if number not in known:
        found: list[Checked] = []

        def one(case: Case) -> None:
            done = check(case)
            check_torch(done)
            found.append(done)

        each(number, one)
        known[number] = found
    return known[number]


def compile_and_compare(number: int, folder: Path, stages: Sequence[str], size: int) -> None:
    """The kernels of the programs of a seed, `size` programs to a library; a failure is shrunk."""
    programs = confirmed(number)
    for first in range(0, len(programs), size):
        try:
            _run(programs[first : first + size], folder, stages)
        except DiffersError as e:
            _shrink(number, e, folder, stages)
            raise


def _run(programs: Sequence[Checked], folder: Path, stages: Sequence[str]) -> None:
    batch = Batch.of(programs, stages)
    for emulated in (False, True):
        batch.run(folder, emulated)


def _shrink(number: int, failure: DiffersError, folder: Path, stages: Sequence[str]) -> None:
    """The same failure from there on towards simpler specs; earlier cases are known to pass."""
    reached = False

    def one(case: Case) -> None:
        nonlocal reached
        reached = reached or case.text == failure.done.case.text
        if reached:
            _run([check(case)], folder, stages)

    each(number, one)


@pytest.mark.parametrize("number", QUICK_SEEDS)
def test_interpreter_and_torch(number: int) -> None:
    programs = confirmed(number)
    counted = sum((done.confirmed for done in programs), Counter[str]())
    assert len(programs) >= 40
    for what in ("dot products", "first order", "second order"):
        assert counted[what] >= len(programs) // 2, counted


@needs_compiler
@pytest.mark.parametrize("number", QUICK_SEEDS)
def test_kernels(number: int, tmp_path: Path) -> None:
    compile_and_compare(number, tmp_path, ("forward", "backward"), 20)


def test_the_whole_language_is_there() -> None:
    found: Counter[str] = Counter()
    for number in QUICK_SEEDS:
        texts: dict[str, Case] = {}
        each(number, lambda case, texts=texts: texts.setdefault(case.text, case) and None)  # type: ignore[misc]
        for case in texts.values():
            found.update(case.marks)
    scarce = {what: (found[what], least) for what, least in LEAST.items() if found[what] < least}
    assert not scarce, scarce


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("number", SLOW_SEEDS)
def test_many_more(number: int, tmp_path: Path) -> None:
    compile_and_compare(number, tmp_path, STAGES, 20)
