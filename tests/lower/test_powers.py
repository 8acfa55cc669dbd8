"""Powers: what kind they are, and constants within the bounds of float64."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from opgen.ir.program import Compute, Kind

from .specs import attempt, mistakes, program


@pytest.mark.parametrize(
    ("kind", "exponents"),
    [
        (Kind.INT, ("3", "N", "n", "q", "n + N", "n % 3", "max(p, 0)", "n**2", "n > 1")),
        (Kind.FLOAT, ("-1", "-n", "p", "n - 1", "-N", "p + n", "2.0", "q*p", "int(x[n])")),
    ],
)
def test_a_power_of_integers_is_a_float_where_its_exponent_may_be_negative(kind: Kind, exponents: tuple[str]) -> None:
    head = "op: f\ninputs: {x: {shape: [N]}}\nparams: {p: {type: int}, q: {type: int, domain: q >= 0}}\n"
    for exponent in exponents:
        p = program(f"{head}outputs: [k, y]\nforward: |\n  k[n < N] = 2**({exponent})\n  y[n] = x[n]\n")
        assert [s.kind for s in p.statements if isinstance(s, Compute) and s.target == "k"] == [kind], exponent


def test_negative_powers_have_values() -> None:
    p = program("op: f\ninputs: {x: {shape: [N]}}\nforward: y[n] = x[n]*(2**(-n) + pow(2, -n) + 2.0**-n)\n")
    assert run(p, {"x": array([1.0, 1.0, 1.0])})["y"].data == [3.0, 1.5, 0.75]


BEYOND = (
    "10**400", "2**2**2**2**2**2**2", "9**9**9", "x*1e200*1e200", "0.5**-2000", "1e308 + 1e308", "1.0001**(10**9)",
    "pow(10, 400)", "*".join(map(str, range(1, 200))),
)  # fmt: skip
WITHIN = ("10**-400", "0.5**2000", "2**1000", "x**(10**9)", "1e308*0.5", "1.000001**(10**6)")


@pytest.mark.parametrize("formula", BEYOND)
def test_constants_beyond_float64_are_mistakes(formula: str) -> None:
    assert [code for code, _ in mistakes(f"op: f\ninputs: [x]\nforward: y = {formula} + x\n")] == ["OPG245"]


@pytest.mark.parametrize("formula", WITHIN)
def test_others_are_not(formula: str) -> None:
    assert attempt(f"op: f\ninputs: [x]\nforward: y = {formula}*x\n")[0] is not None
