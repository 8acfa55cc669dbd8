"""Vectors without their component: the statement with an index for it, where that is what is meant."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

POS = "inputs: {pos: {shape: [N, D]}, mass: {shape: [N]}}"


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        (
            POS,
            "acc[i] = sum[j](mass[j] * (pos[j] - pos[i]))",
            "acc[i, d] = sum[j](mass[j] * (pos[j, d] - pos[i, d]))",
        ),
        (
            POS.replace("D", "3"),
            "acc[i] = sum[j](mass[j] * (pos[j] - pos[i]))",
            "acc[i, c] = sum[j](mass[j] * (pos[j, c] - pos[i, c]))",
        ),
        (
            POS,
            "acc[i] = sum[j](mass[j] * (pos[j] - pos[i]) / (1 + norm[d](pos[j, d] - pos[i, d]))**3)",
            "acc[i, c] = sum[j](mass[j] * (pos[j, c] - pos[i, c]) / (1 + norm[d](pos[j, d] - pos[i, d]))**3)",
        ),
        (
            "inputs: {pos: {shape: [B, N, D]}, mass: {shape: [B, N]}}",
            "acc[b, i] = sum[j](mass[b, j] * (pos[b, j] - pos[b, i]))",
            "acc[b, i, d] = sum[j](mass[b, j] * (pos[b, j, d] - pos[b, i, d]))",
        ),
        (
            f"{POS}\noutputs: {{acc: {{shape: [N, D]}}}}",
            "acc[i] = sum[j](mass[j] * (pos[j] - pos[i]))",
            "acc[i, d] = sum[j](mass[j] * (pos[j, d] - pos[i, d]))",
        ),
        (
            POS,
            "c = sum[i](mass[i]*pos[i]) / sum[i](mass[i])",
            "c[d] = sum[i](mass[i]*pos[i, d]) / sum[i](mass[i])",
        ),
        (
            "inputs: {x: {shape: [..., N, D]}, w: {shape: [N]}}",
            "y[...] = sum[n](x[..., n]*w[n])",
            "y[..., d] = sum[n](x[..., n, d]*w[n])",
        ),
    ],
)
def test_the_statement_with_an_index_for_the_component(fields: str, line: str, meant: str) -> None:
    assert said(whole(fields, line)) == [meant]
    assert len(diagnosed(whole(fields, line))) == 1
    built(whole(fields, meant))


def test_an_access_that_has_positions_as_another_one_reads_the_same_dims() -> None:
    """`pos[j]` has its component told by `d`, and `i` stands where `j` does."""
    assert "pos[i, d]" in said(whole(POS, "acc[i, d] = sum[j](mass[j] * (pos[j] - pos[i]))"))


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        (POS, ("r2[i, j] = mass[j]*(pos[i] - pos[j])**2",)),  # a sum over the components may be meant
        (POS, ("r[i, j] = mass[j]*(pos[i] - pos[j])", "e[i] = sum[j](r[i, j])")),  # which is read without one
        (f"{POS}\noutputs: {{e: {{shape: [N]}}}}", ("e[i] = sum[j](mass[j]*(pos[i] - pos[j]))",)),
        ("inputs: {x: {shape: [N, D]}, w: {shape: [D, E]}}", ("y[n, e] = sum[d](x[n]*w[d, e])",)),
    ],
)
def test_no_index_is_added_where_another_result_may_be_meant(fields: str, lines: tuple[str, ...]) -> None:
    assert not any("component" in str(hint) for d in diagnosed(whole(fields, *lines)) for hint in d.hints)
