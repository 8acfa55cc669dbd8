"""Derivatives against torch's own, for everything that has an entry in the `derivatives.yaml` of the installed wheel.

At random points, at kinks and at the edges of domains, in float64. The differences are listed here with their reasons,
and the list is complete: one that is not there, or no longer there, fails.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torchgen
import yaml

from opgen.torch.functions import torch_function
from tests.accuracy import operators
from tests.accuracy.operators import Case, derived_of
from tests.torch.execute import function

ENTRIES = Path(torchgen.__file__).parent / "packaged" / "autograd" / "derivatives.yaml"

# What an entry is called there, where that is not the name of the language.
CALLED = {
    "max": "maximum", "min": "minimum", "power": "pow", "logsigmoid": "log_sigmoid_forward",
    "i1e": "special_i1e", "i0e": "special_i0e", "erfcx": "special_erfcx",
}  # fmt: skip
KINKS = (-2.0, -1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0)
EDGES = (math.inf, -math.inf)


def slope_at_a_bound() -> float:
    """Torch's derivative of `clamp` where the number is at a bound: 1 up to torch 2.13, less in 2.15."""
    x, bound = torch.zeros(1, requires_grad=True), torch.zeros(1)
    return float(torch.autograd.grad(x.clamp(bound, bound + 1), x)[0])


# (function, input): why it differs from torch, and where.
DIFFERENCES: dict[tuple[str, str], str] = {
    ("acosh", "x"): "at -1, outside of the domain, the infinity has the other sign",
    ("erfcx", "x"): "0 at inf, where torch has inf*0",
    ("power", "x"): "0 at an exponent at which the power vanishes, where torch has inf*0",
    ("power", "y"): "0 at inf for negative exponents, where torch has 0*inf",
    ("hypot", "x"): "the sign at an infinite x, where torch divides inf by inf",
    ("hypot", "y"): "the sign at an infinite y, where torch divides inf by inf",
    ("sinc", "x"): "0 at infinity, where torch has cos(inf)",
    ("silu", "x"): "0 and 1 at infinity, where torch has 0*inf",
    **{(f"polygamma_{n}", "x"): "0 at inf, where torch has nan" for n in (1, 2, 3)},
    ("copysign", "x"): "the sign at an infinite x, where torch divides inf by inf",
    ("atan2", "y"): "0 at an infinite point, where torch divides inf by inf",
    ("atan2", "x"): "0 at an infinite point, where torch divides inf by inf",
    ("logaddexp", "x"): "0 where both are -inf, as for logsumexp; torch has nan",
    ("logaddexp", "y"): "0 where both are -inf, as for logsumexp; torch has nan",
    **(
        {("clamp", name): "all goes to x where it is at a bound, torch shares it" for name in ("x", "low", "high")}
        if slope_at_a_bound() < 1
        else {}
    ),
    ("reduction", "logsumexp"): "0 where everything is -inf, as the language page says; torch has nan",
    ("reduction", "logcumsumexp"): "0 for an element that is -inf where everything so far is; torch has nan",
    ("reduction", "prod"): "0 where a zero is among the other factors, torch has nan where an infinity is as well",
    ("reduction", "cumprod"): (
        "where torch divides inf by inf the finite product; nan, not 0, by a factor behind inf*0, which is nan itself"
    ),
}


def entries() -> frozenset[str]:
    names = [e["name"] for e in yaml.safe_load(ENTRIES.read_text(encoding="utf-8"))]
    return frozenset(re.split(r"[.(]", n, maxsplit=1)[0] for n in names)


def listed() -> list[Case]:
    known = entries()
    found = []
    for c in operators.functions():
        name = c.name.removeprefix("f_")
        if CALLED.get(name, re.sub(r"_\d+$", "", name)) in known and c.reference is not None:
            found.append(c)
    return found


def points(c: Case) -> list[tuple[float, ...]]:
    generator = torch.Generator().manual_seed(len(c.name))
    drawn = (torch.rand(8, len(c.inputs), generator=generator, dtype=torch.float64) * 4 - 1.5).tolist()
    special = (*KINKS, *EDGES) if len(c.inputs) < 3 else (-1.0, 0.0, 1.0, 2.0)
    return [*map(tuple, drawn), *itertools.product(special, repeat=len(c.inputs))]


def both(c: Case, at: Sequence[tuple[float, ...]]) -> list[tuple[str, tuple[float, ...], float, float]]:
    """Input, point, our derivative and torch's, wherever they differ."""
    columns = torch.tensor(at, dtype=torch.float64).unbind(1)
    given: dict[str, Any] = dict(zip(c.inputs, columns, strict=True))
    ours = gradients(c.operator, c.derived, given, torch.ones_like(columns[0]))
    leaves = [x.clone().requires_grad_() for x in columns]
    assert c.reference is not None
    y = c.reference(*leaves)
    found = []
    for name, leaf, mine in zip(c.inputs, leaves, ours, strict=True):
        theirs = slope(y, leaf)
        if theirs is None:
            continue  # torch has no derivative by this one
        own = torch.zeros_like(leaf) if mine is None else mine.expand(leaf.shape)
        same = torch.isclose(own, theirs, rtol=1e-9, atol=1e-12, equal_nan=True)
        found += [(name, at[k], float(own[k]), float(theirs[k])) for k in (~same).nonzero().flatten().tolist()]
    return found


def slope(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor | None:
    if not y.requires_grad:
        return torch.zeros_like(x)
    try:
        (g,) = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True, allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return None
    return torch.zeros_like(x) if g is None else g


def gradients(operator: Any, d: Any, given: dict[str, Any], ones: torch.Tensor) -> list[torch.Tensor | None]:
    """What the generated backward gives, by input."""
    forward = torch_function("forward", [(d.variant, d.forward)], operator)
    made = function(forward)(*(given[n] for n in forward.arguments))
    names = [o.name for o in d.forward.outputs]
    known = {**given, **dict(zip(names, made if isinstance(made, tuple) else (made,), strict=True))}
    if d.backward is None:
        return [None for _ in d.primal.inputs]
    backward = torch_function("backward", [(d.variant, d.backward)], operator)
    arguments = {t.name: known.get(t.name, ones) for t in d.backward.inputs}
    made = function(backward)(*(arguments[n] for n in backward.arguments))
    by_name = dict(zip([o.of for o in d.backward.outputs], made if isinstance(made, tuple) else (made,), strict=True))
    return [by_name.get(t.name) for t in d.primal.inputs]


def test_most_functions_have_an_entry() -> None:
    assert len(listed()) >= 50


def differences() -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for c in listed():
        for name, at, mine, theirs in both(c, points(c)):
            found.setdefault((c.name.removeprefix("f_"), name), []).append(f"{at}: {mine:g}, torch {theirs:g}")
    return found


def test_functions() -> None:
    found = differences()
    assert {k: v for k, v in found.items() if k not in DIFFERENCES} == {}
    assert {k for k in DIFFERENCES if k[0] != "reduction"} == set(found), "no longer different"


ROWS = (
    (1.0, 2.0, 3.0), (2.0, 2.0, 1.0), (0.0, 0.0, 0.0), (0.0, 2.0, 3.0), (0.0, 0.0, 3.0), (-1.0, 0.5, -2.0),
    (-math.inf, 0.0, 1.0), (-math.inf, -math.inf, -math.inf), (math.inf, 0.0, 1.0),
)  # fmt: skip
REDUCED: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "sum": ("sum", lambda x: x.sum(-1)),
    "mean": ("mean", lambda x: x.mean(-1)),
    "prod": ("prod", lambda x: x.prod(-1)),
    "max": ("amax", lambda x: x.amax(-1)),
    "min": ("amin", lambda x: x.amin(-1)),
    "logsumexp": ("logsumexp", lambda x: x.logsumexp(-1)),
    "norm": ("linalg_vector_norm", lambda x: torch.linalg.vector_norm(x, dim=-1)),
    "var": ("var", lambda x: x.var(-1, correction=0)),
    "softmax": ("_softmax", lambda x: x.softmax(-1)),
    "log_softmax": ("_log_softmax", lambda x: x.log_softmax(-1)),
    "cumsum": ("cumsum", lambda x: x.cumsum(-1)),
    "cumprod": ("cumprod", lambda x: x.cumprod(-1)),
    "logcumsumexp": ("logcumsumexp", lambda x: x.logcumsumexp(-1)),
}


@pytest.mark.parametrize("op", REDUCED)
def test_reductions(op: str) -> None:
    entry, reference = REDUCED[op]
    assert entry in entries()
    keeps = op.endswith("softmax") or op.startswith(("cum", "logcum"))
    left = "y[..., k]" if keeps else "y[...]"
    made = derived_of(f"op: f\ninputs: {{x: {{shape: [..., K]}}}}\nforward: {left} = {op}[k](x[..., k])\n")
    assert made.operator is not None
    assert made.derived is not None
    found = []
    for row in ROWS:
        x = torch.tensor([row], dtype=torch.float64, requires_grad=True)
        y = reference(x)
        ones = torch.arange(1.0, y.numel() + 1, dtype=torch.float64).reshape(y.shape)
        (theirs,) = torch.autograd.grad(y, x, ones)
        (mine,) = gradients(made.operator, made.derived[0], {"x": x.detach()}, ones)
        assert mine is not None
        if not torch.allclose(mine.expand(theirs.shape), theirs, rtol=1e-9, atol=1e-12, equal_nan=True):
            found.append(f"{row}: {mine.tolist()}, torch {theirs.tolist()}")
    assert bool(found) == (("reduction", op) in DIFFERENCES), found
