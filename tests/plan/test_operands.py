"""What is kept in the dtype of the call: products, and what they read."""

from __future__ import annotations

from pathlib import Path

from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.plan.model import KernelPlan, Storage

SPEC = """op: made
inputs: {{x: {{shape: [..., K]}}, w: {{shape: [N, K]{w}}}, b: {{shape: [N]}}}}
forward: |
  e[..., k] = exp(x[..., k])
  z[..., n] = sum[k](x[..., k] * w[n, k]) + b[n]
  y[..., n] = {y}
"""


def plan(of: str, y: str = "tanh(z[..., n])", w: str = "") -> KernelPlan:
    made = run(SpecFile(Path("made.yaml"), SPEC.format(y=y, w=w).encode(), "made.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    program = getattr(made.derived[0], of)
    return build(program, made.operator.outputs if made.operator else ())


def storages(p: KernelPlan) -> dict[str, Storage]:
    return {b.name: b.storage for b in p.buffers if b.role is None}


def test_a_gradient_that_products_multiply_and_a_bias_sums_up_has_their_dtype() -> None:
    assert set(storages(plan("backward")).values()) == {Storage.SCALAR}
    assert "grad_z" in storages(plan("backward"))


def test_what_something_else_reads_stays_exact() -> None:
    twice = storages(plan("forward", "sum[k](e[..., k] * w[n, k]) / (1 + sum[k](e[..., k]**2))"))
    once = storages(plan("forward", "sum[k](e[..., k] * w[n, k]) / (1 + sum[k](e[..., k]))"))
    assert (twice["e"], once["e"]) == (Storage.COMPUTE, Storage.SCALAR)
    assert list(twice.values()).count(Storage.SCALAR) == 3  # products, and the output


def test_a_product_with_whole_numbers_stays_exact() -> None:
    found = storages(plan("forward", w=", dtype: int8"))
    assert found["z"] is Storage.COMPUTE
