"""Parameters of modules whose gradient is 0 everywhere, and operators that `detach` leaves none."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.pipeline import SpecFile, Stage, run
from opgen.project import looked_at
from tests.diagnostics.cures import whole

GATE = (
    "inputs: {x: {shape: [N]}, w: {shape: []}}\nparams: {k: {type: float, default: 100.0}}\n"
    "module: {parameters: {w: constant(0.1)}}"
)


def warned(lines: list[str]) -> tuple[Diagnostic, ...]:
    return run(SpecFile(Path("spec.yaml"), whole(GATE, *lines).encode(), "spec.yaml"), Stage.PROGRAM).diagnostics


@pytest.mark.parametrize(
    ("lines", "step"),
    [
        (["y[n] = where(x[n] > w, x[n], 0)"], " such as `sigmoid(x[n] - w)`"),
        (["y[n] = where(x[n] + 1 <= w**2, x[n], 0)"], " such as `sigmoid(w**2 - (x[n] + 1))`"),
        (["q[n] = 2*x[n]", "y[n] = where(exp(q[n]) > w, x[n], 0)"], ""),
        (["q = floor(w)", "y[n] = x[n]*q"], ""),
    ],
)
def test_a_parameter_without_a_gradient_is_told(lines: list[str], step: str) -> None:
    (found,) = [d for d in warned(lines) if d.code == "OPG278"]
    assert (found.code, found.severity) == ("OPG278", Severity.WARNING)
    assert f"weigh by a smooth step{step}, or" in found.hints[0]


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


@pytest.mark.parametrize("line", ["y[n] = x[n]*w", "y[n] = where(x[n] > w, x[n], 0)", "y[n] = x[n] + detach(w)"])
@pytest.mark.parametrize("dtype", ["float", "complex"])
def test_a_parameter_that_is_not_differentiable_is_told(line: str, dtype: str) -> None:
    text = whole(GATE.replace("shape: []", f"shape: [], dtype: {dtype}, differentiable: false"), line)
    text = text.replace("x[n] > w", "x[n] > real(w)")
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"), Stage.PROGRAM).diagnostics
    (told,) = [d for d in found if d.code == "OPG278"]
    assert told.message == "nothing trains `w`: it says `differentiable: false`"
    assert told.hints == ("leave that out, or keep it under `buffers`",)
    kept = run(SpecFile(Path("spec.yaml"), text.replace("parameters:", "buffers:").encode(), "s"), Stage.PROGRAM)
    assert not [d for d in kept.diagnostics if d.code == "OPG278"]


TAUGHT = "inputs: {x: {shape: [N]}, u: {shape: [N]}, t: {shape: [N], differentiable: false}}"


def cut(*lines: str) -> list[Diagnostic]:
    found = looked_at(SpecFile(Path("spec.yaml"), whole(TAUGHT, *lines).encode(), "spec.yaml")).diagnostics
    return [d for d in found if d.code != "OPG240"]


@pytest.mark.parametrize(
    "lines",
    [
        ["y = mean[n](square(detach(x[n]) - t[n]))"],
        ["p[n] = detach(x[n])", "y = mean[n](square(p[n] - t[n]))"],
        ["y[n] = detach(x[n])*where(u[n] > 0, t[n], 0)"],
    ],
)
def test_a_result_without_a_slope_outside_of_detach_is_told(lines: list[str]) -> None:
    (found,) = cut(*lines)
    assert (found.code, found.severity) == ("OPG254", Severity.WARNING)
    assert found.hints[0].startswith("to train through `x`, ")


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n] = detach(2*x[n] + t[n])"],
        ["y[n] = x[n] + detach(round(x[n]) - x[n])"],
        ["y[n] = where(x[n] > 0, t[n], 0)*where(detach(u[n]) > 0, 1, 0)"],
        ["y = mean[n](square(x[n] - detach(u[n])))"],
        ["y = count[n](detach(x[n]) > t[n])"],
    ],
)
def test_a_result_that_says_so_or_has_a_slope_is_not(lines: list[str]) -> None:
    assert not [d for d in cut(*lines) if "detach" in d.label]


EXTERN = "g(v): {extern: {torch: torch.special.gammaln}}"
SPELT = 'g(v): {extern: {torch: torch.sin}, value: "sin(v)"}'


@pytest.mark.parametrize("function", [EXTERN, SPELT])
def test_a_function_of_another_library_without_a_stated_derivative_is_no_mistake(function: str) -> None:
    functions = f"{TAUGHT}\nfunctions:\n  {function}"
    for line in ("y[n] = g(x[n])", "y = sum[n](g(x[n])*u[n])", "y[n] = detach(g(x[n])) + u[n]"):
        spec = SpecFile(Path("spec.yaml"), whole(functions, line).encode(), "spec.yaml")
        assert not [d for d in looked_at(spec).diagnostics if d.code != "OPG240"]


@pytest.mark.parametrize("function", [EXTERN, SPELT])
def test_a_parameter_inside_such_a_function_is_not_told(function: str) -> None:
    text = whole(f"{GATE}\nfunctions:\n  {function}", "y[n] = g(w*x[n])")
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"), Stage.PROGRAM).diagnostics
    assert [d.code for d in found] == ["OPG240"]  # `k` of the fields


def test_a_step_beside_such_a_function_is_told() -> None:
    text = whole(f"{TAUGHT}\nfunctions:\n  {EXTERN}", "y[n] = g(x[n])", "z[n] = round(u[n])")
    found = looked_at(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml")).diagnostics
    assert [d.code for d in found if d.code != "OPG240"] == ["OPG254"]
