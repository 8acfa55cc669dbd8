"""Switches that are decided in the call: few variants are written out, which mean what all meant."""

from __future__ import annotations

import math
import random

import pytest

from opgen.ir.interp import Array, run
from opgen.ir.operator import Operator
from opgen.ir.program import Chosen, Given, Kind
from opgen.ir.scalar import Apply, Batch, Const, Lit, Scalar
from opgen.lower import fold
from tests.lower.specs import built

MANY_INPUTS = (
    "inputs: {x: {shape: [..., K]}, "
    + ", ".join(f"b{k}: {{shape: [K], optional: true}}" for k in range(6))
    + "}\nforward: 'y[..., k] = tanh(x[..., k] + "
    + " + ".join(f"b{k}[k]*x[..., k]**{k + 1}" for k in range(6))
    + ")'\n"
)
MANY_FLAGS = (
    "inputs: [x]\nparams: {" + ", ".join(f"p{k}: {{type: bool, default: true}}" for k in range(6)) + "}\nforward: |\n"
    "  a0 = x\n"
    + "".join(f"  a{k + 1} = sin(a{k}) + {k} if p{k}\n  a{k + 1} = 2*a{k} if not p{k}\n" for k in range(5))
    + "  y = a5 if p5\n  y = -a5 if p5 == false\n"
)
MIXED = """
inputs:
  x: {shape: [..., K]}
  w: {shape: [..., K], optional: true, absent: 1}
  b: {shape: [K], optional: true}
  mask: {shape: [..., K], dtype: bool, optional: true}
  ids: {shape: [K], dtype: int, optional: true, absent: 2}
  c: {shape: [3], optional: true, absent: -inf}
params:
  mode: {choices: [fast, slow, exact], default: slow}
  flag: {type: bool, default: true}
forward: |
  a[..., k] = x[..., k]*w[..., k] + b[k] + sum[i < 3](exp(c[i])) if mode == "fast"
  a[..., k] = tanh(x[..., k])*ids[k] if mode == "slow"
  a[..., k] = x[..., k] - 0.1 if mode == "exact"
  d[..., k] = where(given(mask), where(mask[..., k], a[..., k], 0), sum[j](a[..., j])) if flag
  d[..., k] = a[..., k] if not flag
  y[..., k] = d[..., k] if given(c) and given(b)
  y[..., k] = exp(d[..., k]) if not (given(c) and given(b))
"""
RANKS = """
inputs: {x: {shape: [..., K]}, a: {optional: true}, b: {optional: true}, c: {optional: true}, d: {optional: true}}
params: {p: {type: bool, default: true}, q: {type: bool, default: true}, reduction: {choices: [mean, sum, none]}}
forward: |
  t = x[..., 0] + a + b + c + d if p
  t = sum[k, ...](x[..., k]) if not p
  u[n] += 1 if q
  v = reduction[...](t + a)
outputs: {v: {}, u: {shape: [2]}}
"""
NUMBERS = """
inputs: {x: {shape: [...]}, w: {shape: [...], optional: true, absent: 1}}
params:
  mode: {choices: [near, far, none, all], default: near}
  p: {type: bool, default: true}
  q: {type: bool, default: true}
forward: |
  a = sin(x) if mode == "near"
  a = x**2 if mode == "far"
  a = 0 if mode == "none"
  a = 0.5 if mode == "all"
  b = w*(1 - x + a) if p
  b = 1 if not p
  y = x*b + a if q
  y = tanh(b) + x if not q
"""
SCALARS = NUMBERS.replace("x*b + a", "b + a")
CASES = {"inputs": MANY_INPUTS, "flags": MANY_FLAGS, "all kinds": MIXED, "numbers": NUMBERS}


def all_variants(text: str, monkeypatch: pytest.MonkeyPatch) -> Operator:
    with monkeypatch.context() as m:
        m.setattr(fold, "MOST", 1000)
        m.setattr(fold, "FEW", 1000)
        return built(f"op: op\n{text}")


@pytest.mark.parametrize("case", CASES)
def test_few_variants_mean_what_many_meant(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opgen.lower.operator.MAX_VARIANTS", 1000)
    monkeypatch.setattr("opgen.lower.fold.MAX_VARIANTS", 1000)
    many = all_variants(CASES[case], monkeypatch)
    few = built(f"op: op\n{CASES[case]}")
    assert len(few.variants) <= fold.LEFT < len(many.variants)
    rng = random.Random(1)
    for v in rng.sample(many.variants, 24):
        given = {c.name: c.present for c in v.conditions if isinstance(c, Given)}
        chosen = {c.name: c.value for c in v.conditions if isinstance(c, Chosen)}
        arrays = {
            t.name: sample(t.kind, tuple(2 if isinstance(s, Batch) else 3 for s in t.shape), rng) for t in few.inputs
        }
        wanted = run(v.program, {t.name: arrays[t.name] for t in v.program.inputs}, dict(chosen))
        for f in few.fills:
            if not given[f.name]:
                own = arrays[f.name]
                arrays[f.name] = Array(own.shape, [number(f.value)] * len(own.data))
        tells = {a.name: a.tells for a in few.params if a.tells is not None}
        told = {
            n: given[c.name] == c.present if isinstance(c, Given) else chosen[c.name] == c.value
            for n, c in tells.items()
        }
        fits = next(w for w in few.variants if set(w.conditions) <= set(v.conditions))
        found = run(fits.program, {t.name: arrays[t.name] for t in fits.program.inputs}, {**chosen, **told})
        assert found["y"].data == pytest.approx(wanted["y"].data)


def sample(kind: Kind, shape: tuple[int, ...], rng: random.Random) -> Array:
    draw = {
        Kind.FLOAT: lambda: rng.uniform(-1, 1),
        Kind.INT: lambda: rng.randrange(3),
        Kind.BOOL: lambda: rng.random() < 0.5,
    }
    return Array(shape, [draw[kind]() for _ in range(math.prod(shape))])


def number(e: Scalar) -> float:
    match e:
        case Lit(value):
            return float(value)
        case Const("inf"):
            return float("inf")
        case Apply("neg", (a,)):
            return -number(a)
    raise AssertionError(e)


def test_what_may_be_a_number_altogether_stays_a_variant() -> None:
    made = built(f"op: op\n{SCALARS}")
    names = {c.name for v in made.variants for c in v.conditions}
    assert {"p", "mode"} <= names
    assert {v.program.outputs[0].shape == () for v in made.variants} == {True, False}


def test_what_decides_on_ranks_or_guards_a_scatter_stays_a_variant() -> None:
    made = built(f"op: op\n{RANKS}")
    assert {c.name for c in made.variants[0].conditions} == {"p", "q", "reduction"}
    assert [f.name for f in made.fills] == ["a", "b", "c", "d"]


def test_few_switches_stay_variants() -> None:
    made = built("op: op\ninputs: {x: {}, a: {optional: true}, b: {optional: true}}\nforward: y = x + a + b\n")
    assert len(made.variants) == 4
    assert not made.fills
