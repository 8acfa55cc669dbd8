"""Random specs over the whole language: the interpreter and torch agree, derivatives are those of the values.

Every program goes the whole way from its text. Derivatives are confirmed by the dot-product test and, to second order,
by differences. What fails is shrunk to a small spec, which the message shows.
"""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("torch")

from tests.random_programs.printed import check_torch
from tests.random_programs.seeds import QUICK, each, programs_of
from tests.random_programs.specs import Case

LEAST = {  # how often a construct occurs in the quick tier, somewhat rounded down
    "components": 25, "scatter +=": 20, "scatter *=": 6, "scatter max=": 2, "scatter min=": 2, "padded scatter": 5,
    "scatter onto a base": 15, "scatter onto the identity": 16, "recurrence up": 22, "recurrence down": 17,
    "two states": 18, "recurrence with a start": 21, "recurrence with a reduction": 2, "pad": 48, "gather": 17,
    "nested gather": 1, "diagonal": 12, "reversed": 14, "% in a position": 20, "// in a position": 33,
    "int param in a position": 18, "int of a float in a position": 20, "checked position": 36,
    "constant position": 74, "coupled position": 3, "gather with pad": 5, "where": 22, "lazy where": 8,
    "chained comparison": 2, "condition over indices": 20, "bool tensor": 2, "not": 2, "condition as a number": 12,
    "integer as a number": 8, "index as a number": 25, "dim as a number": 8, "isnan, isfinite": 2, "int input": 68,
    "domain of an int input": 29, "optional input": 14, "absent value": 6, "guard: bool": 10, "guard: choices": 3,
    "guard: given(param)": 1, "reduction param": 10, "float param": 45, "list param": 19, "int param": 2,
    "derived dim": 22, "computed extent": 14, "stated extent": 128, "empty dim": 5, "empty batch": 34,
    "several batch dims": 56, "broadcast batch": 57, "batch behind": 31, "repeated dim": 46, "literal dim": 22,
    "dim of one": 16, "element-wise": 28, "hidden index": 3, "reduced batch": 28, "reduction sum": 14,
    "reduction mean": 8, "reduction max": 5, "reduction min": 8, "reduction prod": 2, "reduction logsumexp": 2,
    "reduction norm": 9, "reduction var": 6, "reduction any": 4, "reduction all": 1, "reduction count": 1,
    "reduction argmax": 1, "reduction argmin": 1, "argsort": 5, "operator softmax": 7, "operator log_softmax": 4,
    "operator cumsum": 2, "operator cumprod": 9, "operator logcumsumexp": 6, "joint softmax": 1, "local function": 14,
    "stated derivative": 10, "detach": 5, "cast": 2, "**": 23, "0-dim result": 14, "declared outputs": 16,
    "read and an output": 14, "integer result": 8, "condition as a result": 8, "exact": 6, "once_differentiable": 5,
    "input without gradient": 6, "sum of inputs": 48, "slope": 16, "joined": 28, "joined: two": 3,
    "joined: pad": 6, "joined: rest": 6, "joined: guarded": 9, "runs further": 2, "discrete recurrence": 20,
    "discrete recurrence: or": 9, "discrete recurrence: and": 1, "discrete recurrence: count": 6,
    "discrete recurrence: pointer": 3,
}  # fmt: skip


@pytest.mark.parametrize("number", QUICK)
def test_interpreter_and_torch(number: int) -> None:
    programs = programs_of(number, check_torch)
    counted = sum((done.confirmed for done in programs), Counter[str]())
    assert len(programs) >= 40
    for what in ("dot products", "first order", "second order"):
        assert counted[what] >= len(programs) // 2, counted


def test_the_whole_language_is_there() -> None:
    found: Counter[str] = Counter()
    for number in QUICK:
        texts: dict[str, Case] = {}
        each(number, lambda case, texts=texts: texts.setdefault(case.text, case) and None)  # type: ignore[misc]
        for case in texts.values():
            found.update(case.marks)
    scarce = {what: (found[what], least) for what, least in LEAST.items() if found[what] < least}
    assert not scarce, scarce
