"""A spec of several mistakes, with all that its messages say in it at once, computes what PyTorch computes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.schema.reductions import REDUCTIONS as NAMES
from tests.diagnostics.cures import built, diagnosed, whole

N, M, D = 4, 3, 6
SHAPES = {
    "x": (N, D), "z": (M, D), "v": (N, M), "s": (N, N), "a": (N,), "c": (M,), "w": (M, D), "b": (M,), "g": (D,),
}  # fmt: skip
VALUES = {name: torch.randn(shape, generator=torch.Generator().manual_seed(0)) for name, shape in SHAPES.items()}


def rotated(x: torch.Tensor) -> torch.Tensor:
    return torch.cat((-x[:, 3:], x[:, :3]), 1)


def with_parts(v: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    made = v * 2
    made[:, 0] = 7
    made[0] = c
    return made


def with_last(v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    made = v * 2
    made[:, -1] = a
    return made


def with_diagonal(s: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    made = s * 2
    made[range(N), range(N)] = made.diagonal() + a
    return made


def with_greatest(s: torch.Tensor) -> torch.Tensor:
    made = s * 2
    made[range(N), range(N)] = s.max(1).values
    return made


# A spec, what takes the place of what in it (each as a hint says it), and what is computed then.
CASES: list[tuple[str, dict[str, str], Callable[..., torch.Tensor]]] = [
    (
        whole(
            "inputs: {x: {shape: [N, D]}}\ndims: {H: D/2}",
            "y[n, d] = where(d < H, -x[n, d + H], x[n, d - H])",
        ),
        {"D/2": "D//2", "y[n, d]": "y[n, d < D]"},
        rotated,
    ),
    (
        whole("inputs: {x: {shape: [N, 2*H]}}", "l = x[:, :H]", "r = x[:, H:]", "y = silu(l) * r"),
        {
            "2*H]}}": "D]}}\ndims: {D: 2*H}",
            "l = x[:, :H]": "l[n, d < H] = x[n, d]",
            "r = x[:, H:]": "r[n, d < H] = x[n, d + H]",
            "y = silu(l) * r": "y[n, d] = silu(l[n, d]) * r[n, d]",
        },
        lambda x: torch.nn.functional.silu(x[:, :3]) * x[:, 3:],
    ),
    (
        whole("inputs: {x: {shape: [N, D]}}\ndims: {H: D//2}", "l[n, i < H] = x[n, i]", "r = x[:, H:]", "y = l*r"),
        {"r = x[:, H:]": "r[n, d < H] = x[n, d + H]", "y = l*r": "y[n, i] = l[n, i] * r[n, i]"},
        lambda x: x[:, :3] * x[:, 3:],
    ),
    (
        whole("inputs: {x: {shape: [N, 3*H]}}", "q = x[:, :H]", "k = x[:, H:2*H]", "u = x[:, 2*H:]", "y = q*k + u"),
        {
            "3*H]}}": "D]}}\ndims: {D: 3*H}",
            "q = x[:, :H]": "q[n, d < H] = x[n, d]",
            "k = x[:, H:2*H]": "k[n, d < H] = x[n, d + H]",
            "u = x[:, 2*H:]": "u[n, d < H] = x[n, d + 2 * H]",
            "y = q*k + u": "y[n, d] = q[n, d] * k[n, d] + u[n, d]",
        },
        lambda x: x[:, :2] * x[:, 2:4] + x[:, 4:],
    ),
    (
        whole("inputs: {s: {shape: [N, N]}, a: {shape: [N]}}", "y[n, m] = s[n, m]*2", "y[i, i] = y[i, i] + a[i]"),
        {
            "  y[i, i] = y[i, i] + a[i]\n": "",
            "y[n, m] = s[n, m]*2": "y[n, m] = where(n == m, s[n, m] * 2 + a[n], s[n, m] * 2)",
        },
        with_diagonal,
    ),
    (
        whole("inputs: {s: {shape: [N, N]}}", "y[n, m] = s[n, m]*2", "y[i, i] = max[m](s[i, m])"),
        {
            "  y[i, i] = max[m](s[i, m])\n": "",
            "y[n, m] = s[n, m]*2": "y[n, m] = where(n == m, max[p](s[n, p]), s[n, m] * 2)",
        },
        with_greatest,
    ),
    (
        whole("inputs: {v: {shape: [N, M]}, c: {shape: [M]}}", "y[n, m] = v[n, m]*2", "y[n, 0] = 7", "y[0, m] = c[m]"),
        {
            "  y[n, 0] = 7\n": "",
            "  y[0, m] = c[m]\n": "",
            "y[n, m] = v[n, m]*2": "y[n, m] = where(n == 0, c[m], where(m == 0, 7, v[n, m] * 2))",
        },
        with_parts,
    ),
    (
        whole("inputs: {v: {shape: [N, M]}, a: {shape: [N]}}", "y[n, m] = v[n, m]*2", "y[n, M - 1] = a[n]"),
        {
            "  y[n, M - 1] = a[n]\n": "",
            "y[n, m] = v[n, m]*2": "y[n, m] = where(m == M - 1, a[n], v[n, m] * 2)",
        },
        with_last,
    ),
    (
        whole(
            "inputs: {x: {shape: [N, D]}, z: {shape: [M, D]}, c: {shape: [M]}}",
            "k[n, m] = exp(-|x[n] - z[m]|^2/(2c[m]^2))",
            "y[n] = sum[m](k[n, m] c[m])",
        ),
        {
            "|x[n] - z[m]|": "norm[d](x[n, d] - z[m, d])",
            "^2/": "**2/",
            "2c": "2*c",
            "^2)": "**2)",
            "k[n, m] c[m]": "k[n, m]*c[m]",
        },
        lambda x, z, c: torch.exp(-(torch.cdist(x, z) ** 2) / (2 * c**2)) @ c,
    ),
    (
        whole("inputs: {x: {shape: [N, D]}, w: {shape: [M, D]}, b: {shape: [M]}}", "y = gelu(x @ w.T + b)"),
        {
            "forward:": "functions:\n  gelu(x): x*(1 + erf(x/sqrt(2)))/2\nforward:",
            "y = gelu(x @ w.T + b)": "y[n, m] = gelu(sum[d](x[n, d] * w[m, d]) + b[m])",
        },
        lambda x, w, b: torch.nn.functional.gelu(x @ w.T + b),
    ),
    (
        whole("inputs: {a: {shape: [N]}}", "y[n] = leaky_relu(a[n], 0.2)"),
        {"leaky_relu(a[n], 0.2)": "where(a[n] > 0, a[n], 0.2*a[n])"},
        lambda a: torch.nn.functional.leaky_relu(a, 0.2),
    ),
    (
        whole("inputs: {a: {shape: [N]}}", "y[n] = celu(a[n] + 1, 0.5) + celu(a[n], 0.5)"),
        {"forward:": "functions:\n  celu(x, a): where(x > 0, x, a*expm1(x/a))\nforward:"},
        lambda a: torch.nn.functional.celu(a + 1, 0.5) + torch.nn.functional.celu(a, 0.5),
    ),
]


@pytest.mark.parametrize(("text", "cure", "meant"), CASES)
def test_a_cured_spec_computes_what_was_meant(
    text: str, cure: dict[str, str], meant: Callable[..., torch.Tensor]
) -> None:
    said = " ".join(hint for found in diagnosed(text) for hint in found.hints)
    quoted = [*re.findall(r"`([^`]+)`", said), "**2/", "**2)"]
    for old, new in cure.items():
        lines = [line.strip() for line in new.removesuffix("forward:").splitlines() if line.strip()]
        lines = [line for line in lines if line not in ("functions:", "D]}}")]
        assert all(any(line in part or (len(part) > 1 and part in line) for part in quoted) for line in lines), (
            lines,
            said,
        )
        assert old in text
        text = text.replace(old, new, 1)
    operator = built(text)
    (variant,) = operator.variants
    given = {t.name: VALUES[t.name] for t in operator.inputs}
    found = run(variant.program, {name: array(t.tolist()) for name, t in given.items()})["y"]
    torch.testing.assert_close(torch.tensor(found.data).reshape(found.shape).float(), meant(**given))


def test_the_names_of_reductions_are_those_of_the_language() -> None:
    assert {*NAMES} == {*REDUCTIONS, *ORDERS}
