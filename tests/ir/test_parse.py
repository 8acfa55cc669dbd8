"""The exact text of a scalar is of that scalar alone: every tree that can be made is read back as it was."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.ir import text
from opgen.ir.parse import Meanings, Reader
from opgen.ir.scalar import BATCH, INF, NAN, PI, Apply, Cast, Dim, Index, Lit, Param, Read, Scalar

NAMES = Meanings(frozenset(("x", "local")), frozenset(("i", "j")), frozenset(("p", "stride")))
LEAVES: st.SearchStrategy[Scalar] = st.one_of(
    st.sampled_from([PI, INF, NAN, Dim("N"), Dim("..."), Index("i"), Index("j")]),
    st.sampled_from([Param("p"), Param("stride", 1), Read("local", ())]),
    st.builds(Lit, st.one_of(st.integers(), st.fractions(), st.booleans(), st.sampled_from([Fraction(3), 10**30]))),
    st.builds(Lit, st.floats(allow_nan=False, allow_infinity=False).map(Fraction)),
)
ONE, TWO = ("neg", "not", "exp"), ("sub", "div", "pow", "floordiv", "mod", "lt", "le", "gt", "ge", "eq", "ne")
MANY = ("add", "mul", "and", "or", "max")


def _deeper(e: st.SearchStrategy[Scalar]) -> st.SearchStrategy[Scalar]:
    return st.one_of(
        st.builds(lambda fn, a: Apply(fn, (a,)), st.sampled_from(ONE), e),
        st.builds(lambda fn, a, b: Apply(fn, (a, b)), st.sampled_from(TWO), e, e),
        st.builds(lambda fn, args: Apply(fn, tuple(args)), st.sampled_from(MANY), st.lists(e, min_size=2, max_size=4)),
        st.builds(lambda c, a, b: Apply("where", (c, a, b)), e, e, e),
        st.builds(lambda p: Read("x", (BATCH, p)), e),
        st.builds(lambda p, fill: Read("x", (p, Index("i")), fill), e, e),
        st.builds(lambda a: Cast(a, "x"), e),
    )


def read(written: str) -> Scalar:
    reader = Reader(written, NAMES)
    e = reader.scalar()
    reader.end()
    return e


@given(st.recursive(LEAVES, _deeper, max_leaves=12))
@settings(max_examples=200)
def test_every_scalar_is_read_back(e: Scalar) -> None:
    written = text.exact(e).replace("[]", "")
    assert read(written) == e, written


X, Y, Z = Index("i"), Index("j"), Dim("N")
ALIKE = {
    "i - j": Apply("sub", (X, Y)),
    "i + -j": Apply("add", (X, Apply("neg", (Y,)))),
    "i + -1": Apply("add", (X, Lit(-1))),
    "i - 1": Apply("sub", (X, Lit(1))),
    "i + j + N": Apply("add", (X, Y, Z)),
    "(i + j) + N": Apply("add", (Apply("add", (X, Y)), Z)),
    "i - j + N": Apply("add", (Apply("sub", (X, Y)), Z)),
    "-(1)": Apply("neg", (Lit(1),)),
    "-1": Lit(-1),
    "-2**i": Apply("neg", (Apply("pow", (Lit(2), X)),)),
    "(-2)**i": Apply("pow", (Lit(-2), X)),
    "1/3": Apply("div", (Lit(1), Lit(3))),
    "fraction(1, 3)": Lit(Fraction(1, 3)),
    "1": Lit(1),
    "1.0": Lit(Fraction(1)),
}


@pytest.mark.parametrize("written", ALIKE)
def test_what_readers_see_as_one_is_told_apart(written: str) -> None:
    assert text.exact(ALIKE[written]) == written
    assert read(written) == ALIKE[written]


@pytest.mark.parametrize("written", ["i +", "i j", "(i", "x[i", "f(i,", "i ? j", "", "cast(i, 1)", "i]"])
def test_what_is_no_scalar_is_an_error(written: str) -> None:
    with pytest.raises(ValueError, match="in '"):
        read(written)
