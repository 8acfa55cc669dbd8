"""Along which dims the tensors of a program may be spread over devices."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.ir.program import Program
from opgen.lower.operator import lower
from opgen.opt.derive import derive
from opgen.opt.sharding import Held, Placement, shardings
from opgen.schema.load import load

X, XW = "x: {shape: [..., K]}", "x: {shape: [..., K]}, w: {shape: [N, K]}"


def programs(inputs: str, forward: str, params: str = "") -> tuple[Program, Program | None]:
    """The program of a spec with one variant, and its gradient."""
    text = f"op: spread\ninputs: {{{inputs}}}\nparams: {{{params}}}\nforward: |\n  {forward}\n"
    bag = Bag()
    spec = load(Source("spread.yaml", text), bag)
    operator = None if spec is None else lower(spec, bag)
    assert operator is not None, bag.items
    (derived,) = derive(operator)
    return derived.primal, derived.backward


def rows(p: Program | None) -> dict[str, str]:
    """What is not whole, by dim."""
    assert p is not None
    found = {}
    for s in shardings(p):
        given = _shown(zip((t.name for t in p.inputs), s.arguments, strict=True))
        found[s.dim] = f"{given} -> {_shown(zip((o.name for o in p.outputs), s.results, strict=True))}"
    return found


def _shown(placed: zip[tuple[str, Placement]]) -> str:
    words = {Held.PART: "part", Held.NOTHING: "nothing"}
    return " ".join(f"{n}:{words.get(p, p)}" for n, p in placed if p is not Held.WHOLE)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("inputs", "forward", "expected"),
    [
        (X, "y[..., k] = x[..., k]**2", {"...": "x:0 -> y:0", "K": "x:1 -> y:1"}),
        (X, "y[...] = sum[k](x[..., k]**2)", {"...": "x:0 -> y:0", "K": "x:1 -> y:part"}),
        (X, "y[...] = exp(sum[k](x[..., k]))", {"...": "x:0 -> y:0"}),  # not linear in the sum
        (X, "y[...] = 1 + sum[k](x[..., k])", {"...": "x:0 -> y:0"}),  # a number would be added by each device
        (X, "y[...] = mean[k](x[..., k])", {"...": "x:0 -> y:0"}),  # the number of elements is another one
        (X, "y[...] = max[k](x[..., k])", {"...": "x:0 -> y:0"}),
        (X, "y[..., k] = softmax[k](x[..., k])", {"...": "x:0 -> y:0"}),
        (X, "y[..., k] = cumsum[k](x[..., k])", {"...": "x:0 -> y:0"}),
        (X, "y[..., k] = x[..., k]*k", {"...": "x:0 -> y:0"}),  # an index is another one on each device
        (X, "y[..., k < K] = pad(x[..., k - 1], 0)", {"...": "x:0 -> y:0"}),
        (X, "y[..., k] = x[..., k]*x[..., 0]", {"...": "x:0 -> y:0"}),
        (X, "y[..., k, l] = x[..., k]*x[..., l]", {"...": "x:0 -> y:0"}),
        (X, "y[...] = sum[k, l < K](sin(x[..., k] - x[..., l]))", {"...": "x:0 -> y:0"}),
        (
            XW,
            "y[..., n] = sum[k](x[..., k]*w[n, k])",
            {"...": "x:0 -> y:0", "K": "x:1 w:1 -> y:part", "N": "w:0 -> y:1"},
        ),
        (
            f"{XW}, b: {{shape: [N]}}, c: {{shape: [N]}}",  # both are added to the sum: one part each
            "y[..., n] = (b[n] - sum[k](x[..., k]*w[n, k]))/2 + 3*c[n]",
            {"...": "x:0 -> y:0", "K": "x:1 w:1 b:part c:part -> y:part", "N": "w:0 b:0 c:0 -> y:1"},
        ),
        (
            f"{XW}, b: {{shape: [N]}}",  # a part of b would not do for its exponential
            "y[..., n] = exp(b[n]) + sum[k](x[..., k]*w[n, k])",
            {"...": "x:0 -> y:0", "N": "w:0 b:0 -> y:1"},
        ),
        (
            "table: {shape: [V, D]}, ids: {shape: [...], dtype: int}",
            "y[..., d] = table[ids[...], d]",
            {"D": "table:1 -> y:1", "...": "ids:0 -> y:0"},
        ),
        (
            "x: {shape: [N, D]}, ids: {shape: [N], dtype: int}, base: {shape: [V, D]}",
            "y[v, d] = base[v, d]\n  y[ids[n], d] += x[n, d]",
            {"N": "x:0 ids:0 base:part -> y:part", "D": "x:1 base:1 -> y:1"},
        ),
        (
            "a: {shape: [..., T, D]}, x: {shape: [..., T, D]}",
            "h[..., t, d] = a[..., t, d]*h[..., t - 1, d] + x[..., t, d]",
            {"...": "a:0 x:0 -> h:0", "D": "a:2 x:2 -> h:2"},
        ),
        ("x: {shape: [K, ...]}", "y[k, ...] = x[k, ...]", {"K": "x:0 -> y:0", "...": "x:1 -> y:1"}),
        ("x: {shape: [N, N]}", "y[i, j] = x[i, j]", {}),  # both axes would be cut
        ("x: {shape: [A, B]}", "y[a] = sum[b < B//2](x[a, 2*b])", {"A": "x:0 -> y:0"}),
    ],
)
def test_forward(inputs: str, forward: str, expected: dict[str, str]) -> None:
    assert rows(programs(inputs, forward)[0]) == expected


def test_gradients_are_sums_over_what_inputs_do_not_have() -> None:
    _, backward = programs(XW, "y[..., n] = sum[k](x[..., k]*w[n, k])")
    assert rows(backward) == {
        "...": "grad_y:0 x:0 -> grad_x:0 grad_w:part",
        "N": "grad_y:1 w:0 -> grad_x:part grad_w:0",
        "K": "x:1 w:1 -> grad_x:1 grad_w:1",
    }


def test_what_is_added_to_a_sum_may_come_from_a_recurrence() -> None:
    forward = "h[t] = x[t]*h[t - 1] + x[t]\n  y[t] = h[t] + sum[k](w[t, k])"
    p, _ = programs("x: {shape: [T]}, w: {shape: [T, K]}", forward)
    assert rows(p) == {}


def test_one_gradient_may_be_had_without_the_other() -> None:
    _, backward = programs("x: {shape: [K]}, s: {shape: [K]}", "y[k] = s[k]*x[k]/sum[j < K](x[j]**2)")
    found = rows(backward)
    assert found["K"].endswith("-> grad_x:nothing grad_s:0")
