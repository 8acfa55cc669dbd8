"""Buffers that are to start as a grid: what is said in place of it builds, and gives the elements that torch does."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed

N, K, CUTOFF = 3, 5, 5.0
X, D = torch.randn(N, K, generator=torch.Generator().manual_seed(0)), torch.tensor([0.5, 2.0, 4.5])
STEPS = torch.arange(K).float()
GRIDS = [
    ("linspace(0, cutoff, K)", torch.linspace(0, CUTOFF, K)),
    ("torch.linspace(-cutoff, cutoff, steps=K)", torch.linspace(-CUTOFF, CUTOFF, K)),
    ("linspace(0, 1, 50)", torch.linspace(0, 1, K)),
    ("linspace(-1, 1, K)", torch.linspace(-1, 1, K)),
    ("np.linspace(0.5, cutoff/2, K)", torch.linspace(0.5, CUTOFF / 2, K)),
    ("arange(K)", STEPS),
    ("torch.arange(0, K)", STEPS),
    ("arange(1, K + 1)", STEPS + 1),
    ("arange(0, cutoff, 0.5)", STEPS / 2),
    ("arange(start=1, end=cutoff, step=0.5)", 1 + STEPS / 2),
    ("logspace(0, 1, K)", torch.logspace(0, 1, K)),
    ("exp(torch.arange(K))", STEPS.exp()),
    ("1/(10000**(arange(0, 2*K, 2)/(2*K)))", 1 / 10000 ** (STEPS / K)),
    ("hann_window(K)", torch.hann_window(K)),
    ("torch.hamming_window(K)", torch.hamming_window(K)),
    ("blackman_window(K)", torch.blackman_window(K)),
]
PARAMS = "cutoff: {type: float, default: 5.0, domain: cutoff > 0}"


def spec(fields: str, params: str, line: str, rest: str) -> str:
    return f"op: a\ninputs: {{{fields}}}\nparams: {{{params}}}\nforward: |\n  {line}\n{rest}"


def lines(text: str) -> list[str]:
    (found,) = diagnosed(text)
    assert found.code == "OPG121"
    assert ".data.copy_(" in found.hints[-1]
    return [part for part in re.findall(r"`([^`]+)`", found.hints[0]) if part not in ("params", "dims", "inputs")]


def computed(text: str, given: dict[str, torch.Tensor], **params: float) -> torch.Tensor:
    program = built(text).variants[0].program
    inputs = {t.name: array(given[t.name].tolist()) for t in program.inputs}
    (made,) = run(program, inputs, {"cutoff": CUTOFF, **params}).values()
    return torch.tensor(made.data).reshape(made.shape).float()


@pytest.mark.parametrize(("grid", "values"), GRIDS)
@pytest.mark.parametrize(
    "line",
    [
        "y[n] = sum[k](g[k]*x[n, k])",
        "y[n] = sum[k](x[n, k]*(1 - g[k])/2)",
        "y[n] = sum[k](x[n, k]*square(g[K - 1 - k]))",
    ],
)
def test_a_grid_along_a_dim_of_another_input(grid: str, values: torch.Tensor, line: str) -> None:
    module = f'module: {{name: A, buffers: {{g: "{grid}"}}}}\n'
    _, meant = lines(spec("x: {shape: [N, K]}, g: {shape: [K]}", PARAMS, line, module))
    made = computed(spec("x: {shape: [N, K]}", PARAMS, meant, ""), {"x": X})
    weights = {"g[k]*": values, "(1": (1 - values) / 2, "squ": values.flip(0).square()}
    (weight,) = (w for part, w in weights.items() if part in line)
    torch.testing.assert_close(made, X @ weight, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("grid", "values"), GRIDS)
@pytest.mark.parametrize("argument", ["num_gaussians", ""])
def test_a_grid_whose_size_nothing_else_has(grid: str, values: torch.Tensor, argument: str) -> None:
    dims = f"dims: {{K: {argument}}}, " if argument else ""
    module = f'module: {{name: A, {dims}buffers: {{centre: "{grid}"}}}}\n'
    line = "y[..., k] = exp(-0.5*square((d[...] - centre[k])/cutoff))"
    _, meant, param, dim, *_ = lines(spec("d: {shape: [...]}, centre: {shape: [K]}", PARAMS, line, module))
    count = param.partition(":")[0]
    assert count == (argument or "num_k")
    text = spec("d: {shape: [...]}", f"{PARAMS}, {param}", meant, f"dims: {{{dim}}}\n")
    made = computed(text, {"d": D}, **{count: K})
    torch.testing.assert_close(made, torch.exp(-0.5 * ((D[:, None] - values) / CUTOFF) ** 2), rtol=1e-4, atol=1e-4)


def test_a_triangle() -> None:
    module = 'module: {name: A, dims: {K: size}, buffers: {m: "torch.tril(torch.ones(K, K))"}}\n'
    _, meant = lines(
        spec("x: {shape: [N, K]}, m: {shape: [K, K]}", PARAMS, "y[n, i] = sum[j](m[i, j]*x[n, j])", module)
    )
    made = computed(spec("x: {shape: [N, K]}", PARAMS, meant, ""), {"x": X})
    torch.testing.assert_close(made, X @ torch.ones(K, K).tril().T)


@pytest.mark.parametrize("grid", ["kaiser_window(K)", "np.hanning(K)", "hann_window(K, periodic=False)"])
def test_a_grid_without_a_formula_is_filled(grid: str) -> None:
    module = f'module: {{name: A, buffers: {{g: "{grid}"}}}}\n'
    text = spec("x: {shape: [N, K]}, g: {shape: [K]}", PARAMS, "y[n] = sum[k](g[k]*x[n, k])", module)
    assert lines(text) == ["g"]
    built(text.replace(f'"{grid}"', "zeros"))


def test_what_is_trained_is_no_formula() -> None:
    module = "module: {name: A, parameters: {g: linspace(0, cutoff, K)}}\n"
    text = spec("x: {shape: [N, K]}, g: {shape: [K]}", PARAMS, "y[n] = sum[k](g[k]*x[n, k])", module)
    (found,) = diagnosed(text)
    assert [h for h in found.hints if "formula" in h] == []
    assert "`module.g.data.copy_(torch.linspace(0, cutoff, K))`" in found.hints[0]
