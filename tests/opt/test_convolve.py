"""Convolutions, recognised by where they read: in every order, in every disguise, and nothing that is none."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import run
from opgen.ir.program import Compute, Program
from opgen.ir.verify import verify
from opgen.opt.convolution import Known, Part, convolution
from opgen.opt.convolve import convolve
from opgen.opt.dce import dce
from opgen.opt.derive import derive
from tests.lower.specs import built, elementwise
from tests.opt.test_derive_language import agree, arrays, noise

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Case:
    """A spec, the shapes of its inputs and the params of a call."""

    formula: str
    inputs: str
    more: str
    shapes: Shapes
    params: dict[str, object] = field(default_factory=dict)


XW = "{x: {shape: [N, C, L]}, w: {shape: [O, C, K]}}"
STEPS = "params: {s: {type: int, domain: s > 0}, t: {type: int}, d: {type: int, domain: d > 0}}\n"
GROUPS = "params: {g: {type: int, domain: g > 0}}\n"
SMALL = {"x": (2, 3, 5), "w": (2, 3, 2)}

CASES = {
    "by params": Case(
        "y[n, o, p] = sum[c, k](pad(x[n, c, p*s + k*d - t], 0)*w[o, c, k])",
        XW,
        STEPS + "dims: {P: (L + 2*t - d*(K - 1) - 1)//s + 1}\noutputs: {y: {shape: [N, O, P]}}",
        SMALL,
        {"s": 2, "t": 1, "d": 2},
    ),
    "in range": Case(
        "y[..., o, p, q] = sum[c, r, s](x[..., c, p + r, q + 2*s]*w[o, c, r, s])",
        "{x: {shape: [..., C, H, W]}, w: {shape: [O, C, R, S]}}",
        "dims: {P: H - R + 1, Q: W - 2*S + 2}\noutputs: {y: {shape: [..., O, P, Q]}}",
        {"x": (2, 2, 4, 5), "w": (2, 2, 2, 2)},
    ),
    "padded on one side": Case(
        "y[n, o, p] = sum[c, k](pad(x[n, c, p + k - K + 1], 0)*w[o, c, k])",
        XW,
        "outputs: {y: {shape: [N, O, L]}}",
        SMALL,
    ),
    "backwards": Case(
        "y[n, o, p] = sum[c, k](pad(x[n, c, p - d*k], 0)*w[o, c, k])",
        XW,
        "params: {d: {type: int, domain: d > 0}}\noutputs: {y: {shape: [N, O, L]}}",
        SMALL,
        {"d": 2},
    ),
    "in groups": Case(
        "y[n, o, p] = sum[c, k](pad(x[n, o//(O//g)*D + c, p + k], 0)*w[o, c, k])",
        "{x: {shape: [N, C, L]}, w: {shape: [O, D, K]}}",
        GROUPS + "dims: {D: C//g}\noutputs: {y: {shape: [N, O, L]}}",
        {"x": (2, 4, 3), "w": (6, 2, 2)},
        {"g": 2},
    ),
    "windows with a name": Case(
        "v[n, c, p, k] = pad(x[n, c, 2*p + k - 1], 0)\ny[n, o, p] = sum[c, k](v[n, c, p, k]*w[o, c, k])",
        XW,
        "dims: {P: (L + 1)//2}\noutputs: {v: {shape: [N, C, P, K]}, y: {shape: [N, O, P]}}",
        SMALL,
    ),
    "scattered": Case(
        "y[n, o, p] = b[o]\npad(y[n, o, l*s + k*d - t]) += sum[c](x[n, c, l]*w[c, o, k])",
        "{x: {shape: [N, C, L]}, w: {shape: [C, O, K]}, b: {shape: [O]}}",
        STEPS + "dims: {P: (L - 1)*s + d*(K - 1) + 1 - 2*t}\noutputs: {y: {shape: [N, O, P]}}",
        {"x": (2, 3, 3), "w": (3, 2, 2), "b": (2,)},
        {"s": 2, "t": 1, "d": 3},
    ),
}

SEVERAL = Case(
    "y[n, o, p] = sum[c, k](pad(x[n, c, p + k], 0)*w[o, c, k] - pad(v[n, c, p - k], 0)*w[o, c, k] + w[o, c, k])",
    "{x: {shape: [N, C, L]}, v: {shape: [N, C, L]}, w: {shape: [O, C, K]}}",
    "outputs: {y: {shape: [N, O, L]}}",
    {**SMALL, "v": (2, 3, 5)},
)

OTHERS = {
    "no weight": ("y[..., p < L - 2] = sum[k < 3](x[..., p + k])", "{x: {shape: [..., L]}}", ""),
    "filled with something else": (
        "y[n, o, p] = sum[c, k](pad(x[n, c, p + k], 1)*w[o, c, k])",
        XW,
        "outputs: {y: {shape: [N, O, L]}}",
    ),
    "perhaps out of range": (
        "y[n, o, p] = sum[c, k](x[n, c, p + k]*w[o, c, k])",
        XW,
        "outputs: {y: {shape: [N, O, L]}}",
    ),
    "some of the channels": (
        "y[n, o, p] = sum[c < 2, k](pad(x[n, c, p + k], 0)*w[o, c, k])",
        XW,
        "outputs: {y: {shape: [N, O, L]}}",
    ),
    "steps that may be negative": (
        "y[n, o, p] = sum[c, k](pad(x[n, c, p*s + k], 0)*w[o, c, k])",
        XW,
        "params: {s: {type: int}}\noutputs: {y: {shape: [N, O, L]}}",
    ),
}


def parts(p: Program) -> list[Part]:
    known = Known.of(p)
    found = (convolution(s, known) for s in p.statements if isinstance(s, Compute))
    return [c.part for c in found if c is not None]


@pytest.mark.parametrize("name", CASES)
def test_every_order_is_convolutions(name: str) -> None:
    case = CASES[name]
    (d,) = derive(built(elementwise(case.formula, case.inputs, case.more)))
    first = Part.DATA if name in ("scattered", "backwards") else Part.OUTPUT
    assert parts(d.forward) == [first]
    assert d.gradient is not None and d.second is not None and d.tangent is not None  # noqa: PT018
    assert sorted(parts(d.gradient)) == sorted({*Part} - {first})
    assert parts(d.tangent) == [first, first]
    assert sorted(parts(d.second)) == sorted([first, *Part])


@pytest.mark.parametrize("case", [*CASES.values(), SEVERAL], ids=(*CASES, "several"))
def test_rewriting_keeps_the_values(case: Case) -> None:
    (variant,) = built(elementwise(case.formula, case.inputs, case.more)).variants
    given, p = arrays(variant.program, case.shapes), variant.program
    for seed in range(3):
        made = verify(dce(convolve(p)))
        values = run(p, given, case.params)
        agree(run(made, given, case.params), values, {o.name: o.name for o in p.outputs})
        p = adjoint(made)
        given |= {t.name: noise(values[t.of], seed) for t in p.inputs if t.of in values and t.name not in given}
        given = {t.name: given[t.name] for t in p.inputs}


def test_every_product_of_a_sum_is_a_convolution_of_its_own() -> None:
    (d,) = derive(built(elementwise(SEVERAL.formula, SEVERAL.inputs, SEVERAL.more)))
    assert parts(d.forward) == [Part.OUTPUT, Part.DATA]


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_convolution(name: str) -> None:
    (variant,) = built(elementwise(*OTHERS[name])).variants
    assert not parts(convolve(variant.program))
