"""Random specs over the whole language: interpreter, torch and kernels agree, derivatives are those of the values.

Every program goes the whole way from its text. Derivatives are confirmed by the dot-product test and, to second order,
by differences. What fails is shrunk to a small spec, which the message shows.
"""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("torch")

from tests.random_programs.calls import Checked
from tests.random_programs.emptied import check_emptied
from tests.random_programs.fakes import check_fakes
from tests.random_programs.interpreted import check_kernels
from tests.random_programs.printed import check_torch
from tests.random_programs.seeds import QUICK, each, programs_of
from tests.random_programs.specs import Case

pytestmark = pytest.mark.thorough

LEAST = {  # how often a construct occurs in the quick seeds, somewhat rounded down
    "components": 12, "scatter +=": 15, "scatter *=": 3, "scatter max=": 1, "scatter min=": 2, "padded scatter": 1,
    "scatter onto a base": 15, "scatter onto the identity": 6, "recurrence up": 22, "recurrence down": 9,
    "two states": 11, "recurrence with a start": 21, "a first step that is chosen": 9,
    "recurrence with a reduction": 2, "pad": 48, "gather": 9,
    "nested gather": 1, "diagonal": 7, "reversed": 14, "% in a position": 20, "// in a position": 33,
    "int param in a position": 18, "int of a float in a position": 20, "checked position": 33,
    "constant position": 74, "coupled position": 3, "gather with pad": 3, "where": 22, "lazy where": 8,
    "chained comparison": 2, "condition over indices": 20, "bool tensor": 2, "not": 2, "condition as a number": 12,
    "integer as a number": 8, "index as a number": 25, "dim as a number": 8, "isnan, isfinite": 2, "int input": 68,
    "domain of an int input": 28, "domain of a derived dim": 8, "optional input": 14, "absent value": 6,
    "guard: bool": 2, "guard: choices": 3,
    "guard: given(param)": 1, "reduction param": 10, "float param": 42, "list param": 15, "int param": 1,
    "derived dim": 22, "computed extent": 14, "stated extent": 128, "empty dim": 5, "empty batch": 34,
    "several batch dims": 56, "broadcast batch": 57, "batch behind": 31, "repeated dim": 46, "literal dim": 22,
    "dim of one": 16, "element-wise": 20, "hidden index": 3, "reduced batch": 28, "reduction sum": 12,
    "reduction mean": 4, "reduction max": 5, "reduction min": 2, "reduction prod": 2, "reduction logsumexp": 2,
    "reduction norm": 1, "reduction var": 6, "reduction any": 3, "reduction all": 1, "reduction count": 1,
    "reduction argmax": 1, "reduction argmin": 1, "argsort": 2, "operator softmax": 1, "operator log_softmax": 4,
    "operator cumsum": 2, "operator cumprod": 1, "operator logcumsumexp": 1, "joint softmax": 1, "local function": 14,
    "stated derivative": 10, "detach": 5, "cast": 2, "**": 14, "0-dim result": 14, "declared outputs": 6,
    "read and an output": 13, "integer result": 1, "condition as a result": 5, "exact": 6, "once_differentiable": 5,
    "input without gradient": 6, "sum of inputs": 38, "slope": 14, "power of literals": 18,
    "function of a param": 16, "power of an index": 10, "joined": 22, "joined: two": 3,
    "joined: pad": 3, "joined: rest": 6, "joined: guarded": 8, "runs further": 2, "discrete recurrence": 12,
    "discrete recurrence: or": 2, "discrete recurrence: and": 1, "discrete recurrence: count": 4,
    "discrete recurrence: pointer": 1, "optional factor": 3,
    "draw uniform": 12, "draw normal": 8, "draw integer": 1, "drawn position": 10, "reduction median": 7,
    "reduction quantile": 5, "reduction kth": 5, "operator sort": 8, "an order of nothing": 1,
    "cast to whole numbers": 4, "cast to 8 bits": 1, "stored result: few bits": 3, "stored result: wider": 1,
    "both ways": 1, "a place under a condition": 4,
    "waves: 1": 4, "waves: 2": 14, "further back": 10, "a start of waves": 17, "waves under a condition": 2,
}  # fmt: skip


@pytest.mark.parametrize("number", [*QUICK[:1], *(pytest.param(n, marks=pytest.mark.slow) for n in QUICK[1:])])
def test_interpreter_torch_and_kernels(number: int) -> None:
    def both(done: Checked) -> None:
        check_torch(done)
        check_emptied(done)
        check_fakes(done)
        check_kernels(done)

    programs = programs_of(number, both)
    counted = sum((done.confirmed for done in programs), Counter[str]())
    assert len(programs) >= 40
    for what in ("dot products", "first order", "second order"):
        assert counted[what] >= len(programs) // 2, counted
    assert counted["emptied: equal"] >= 10, counted
    assert counted["emptied: refused"] >= 5, counted


def test_the_whole_language_is_there() -> None:
    found: Counter[str] = Counter()
    for number in QUICK:
        texts: dict[str, Case] = {}
        each(number, lambda case, texts=texts: texts.setdefault(case.text, case) and None)  # type: ignore[misc]
        for case in texts.values():
            found.update(case.marks)
    scarce = {what: (found[what], least) for what, least in LEAST.items() if found[what] < least}
    assert not scarce, scarce
