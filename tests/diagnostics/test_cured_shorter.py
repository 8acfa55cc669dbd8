"""Tensors of which one ends before another: what is read at both asks where the shorter one ends."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {lp: {shape: [B, T, U1, V]}, lab: {shape: [B, U], dtype: int}}"
DERIVED = f"{FIELDS}\ndims: {{U1: U + 1}}"
LOSS = "loss[b] = -alpha[b, T - 1, U]"


@pytest.mark.parametrize(
    ("fields", "line", "rest", "meant"),
    [
        (
            FIELDS,
            "alpha[b, t, u] = logaddexp(alpha[b, t - 1, u] + lp[b, t, u, 0],"
            " alpha[b, t, u - 1] + lp[b, t, u, lab[b, u]])",
            LOSS,
            "alpha[b, t, u < U1] = logaddexp(alpha[b, t - 1, u] + lp[b, t, u, 0],"
            " where(u < U, alpha[b, t, u - 1] + lp[b, t, u, lab[b, u]], -inf))",
        ),
        (
            DERIVED,
            "alpha[b, t, u < U + 1] = max(alpha[b, t - 1, u] + lp[b, t, u, 0],"
            " alpha[b, t, u - 1] + lp[b, t, u, lab[b, u]])",
            LOSS,
            "alpha[b, t, u < U + 1] = max(alpha[b, t - 1, u] + lp[b, t, u, 0],"
            " where(u < U, alpha[b, t, u - 1] + lp[b, t, u, lab[b, u]], -inf))",
        ),
        (
            DERIVED,
            "emit[b, t, u] = lp[b, t, u, lab[b, u]]",
            "loss[b] = sum[t, u](emit[b, t, u])",
            "emit[b, t, u < U1] = where(u < U, lp[b, t, u, lab[b, u]], 0)",
        ),
        (
            "inputs: {x: {shape: [N1]}, y: {shape: [N]}}\ndims: {N1: N + 1}",
            "z[n] = -x[n] + 2*y[n]",
            "e = sum[n](z[n])",
            "z[n < N1] = -x[n] + where(n < N, 2*y[n], 0)",
        ),
    ],
)
def test_the_statement_with_a_condition(fields: str, line: str, rest: str, meant: str) -> None:
    (found,) = diagnosed(whole(fields, line, rest))
    assert found.code in ("OPG213", "OPG232")
    assert meant in said(whole(fields, line, rest))
    built(whole(fields, meant, rest), warned=True)


def test_a_tensor_that_is_read_again_is_not_cut() -> None:
    lines = (
        "lp2[b, t, u, v] = log_softmax[v](lp[b, t, u, v])",
        "blank[b, t, u] = lp2[b, t, u, 0]",
        "label[b, t, u] = lp2[b, t, u, lab[b, u]]",
        "loss[b] = sum[t, u](blank[b, t, u]) + sum[t, u](label[b, t, u])",
    )
    told = said(whole(DERIVED, *lines))
    assert not any(part.startswith("lp2[") and "=" in part for part in told)
    assert told[-1] == "label[b, t, u < U1] = where(u < U, lp2[b, t, u, lab[b, u]], 0)"
    assert "u < U" in told
    built(whole(DERIVED, *(line.replace("label[b, t, u] =", "label[b, t, u < U] =") for line in lines)))
