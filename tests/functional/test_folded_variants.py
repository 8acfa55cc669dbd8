"""Operators with more switches than variants are written out for: calls decide, in every way of calling them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

from opgen.pipeline import SpecFile, run

Build = Callable[[str], ModuleType]

AFFINE = """
op: affine
inputs:
  x: {shape: [..., K]}
  w: {shape: [..., K], optional: true, absent: 1}
  b: {shape: [K], optional: true}
  mask: {shape: [..., K], dtype: bool, optional: true, absent: true}
  c: {shape: [3], optional: true}
  d: {optional: true}
params:
  mode: {choices: [fast, slow], default: slow}
  flag: {type: bool, default: true}
forward: |
  a[..., k] = x[..., k]*w[..., k] + b[k] + sum[i < 3](c[i]) if mode == "fast"
  a[..., k] = tanh(x[..., k])*w[..., k] if mode == "slow"
  e[..., k] = where(mask[..., k], a[..., k], -1) if flag
  e[..., k] = a[..., k] if not flag
  y[..., k] = e[..., k] + d if given(d)
  y[..., k] = exp(e[..., k]) if not given(d)
module: {name: Affine, dims: {K: size}, parameters: {b: zeros}}
"""


def formula(x, w=None, b=None, mask=None, c=None, d=None, mode="slow", flag=True):  # type: ignore[no-untyped-def]
    one = torch.ones_like(x) if w is None else w
    a = torch.tanh(x) * one
    if mode == "fast":
        a = x * one + (0 if b is None else b) + (0 if c is None else c.sum())
    e = torch.where(mask, a, -1) if flag and mask is not None else a
    return e.exp() if d is None else e + d.unsqueeze(-1)


def operands() -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = ((2, 4), (2, 4), (4,), None, (3,), (2,))
    return [
        torch.rand(2, 4) > 0.5 if s is None else torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes
    ]


def test_calls_decide(build_operator: Build) -> None:
    package = build_operator(AFFINE)
    op, full = package.affine, operands()
    for left_out in ((), (1,), (1, 2, 3, 4, 5), (3, 5), (2, 4)):
        for params in ({}, {"mode": "fast"}, {"mode": "fast", "flag": False}):
            given = [None if k in left_out else t for k, t in enumerate(full)]
            result, expected = op(*given, **params), formula(*given, **params)
            torch.testing.assert_close(result, expected)
            leaves = [t for t in given if t is not None and t.requires_grad]
            theirs = torch.autograd.grad(expected.cos().sum(), leaves, allow_unused=True, materialize_grads=True)
            ours = torch.autograd.grad(result.cos().sum(), leaves, allow_unused=True, materialize_grads=True)
            torch.testing.assert_close(ours, theirs)
    x, w = full[0], full[1]
    torch.testing.assert_close(torch.vmap(op)(x, w), formula(x, w))
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x, None, full[2], mode="fast"), formula(x, None, full[2], mode="fast"))
    assert torch.autograd.gradgradcheck(lambda x, d: op(x, d=d, mode="fast"), (x, full[5]))
    tangent = torch.func.jvp(lambda x: op(x, mode="fast"), (x,), (torch.ones_like(x),))[1]
    torch.testing.assert_close(tangent, formula(x, mode="fast"))
    module = package.Affine(size=4, b=False, mode="fast").double()
    torch.testing.assert_close(module(x), formula(x, mode="fast"))
    with pytest.raises(ValueError, match="b must have shape"):
        op(x, None, x)


SLOWEST = {
    "optional inputs": (
        "inputs: {x: {shape: [..., K]}, "
        + ", ".join(f"b{k}: {{shape: [K], optional: true}}" for k in range(8))
        + "}\nforward: 'y[..., k] = tanh(x[..., k] + "
        + " + ".join(f"b{k}[k]*x[..., k]**{k + 1}" for k in range(8))
        + ")'\n"
    ),
    "flags": (
        "inputs: {x: {shape: [..., K]}}\nparams: {"
        + ", ".join(f"p{k}: {{type: bool, default: true}}" for k in range(8))
        + "}\nforward: |\n  a0[..., k] = x[..., k]\n"
        + "".join(
            f"  a{k + 1}[..., k] = sin(a{k}[..., k]) if p{k}\n  a{k + 1}[..., k] = 2*a{k}[..., k] if not p{k}\n"
            for k in range(8)
        )
    ),
    "both": (
        "inputs: {x: {shape: [..., K]}, "
        + ", ".join(f"b{k}: {{shape: [K], optional: true}}" for k in range(4))
        + "}\nparams: {m: {choices: [one, two]}, n: {choices: [one, two]}, p: bool, q: bool}\nforward: |\n"
        + "".join(
            f"  {a}[..., k] = tanh({before}[..., k] + b{j}[k]) if {yes}\n"
            f"  {a}[..., k] = {before}[..., k]*b{j}[k] if {no}\n"
            for j, (a, before, yes, no) in enumerate(
                (
                    ("a", "x", 'm == "one"', 'm == "two"'),
                    ("b", "a", 'n == "one"', 'n != "one"'),
                    ("c", "b", "p", "not p"),
                    ("y", "c", "q and given(b3)", "not (q and given(b3))"),
                )
            )
        )
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOWEST)
def test_many_switches_are_built_soon(case: str) -> None:
    start = time.process_time()
    made = run(SpecFile(Path("many.yaml"), f"op: many\n{SLOWEST[case]}".encode(), "many.yaml"))
    assert made.files is not None, made.diagnostics
    assert sum(len(f.text.encode()) for f in made.files) < 2**20
    assert time.process_time() - start < 10
