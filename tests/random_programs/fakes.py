"""The fake kernels of random programs: in every variant they give the shapes that the interpreter finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from opgen.ir.program import Given
from opgen.package.view_fakes import backward_fake_body, fake_body
from opgen.package.view_ops import backward_params
from opgen.package.view_saved import saved_names
from opgen.torch.functions import MASK
from tests.random_programs.calls import Call, Checked


def check_fakes(done: Checked) -> None:
    """The results and the gradients of every variant, with None for what the variant does not have."""
    s = done.surface
    forward = {c.variant: c for c in done.of_stage("forward")}
    for c in forward.values():
        given = _inputs(done, c) | c.params
        made = _run("fake", (*s.inputs, *s.params), fake_body(s), given)
        _same(c, dict(zip((*s.output_names, *s.residuals), made, strict=True)), s.output_names)
    if not s.active:
        return
    saved = saved_names(s)
    params = [a.name for a in backward_params(s)]
    for c in done.of_stage("backward"):
        results = {n: _empty(a.shape) for n, a in forward[c.variant].expected.items()}
        given = {**results, **_inputs(done, c), **{f"grad_{n}": results[n] for n in s.active}, **c.params}
        own = {o.of: o.name for o in c.program.outputs}
        given[MASK] = [n in own for n in s.inputs]
        names = (*(f"grad_{n}" for n in s.active), *saved, *params, MASK)
        made = _run("backward_fake", names, backward_fake_body(s, saved), given)
        found = {own[n]: t for n, t in zip(s.wrt, made, strict=True) if n in own}
        _same(c, found, tuple(own.values()))


def _empty(shape: Sequence[int]) -> torch.Tensor:
    return torch.empty(tuple(shape), device="meta")


def _inputs(done: Checked, c: Call) -> dict[str, Any]:
    absent = [g.name for g in c.variant.conditions if isinstance(g, Given) and not g.present]
    return {n: None if n in absent else _empty(s) for n, s in done.case.shapes.items()}


def _run(name: str, arguments: Sequence[str], body: Sequence[str], given: Mapping[str, Any]) -> tuple[Any, ...]:
    text = "\n".join((f"def {name}({', '.join(arguments)}):", *(f"    {line}" for line in body)))
    scope: dict[str, Any] = {"torch": torch, "math": math, "compute_dtype": lambda t: t.dtype}
    exec(text, scope)
    try:
        made = scope[name](*(given.get(n) for n in arguments))
    except Exception as e:
        raise AssertionError(f"{name}: {e}\n{text}") from e
    return made if isinstance(made, tuple) else (made,)


def _same(c: Call, found: Mapping[str, Any], names: Sequence[str]) -> None:
    for n in names:
        shape = None if found[n] is None else tuple(found[n].shape)
        assert shape == c.expected[n].shape, f"fake {c.stage}: {n} has shape {shape}, not {c.expected[n].shape}"
