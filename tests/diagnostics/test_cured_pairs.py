"""What is meant by an index that stands twice on the left, by signs for bits, and by loops over rows."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

ROWS = (
    "inputs: {x: {shape: [N, D]}, y: {shape: [N, D]}, s: {shape: [D]}, m: {shape: [D]}, q: {shape: [D]},"
    " w: {shape: [N]}}"
)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("mean[n]((x[n, d] - m[d])*(x[n, d] - m[d]))", "mean[n]((x[n, d] - m[d]) * (x[n, j] - m[j]))"),
        ("mean[n]((x[n, d] - m[d])**2)", "mean[n]((x[n, d] - m[d]) * (x[n, j] - m[j]))"),
        ("sum[n](square(x[n, d] - m[d]))/(N - 1)", "sum[n]((x[n, d] - m[d]) * (x[n, j] - m[j])) / (N - 1)"),
        ("mean[n](w[n]*(x[n, d] - m[d])*(y[n, d] - s[d]))", "mean[n](w[n] * (x[n, d] - m[d]) * (y[n, j] - s[j]))"),
        ("mean[n](x[n, d]*x[n, d])/s[d]/s[d]", "mean[n](x[n, d] * x[n, j]) / s[d] / s[j]"),
        ("mean[n](x[n, d]**2) - m[d]**2", "mean[n](x[n, d] * x[n, j]) - m[d] * m[j]"),
        ("exp(-(q[d] - q[d])**2/(s[d]*s[d]))", "exp(-(q[d] - q[j])**2 / (s[d] * s[j]))"),
        ("(q[d] - q[d])*(s[d] - s[d])", "(q[d] - q[j]) * (s[d] - s[j])"),
        ("abs(q[d] - q[d])*abs(q[d] - q[d])", "abs(q[d] - q[j]) * abs(q[d] - q[j])"),
        ("sum[n]((x[n, d] - y[n, d])**2)", "sum[n]((x[n, d] - y[n, j])**2)"),
        ("q[d]**2 + q[d]**2 - 2*q[d]*q[d]", "q[d]**2 + q[j]**2 - 2 * q[d] * q[j]"),
        (
            "sum[n](x[n, d]*y[n, d])/sqrt(sum[n](x[n, d]**2)*sum[n](y[n, d]**2))",
            "sum[n](x[n, d] * y[n, j]) / sqrt(sum[n](x[n, d]**2) * sum[n](y[n, j]**2))",
        ),
    ],
)
def test_pairs_are_factors_and_the_outermost_first(value: str, meant: str) -> None:
    assert said(whole(ROWS, f"c[d, d] = {value}"))[0] == f"c[d, j] = {meant}"
    built(whole(ROWS, f"c[d, j] = {meant}"), warned=True)


@pytest.mark.parametrize("value", ["q[d]*q[d]*s[d]", "sum[n](x[n, d]*x[n, d])*s[d]"])
def test_a_third_factor_has_no_partner(value: str) -> None:
    assert not any("j]" in line and "where" not in line for line in said(whole(ROWS, f"c[d, d] = {value}")))


BITS = (
    "inputs: {a: {shape: [N], dtype: int}, b: {shape: [N], dtype: int}, m: {shape: [N], dtype: bool}}\n"
    "params: {mask: {type: int}}"
)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("a[n] & b[n] << 1", "bitand(a[n], b[n] * 2**1)"),
        ("a[n] | b[n]", "bitor(a[n], b[n])"),
        ("a[n] & mask", "bitand(a[n], mask)"),
        ("a[n] & ~b[n]", "bitand(a[n], bitxor(b[n], -1))"),
        ("a[n] & b[n] | a[n]", "bitor(bitand(a[n], b[n]), a[n])"),
        ("(a[n] & b[n]) ^ (a[n] >> 2)", "bitxor(bitand(a[n], b[n]), a[n] // 2**2)"),
        ("a[n] & b[n] == 0", "bitand(a[n], b[n]) == 0"),
        ("where(a[n] & b[n], 1, 0)", "bitand(a[n], b[n]) != 0"),
    ],
)
def test_signs_for_bits_between_elements_of_integers(value: str, meant: str) -> None:
    lines = said(whole(BITS, f"y[n] = {value}"))
    assert meant in [line.removeprefix("y[n] = ") for line in lines]
    assert not any(" and " in line or " or " in line for line in lines)
    built(
        whole(BITS, f"y[n] = {meant}").replace(
            "params: {mask: {type: int}}", "" if "mask" not in meant else "params: {mask: {type: int}}"
        ),
        warned=True,
    )


@pytest.mark.parametrize("value", ["m[n] & (a[n] > 0)", "(a[n] > 0) | (b[n] > 0)", "a[n] > 0 & b[n] > 0"])
def test_signs_between_conditions_stay_words(value: str) -> None:
    assert not any("bitand(a[n]" in line or "bitor(a[n]" in line for line in said(whole(BITS, f"y[n] = {value}")))
