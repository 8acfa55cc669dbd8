"""Products of several factors: the order in which they are contracted, forward and backward, and its reason."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.ir.program import Compute, Program
from opgen.ir.text import statement
from opgen.lower.operator import lower
from opgen.opt.derive import Derived, derive
from opgen.schema.load import load

LORA = (
    "x: {shape: [..., K]}, a: {shape: [R, K]}, b: {shape: [N, R]}",
    "y[..., n] = sum[k, r](x[..., k]*a[r, k]*b[n, r])",
)
LINEAR_ATTENTION = (
    "q: {shape: [..., L, E]}, k: {shape: [..., S, E]}, w: {shape: [..., S, V]}",
    "y[..., i, v] = sum[j, e](q[..., i, e]*k[..., j, e]*w[..., j, v])",
)
UNBATCHED = (
    "q: {shape: [L, E]}, k: {shape: [S, E]}, w: {shape: [S, V]}",
    "y[i, v] = sum[j, e](q[i, e]*k[j, e]*w[j, v])",
)
TUCKER = (
    "core: {shape: [P, Q, R]}, a: {shape: [I, P]}, b: {shape: [J, Q]}, c: {shape: [K, R]}",
    "y[i, j, k] = sum[p, q, r](core[p, q, r]*a[i, p]*b[j, q]*c[k, r])",
)


def of(spec: tuple[str, str]) -> Derived:
    inputs, forward = spec
    bag = Bag()
    loaded = load(Source("s.yaml", f"op: s\ninputs: {{{inputs}}}\nforward: {forward}\n"), bag)
    operator = lower(loaded, bag) if loaded else None
    assert operator is not None, bag.items
    return derive(operator)[0]


def sums(p: Program | None) -> list[str]:
    assert p is not None
    return [statement(s) for s in p.statements if isinstance(s, Compute) and s.op == "sum"]


def test_a_low_rank_is_met_first() -> None:
    d = of(LORA)
    assert [s.split(" = ")[1] for s in sums(d.forward)] == [
        "sum[k < K](x[..., k]*a[r, k])",
        "sum[r < R](b[n, r]*y_part[..., r])",
    ]
    assert all(s.count("*") == 1 for s in sums(d.backward))
    (order,) = d.rewrites
    assert "b (x a)" in order.rule
    assert "batch*K*R + batch*N*R steps, N*K*R + batch*N*K as" in order.reason
    assert "R = 16" in order.reason


@pytest.mark.parametrize("spec", [LINEAR_ATTENTION, UNBATCHED], ids=["batched", "unbatched"])
def test_keys_meet_values_first(spec: tuple[str, str]) -> None:
    d = of(spec)
    assert "q (k w)" in d.rewrites[0].rule
    pairs = [s for p in (d.forward, d.backward) for s in sums(p)]
    assert not any("L" in s.split(" = ")[0] and "S" in s.split(" = ")[0] for s in pairs)


def test_a_chain_of_four_is_contracted_in_pairs() -> None:
    d = of(TUCKER)
    assert len(sums(d.forward)) == 3
    assert all(s.split(" = ")[1].count("*") == 1 for s in sums(d.forward))


def test_what_one_factor_alone_has_is_summed_in_it() -> None:
    d = of(("q: {shape: [L, E]}, k: {shape: [S, E]}", "y[i] = sum[j, e](q[i, e]*k[j, e])"))
    assert [s.split(" = ")[1] for s in sums(d.forward)] == ["sum[j < S](k[j, e])", "sum[e < E](q[i, e]*y_part[e])"]
