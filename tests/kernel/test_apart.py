"""What a kernel can do without where others than its own results are asked for."""

from __future__ import annotations

from pathlib import Path

from opgen.kernel.apart import fed
from opgen.kernel.formal import Formal, formal
from opgen.kernel.model import Role
from opgen.kernel.walk import chain
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build

TWO = """op: two
inputs: {a: {shape: [...]}, b: {shape: [...]}, c: {shape: [...]}}
forward: |
  half[...] = sigmoid(a[...]) * b[...]
  y[...] = half[...] * half[...] + exp(a[...])
  z[...] = a[...] * c[...]
outputs: [y, z]
"""
SUMS = """op: sums
inputs: {a: {shape: [N]}}
forward: |
  y = sum[n](a[n])
  z = max[n](a[n])
outputs: [y, z]
"""


def kernels(spec: str, *apart: str) -> list[Formal]:
    made = run(SpecFile(Path("made.yaml"), spec.encode(), "made.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    plan = build(made.derived[0].forward)
    return [formal(plan, s, frozenset(apart)) for s in plan.steps]


def test_what_goes_into_which_store_is_found_through_locals() -> None:
    (found,) = kernels(TWO)
    assert fed(chain(found.kernel.body, (Role.PARALLEL,))[1]) == {
        "a": frozenset(("y", "z")), "b": frozenset(("y",)), "c": frozenset(("z",)),
    }  # fmt: skip


def test_a_kernel_that_can_do_without_an_output_is_another_one() -> None:
    (whole,), (part,) = kernels(TWO), kernels(TWO, "z")
    assert (whole.spare, part.spare) == (frozenset(), frozenset(("z",)))
    assert whole.key != part.key


def test_what_is_folded_needs_its_memory() -> None:
    assert not any(k.spare for k in kernels(SUMS, "y", "z"))
