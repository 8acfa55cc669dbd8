"""Which lanes want what they read, and which positions move evenly along them."""

from __future__ import annotations

from opgen.ir.program import Kind
from opgen.ir.scalar import TRUE, Dim, Index, Lit, Read, Scalar, add, call, is_constant, mul, where
from opgen.kernel.model import Atomic, If, Join, in_range
from opgen.kernel.wanted import always, bends, condition_of, opened, piece
from opgen.plan.model import Let

N, J, S = Index("i"), Index("j"), Dim("S")
X = Read("x", (add(N, S),))
Y = Read("y", (N,))
BELOW = call("lt", N, S)


def test_what_every_lane_reads() -> None:
    assert always((Join("a", where(BELOW, X, Y)),)) == frozenset()
    assert always((Join("a", mul(where(call("lt", X, Y), Lit(1), Lit(0)), Read("z", (N,)))),)) >= {X, Y}


def test_a_statement_under_a_condition_is_not_always_run() -> None:
    body = (If(in_range(N, S), (Atomic("out", (N,), "sum", Y),)),)
    assert Y not in always(body)
    assert condition_of(body, Y) == in_range(N, S)


def test_when_a_read_is_wanted() -> None:
    assert condition_of((Join("a", where(BELOW, X, Y)),), X) == BELOW
    assert condition_of((Join("a", where(BELOW, X, Y)),), Y) == call("not", BELOW)
    third = call("and", BELOW, call("lt", J, S), call("lt", X, Y))
    assert condition_of((Join("a", where(third, Lit(1), Lit(0))),), X) == call("and", BELOW, call("lt", J, S))
    either = call("or", BELOW, call("lt", X, Lit(0)))
    assert condition_of((Join("a", where(either, Lit(1), Lit(0))),), X) == call("not", BELOW)


def test_a_read_on_both_sides_is_always_wanted() -> None:
    assert condition_of((Join("a", where(BELOW, Y, add(Y, X))),), Y) == TRUE


def test_positions_that_move_evenly() -> None:
    assert not list(bends(add(mul(N, S), J), {"i", "j"}))
    assert not list(bends(call("floordiv", J, S), {"i"}))
    whole: Scalar = call("floordiv", N, S)
    assert list(bends(add(mul(whole, Lit(2)), J), {"i"})) == [whole]
    assert list(bends(mul(N, J), {"i", "j"})) == [mul(N, J)]
    assert list(bends(Read("at", (N,)), {"i"})) == [Read("at", (N,))]


def test_pieces_in_which_a_division_is_even() -> None:
    assert piece(call("mod", N, S), "i") == S
    assert piece(call("floordiv", add(N, Lit(1)), S), "i") is None
    assert piece(call("floordiv", N, N), "i") is None


def test_locals_are_opened_up_to_what_they_stand_for() -> None:
    lets = (Let("a", add(N, S), Kind.INT), Let("b", mul(Read("a", ()), Lit(2)), Kind.INT))
    assert opened(Read("b", ()), lets) == mul(add(N, S), Lit(2))
    assert is_constant(mul(S, Lit(2)))
    assert not is_constant(N)
