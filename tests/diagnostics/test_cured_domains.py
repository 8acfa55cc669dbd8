"""Domains that read elements, as messages cure them."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed


def _spec(domain: str) -> str:
    inputs = f'inputs: {{a: {{shape: [N, 4], domain: "{domain}"}}, b: {{shape: [N]}}}}'
    return f"op: cured\n{inputs}\nforward: |\n  y[n] = a[n, 0] + b[n]\n"


@pytest.mark.parametrize(
    "domain",
    ["a[n, 0] < a[n, 2]", "a[n, 0] > 0", "a[n, k] < a[n, k + 1]", "sum(a) == 1", "0 < a[n, 0] < b[n]", "a < b"],
)
def test_a_relation_between_elements_is_no_domain(domain: str) -> None:
    (found,) = diagnosed(_spec(domain))
    hint = "a domain holds for each element by itself: leave a relation between elements out, or say it under `doc`"
    assert found.hints == (hint,)
    built(_spec(domain).replace("domain", "doc"))


@pytest.mark.parametrize(
    ("domain", "meant"), [("a[n, k] > 0", "a > 0"), ("0 <= a[i, j] < 1", "0 <= a < 1"), ("1 > a[n, k]", "1 > a")]
)
def test_a_domain_of_each_element_names_no_element(domain: str, meant: str) -> None:
    (found,) = diagnosed(_spec(domain))
    assert found.hints == (f"a domain holds for each element: write `{meant}`",)
    built(_spec(meant))
