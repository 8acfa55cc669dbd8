"""A spec with what its messages say in it, in one step, computes what was meant, with several inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

Values = dict[str, torch.Tensor]

N, D = 4, 3
SHAPES = {"c": (N, N), "e": (D, N, N), "x": (2, D), "p": (2,), "u": (2, 5), "a": (2, 5)}
VALUES = {name: torch.randn(shape, generator=torch.Generator().manual_seed(1)) for name, shape in SHAPES.items()}
APART = ~torch.eye(N, dtype=torch.bool)
VALUES["ids"] = torch.tensor([[0, 2, 2], [1, 0, 2]])
BELOW = torch.ones(N, N, dtype=torch.bool).tril(-1)
PAIRS = "inputs: {c: {shape: [N, N]}, e: {shape: [D, N, N]}}"

M, L = 3, 5


def scattered(v: Values) -> torch.Tensor:
    made = torch.zeros(M).index_add(0, v["ids"].flatten(), v["x"].flatten())
    return made / (1 + made**2)


def scanned(v: Values) -> Values:
    """With states from 0 on, one more of them than of steps."""
    h, c = torch.zeros(2, L + 1), torch.zeros(2, L + 1)
    for k in range(L):
        h[:, k + 1] = v["a"][:, k] * h[:, k] + v["u"][:, k]
        c[:, k + 1] = c[:, k] + h[:, k + 1] * h[:, k]
    return {"y": h[:, 1:] * v["u"] - c[:, :-1], "z": h[:, :-1], "end": c[:, L]}


def stepped(p: torch.Tensor, u: torch.Tensor, a: torch.Tensor) -> Values:
    u = u / 2 + a
    a = 3 * a + u
    return {"q": p + (u / 2 - a).sum(), "u_out": u, "a_out": a}


def entwined(v: Values, h: torch.Tensor, c: torch.Tensor) -> Values:
    found = []
    for k in range(L):
        now = v["a"][:, k] * c + v["u"][:, k]
        h, c = now, h / 2 - now
        found.append((h, c))
    return {"h": torch.stack([h for h, _ in found], 1), "c": torch.stack([c for _, c in found], 1)}


# A spec, what takes the place of what in it (each as a hint says it), and each output as it is meant.
CASES: list[tuple[str, dict[str, str], Callable[[Values], Values]]] = [
    (
        whole(PAIRS, "off = sum[i != j](c[i, j]**2)", "y = e[0, 0, 0] + 2*off"),
        {"off = sum[i != j](c[i, j]**2)": "off = sum[i, j](where(i != j, c[i, j]**2, 0))"},
        lambda v: {"y": v["e"][0, 0, 0] + 2 * (v["c"] ** 2)[APART].sum()},
    ),
    (
        whole(PAIRS, "m[d] = mean[a < b](e[d, b, a]) + c[0, 0]"),
        {
            "m[d] = mean[a < b](e[d, b, a])": (
                "m[d] = sum[a, b](where(a < b, e[d, b, a], 0)) / count[a < N, b < N](a < b)"
            )
        },
        lambda v: {"m": v["e"][:, BELOW].mean(1) + v["c"][0, 0]},
    ),
    (
        whole(
            "inputs: {c: {shape: [N, N]}, x: {shape: [..., D]}}\nparams: {way: {choices: [mean]}}",
            "l = way(x[..., d]**2)", "m = way(c)", "r[n] = way(c[i, n])", "s = way[n](c[n, k]) + way[...](x[..., d])",
        ),
        {
            "way(x[..., d]**2)": "way[..., d](x[..., d]**2)",
            "way(c)": "way[n, n2](c[n, n2])",
            "way(c[i, n])": "way[i](c[i, n])",
            "way[n](c": "way[n, k](c",
            "way[...](x": "way[..., d](x",
        },
        lambda v: {
            "l": (v["x"] ** 2).mean(), "m": v["c"].mean(), "r": v["c"].mean(0), "s": v["c"].mean() + v["x"].mean()
        },
    ),
    (
        whole(
            "inputs: {x: {shape: [..., D]}, c: {shape: [N, N]}, ids: {shape: [..., D], dtype: int}}\nparams: {m: int}\n"
            "dims: {M: m}\noutputs: {y: {shape: [M]}, z: {}}",
            "y[ids[..., d]] += x[..., d]", "z[n] = max[k](c[n, k])", "y[i] /= 1 + y[i]**2", "z[n] **= 2",
            "z[n] /= 1 + sum[i](y[i])",
        ),
        {
            "y[ids[..., d]] += x[..., d]": "y1[p < M] = 0\n  y1[ids[..., d]] += x[..., d]",
            "y[i] /= 1 + y[i]**2": "y[i] = y1[i] / (1 + y1[i]**2)",
            "z[n] = max[k](c[n, k])": "z1[n] = max[k](c[n, k])",
            "z[n] **= 2": "z2[n] = z1[n]**2",
            "z[n] /= 1 + sum[i](y[i])": "z[n] = z2[n] / (1 + sum[i](y[i]))",
        },
        lambda v: {"y": scattered(v), "z": v["c"].amax(1) ** 2 / (1 + scattered(v).sum())},
    ),
    (
        whole(
            "inputs: {u: {shape: [B, L]}, a: {shape: [B, L]}}\noutputs: [y, z, end]",
            "h[b, l + 1] = a[b, l]*h[b, l] + u[b, l]", "c[b, l + 1] = c[b, l] + h[b, l + 1]*h[b, l]",
            "y[b, l] = h[b, l + 1]*u[b, l] - c[b, l]", "z[b, t] = h[b, t]", "end[b] = c[b, L]",
        ),
        {
            "h[b, l + 1] = a[b, l]*h[b, l] + u[b, l]": "h[b, l] = a[b, l] * h[b, l - 1] + u[b, l]",
            "c[b, l + 1] = c[b, l] + h[b, l + 1]*h[b, l]": "c[b, l] = c[b, l - 1] + h[b, l] * h[b, l - 1]",
            "y[b, l] = h[b, l + 1]*u[b, l] - c[b, l]": "y[b, l] = h[b, l] * u[b, l] - c[b, l - 1]",
            "z[b, t] = h[b, t]": "z[b, t < L] = h[b, t - 1]",
            "end[b] = c[b, L]": "end[b] = c[b, L - 1]",
        },
        scanned,
    ),
    (
        whole(
            "inputs: {p: {shape: [...]}, u: {shape: [B, L]}, a: {shape: [B, L]}}\noutputs: [q, u, a]",
            "u[b, l] = u[b, l]/2 + a[b, l]", "a[b, l] *= 3", "a[b, l] += u[b, l]", "r[b, l] = u[b, l]/2",
            "q = p + sum[b, l](r[b, l] - a[b, l])",
        ),
        {
            "u[b, l] = u[b, l]/2 + a[b, l]": "u_out[b, l] = u[b, l] / 2 + a[b, l]",
            "a[b, l] *= 3": "a2[b, l] = a[b, l] * 3",
            "a[b, l] += u[b, l]": "a_out[b, l] = a2[b, l] + u_out[b, l]",
            "r[b, l] = u[b, l]/2": "r[b, l] = u_out[b, l] / 2",
            "q = p + sum[b, l](r[b, l] - a[b, l])": "q = p + sum[b, l](r[b, l] - a_out[b, l])",
            "outputs: [q, u, a]": "outputs: [q, u_out, a_out]",
        },
        lambda v: stepped(**v),
    ),
    (
        whole(
            "inputs: {u: {shape: [..., L]}, a: {shape: [..., L]}}\noutputs: [h, c]",
            "h[..., l] = a[..., l]*c[l - 1] + u[..., l]", "c[..., l] = h[l - 1]/2 - h[..., l]",
        ),
        {"c[l - 1]": "c[..., l - 1]", "h[l - 1]": "h[..., l - 1]"},
        lambda v: entwined(v, torch.zeros(2), torch.zeros(2)),
    ),
    (
        whole(
            "inputs: {u: {shape: [B, L]}, a: {shape: [B, L]}, p: {shape: [B]}}\noutputs: [h, c]",
            "h[b, 0] = p[b]", "c[b, 0] = 2*p[b]", "h[b, l] = a[b, l]*c[b, l - 1] + u[b, l]",
            "c[b, l] = h[b, l - 1]/2 - h[b, l]",
        ),
        {"h[b, 0] = p[b]": "h[b, -1] = p[b]", "c[b, 0] = 2*p[b]": "c[b, -1] = 2 * p[b]"},
        lambda v: entwined(v, v["p"], 2 * v["p"]),
    ),
    (
        whole(
            "inputs: {x: {shape: [..., D]}}\nfunctions: {f(a): (a**2 + 1)**1/3}",
            "y[..., d] = f(x[..., d]) + 3*exp(x[..., d])**1/2",
        ),
        {"(a**2 + 1)**1/3": "(a**2 + 1)**(1 / 3)", "exp(x[..., d])**1/2": "exp(x[..., d])**(1 / 2)"},
        lambda v: {"y": (v["x"] ** 2 + 1) ** (1 / 3) + 3 * v["x"].exp().sqrt()},
    ),
]  # fmt: skip


def _said(line: str) -> str:
    """A line of a cure as a message has it, which may leave out what stands in the body."""
    return line.strip().removesuffix("(c").removesuffix("(x")


@pytest.mark.parametrize(("text", "cure", "meant"), CASES)
def test_what_messages_say_computes_what_was_meant(
    text: str, cure: dict[str, str], meant: Callable[[Values], Values]
) -> None:
    said = [part for found in diagnosed(text) for hint in found.hints for part in re.findall(r"`([^`]+)`", hint)]
    for old, new in cure.items():
        assert all(any(_said(line) in part for part in said) for line in new.splitlines()), (new, said)
        assert old in text
        text = text.replace(old, new, 1)
    operator = built(text)
    (variant,) = operator.variants
    given = {t.name: VALUES[t.name] for t in operator.inputs}
    found = run(
        variant.program,
        {name: array(t.tolist()) for name, t in given.items()},
        {p.name: M for p in operator.params if p.name == "m"},
    )
    wanted = meant(given)
    assert {*operator.outputs} == {*wanted}
    for name, value in wanted.items():
        torch.testing.assert_close(torch.tensor(found[name].data).reshape(found[name].shape).float(), value)
