"""Longer calls of a program, and how far from the interpreter one of float32 may be."""

from __future__ import annotations

from tests.random_programs.calls import Checked, check
from tests.random_programs.found import cases
from tests.random_programs.lengthened import OTHER, WHOLE, lengthen
from tests.random_programs.rounding import STEADY, TOLERANCE, tolerances
from tests.random_programs.specs import Case


def _of(formula: str) -> Checked:
    text = f"op: made\ninputs: {{x: {{shape: [..., N]}}}}\nforward: 'y[..., i] = {formula}'\n"
    return check(Case(text, {"x": (2, 3)}, {}, {}, ()))


def test_each_dim_is_longer_once_and_the_batch() -> None:
    done = check(cases()["a value of a row that only others of it are made of"])
    lengthen(done)
    for c in done.calls:
        shapes = [a.shape for k in c.longer for n, a in k.arrays.items() if n == "y"]
        assert any(n in WHOLE for _, n in shapes), c.stage
        assert any(n in (*WHOLE, *OTHER) for n, _ in shapes), c.stage
        assert all(k.program is c.program for k in c.longer)


def test_what_is_read_at_a_place_that_a_longer_dim_has_not_is_left_out() -> None:
    done = check(cases()["an index that cancels in a position out of range"])
    lengthen(done)
    assert not any(c.longer for c in done.calls)


def test_float32_may_be_as_far_off_as_its_rounding_leads() -> None:
    (well,) = _of("exp(x[..., i])").of_stage("forward")
    assert TOLERANCE < tolerances(well)["y"] < 3 * TOLERANCE
    (ill,) = _of("sin(1000*x[..., i])").of_stage("forward")
    assert 10 * TOLERANCE < tolerances(ill)["y"] < STEADY
    for lottery in ("sin(1000000000*x[..., i])", "floor(10000000*x[..., i])/4 % 2", "exp(70 + 20*abs(x[..., i]))"):
        (c,) = _of(lottery).of_stage("forward")
        assert "y" not in tolerances(c), lottery


def test_powers_beyond_64_bits_are_left_out() -> None:
    done = check(cases()["functions of a size"])
    lengthen(done)
    found = [v for c in done.calls for k in c.longer for a in k.expected.values() for v in a.data]
    assert all(abs(v) < 2**63 for v in found if isinstance(v, int))
