"""Every construct of the language through all passes: derived programs equal the plain derivatives they come from."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import Array, run
from opgen.ir.operator import Flags
from opgen.ir.program import Kind, Program
from opgen.ir.verify import verify
from opgen.opt.derive import derive
from tests.lower.specs import built, elementwise

CASES: dict[str, tuple[str, str, str, dict[str, tuple[int, ...]]]] = {
    "convolution": (
        "y[n, o, p] = sum[c, k](pad(x[n, c, 2*p + k - 1], 0)*w[o, c, k]) + b[o]",
        "{x: {shape: [N, C, L]}, w: {shape: [O, C, 3]}, b: {shape: [O]}}",
        "dims: {P: (L - 1)//2 + 1}\noutputs: {y: {shape: [N, O, P]}}",
        {"x": (2, 2, 5), "w": (2, 2, 3), "b": (2,)},
    ),
    "maximum over windows": (
        "y[..., p] = max[r < 3](pad(x[..., 2*p + r - 1], -inf))",
        "{x: {shape: [..., L]}}",
        "dims: {P: (L - 1)//2 + 1}\noutputs: {y: {shape: [..., P]}}",
        {"x": (2, 5)},
    ),
    "mean over windows": (
        "y[..., p < L - 2] = mean[r < 3](x[..., p + r]*w[r])",
        "{x: {shape: [..., L]}, w: {shape: [3]}}",
        "",
        {"x": (2, 5), "w": (3,)},
    ),
    "scatter": (
        "y[v, d] = s[v, d]\ny[ids[b], d] += exp(x[b, d])*s[0, d]\ny[ids[b], 0] max= x[b, 0]",
        "{ids: {shape: [B], dtype: int}, x: {shape: [B, D]}, s: {shape: [V, D]}}",
        "",
        {"ids": (4,), "x": (4, 2), "s": (3, 2)},
    ),
    "components": (
        "y[..., 0] = a*b\ny[..., 1] = sin(a)\ny[..., 2] = mean[...](a)*b",
        "{a: {}, b: {}}",
        "",
        {"a": (3,), "b": (3,)},
    ),
    "scans": (
        "c[..., k] = cumprod[k](x[..., k])\ny[..., k] = cumsum[k](c[..., k]*x[..., k]) + logcumsumexp[k](x[..., k])",
        "{x: {shape: [..., K]}}",
        "",
        {"x": (2, 4)},
    ),
    "sorting": (
        "o[..., k] = argsort[k](x[..., k])\ny[..., k] = x[..., o[..., k]]*k",
        "{x: {shape: [..., K]}}",
        "",
        {"x": (2, 4)},
    ),
    "recurrence": (
        "h[-1, i] = b[i]\nh[t, i] = tanh(sum[j](w[i, j]*h[t - 1, j]) + x[t, i])\ny[t] = sum[i](h[t, i]*b[i])",
        "{w: {shape: [N, N]}, x: {shape: [T, N]}, b: {shape: [N]}}",
        "outputs: [y]",
        {"w": (3, 3), "x": (4, 3), "b": (3,)},
    ),
    "two states down": (
        "u[T] = 0.5\nu[t] = u[t + 1]*x[t] + v[t + 1]\nv[t] = sin(u[t]*x[t]) - v[t + 1]",
        "{x: {shape: [T]}}",
        "",
        {"x": (5,)},
    ),
    "diagonal and flip": (
        "y[i] = exp(x[i, i])*x[N - 1 - i, i] + x[i//2, 0]",
        "{x: {shape: [N, N]}}",
        "",
        {"x": (3, 3)},
    ),
}


def arrays(p: Program, shapes: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    rng = random.Random(3)
    found = {}
    for t in p.inputs:
        total = 1
        for n in shapes[t.name]:
            total *= n
        draw = (lambda: rng.randrange(3)) if t.kind is Kind.INT else (lambda: rng.uniform(-1, 1))
        found[t.name] = Array(shapes[t.name], [draw() for _ in range(total)])
    return found


def noise(like: Array, seed: int) -> Array:
    rng = random.Random(seed)
    return Array(like.shape, [rng.uniform(-1, 1) for _ in like.data])


def agree(a: dict[str, Array], b: dict[str, Array], names: dict[str, str]) -> None:
    for mine, other in names.items():
        assert a[mine].shape == b[other].shape
        assert a[mine].data == pytest.approx(b[other].data, rel=1e-9, abs=1e-11), mine


@pytest.mark.parametrize("name", CASES)
def test_derived_programs(name: str) -> None:
    formula, inputs, more, shapes = CASES[name]
    operator = built(elementwise(formula, inputs, more))
    (d,) = derive(operator)
    primal = operator.variants[0].program
    given = arrays(primal, shapes)
    plain = run(primal, given)
    forward = run(verify(d.forward), given)
    agree(forward, plain, {o.name: o.name for o in primal.outputs})
    backward = adjoint(primal)
    seeds = {t.name: noise(plain[t.of], 5) for t in backward.inputs if t.role == "cotangent"}
    want = run(backward, {**given, **seeds})
    assert d.backward is not None and d.gradient is not None and d.second is not None  # noqa: PT018
    saved = {o.of: forward[o.name] for o in d.forward.outputs if o.of} | {
        o.value: forward[o.name] for o in d.forward.outputs
    }
    held = {**saved, **given, **seeds}
    found = run(verify(d.backward), {t.name: held[t.name if t.name in held else t.of] for t in d.backward.inputs})
    agree(found, want, {o.name: o.name for o in backward.outputs})
    held = {**given, **seeds}
    agree(
        run(verify(d.gradient), {t.name: held[t.name] for t in d.gradient.inputs}),
        want,
        {o.name: o.name for o in backward.outputs},
    )
    second = adjoint(backward)
    more_seeds = {t.name: noise(want[t.of], 6) for t in second.inputs if t.role == "cotangent" and t.name not in held}
    held |= more_seeds
    want = run(second, {t.name: held[t.name] for t in second.inputs})
    verify(d.second)
    (whole,) = derive(replace(operator, flags=Flags(save=())))  # with respect to inputs, whatever is kept
    assert whole.second is not None
    for t in whole.second.inputs:
        if t.name not in held:
            held[t.name] = next(held[s.name] for s in second.inputs if s.of == t.of)
    found = run(whole.second, {t.name: held[t.name] for t in whole.second.inputs})
    other = {o.of: o.name for o in second.outputs}
    agree(found, want, {o.name: other[o.of] for o in whole.second.outputs})
    for p in (d.tangent, d.backward_tangent):
        assert p is not None
        verify(p)
