"""`opgen show`: every stage of the way from a spec to code prints what it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
SPEC = """
op: halved
inputs: {x: {shape: [..., N]}}
forward: y[..., n] = tanh(x[..., n])/2
"""
SHOWN = {
    "spec": "forward: y[..., n] = tanh(x[..., n])/2",
    "program": "y[..., n < N] = tanh(x[..., n])/2",
    "adjoint": "output grad_x[..., N] = grad_x: float of x, summed to the shape of x",
    "tangent": "input x[..., N]: float",
    "second": "cotangent grad_y[..., N]: float of y",
    "plan": "map over [..., n < N] -> y",
    "kernel": "for n < N parallel",
    "torch": "def forward(",
    "cpp": "halved_forward",
    "cuda": "// CUDA kernels of halved",
}


@pytest.mark.parametrize("stage", SHOWN)
def test_every_stage_is_shown(stage: str, opgen: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("halved.yaml").write_text(SPEC)
    code, out, err = opgen("show", "halved.yaml", "--stage", stage)
    assert (code, err) == (0, "")
    assert SHOWN[stage] in out
