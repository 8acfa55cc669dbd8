"""The sum that a message proposes for one with its index below the sign is the sum that was meant."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = "inputs: {p: {shape: [I, J]}, v: {shape: [J, D]}, w: {shape: [D]}, z: {shape: []}}"

# A statement, what of it the message is about, and its value in torch.
SUMS = [
    ("o[i, d] = Σ_j p[i, j]*v[j, d]", "Σ_j p[i, j]*v[j, d]", "p @ v"),
    ("o[i, d] = 2*∑_{j} p[i, j] v[j, d] + w[d]", "∑_{j} p[i, j] v[j, d]", "2*(p @ v) + w"),
    (r"o[d] = \sum_j v[j, d]*z - v[j, d]**2 + w[d]", r"\sum_j v[j, d]*z - v[j, d]**2", "(v*z - v**2).sum(0) + w"),
    ("o[i] = (Σ_j Σ_d p[i, j]*v[j, d])*2", "Σ_j Σ_d p[i, j]*v[j, d]", "2*(p @ v).sum(1)"),
    ("o[i] = Σ_{jd} (p[i, j] + v[j, d])", "Σ_{jd} (p[i, j] + v[j, d])", "4*p.sum(1) + v.sum()"),
    ("o[i] = max(∏_j p[i, j], z)", "∏_j p[i, j]", "p.prod(1).clamp(min=z)"),
    ("o[i] = sum_j p[i, j] z", "sum_j p[i, j] z", "p.sum(1)*z"),
    ("o[i] = where(Σ_j p[i, j] > z, 1.5, 0)", "Σ_j p[i, j]", "1.5*(p.sum(1) > z)"),
    (r"o[i] = -\max_{j} p[i, j]", r"\max_{j} p[i, j]", "-p.amax(1)"),
]


@pytest.mark.parametrize(("statement", "part", "value"), SUMS, ids=[statement for statement, _, _ in SUMS])
def test_a_sum_with_its_index_below_is_the_reduction_that_is_proposed(statement: str, part: str, value: str) -> None:
    (found,) = diagnosed(whole(FIELDS, statement))
    (right,) = re.findall(r"`([^`]+)`", found.hints[0])
    operator = built(whole(FIELDS, statement.replace(part, right)))
    draw = torch.Generator().manual_seed(1)
    tensors = {
        name: torch.rand(shape, dtype=torch.float64, generator=draw)
        for name, shape in {"p": (2, 3), "v": (3, 4), "w": (4,), "z": ()}.items()
    }
    got = run(operator.variants[0].program, {name: array(t.tolist()) for name, t in tensors.items()}, {})["o"]
    want = eval(value, {}, tensors)
    assert torch.allclose(torch.tensor(got.data, dtype=torch.float64), want.reshape(-1).double())


def test_a_subscript_in_braces_names_what_is_assigned() -> None:
    (found,) = diagnosed(whole("inputs: {q: {shape: [I, J]}}", "a_{ij} = q[i, j]", "y[i, j] = exp(a[i, j])"))
    assert found.hints[0].endswith("`a[i, j]`")
