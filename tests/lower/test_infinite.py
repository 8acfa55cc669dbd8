"""Products of infinity and what may be 0: what is told, and what is left alone."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = """\
inputs:
  x: {shape: [N]}
  s: {shape: [N], domain: s > 0}
  z: {shape: [N], domain: 0 <= z <= 1}
  h: {shape: [N], domain: 0 <= h < 1}
  l: {shape: [N], dtype: int, domain: 0 <= l <= 1}
  m: {shape: [N], dtype: bool}
params: {k: {type: int, default: 3}, f: {type: float, default: 1, domain: f >= 0}, o: {type: bool, default: true}}
"""


def told(*lines: str) -> list[tuple[str, tuple[str, ...]]]:
    found = diagnosed(whole(FIELDS, *lines))
    assert all(d.severity is Severity.WARNING for d in found)
    return [(d.message, d.hints) for d in found if d.code == "OPG287"]


@pytest.mark.parametrize(
    ("product", "zero", "meant"),
    [
        ("(1 - z[n])*(-inf)", "1 - z[n]", "where(z[n] != 1, -inf, 0)"),
        ("z[n]*inf", "z[n]", "where(z[n] != 0, inf, 0)"),
        ("x[n]*inf", "x[n]", "where(x[n] != 0, x[n]*inf, 0)"),
        ("(1 - s[n])*inf", "1 - s[n]", "where(s[n] != 1, (1 - s[n])*inf, 0)"),
        ("-inf*(1-m[n])", "1-m[n]", "where(not m[n], -inf, 0)"),
        ("m[n] * -inf", "m[n]", "where(m[n], -inf, 0)"),
        ("(n > 2)*(-inf)", "n > 2", "where(n > 2, -inf, 0)"),
        ("(1 - (m[n] or n > 2))*(-inf)", "1 - (m[n] or n > 2)", "where(not (m[n] or n > 2), -inf, 0)"),
        ("(1 - int(x[n] > 0))*inf", "1 - int(x[n] > 0)", "where(not (x[n] > 0), inf, 0)"),
        ("s[n]*m[n]*(-inf)", "m[n]", "where(m[n], s[n]*m[n]*(-inf), 0)"),
        ("m[n]*(n > 1 or o)*inf", "m[n]", "where(m[n] and (n > 1 or o), m[n]*(n > 1 or o)*inf, 0)"),
        ("l[n]*inf", "l[n]", "where(l[n] != 0, inf, 0)"),
        ("n*inf", "n", "where(n != 0, n*inf, 0)"),
        ("f*inf", "f", "where(f != 0, inf, 0)"),
        ("(1 - o)*inf", "1 - o", "where(not o, inf, 0)"),
    ],
)
def test_what_may_be_0_times_infinity_is_told(product: str, zero: str, meant: str) -> None:
    ((message, hints),) = told(f"y[n] = x[n] + {product}")
    assert message == f"`{product}` is nan where `{zero}` is 0: `0*inf` is no number"
    assert hints == (f"write `{meant}`",)
    built(whole(FIELDS, f"y[n] = x[n] + {meant}"), warned=True)
    assert not told(f"y[n] = x[n] + {meant}")


def test_one_by_a_name_is_told() -> None:
    ((message, hints),) = told("a = -inf", "h2[n] = 1 - m[n]", "y[n] = x[n] + h2[n]*a")
    assert "`h2[n]*a` is nan" in message
    assert hints == ("write `where(h2[n] != 0, a, 0)`",)


@pytest.mark.parametrize(
    "lines",
    [
        ("y[n] = x[n] + s[n]*inf",),
        ("y[n] = x[n] + (1 - h[n])*inf",),
        ("y[n] = x[n] + exp(x[n])*inf",),
        ("y[n] = x[n] + (2 - z[n])*inf",),
        ("y[n] = x[n] + k*inf",),
        ("y[n] = x[n] + N*pi*inf",),
        ("y[n] = x[n] + z[n]*(-1e9)",),
        ("y[n] = where(z[n] > 0, z[n]*inf, x[n])",),
        ("a[n] = z[n]*inf", "y[n] = where(z[n] > 0, a[n], x[n])"),
        ("a[n] = z[n]*inf", "y[n] = a[n] + isnan(a[n])"),
    ],
)
def test_what_is_not_0_or_is_chosen_is_not(lines: tuple[str, ...]) -> None:
    assert not told(*lines)
