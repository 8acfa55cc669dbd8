"""Parameters of modules whose gradient is 0 everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.pipeline import SpecFile, Stage, run
from tests.diagnostics.cures import whole

GATE = (
    "inputs: {x: {shape: [N]}, w: {shape: []}}\nparams: {k: {type: float, default: 100.0}}\n"
    "module: {parameters: {w: constant(0.1)}}"
)


def warned(lines: list[str]) -> tuple[Diagnostic, ...]:
    return run(SpecFile(Path("spec.yaml"), whole(GATE, *lines).encode(), "spec.yaml"), Stage.PROGRAM).diagnostics


@pytest.mark.parametrize("lines", [["y[n] = where(x[n] > w, x[n], 0)"], ["q = floor(w)", "y[n] = x[n]*q"]])
def test_a_parameter_without_a_gradient_is_told(lines: list[str]) -> None:
    (found,) = [d for d in warned(lines) if d.code == "OPG278"]
    assert (found.code, found.severity) == ("OPG278", Severity.WARNING)


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n] = where(x[n] > w, x[n], w)"],
        ["y[n] = x[n]*sigmoid(k*(x[n] - w))"],
        ["q = w**2", "y[n] = x[n] + max(q, 0)"],
    ],
)
def test_a_parameter_with_a_gradient_is_not(lines: list[str]) -> None:
    assert not [d for d in warned(lines) if d.code == "OPG278"]
