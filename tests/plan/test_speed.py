"""What `auto` leaves to plain torch on a CPU: it follows from the plan, not from the name of an operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.ir.scalar import Batch, Dim
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan import speed
from opgen.plan.build import build
from opgen.plan.speed import Choice, choice

ATTENTION = """
op: mixer
inputs: {a: {shape: [..., N, D]}, b: {shape: [..., M, D]}, c: {shape: [..., M, E]}}
forward: y[..., i, e] = sum[j](softmax[j](sum[d](a[..., i, d]*b[..., j, d]))*c[..., j, e])
"""
SHIFTED_ATTENTION = ATTENTION.replace("y[..., i, e] = sum", "y[..., i, e] = 1 + sum")  # row sums from scores
DISTANCES = """
op: mixer
inputs: {a: {shape: [..., N, D]}, b: {shape: [..., M, D]}, c: {shape: [..., M, E]}}
forward: y[..., i, e] = sum[j](exp(-sum[d]((a[..., i, d] - b[..., j, d])**2))*c[..., j, e])
"""
WINDOWS = """
op: largest
inputs: {x: {shape: [..., N]}}
dims: {P: N//2}
outputs: {y: {shape: [..., P]}}
forward: y[..., p] = max[r < 3](pad(x[..., 2*p + r - 1], -inf))
"""
SPLIT = """
op: turned
inputs: {x: {shape: [..., T, D]}, a: {shape: [T, H]}, b: {shape: [T, H]}}
forward: |
  y[..., t, d < 2*H] = where(
      d < H,
      x[..., t, d]*a[t, d] - x[..., t, d + H]*b[t, d],
      x[..., t, d]*a[t, d - H] + x[..., t, d - H]*b[t, d - H])
"""
PICKED = """
op: picked
inputs: {at: {shape: [...], dtype: int}, table: {shape: [V, D]}}
forward: y[..., d] = table[at[...], d]
"""
SENT = """
op: sent
inputs: {x: {shape: [V, D]}, a: {shape: [E], dtype: int}, b: {shape: [E], dtype: int}}
outputs: {y: {shape: [V, D]}}
forward: y[a[e], d] += x[b[e], d]
"""
OUTER = """
op: forms
inputs: {a: {shape: [..., I]}, b: {shape: [..., J]}, w: {shape: [O, I, J]}}
forward: y[..., o] = sum[i, j](a[..., i]*b[..., j]*w[o, i, j])
"""
SORTED = """
op: spread
inputs: {x: {shape: [..., N]}}
forward: y[..., n] = sort[n](x[..., n])
"""
FROM_ELSEWHERE = """
op: elsewhere
inputs: [x]
functions:
  j0(x):
    extern: {torch: torch.special.bessel_j0, cpp: "::j0"}
    derivative: -j1(x)
  j1(x):
    extern: {torch: torch.special.bessel_j1, cpp: "::j1"}
    derivative: j0(x)
forward: y = j0(x)
"""
COUNTED = """
op: counted
inputs: {x: {shape: [..., N]}}
forward: y[..., n] = x[..., n]*count[j < N](j < n)
"""


def of_map(body: str) -> str:
    return f"op: pointwise\ninputs: [x]\nforward: y = {body}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(of_map("x*sigmoid(x)"), (), id="vectorised"),
        pytest.param(of_map("x*tan(-x)"), ("forward", "backward"), id="a call of the C library for each element"),
        pytest.param(
            "op: s\ninputs: {x: {shape: [..., N]}}\nforward: y[..., n] = softmax[n](x[..., n])\n", (), id="rows"
        ),
        pytest.param(ATTENTION, (), id="attention, whose output gives row sums"),
        pytest.param(SHIFTED_ATTENTION, ("backward",), id="matrix products that are computed again"),
        pytest.param(DISTANCES, (), id="distances that are in no memory"),
        pytest.param(WINDOWS, (), id="windows"),
        pytest.param(SPLIT, (), id="shifted and folded across memory"),
        pytest.param(PICKED, (), id="a gather alone"),
        pytest.param(OUTER, ("forward", "backward"), id="outer products"),
        pytest.param(SORTED, (), id="a sort"),
        pytest.param(FROM_ELSEWHERE, ("forward", "backward"), id="a function of the C library that the spec names"),
        pytest.param(COUNTED, (), id="a count of pairs"),
        pytest.param(SENT, (), id="gathered and scattered"),
    ],
)
def test_what_is_left_to_torch(text: str, expected: tuple[str, ...]) -> None:
    assert chosen(text) == expected


@pytest.mark.parametrize(
    ("text", "direction", "why", "extents"),
    [
        (of_map("x*tan(-x)"), "forward", "tan is computed one element at a time", "..."),
        (FROM_ELSEWHERE, "forward", "j0 is computed one element at a time", "..."),
        (SHIFTED_ATTENTION, "backward", "a matrix product that is never stored", "... N M E"),
        (OUTER, "forward", "an outer product for a matrix product", "... I J"),
    ],
)
def test_why_and_where_time_is_lost(text: str, direction: str, why: str, extents: str) -> None:
    found = choices(text)
    assert found.in_torch[direction] == why
    lost, *_ = found.excess[direction][0]
    assert lost.each > 0
    assert " ".join("..." if isinstance(e, Batch) else e.name for e in lost.extents if isinstance(e, Batch | Dim)) == (
        extents
    )


def test_directions_that_compare_the_same_values_lose_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "MARGIN", 0.0)  # all is slower in kernels
    text = "op: tied\ninputs: {x: {shape: [..., N, K]}}\nforward: y[..., n] = max[k](exp(x[..., n, k]))\n"
    found = choices(text)
    assert found.excess["forward"] == found.excess["backward"] != ()


@pytest.mark.parametrize(("formula", "together"), [("exp(x[..., n, k])", True), ("2*x[..., n, k]", False)])
def test_values_that_tie_are_compared_where_they_were_computed(
    formula: str, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "_why", lambda p: "" if p.name.endswith("_backward") else "said so")
    text = "op: tied\ninputs: {x: {shape: [..., N, K]}}\nforward: y[..., n] = max[k](%s)\n"
    assert chosen(text % formula) == (("forward", "backward") if together else ("forward",))


def chosen(text: str) -> tuple[str, ...]:
    return tuple(choices(text).in_torch)


def choices(text: str) -> Choice:
    made = run(SpecFile(Path("made.yaml"), text.encode(), "made.yaml"), Stage.DERIVED)
    assert made.derived is not None, made.diagnostics
    (d,) = made.derived
    assert d.backward is not None
    return choice({"forward": (build(d.forward),), "backward": (build(d.backward),)})
