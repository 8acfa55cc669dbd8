"""Positions: what may stand in brackets, how far indices run then, and what is provably out of range."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute
from opgen.ir.ranges import facts_of, in_range, inside
from opgen.ir.scalar import ONE, TWO, Apply, Dim, Index, Lit, Scalar, add, mul, sub
from opgen.ir.text import scalar as show
from opgen.ir.verify import verify

from .specs import attempt, elementwise, lines, mistakes, program

X = "{x: {shape: [..., K]}}"
POOL = """
op: f
inputs: {input: {shape: [..., H, W]}}
params: {size: {type: int}, stride: {type: int, default: 2}, padding: {type: int, default: 0}}
dims:
  P: (H + 2*padding - size)//stride + 1
  Q: (W + 2*padding - size)//stride + 1
outputs: {output: {shape: [..., P, Q]}}
forward: |
  output[..., p, q] = max[r < size, s < size](pad(input[..., p*stride + r - padding, q*stride + s - padding], -inf))
"""
N, M, R = Dim("N"), Dim("M"), Dim("R")
ROW, C, J = Index("i"), Index("c"), Index("r")
LOOPS = (Axis("i", N), Axis("c", M), Axis("r", R))


def test_a_window() -> None:
    p = verify(program(POOL))
    assert lines(p) == [
        "output[..., p < P, q < Q] = max[r < size, s < size]"
        "(pad(input[..., p*stride + r - padding, q*stride + s - padding], -inf))"
    ]
    x = array([[1.0, 5.0, 2.0], [4.0, 3.0, 0.0], [7.0, 8.0, 9.0]])
    found = run(p, {"input": x}, {"size": 2, "stride": 2, "padding": 1})["output"]
    assert (found.shape, found.data) == ((2, 2), [1.0, 5.0, 7.0, 9.0])


@pytest.mark.parametrize(
    ("formula", "inputs", "expected"),
    [
        ("y[..., k] = x[..., K - 1 - k]*x[..., k]", X, "x[..., K - k - 1]*x[..., k]"),
        ("y = x[..., 0]", X, "x[..., 0]"),
        ("y[..., k < 2*K] = x[..., k//2]", X, "x[..., k//2]"),
        ("y[i] = x[i, i]", "{x: {shape: [N, N]}}", "x[i, i]"),
        (
            "y[a, b] = w[i[a] + b, t[i[b]]]*t[b]*i[a]",
            "{w: {shape: [M, N]}, i: {shape: [A], dtype: int}, t: {shape: [A], dtype: int}}",
            "w[i[a] + b, t[i[b]]]*t[b]*i[a]",
        ),
        ("y[n] = w[int(floor(u[n])) + 1]", "{w: {shape: [M]}, u: {shape: [B]}}", "w[int(floor(u[n])) + 1]"),
        ("y[k < 3] = sum[...](x[..., k])", X, "x[..., k]"),
        ("y[i] = a[i] + pad(b[i], 0)", "{a: {shape: [A]}, b: {shape: [B]}}", "a[i] + pad(b[i], 0)"),
        ("y[i] = pad(b[i], 1)", "{b: {shape: [B]}}", "pad(b[i], 1)"),
        ("y[..., k] = where(k + 1 < K, x[..., k + 1], 0)*x[..., k]", X, "where(k + 1 < K, x[..., k + 1], 0)*x[..., k]"),
    ],
)
def test_positions_are_integer_expressions(formula: str, inputs: str, expected: str) -> None:
    p = verify(program(elementwise(formula, inputs)))
    assert lines(p)[-1].partition(" = ")[2].removeprefix("sum[...](").removesuffix(")").startswith(expected[:-1])


@pytest.mark.parametrize(
    ("formula", "marked"),
    [
        ("y[..., k] = x[..., k + 1] + x[..., k]", "k + 1"),
        ("y[..., k] = x[..., k - 1] + x[..., k]", "k - 1"),
        ("y[..., k] = x[..., K - k] + x[..., k]", "K - k"),
        ("y = x[..., K]", "K"),
        ("y[..., k < K + 1] = x[..., k]", "k"),
        ("y[..., k] = where(x[..., k] > 0, x[..., k + K], 0)", "k + K"),
        ("y[..., k < 5] = v[k]", "k"),
        ("y = v[3]", "3"),
        ("y[n] = sum[k](x[..., 2*k]*x[..., k])*w[n]", None),
    ],
)
def test_what_is_provably_out_of_range(formula: str, marked: str | None) -> None:
    found = mistakes(elementwise(formula, "{x: {shape: [..., K]}, v: {shape: [3]}, w: {shape: [N]}}"))
    assert found[0] == (("OPG232", marked) if marked else ("OPG216", "..."))


def test_the_range_is_named() -> None:
    _, (found,) = attempt(elementwise("y[..., k] = x[..., 2*k + 1] + x[..., k]", X))
    assert found.message == "`x` is read at 1 to 2*K - 1, and ends at K - 1 there"
    assert found.hints == (
        "write `pad(x[..., 2*k + 1], 0)`, or what there is outside in place of 0",
        "or let `k` end earlier, where it is introduced: `k < K//2`",
    )


@pytest.mark.parametrize(
    ("formula", "code", "marked"),
    [
        ("y = pad(x, 0)", "OPG206", "x"),
        ("y = pad(x[..., 0])", "OPG210", "pad(x[..., 0])"),
        ("y = pad(m[..., 0], 3)", "OPG223", "3"),
        ("y[..., j] = x[..., j + 1]", "OPG214", "j"),
        ("y = x[..., 1.5]", "OPG223", "1.5"),
    ],
)
def test_mistakes_in_positions(formula: str, code: str, marked: str) -> None:
    inputs = "{x: {shape: [..., K]}, m: {shape: [..., K], dtype: bool}}"
    assert mistakes(elementwise(formula, inputs)) == [(code, marked)]


def test_a_computed_fill_is_the_other_branch() -> None:
    p = program(elementwise("y[..., k] = pad(x[..., k - 1], x[..., 0]) + 0*x[..., k]", X))
    assert lines(p)[0].startswith("y[..., k < K] = where(k - 1 >= 0 and k - 1 < K, x[..., k - 1], x[..., 0])")
    q = program(elementwise("y[..., k] = pad(i[..., k - 1], 0.5) + i[..., k]", "{i: {shape: [..., K], dtype: int}}"))
    assert "where(" in lines(q)[0]


@pytest.mark.parametrize(
    ("position", "extent", "holds"),
    [
        (sub(sub(N, ONE), ROW), N, True),
        (sub(N, ROW), N, False),
        (add(ROW, ONE), add(N, ONE), True),
        (add(ROW, ONE), N, False),
        (add(mul(C, R), J), mul(M, R), True),
        (add(mul(C, R), J, ONE), mul(M, R), False),
        (Apply("floordiv", (ROW, TWO)), N, True),
        (Apply("mod", (ROW, R)), R, True),
        (Apply("mod", (ROW, Lit(3))), Lit(2), False),
        (add(mul(TWO, Apply("floordiv", (ROW, TWO)))), N, True),
        (Apply("clamp", (sub(ROW, Lit(2)), Lit(0), sub(N, ONE))), N, True),
        (mul(Lit(-1), ROW), N, False),
    ],
    ids=lambda v: v if isinstance(v, bool) else show(v),
)
def test_proofs_of_range(position: Scalar, extent: Scalar, holds: bool) -> None:
    assert inside(position, extent, facts_of(LOOPS)) is holds


def test_which_accesses_need_no_check() -> None:
    p = program(
        elementwise(
            "y[..., k] = x[..., K - 1 - k]*x[..., k]*x[..., n]", "{x: {shape: [..., K]}, n: {shape: [], dtype: int}}"
        )
    )
    (s,) = p.statements
    assert isinstance(s, Compute)
    found = {show(r): in_range(p, s, r) for r in dict.fromkeys(n for n in s.body.args if not isinstance(n, Lit))}
    assert found == {"x[..., K - k - 1]": True, "x[..., k]": True, "x[..., n[]]": False}


def test_normal_forms() -> None:
    e = Apply("floordiv", (add(mul(C, R), J), R))
    assert show(polynomial(e).scalar()) == "c + r//R"
    assert show(polynomial(Apply("mod", (add(mul(Lit(2), ROW), Lit(5)), TWO))).scalar()) == "1"
    assert show(polynomial(sub(mul(sub(ROW, ONE), sub(ROW, ONE)), mul(ROW, ROW))).scalar()) == "1 - 2*i"
