"""Vectors without their component: the statement with an index for it, where that is what is meant."""

from __future__ import annotations

import pytest
import torch

from opgen.ir.interp import array, run
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
        (POS, ("r[i, j] = mass[j]*(pos[i] - pos[j])", "e[i] = sum[j](r[i, j])")),  # which is read without one
        (f"{POS}\noutputs: {{e: {{shape: [N]}}}}", ("e[i] = sum[j](mass[j]*(pos[i] - pos[j]))",)),
        ("inputs: {x: {shape: [N, D]}, w: {shape: [D, E]}}", ("y[n, e] = sum[d](x[n]*w[d, e])",)),
    ],
)
def test_no_index_is_added_where_another_result_may_be_meant(fields: str, lines: tuple[str, ...]) -> None:
    assert not any("component" in str(hint) for d in diagnosed(whole(fields, *lines)) for hint in d.hints)


@pytest.mark.parametrize(
    ("fields", "line", "meant", "kept"),
    [
        (
            "inputs: {r: {shape: [N, 3]}}",
            "y[i, j] = square(r[i] - r[j])",
            "y[i, j] = sum[c](square(r[i, c] - r[j, c]))",
            ["y[i, j, c] = square(r[i, c] - r[j, c])"],
        ),
        (
            "inputs: {r: {shape: [N, D]}}",
            "y[i, j] = sqrt((r[i] - r[j])**2)",
            "y[i, j] = sqrt(sum[d]((r[i, d] - r[j, d])**2))",
            ["y[i, j, d] = sqrt((r[i, d] - r[j, d])**2)"],
        ),
        (
            "inputs: {m: {shape: [N]}, r: {shape: [N, 3]}}",
            "y = 0.5*sum[n](m[n]*r[n]**2)",
            "y = 0.5*sum[n](m[n]*sum[c](r[n, c]**2))",
            [],
        ),
    ],
)
def test_the_components_of_a_square_are_summed(fields: str, line: str, meant: str, kept: list[str]) -> None:
    assert said(whole(fields, line)) == [meant, *kept]
    assert len(diagnosed(whole(fields, line))) == 1
    for one in kept:
        built(whole(fields, one))
    r = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    m = torch.arange(1.0, 5.0, dtype=torch.float64)
    program = built(whole(fields, meant)).variants[0].program
    given = {"r": array(r.tolist()), "m": array(m.tolist())}
    made = run(program, {n: v for n, v in given.items() if f"{n}:" in fields})["y"]
    apart = (r[:, None] - r[None]).square().sum(-1)
    expected = {"square(": apart, "sqrt(": apart.sqrt(), "sum[n](": (0.5 * m * r.square().sum(-1)).sum()}
    torch.testing.assert_close(
        torch.tensor(made.data, dtype=torch.float64), next(v for k, v in expected.items() if k in line).flatten()
    )


def test_a_square_whose_result_has_the_component_keeps_it() -> None:
    fields = "inputs: {v: {shape: [N, 3]}}\noutputs: {e: {shape: [N, 3]}}"
    assert said(whole(fields, "e[n] = v[n]**2")) == ["e[n, c] = v[n, c]**2"]
