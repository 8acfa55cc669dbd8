"""Calls of equal products are written alike, and nothing else is."""

from __future__ import annotations

from opgen.ir.text import statement
from opgen.opt.spelling import spell_alike
from tests.lower.specs import elementwise, program


def written(formula: str, keep: tuple[str, ...] = ()) -> list[str]:
    p = program(elementwise(formula, "[x, z]", "params: {g: {type: float}}\noutputs: [y]"))
    first = [s for s in p.statements if s.target in keep]
    return [statement(s).split(" = ")[1] for s in spell_alike(p, first).statements]


def test_the_first_spelling_is_kept() -> None:
    first, second = written("a = exp(-x/(2*g**2))\ny = a + exp(-0.5*x/g**2)")
    assert first == "exp(-x[...]/(2*g**2))"
    assert second == f"a[...] + {first}"


def test_what_the_spec_says_stays() -> None:
    formula = "a = exp(-x/(2*g**2))\ny = a + exp(-0.5*x/g**2)"
    assert written(formula, ("a", "y")) == written(formula, ("a", "y"))
    assert "0.5" in written(formula, ("a", "y"))[1]


def test_products_that_differ_stay_different() -> None:
    assert written("a = exp(2*x*z)\nb = exp(3*x*z)\nc = log(2*x*z)\ny = a + b + c + exp(x*z/x)") == [
        "exp(2*x[...]*z[...])", "exp(3*x[...]*z[...])", "log(2*x[...]*z[...])",
        "a[...] + b[...] + c[...] + exp(x[...]*z[...]/x[...])",
    ]  # fmt: skip


def test_sums_of_equal_products_are_written_alike() -> None:
    first, second = written("a = exp(x/2 + g*z - 1)\ny = a + exp(-1 + 0.5*x + z*g)")
    assert first == "exp(x[...]/2 + g*z[...] - 1)"
    assert second == f"a[...] + {first}"
    other = written("a = exp(x/2 + g*z)\ny = a + exp(x/2 - g*z)")
    assert other[1] == "a[...] + exp(x[...]/2 - g*z[...])"
