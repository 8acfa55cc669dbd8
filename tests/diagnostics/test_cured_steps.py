"""A state of a loop that lacks the index of its steps: with what its one message says, it computes what a loop does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

B, T, D, N = 2, 4, 3, 3
SHAPES = {
    "x": (B, T), "a": (B, T, D), "v": (B, T, N), "w": (D, N), "beta": (B, T), "s0": (B,), "h0": (B, D), "u": (D, N),
    "z": (T, D), "f": (D,),
}  # fmt: skip
VALUES = {name: torch.randn(shape, generator=torch.Generator().manual_seed(0)) / 2 for name, shape in SHAPES.items()}
DIMS = {"x": "B, T", "a": "B, T, D", "v": "B, T, N", "w": "D, N", "beta": "B, T", "s0": "B", "h0": "B, D", "u": "D, N",
        "z": "T, D", "f": "D"}  # fmt: skip


def average(x: torch.Tensor, start: torch.Tensor | float = 0.0) -> torch.Tensor:
    s, steps = torch.zeros(B) + start, []
    for t in range(T):
        s = 0.5 * s + x[:, t]
        steps.append(s)
    return torch.stack(steps, 1)


def greatest(x: torch.Tensor) -> torch.Tensor:
    m, steps = -torch.ones(B), []
    for t in range(T):
        m = torch.maximum(m, x[:, t] - m / 2)
        steps.append(m)
    return torch.stack(steps, 1)


def scan(a: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    h, steps = torch.zeros(B, D, N), []
    for t in range(T):
        h = torch.exp(a[:, t, :, None] * w) * h + a[:, t, :, None] * v[:, t, None]
        steps.append((h * v[:, t, None]).sum(2))
    return torch.stack(steps, 1)


def delta_rule(a: torch.Tensor, v: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    s, steps = torch.zeros(B, D, N), []
    for t in range(T):
        wrong = v[:, t] - torch.einsum("bc,bce->be", a[:, t], s)
        s = s + beta[:, t, None, None] * a[:, t, :, None] * wrong[:, None]
        steps.append(torch.einsum("bd,bde->be", a[:, t], s))
    return torch.stack(steps, 1)


def gated(z: torch.Tensor, f: torch.Tensor) -> torch.Tensor:
    c, h, steps = f, torch.ones(D), []
    for t in range(T):
        i = torch.sigmoid(z[t] + h.flip(0))
        c = i * c + z[t]
        h = torch.tanh(c)
        steps.append(h)
    return torch.stack(steps)


def heat(u: torch.Tensor) -> torch.Tensor:
    steps = []
    for _ in range(3):
        u = u + (u.roll(-1, 0) + u.roll(1, 1) - 2 * u) / 8
        steps.append(u)
    return torch.stack(steps)


# The inputs, the statements, those that stand there once the message is followed, and what is computed then.
CASES: list[tuple[str, list[str], list[str], Callable[..., torch.Tensor]]] = [
    ("x", ["s[b] = 0.5*s[b] + x[b, t]"], ["s[b, t] = 0.5 * s[b, t - 1] + x[b, t]"], average),
    (
        "x",
        ["s[b] = 0.5*s[b] + x[b, t]"],
        ["s[b, t] = 0.5 * s[b, t - 1] + x[b, t]", "last_s[b] = s[b, T - 1]"],
        lambda x: average(x)[:, -1],
    ),
    (
        "x",
        ["s[b] = 0.5*s[b] + x[b, t]", "y[b, t] = x[b, t] - s[b]"],
        ["s[b, t] = 0.5 * s[b, t - 1] + x[b, t]", "y[b, t] = x[b, t] - s[b, t]"],
        lambda x: x - average(x),
    ),
    (
        "x",
        ["s[b] = 2", "s[b] = 0.5*s[b] + x[b, t]", "y[b] = exp(s[b])"],
        ["s[b, -1] = 2", "s[b, t] = 0.5 * s[b, t - 1] + x[b, t]", "y[b] = exp(s[b, T - 1])"],
        lambda x: torch.exp(average(x, 2.0)[:, -1]),
    ),
    (
        "x s0",
        ["s[i] = s0[i]", "s[b] = 0.5*s[b] + x[b, t]", "y[b] = sum[t](s[b]*x[b, t])"],
        ["s[i, -1] = s0[i]", "s[b, t] = 0.5 * s[b, t - 1] + x[b, t]", "y[b] = sum[t](s[b, t] * x[b, t])"],
        lambda x, s0: (average(x, s0) * x).sum(1),
    ),
    (
        "x s0",
        ["s0[b] = 0.5*s0[b] + x[b, t]"],
        ["y[b, -1] = s0[b]", "y[b, t] = 0.5 * y[b, t - 1] + x[b, t]"],
        average,
    ),
    (
        "x",
        ["m[b < B] = -1", "m[b] max= x[b, t] - m[b]/2", "y[b, t] = m[b]"],
        ["m[b, -1] = -1", "m[b < B, t] = max(m[b, t - 1], x[b, t] - m[b, t - 1] / 2)", "y[b, t] = m[b, t]"],
        greatest,
    ),
    (
        "a v w",
        [
            "h[b, d, n] = 0",
            "h[b, d, n] = exp(a[b, t, d]*w[d, n])*h[b, d, n] + a[b, t, d]*v[b, t, n]",
            "y[b, t, d] = sum[n](h[b, d, n]*v[b, t, n])",
        ],
        [
            "h[b, t, d, n] = exp(a[b, t, d] * w[d, n]) * h[b, t - 1, d, n] + a[b, t, d] * v[b, t, n]",
            "y[b, t, d] = sum[n](h[b, t, d, n] * v[b, t, n])",
        ],
        scan,
    ),
    *(
        (
            "a v beta",
            [
                f"{name}[{first}] = 0",
                f"{name}[b, d, e] += beta[b, t]*a[b, t, d]*(v[b, t, e] - sum[c](a[b, t, c]*{name}[b, c, e]))",
                f"o[b, t, e] = sum[d](a[b, t, d]*{name}[b, d, e])",
            ],
            [
                f"s[{body}] = s[b, t - 1, d, e] + beta[b, t] * a[b, t, d]"
                " * (v[b, t, e] - sum[c](a[b, t, c] * s[b, t - 1, c, e]))",
                "o[b, t, e] = sum[d](a[b, t, d] * s[b, t, d, e])",
            ],
            delta_rule,
        )
        for name, first, body in (
            ("S", "b, d, e", "b, t, d, e"),
            ("s", "b < B, d < D, e < N", "b < B, t, d < D, e < N"),
        )
    ),
    (
        "z f",
        [
            "h[d < D] = 1",
            "c[d] = f[d]",
            "i[d] = sigmoid(z[t, d] + h[D - 1 - d])",
            "c[d] = i[d]*c[d] + z[t, d]",
            "h[d] = tanh(c[d])",
            "y[t, d] = h[d]",
        ],
        [
            "h[-1, d] = 1",
            "c[-1, d] = f[d]",
            "i[t, d] = sigmoid(z[t, d] + h[t - 1, D - 1 - d])",
            "c[t, d] = i[t, d] * c[t - 1, d] + z[t, d]",
            "h[t, d < D] = tanh(c[t, d])",
            "y[t, d] = h[t, d]",
        ],
        gated,
    ),
    (
        "u",
        ["u[t, i, j] = u[t-1, i, j] + (u[t-1, (i+1)%D, j] + u[t-1, i, (j-1)%N] - 2*u[t-1, i, j])/8"],
        [
            "y[-1, i, j] = u[i, j]",
            "y[t < steps, i, j] = y[t - 1, i, j]"
            " + (y[t - 1, (i + 1) % D, j] + y[t - 1, i, (j - 1) % N] - 2 * y[t - 1, i, j]) / 8",
        ],
        heat,
    ),
]


@pytest.mark.parametrize(("inputs", "written", "cured", "meant"), CASES)
def test_a_loop_with_the_index_of_its_steps_computes_what_was_meant(
    inputs: str, written: list[str], cured: list[str], meant: Callable[..., torch.Tensor]
) -> None:
    names = inputs.split()
    fields = "inputs: {" + ", ".join(f"{n}: {{shape: [{DIMS[n]}]}}" for n in names) + "}\nparams: {steps: int}"
    (found,) = diagnosed(whole(fields, *written))
    quoted = re.findall(r"`([^`]+)`", " ".join(found.hints))
    assert [line for line in cured if line not in quoted] == [], quoted
    operator = built(whole(fields, *cured), warned=True)  # of gates that are results as well
    (variant,) = operator.variants
    given = {n: VALUES[n] for n in names}
    made = run(variant.program, {n: array(v.tolist()) for n, v in given.items()}, {"steps": 3})
    last = made[operator.outputs[-1]]
    torch.testing.assert_close(torch.tensor(last.data).reshape(last.shape).float(), meant(*given.values()))


def lstm(x: torch.Tensor, w: torch.Tensor, h0: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
    h, c, steps = h0, c0, []
    for t in range(T):
        i, f = (x[:, t] + h @ w).chunk(2, 1)
        c = f * c + i
        h = torch.tanh(c)
        steps.append(h)
    return torch.stack(steps, 1)


def test_starts_with_fewer_positions_and_a_part_of_the_gates() -> None:
    """Two rounds: each says all that is wrong with the starts."""
    fields = (
        "inputs: {x: {shape: [B, T, G]}, w: {shape: [H, G]}, h0: {shape: [B, H]}, c0: {shape: [B, H]}}\noutputs: [h]"
    )
    text = whole(
        fields,
        "z[b, t, g] = x[b, t, g] + sum[k](h[b, t - 1, k]*w[k, g])",
        "c[b, t, j] = z[b, t, j + H]*c[b, t - 1, j] + z[b, t, j]",
        "h[b, t, j] = tanh(c[b, t, j])",
        "h[-1] = h0[n, m]",
        "c[b, -1] = c0[b]",
    )
    first = {"h[-1] = h0[n, m]": "h[b, -1, j] = h0[b, j]", "c[b, -1] = c0[b]": "c[b, -1, j] = c0[b, j]"}
    for cure in (first, {"c[b, t, j] =": "c[b, t, j < H] = …"}):
        said = " ".join(hint for d in diagnosed(text) for hint in d.hints)
        for old, new in cure.items():
            assert f"`{new}`" in said
            text = text.replace(old, new.removesuffix(" …"))
    operator = built(text)
    sizes = {"x": (B, T, 2 * D), "w": (D, 2 * D), "h0": (B, D), "c0": (B, D)}
    given = {n: torch.randn(size, generator=torch.Generator().manual_seed(0)) / 2 for n, size in sizes.items()}
    found = run(operator.variants[0].program, {n: array(v.tolist()) for n, v in given.items()})["h"]
    torch.testing.assert_close(torch.tensor(found.data).reshape(found.shape).float(), lstm(*given.values()))


def test_statements_of_two_loops_are_told_one_by_one() -> None:
    fields = "inputs: {x: {shape: [B, T]}, z: {shape: [N, D]}}"
    found = diagnosed(whole(fields, "s[b] = s[b]/2 + x[b, t]", "r[d] = r[d]/3 + z[n, d]", "y[b] = q[b]"))
    said = [(d.code, d.span.text if d.span is not None else "") for d in found]
    assert said == [("OPG219", "s[b]"), ("OPG219", "r[d]"), ("OPG205", "q")]


def test_a_gradient_goes_on_from_the_step_behind() -> None:
    fields = "inputs: {x: {shape: [B, T]}}"
    before = whole(fields, "y[b, t] = 2*x[b, t]")
    (found,) = diagnosed(before + "backward: |\n  g[b] = 1\n  g[b] = g[b]/2 + grad_y[b, t]\n  grad_x[b, t] = g[b]\n")
    lines = ["g[b, T] = 1", "g[b, t] = g[b, t + 1] / 2 + grad_y[b, t]", "grad_x[b, t] = g[b, t]"]
    said = " ".join(found.hints)
    assert all(f"`{line}`" in said for line in lines)
    assert diagnosed(before + "backward: |\n" + "".join(f"  {line}\n" for line in lines)) == ()
