"""An index that limits itself, `sum[k < k](x[n, k])`: what is proposed builds and says something."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

TABLE = "inputs: {x: {shape: [N, M]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n, k] = sum[k < k](x[n, k])", "y[n, k < M] = sum[m](where(m < k, x[n, m], 0))"),
        ("y[n, k < M] = sum[k <= k](x[n, k])", "y[n, k < M] = sum[m](where(m <= k, x[n, m], 0))"),
        ("y[n, k] = x[n, k]*sum[k < k + 1](x[n, k])", "y[n, k] = x[n, k] * sum[m](where(m < k + 1, x[n, m], 0))"),
        (
            "y[n, k] = mean[k <= k](x[n, k])",
            "y[n, k < M] = sum[m](where(m <= k, x[n, m], 0)) / count[m < M](m <= k)",
        ),
    ],
)
def test_the_index_of_the_sum_gets_a_letter_of_its_own(line: str, meant: str) -> None:
    (found,) = diagnosed(whole(TABLE, line))
    assert (found.code, found.hints) == ("OPG246", ("a limit is a condition", f"write `{meant}`"))
    built(whole(TABLE, meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n] = sum[k < k[n]](x[n, k])", "y[n] = sum[m](where(m < k[n], x[n, m], 0))"),
        ("y[n] = max[k <= p](x[n, k])", "y[n] = max[k](where(k <= p, x[n, k], -inf))"),
        ("y[n] = max[p <= p](x[n, p])", "y[n] = max[m](where(m <= p, x[n, m], -inf))"),
    ],
)
def test_a_limit_of_its_name_that_is_no_index_stays(line: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [N, M]}, k: {shape: [N], dtype: int}}\nparams: {p: int}"
    if "k[n]" not in line:
        fields = fields.replace(", k: {shape: [N], dtype: int}", "")
    if "p" not in line:
        fields = fields.removesuffix("\nparams: {p: int}")
    (found,) = diagnosed(whole(fields, line))
    assert found.hints[-1] == f"write `{meant}`"
    built(whole(fields, meant))


def test_a_limit_that_is_its_own_index_is_none() -> None:
    (found,) = diagnosed(whole(TABLE, "y[n] = sum[k < k](x[n, k])"))
    assert found.code == "OPG226"
    assert found.hints == ("without one it runs along the dim at which it stands: `sum[k](x[n, k])`",)
    (found,) = diagnosed(whole(TABLE, "y[n, k < M] = argmax[k < k](x[n, k])"))
    assert found.hints == ("use another letter, such as `i`",)


def test_a_param_that_the_body_counts_with_stays() -> None:
    (found,) = diagnosed(whole(f"{TABLE}\nparams: {{k: int}}", "y[n] = sum[k <= k](x[n, k]/k)"))
    assert not any("where" in h for h in found.hints)
