"""Bounds, remainders, quotients and imaginary parts of which nothing is left: what is told, and what is left alone."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import diagnosed, whole

BOUNDED = """\
inputs: {x: {shape: [N]}, m: {shape: [N]}, s: {shape: [N], domain: s > 0}, z: {shape: [M]}}
params:
  eps: {type: float, default: 0.2, domain: 0 < eps < 1}
  w: {type: float, default: 1}
  rest: {type: float, default: 1, domain: rest >= 0}
  low: {type: float, default: -1}
  high: {type: float, default: 1, domain: high > low}
  k: {type: int, default: 3, domain: k >= 2}
"""
WHOLE = """\
inputs: {k: {shape: [N], dtype: int}, x: {shape: [N]}, ok: {shape: [N], dtype: bool}}
params: {b: {type: int, default: 8}, f: {type: float, default: 8}}
"""
COMPLEX = "inputs: {z: {shape: [N], dtype: complex}, w: {shape: [N], dtype: complex}, x: {shape: [N]}}"


@pytest.mark.parametrize(
    ("wrong", "meant", "hint"),
    [
        ("clamp(0, 1, x[n])", "min(1, x[n])", "write `clamp(x[n], 0, 1)`"),
        ("clamp(-1.0, 1.0, x[n]*2)", "min(1.0, x[n]*2)", "write `clamp(x[n]*2, -1.0, 1.0)`"),
        ("clamp(low, low + 1, x[n])", "min(low + 1, x[n])", "what is bounded stands first: `clamp(x, low, high)`"),
    ],
)
def test_what_is_bounded_stands_first(wrong: str, meant: str, hint: str) -> None:
    (found,) = diagnosed(whole(BOUNDED, f"y[n] = {wrong}"))
    assert (found.code, found.severity, found.hints) == ("OPG276", Severity.WARNING, (hint,))
    assert found.message.endswith(f"this is `{meant}`")


@pytest.mark.parametrize("right", ["clamp(0, x[n], 1)", "clamp(x[n], x[n], 1)", "clamp(low, m[n], x[n])"])
def test_a_bound_may_be_below_what_is_bounded(right: str) -> None:
    assert not diagnosed(whole(BOUNDED, f"y[n] = {right}"))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("clamp(x[n], 1 + eps, 1 - eps)", "clamp(x[n], 1 - eps, 1 + eps)"),
        ("clamp(x[n], 1+rest, 1-rest)", "clamp(x[n], 1-rest, 1+rest)"),
        ("clamp(x[n], high, low)", "clamp(x[n], low, high)"),
        ("clamp(x[n], m[n] + 3*s[n], m[n] - 3*s[n])", "clamp(x[n], m[n] - 3*s[n], m[n] + 3*s[n])"),
        ("clamp(x[n], (1 + eps)*2, 2 - eps/2)", "clamp(x[n], 2 - eps/2, (1 + eps)*2)"),
        ("clamp(x[n], k, 1)", "clamp(x[n], 1, k)"),
        ("clamp(x[n], abs(m[n]), -abs(m[n]))", "clamp(x[n], -abs(m[n]), abs(m[n]))"),
        ("clamp(x[n], N - 1, 0)", "clamp(x[n], 0, N - 1)"),
        ("min(max(x[n], 1 + eps), 1 - eps)", "min(max(x[n], 1 - eps), 1 + eps)"),
        ("max(1 + eps, min(x[n], 1 - eps))", "max(1 - eps, min(x[n], 1 + eps))"),
    ],
)
def test_bounds_that_are_the_wrong_way_round_are_told(wrong: str, right: str) -> None:
    (found,) = diagnosed(whole(BOUNDED, f"y[n] = 2*{wrong}"))
    assert (found.code, found.severity, found.hints) == ("OPG276", Severity.WARNING, (f"write `{right}`",))
    assert not diagnosed(whole(BOUNDED, f"y[n] = 2*{right}"))


def test_bounds_with_a_name_are_told() -> None:
    (found,) = diagnosed(whole(BOUNDED, "top = 1 + eps", "end = 1 - eps", "y[n] = clamp(x[n], top, end)"))
    assert (found.code, found.hints) == ("OPG276", ("write `clamp(x[n], end, top)`",))


def test_bounds_that_are_the_wrong_way_round_with_the_defaults_are_told() -> None:
    (found,) = diagnosed(whole(BOUNDED, "y[n] = clamp(x[n], w, low)"))
    assert found.message == "with the defaults, the lower bound is above the upper one: this is `low`"
    assert found.hints == ("write `clamp(x[n], low, w)`", "or exchange the defaults of `w` and `low`")
    (found,) = diagnosed(whole(BOUNDED, "top = 2*w", "y[n] = clamp(x[n], top, -w)"))
    assert found.hints == ("write `clamp(x[n], -w, top)`",)
    assert not diagnosed(whole(BOUNDED, "y[n] = clamp(x[n], low, w)"))


def test_bounds_that_are_the_wrong_way_round_for_all_sizes_but_0_are_told() -> None:
    (found,) = diagnosed(whole(BOUNDED, "y[n] = clamp(x[n], M - 1, 0) + z[0]"))
    assert found.message == "the lower bound is never below the upper one where `M` is not 0: this is `0`"
    assert found.hints == ("write `clamp(x[n], 0, M - 1)`",)
    table = "inputs: {ids: {shape: [N], dtype: int}, table: {shape: [V, D]}}"
    (found,) = diagnosed(whole(table, "y[n, d] = table[clamp(ids[n], V - 1, 0), d]"))
    assert found.message == "the lower bound is never below the upper one: this is `0`"
    assert not diagnosed(whole(table, "y[n, d] = table[clamp(ids[n], 0, V - 1), d]"))


@pytest.mark.parametrize(
    "formula",
    [
        "clamp(x[n], low, low)",
        "clamp(x[n], -w, w)",
        "clamp(x[n], w, 1)",  # equal with the default
        "clamp(x[n], 1 - eps, 1)",
        "clamp(x[n], eps, 1/eps)",
        "clamp(x[n], 2, k)",
        "clamp(x[n], m[n], s[n])",
        "clamp(x[n], M - 2, 0)",
        "min(max(x[n], 0), rest)",
        "max(min(x[n], w), 0)",
    ],
)
def test_bounds_that_may_be_right_are_not(formula: str) -> None:
    assert not diagnosed(whole(BOUNDED, f"y[n] = {formula}"))


@pytest.mark.parametrize(
    ("formula", "hint"),
    [
        ("(k[n]*40503 % 1)*b", "for a number below `b` write `k[n]*40503 % b`"),
        ("b*(k[n]%1)", "for a number below `b` write `k[n]%b`"),
        ("k[n] % 1 * (b + 1)", "for a number below `b + 1` write `k[n] % (b + 1)`"),
        ("(k[n] + n) % 1", "for the fraction of a quotient write `(k[n] + n)/… % 1`, for its remainder"),
        ("b % 1 + x[n]", "for the fraction of a quotient write `b/… % 1`"),
        ("where(ok[n], k[n], 2)//3 % 1.0", "for the fraction"),
        ("frac(abs(k[n])**2)", "for the fraction"),
        ("remainder(int(x[n]), 1)", "for the fraction"),
        ("sum[m](k[m]) % 1 + k[n]", "for the fraction"),
    ],
)
def test_a_whole_number_by_1_is_told(formula: str, hint: str) -> None:
    (found,) = diagnosed(whole(WHOLE, f"y[n < N] = {formula}"))
    assert (found.code, found.severity) == ("OPG275", Severity.WARNING)
    assert found.hints[0].startswith(hint)


@pytest.mark.parametrize(
    "formula",
    [
        "k[n]*0.618 % 1",
        "k[n]/7 % 1",
        "(k[n] + f) % 1",
        "x[n] % 1",
        "frac(x[n])",
        "(k[n] + 2)*pi % 1",
        "k[n] % 2",
        "k[n] // 1",  # as in sizes that are written out
        "2**(-n) % 1",
        "k[n]*3//4",
        "mean[m](k[m]) % 1 + k[n]",
        "1/2*x[n]",
        "1 / 2*x[n]",
    ],
)
def test_what_has_a_fraction_is_not(formula: str) -> None:
    assert not diagnosed(whole(WHOLE, f"y[n < N] = {formula}"))


@pytest.mark.parametrize(
    ("wrong", "marked", "right"),
    [
        ("1//2*x[n]", "1//2", "1/2"),
        ("1 // 2*x[n]", "1 // 2", "1/2"),
        ("1 // 2 * x[n]", "1 // 2", "1 / 2"),
        ("x[n]**(3//2)", "3//2", "3/2"),
    ],
)
def test_a_quotient_of_literals_is_told_as_it_is_written(wrong: str, marked: str, right: str) -> None:
    (found,) = diagnosed(whole(WHOLE, f"y[n] = {wrong}"))
    assert found.span is not None
    assert (found.code, found.span.text) == ("OPG275", marked)
    assert found.hints == (f"for a fraction write `{right}`",)
    assert not diagnosed(whole(WHOLE, f"y[n] = {wrong.replace(marked, right)}"))


SIZED = """\
inputs: {x: {shape: [N, K]}, y: {shape: [K]}}
params: {b: {type: int, default: 8}, one: {type: int, default: 1}, m: {type: int, domain: m >= 3}, open: int}
"""


@pytest.mark.parametrize(
    ("wrong", "why", "right"),
    [
        ("(1//K)*sum[k](x[n, k])", "wherever `K` is above 1", "1/K"),
        ("x[n, 0] * (1 // b)", "wherever `b` is above 1", "1 / b"),
        ("x[n, 0]*(2//m)", "everywhere, since `m` is above 2", "2/m"),
    ],
)
def test_a_quotient_by_a_size_or_a_param_is_told(wrong: str, why: str, right: str) -> None:
    (found,) = diagnosed(whole(SIZED, f"z[n] = {wrong}"))
    above, below = right[0], right[-1]
    assert (found.code, found.message) == ("OPG275", f"`{above} // {below}` is 0 {why}: `//` rounds down")
    assert found.hints == (f"for a fraction write `{right}`",)
    assert found.span is not None
    assert not diagnosed(whole(SIZED, f"z[n] = {wrong.replace(found.span.text, right)}"))


@pytest.mark.parametrize(
    "formula",
    ["x[n, 0]*(3//m)", "x[n, 0]*(4//K)", "x[n, 0]*(1//one)", "x[n, 0]*(1//open)", "x[n, 1//K]", "x[n, 0]*(2*1//K)"],
)
def test_a_quotient_that_may_be_more_is_not(formula: str) -> None:
    assert not diagnosed(whole(SIZED, f"z[n] = {formula}"))


def test_a_divisor_with_pi_is_told() -> None:
    (found,) = diagnosed(whole(WHOLE, "y[n] = 1 / 2*pi*x[n]"))
    assert found.code == "OPG264"


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        (["y[n] = imag(conj(z[n])*z[n])"], "write `real(conj(z[n])*z[n])`"),
        (["y[n] = imag(2*z[n]*conj(z[n]))"], "write `real(2*z[n]*conj(z[n]))`"),
        (["y[n] = imag((z[n] + conj(z[n]))**2)"], "write `real((z[n] + conj(z[n]))**2)`"),
        (["y[n] = imag(z[n]*conj(w[n]) + w[n]*conj(z[n]))"], "write `real(z[n]*conj(w[n]) + w[n]*conj(z[n]))`"),
        (["c[n] = conj(z[n])", "y[n] = imag(c[n]*z[n])"], "write `real(c[n]*z[n])`"),
        (["y = imag(sum[n](conj(z[n])*z[n]))"], "write `real(sum[n](conj(z[n])*z[n]))`"),
        (["y[n] = imag(abs(z[n]))"], "for the imaginary part of `z[n]` write `imag(z[n])`"),
        (["y[n] = imag(real(z[n]))"], "for the imaginary part of `z[n]` write `imag(z[n])`"),
        (["a[n] = abs(z[n])", "y[n] = imag(a[n])"], "for the imaginary part of `z[n]` write `imag(z[n])`"),
        (["y[n] = imag(x[n])"], "declare what it holds: `x: {…, dtype: complex}`"),
        (["y[n] = imag(2*x[n])"], "write `2*x[n]`, if that is meant"),
    ],
)
def test_the_imaginary_part_of_what_is_real_is_told(lines: list[str], hint: str) -> None:
    (found,) = diagnosed(whole(COMPLEX, *lines))
    assert (found.code, found.severity, found.hints[0]) == ("OPG259", Severity.WARNING, hint)
    assert found.span is not None
    if hint.count("`") == 2 and "…" not in hint:
        right = hint.split("`")[1]
        assert not diagnosed(whole(COMPLEX, *(line.replace(found.span.text, right) for line in lines)))


@pytest.mark.parametrize(
    "formula",
    [
        "imag(z[n])",
        "imag(z[n]*conj(w[n]))",
        "imag(z[n]*conj(z[0]))",
        "imag(z[n]*conj(w[n]) - w[n]*conj(z[n]))",
        "imag(z[n]/conj(z[n]))",
        "imag(z[n]**2)",
        "imag(exp(complex(0, x[n])))",
        "imag(log(z[n]))",
        "imag(abs(z[n])*z[n])",
        "imag(sqrt(z[n]*conj(z[n])*w[n]))",
    ],
)
def test_other_imaginary_parts_are_not(formula: str) -> None:
    assert not diagnosed(whole(COMPLEX, f"y[n] = {formula}"))


@pytest.mark.parametrize(
    ("lines", "hints"),
    [
        (("y[n] = x[n] + k[n//N]",), ("the number of a block is a quotient by its size, which is less than `N`",)),
        (("p[n < N] = n//N", "q[n] = p[n] + 1", "y[n] = x[q[n]]"),
         ("the number of a block is a quotient by its size, which is less than `N`",)),
        (("y[n] = x[n] + k[n + 1//2]",), ()),
        (("y[n] = k[n] + n//N",), ("for a fraction write `n/N`",)),
    ],
)  # fmt: skip
def test_no_fraction_is_proposed_where_a_position_needs_an_integer(
    lines: tuple[str, ...], hints: tuple[str, ...]
) -> None:
    (found,) = diagnosed(whole(WHOLE, *lines))
    assert (found.code, found.hints) == ("OPG275", hints)
