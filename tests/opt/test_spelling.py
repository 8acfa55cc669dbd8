"""Calls of equal products are written alike, and nothing else is."""

from __future__ import annotations

from opgen.ir.operator import Flags, Variant
from opgen.ir.program import statement_scalars
from opgen.ir.scalar import Apply, Scalar, walk
from opgen.ir.text import statement
from opgen.opt.derive import derive_variant
from opgen.opt.spelling import spell_alike
from tests.lower.specs import elementwise, program

JUMPS = ("floordiv", "mod", "fmod", "floor", "gt", "le", "max")


def is_jump(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn in JUMPS


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


def test_a_derivative_is_taken_on_the_side_of_the_value() -> None:
    """What is compared or rounded to a whole number is rounded alike in both directions, wherever that decides."""
    for jump in (
        "(x/g*3)//0.5", "(x/g*3)%0.5", "fmod(x/g*3, 0.5)", "floor(x/g*3)", "where(x/g*3 > 1, 1, 2)",
        "where(x/g*3 <= z*2/g, 1, 2)", "max(x/g*3, z)",
    ):  # fmt: skip
        inputs = "{x: {differentiable: false}, z: {differentiable: false}, w: {}}"
        made = program(elementwise(f"y = w*({jump})", inputs, "params: {g: {type: float}}"))
        d = derive_variant(Variant((), made), Flags())
        assert d.gradient is not None
        decided, found = (
            {n for s in p.statements for e in statement_scalars(s) for n in walk(e) if is_jump(n)}
            for p in (d.primal, d.gradient)
        )
        assert decided
        assert found == decided, jump
