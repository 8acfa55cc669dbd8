"""Points of a stream that a mask hides are told by a bound; what adds something everywhere has none."""

from __future__ import annotations

import pytest

from opgen.ir.operator import Flags, Variant
from opgen.ir.scalar import Apply, reads, walk
from opgen.ir.text import scalar
from opgen.opt.derive import derive_variant
from opgen.plan.build import build
from opgen.plan.model import Stream
from opgen.plan.unseen import bounds, within
from tests.lower.specs import elementwise, program

INPUTS = "{q: {shape: [M, D]}, k: {shape: [N, D]}, v: {shape: [N, E]}}"
SCORE = "sum[d](q[i, d]*k[j, d])"


def found(seen: str, params: str = "") -> list[list[list[str]]]:
    """The bounds of each sweep of each stream, forward and backward, and which way they hold."""
    formula = f"o[i, e] = sum[j](softmax[j]({seen})*v[j, e])"
    derived = derive_variant(Variant((), program(elementwise(formula, INPUTS, params))), Flags())
    assert derived.backward is not None
    steps = [s for p in (derived.forward, derived.backward) for s in build(p).steps if isinstance(s, Stream)]
    assert steps
    return [
        [[f"{scalar(b.condition)} {dict(b.rises)}" for b in bounds(step, sweep)] for sweep in step.sweeps]
        for step in steps
    ]


def every(shown: list[list[list[str]]]) -> set[tuple[str, ...]]:
    return {tuple(of_sweep) for of_step in shown for of_sweep in of_step}


def test_a_causal_mask() -> None:
    assert every(found(f"where(j <= i, {SCORE}, -inf)")) == {
        ("j <= i {'j': False, 'i': True}",),
        ("j <= i {'i': True, 'j': False}",),
    }


def test_a_window_has_two() -> None:
    (shown, *_), *_ = found(f"where(j <= i and i - j < w, {SCORE}, -inf)", "params: {w: {type: int, default: 2}}")
    assert shown == ["j <= i {'j': False, 'i': True}", "i - j < w {'j': True, 'i': False}"]


def test_a_bound_that_rises_faster() -> None:
    (shown, *_), *_ = found(f"where(3*i >= 2*j + 1, {SCORE}, -inf)")
    assert shown == ["3*i >= 2*j + 1 {'j': False, 'i': True}"]


@pytest.mark.parametrize(
    "seen",
    [
        f"where(j <= i, {SCORE}, -100)",
        f"where(j <= i or j == 3, {SCORE}, -inf)",
        f"where(i*j <= 7, {SCORE}, -inf)",
        f"where(i < 2, {SCORE}, -inf)",  # of whole rows
        SCORE,
    ],
)
def test_what_adds_something_everywhere_has_none(seen: str) -> None:
    forward, *_ = found(seen)
    assert forward == [[]]


def test_where_a_bound_holds_nothing_asks_for_it() -> None:
    formula = f"o[i, e] = sum[j](softmax[j](where(j <= i, where(e_of[j] > 0, {SCORE}, 0), -inf))*v[j, e])"
    inputs = INPUTS[:-1] + ", e_of: {shape: [N]}}"
    derived = derive_variant(Variant((), program(elementwise(formula, inputs))), Flags())
    step = next(s for s in build(derived.forward).steps if isinstance(s, Stream))
    sweep = step.sweeps[0]
    held = within(step, sweep)
    assert [scalar(b.condition) for b in bounds(step, sweep)] == ["j <= i"]
    values = [x.value for x in (*held.lets, *held.folds, *held.sums)]
    assert {scalar(n) for v in values for n in walk(v) if isinstance(n, Apply) and n.fn in ("le", "gt")} == {
        "e_of[j] > 0"
    }
    assert {x.name for x in held.lets} <= {r.tensor for v in values for r in reads(v)}
