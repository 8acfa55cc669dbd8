"""Two processes draw what one would, to the bit, in slices along any dim and compiled, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opgen import build
from opgen.toolchain.library import compile_op
from tests.distributed.processes import needs_gloo, together
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_gloo]

SCRIPT = Path(__file__).with_name("drawing.py")
SPECS = Path(__file__).parents[2] / "specs"
OWN = {
    "all_places": """
op: all_places
inputs: {x: {shape: [..., N, M]}, w: {shape: [M]}, seed: {dtype: seed}}
outputs: {y: {shape: [..., N, M]}, k: {shape: [..., N]}, total: {shape: [..., M]}}
forward: |
  y[..., n, m] = x[..., n, m]*normal(seed) + where(uniform(seed) < 0.5, w[m], 0)
  k[..., n] = integer(seed, M)
  total[..., m] = sum[n](x[..., n, m]*uniform(seed)) + w[m]*normal(seed)
""",
    # no number depends on a dim of the batch, nor on M
    "few_places": """
op: few_places
inputs: {x: {shape: [..., N, M]}, w: {shape: [M]}, seed: {dtype: seed}}
forward: |
  u[n < N] = uniform(seed)
  one = normal(seed)
  k[n < N] = integer(seed, 3)
  y[..., n, m] = where(k[n] == 1, one, x[..., n, m]*u[n]*w[m])
outputs: [y]
""",
}
NAMES = ("dropout_residual", "gumbel_softmax", "stochastic_round")


@pytest.mark.parametrize("backend", ["torch", pytest.param("native", marks=needs_compiler)])
def test_two_processes_draw_as_one(tmp_path: Path, backend: str) -> None:
    for name, text in ({n: (SPECS / f"{n}.yaml").read_text() for n in NAMES} | OWN).items():
        (tmp_path / f"{name}.yaml").write_text(text)
        assert not build(tmp_path / f"{name}.yaml", tmp_path / "drawn").failed
        if backend == "native":
            compile_op(tmp_path / "drawn", name)
    together(SCRIPT, 2, tmp_path, str(tmp_path), backend)
    for rank in range(2):
        found = json.loads((tmp_path / f"{backend}_{rank}.json").read_text())
        assert found["compared"] > 200
        assert found["few_places"] > 0  # on slices, and not on whole tensors that are sliced again
        assert (found["native"] > 0) == (backend == "native")
