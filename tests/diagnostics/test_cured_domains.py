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


@pytest.mark.parametrize(
    ("domain", "meant"),
    [
        ("alpha + b < 1", "b < 1 - alpha"),
        ("1 > b + alpha", "b < 1 - alpha"),
        ("2*b < n", "b < n / 2"),
        ("b/2 + 1 <= n", "b <= 2 * (n - 1)"),
        ("n - b >= 0", "b <= n"),
        ("b - alpha > 0", "b > alpha"),
        ("-b < 1", "b > -1"),
        ("0 <= alpha + b < 1", "-alpha <= b < 1 - alpha"),
        ("b >= 0 and alpha + b < 1", "0 <= b < 1 - alpha"),
        ("b > 0 and b > alpha", '"b > max(0, alpha)"'),
        ("b + n < b*3 + 2*N", "b > (n - 2 * N) / 2"),
    ],
)
def test_a_domain_is_solved_for_its_name(domain: str, meant: str) -> None:
    def spec(domain: str) -> str:
        params = f"alpha: {{type: float}}, n: {{type: int}}, b: {{type: float, domain: {domain}}}"
        return f"op: cured\ninputs: {{x: {{shape: [N]}}}}\nparams: {{{params}}}\nforward: y[k] = x[k]*alpha*b*n\n"

    (found,) = diagnosed(spec(domain))
    assert found.hints == (f"the name stands alone: write `{meant}`",)
    built(spec(meant))


def test_a_chain_of_names_is_a_domain_of_each() -> None:
    text = "op: cured\ninputs: {{x: {{shape: [N]}}}}\n"
    text += (
        "params:\n  low: {{type: float}}\n  high: {{type: float, domain: {}}}\nforward: y[n] = clamp(x[n], low, high)\n"
    )
    (found,) = diagnosed(text.format("0 < low < high"))
    assert found.hints == (
        "the name stands alone: write `high > low`, and `0 < low` in the domain of what it is about",
    )
    built(text.format("high > low").replace("low: {type: float}", "low: {type: float, domain: 0 < low}"))


def test_a_domain_of_an_input_is_solved_for_it() -> None:
    text = "op: cured\ninputs: {{x: {{shape: [N], domain: {}}}}}\nparams: {{low: float}}\nforward: y[n] = x[n]*low\n"
    (found,) = diagnosed(text.format("x - low >= 0"))
    assert found.hints == ("the name stands alone: write `x >= low`",)
    built(text.format("x >= low"))


@pytest.mark.parametrize("domain", ["alpha < 1", "b**2 < 1", "alpha*b < 1", "b + c < 1", "b - b < alpha"])
def test_a_domain_that_is_not_solved_is_told_by_an_example(domain: str) -> None:
    params = f"params: {{alpha: float, b: {{type: float, domain: {domain}}}}}"
    (found,) = diagnosed(f"op: cured\ninputs: [x]\n{params}\nforward: y = x*alpha*b\n")
    assert found.hints[0].startswith(("for example", "write"))
