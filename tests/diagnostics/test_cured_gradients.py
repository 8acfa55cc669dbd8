"""Gradients that are stated without what comes from behind: the line that is proposed builds, if there is one."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

N, NK, ROWS = "{x: {shape: [N]}, w: {shape: [N]}}", "{x: {shape: [N, K]}, w: {shape: [K]}}", "{x: {shape: [..., K]}}"


@pytest.mark.parametrize(
    ("inputs", "forward", "stated", "meant"),
    [
        (N, "y = sum[n](x[n]**2*w[n])", "grad_x[n] = clamp(2*x[n], -1, 1)", "grad_x[n] = grad_y*clamp(2*x[n], -1, 1)"),
        (N, "y[n] = x[n]**2*w[n]", "grad_x[i] = 2*x[i]*w[i]", "grad_x[i] = grad_y[i]*2*x[i]*w[i]"),
        (N, "y[n] = x[n]**2*w[n]", "grad_x[n]=x[n]+x[n]", "grad_x[n]=grad_y[n]*(x[n]+x[n])"),
        (N, "y[n] = x[n]*w[n]", "grad_x[n] = (w[n])", "grad_x[n] = (grad_y[n]*w[n])"),
        (N, "y[n] = x[n]/w[n]", "grad_x[n] = -w[n]", "grad_x[n] = grad_y[n]*(-w[n])"),
        (NK, "y[n] = sum[k](x[n, k]*w[k])", "grad_x[i, j] = w[j]", "grad_x[i, j] = grad_y[i]*w[j]"),
        (NK, "y[k, n] = x[n, k]*w[k]", "grad_x[n, k] = w[k]", "grad_x[n, k] = grad_y[k, n]*w[k]"),
        (ROWS, "y[...] = sum[k](x[..., k]**2)", "grad_x[..., k] = x[..., k]", "grad_x[..., k] = grad_y[...]*x[..., k]"),
        ("[x]", "y = x**2", "grad_x = 2*x", "grad_x = grad_y*2*x"),
        ("[x]", "y = mean[...](x**2)", "grad_x = 2*x % 3", "grad_x = grad_y*(2*x % 3)"),
    ],
)
def test_what_comes_from_behind_is_a_factor(inputs: str, forward: str, stated: str, meant: str) -> None:
    text = f"{whole(f'inputs: {inputs}', forward)}backward: |\n  "
    (found,) = diagnosed(f"{text}{stated}\n")
    assert (found.code, found.severity) == ("OPG228", Severity.WARNING)
    assert found.hints == (f"what comes from behind is a factor of it: `{meant}`",)
    built(f"{text}{meant}\n")


@pytest.mark.parametrize(
    ("forward", "stated"),
    [
        (["y[m < N] = sum[n](x[n]*m) + w[m]"], "grad_x[n] = 2*n"),
        (["y[n] = x[n] + pad(x[n - 1], 0) + w[n]"], "grad_x[n] = 2*w[n]"),
        (["y[n] = x[n] + w[n]", "z[n] = x[n]"], "grad_x[n] = 2*w[n]"),
        (["d[n] = x[n] - w[n]", "y[n] = d[n]**2"], "grad_x[n] = 2*w[n]"),
    ],
)
def test_at_which_indices_is_left_open_where_it_is_not_plain(forward: list[str], stated: str) -> None:
    (found,) = diagnosed(f"{whole(f'inputs: {N}', *forward)}backward: |\n  {stated}\n")
    left, right = stated.split(" = ")
    assert found.hints == (f"what comes from behind is a factor of it: `{left} = grad_y[…]*{right}`",)
