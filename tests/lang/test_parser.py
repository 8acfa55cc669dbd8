"""The parser: trees, spans, recovery, limits; and that printing a tree gives it back."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.diagnostics.model import Bag, Source, Span
from opgen.lang.head import parse_head
from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Text,
    Unary,
)
from opgen.lang.parser import parse_expression, parse_statements
from opgen.lang.unparse import unparse, unparse_assign
from opgen.schema.formula import Formula

NOWHERE = Span(Source("<test>", ""), 0, 0)


def parse(text: str) -> Expr:
    bag = Bag()
    tree = parse_expression(Formula.plain(text), bag)
    assert tree is not None, [d.message for d in bag.items]
    return tree


def mistakes(text: str) -> list[tuple[str, str]]:
    """Code and marked text of every diagnostic of a block."""
    bag = Bag()
    parse_statements(Formula.plain(text), bag)
    assert bag.items
    return [(d.code, d.span.text if d.span else "") for d in bag.items]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("-x**2", "-x**2"),
        ("(-x)**2", "(-x)**2"),
        ("2**-1", "2**-1"),
        ("a**b**c", "a**b**c"),
        ("(a**b)**c", "(a**b)**c"),
        ("a-b-(c-d)", "a - b - (c - d)"),
        ("a/b*c//d%e", "a / b * c // d % e"),
        ("a/(b*c)", "a / (b * c)"),
        ("0 <= x < 1 and not a or b", "0 <= x < 1 and not a or b"),
        ("not (a and b)", "not (a and b)"),
        ("sum[k < 2*K, ...](x[..., k] * w[n, k])", "sum[k < 2 * K, ...](x[..., k] * w[n, k])"),
        ("max(a, max[k](b[k]))", "max(a, max[k](b[k]))"),
        ("1e-5 + .5 + 2. + 3", "0.00001 + 0.5 + 2.0 + 3"),
        ("where(reduction == 'mean', a, b)", 'where(reduction == "mean", a, b)'),
    ],
)
def test_precedence(text: str, printed: str) -> None:
    assert unparse(parse(text)) == printed
    assert parse(printed) == parse(text)


def test_numbers_are_exact() -> None:
    assert parse("0.1") == Number(Fraction(1, 10), NOWHERE)
    assert parse("1e-5") == Number(Fraction(1, 100000), NOWHERE)
    assert parse("010") == Number(10, NOWHERE)


def test_spans_point_into_the_text() -> None:
    tree = parse("a + sum[k](x[..., k])")
    assert isinstance(tree, Sum)
    assert tree.terms[1][1].span.text == "sum[k](x[..., k])"


def test_statements() -> None:
    text = 'y[..., n] = a[n] if given(a) and mode == "x"\nz[i, j < 2*N] += (1 +\n 2)  # comment\npad(w[i]) max= b'
    bag = Bag()
    block, _ = parse_statements(Formula.plain(text), bag)
    assert not bag.items
    assert [unparse_assign(s) for s in block] == [
        'y[..., n] = a[n] if given(a) and mode == "x"',
        "z[i, j < 2 * N] += 1 + 2",
        "pad(w[i]) max= b",
    ]
    assert block[1].target.items is not None
    assert isinstance(block[1].target.items[1], Binder)


def test_every_statement_gets_its_say() -> None:
    assert mistakes("a = x^2\nb = (1\nc = 2 2") == [("OPG202", "^"), ("OPG203", "("), ("OPG201", "2")]
    assert mistakes("a = x^2\nb = 1 +\nc = 2 2") == [("OPG202", "^"), ("OPG201", "\n"), ("OPG201", "2")]


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [
        ("y = x ^ 2", "OPG202", "^"),
        ("y = x && z", "OPG201", "&&"),
        ("y = 2x", "OPG201", "2x"),
        ("y = x \u2212 1", "OPG201", "\u2212"),
        ("y = \u0445", "OPG201", "\u0445"),
        ("y = 1e999", "OPG245", "1e999"),
        ("y = 99999999999999999999", "OPG245", "99999999999999999999"),
        ("y = (a + b", "OPG203", "("),
        ("y = sum[k] x[k]", "OPG201", "x"),
        ("y = sum[2*k](x)", "OPG246", "2*k"),
        ("y == x", "OPG201", "=="),
        ("y", "OPG201", "y"),
        ("", "OPG201", ""),
        ("y = a if b else c", "OPG201", "else"),
        ("y = " + "(" * 700 + "x" + ")" * 700, "OPG227", "("),
        ("y = " + "-" * 700 + "x", "OPG227", "-"),
        ("y = x" + "/x" * 700, "OPG227", "x" + "/x" * 700),
        ("y = f(x", "OPG203", "("),
        ("y = 'abc", "OPG201", "'abc"),
        ("y = a; z = b", "OPG201", ";"),
        ("3 = x", "OPG201", "3"),
        ("y = f(x=1)", "OPG201", "="),
    ],
)
def test_mistakes(text: str, code: str, marked: str) -> None:
    assert mistakes(text)[0] == (code, marked)


def test_long_sums_do_not_recurse() -> None:
    tree = parse(" + ".join(["x"] * 20000))
    assert isinstance(tree, Sum)
    assert len(tree.terms) == 20000


def test_heads() -> None:
    head = parse_head(Formula.plain("f(x, a)"), Bag())
    assert head is not None
    assert (head.name, head.params) == ("f", ("x", "a"))
    for bad in ("f", "f(2)", "f(x, x)", "f()"):
        bag = Bag()
        assert parse_head(Formula.plain(bad), bag) is None
        assert bag.items[0].code == "OPG234"


# --- printing gives the tree back ------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["x", "y", "k", "K", "sum", "max", "min", "e1", "pi", "if_", "sigmoid"])


def _trees(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    items = st.lists(st.one_of(inner, st.just(Dots(NOWHERE))), max_size=3).map(tuple)
    binder = st.builds(Binder, _NAMES, st.one_of(st.none(), inner), st.just(NOWHERE))
    at = st.just(NOWHERE)
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "not"]), inner, at),
        st.tuples(inner, st.lists(st.tuples(st.sampled_from("+-"), inner), min_size=1, max_size=3)).map(
            lambda t: Sum((("+", t[0]), *t[1]), NOWHERE)
        ),
        st.tuples(inner, st.lists(st.tuples(st.sampled_from(["*", "/", "//", "%"]), inner), min_size=1)).map(
            lambda t: Product((("*", t[0]), *t[1][:4]), NOWHERE)
        ),
        st.builds(Power, inner, inner, at),
        st.tuples(inner, several, st.sampled_from(["==", "<", ">="])).map(
            lambda t: Compare((t[0], *t[1]), (t[2],) * len(t[1]), NOWHERE)
        ),
        st.tuples(st.sampled_from(["and", "or"]), inner, several).map(lambda t: Logic(t[0], (t[1], *t[2]), NOWHERE)),
        st.builds(Call, _NAMES, several.map(tuple), at, at),
        st.builds(Access, _NAMES, items, at, at),
        st.builds(Reduction, _NAMES, st.lists(binder, min_size=1, max_size=2).map(tuple), inner, at, at),
    )


_LEAVES: st.SearchStrategy[Expr] = st.one_of(
    st.builds(Number, st.integers(0, 10**12), st.just(NOWHERE)),
    st.builds(Number, st.decimals(0, 10**6, places=9).map(Fraction), st.just(NOWHERE)),
    st.builds(Name, _NAMES, st.just(NOWHERE)),
    st.builds(Text, st.sampled_from(["mean", "a b", 'say "x"']), st.just(NOWHERE)),
)


@settings(max_examples=200)
@given(st.recursive(_LEAVES, _trees, max_leaves=12))
def test_printing_round_trips(tree: Expr) -> None:
    assert parse(unparse(tree)) == tree


@settings(max_examples=300)
@given(st.text(alphabet="xyk+-*/()[]<>=., \n\"'#^1e9|~", max_size=40))
def test_any_text_parses_or_is_reported(text: str) -> None:
    bag = Bag()
    formula = Formula.plain(text)
    assert parse_statements(formula, bag)[0] or bag.has_errors
    for d in bag.items:
        assert d.span is not None
        assert 0 <= d.span.start <= d.span.end <= len(text)
