"""How names with letters of other scripts are spelt."""

from __future__ import annotations

import pytest

from opgen.diagnostics.letters import in_ascii


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("\u03bc", "mu"), ("\u00b5", "mu"), ("log_\u03c3", "log_sigma"), ("\u0394t", "delta_t"),
        ("d\u03c3_dt", "d_sigma_dt"), ("\u03c2", "sigma"), ("\u03d5", "phi"), ("\U0001d6fc", "alpha"),
        ("\u03bb", "lam"), ("\u0177", "y_hat"), ("m\u0302_t", "m_hat_t"), ("x\u0304", "x_bar"),
        ("x\u2081", "x1"), ("\u2113", "l"), ("\u00f8", "o"), ("\u0435", None),
        ("\u540d", None), ("\u2207f", None),
    ],
)  # fmt: skip
def test_a_name_is_spelt_with_the_names_of_its_letters(name: str, spelt: str | None) -> None:
    assert in_ascii(name) == spelt
