"""Reads ahead of the lanes of a run, and lanes whose points are as far apart as a divisor, in the text of kernels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen.code.cpp_comb import Comb, comb, teeth
from opgen.ir.program import Axis
from opgen.ir.scalar import ONE, ZERO, Dim, Index, Lit, Read, Scalar, add, call, mul, neg, sub, where
from opgen.kernel.model import Acc, Body, Join, Store, in_range
from opgen.pipeline import SpecFile, run

W, S, C, STEP, N = Index("w"), Index("s"), Dim("C"), Dim("K"), Dim("N")
PLACE = call("floordiv", add(C, W), STEP)
READ = Read("g", (PLACE,))
ON_TEETH = call("eq", call("mod", add(C, W), STEP), ZERO)


def kernels(spec: str) -> str:
    made = run(SpecFile(Path("made.yaml"), spec.encode(), "made.yaml"))
    assert made.files is not None, made.diagnostics
    return next(f.text for f in made.files if f.path.endswith("_kernels.cpp"))


def windows(formula: str) -> str:
    return kernels(
        "op: made\ninputs: {x: {shape: [N]}}\nparams: {k: {type: int, domain: k > 0}}\n"
        f"dims: {{A: N//k}}\noutputs: {{y: {{shape: [A]}}}}\nforward: {formula}\n"
    )


def test_a_read_whose_condition_asks_for_itself() -> None:
    """The gradient of a product reads an element where others are zero, which it asks of the element as well."""
    assert "rt::Line" in windows("y[a] = prod[s < k](x[a*k + s])")


def test_a_read_at_what_a_read_of_the_same_lane_says() -> None:
    """Nothing of it moves along the lanes, but where it is is a local of theirs."""
    assert "rt::Line" in kernels(
        "op: made\ninputs: {x: {shape: [N, N]}}\nforward: |\n"
        "  y[i, ...] = sin(x[clamp(int(floor(2*x[N - 1 - i, i] + 1)), 0, N - 1), i]*x[0, i])\n"
    )


def test_gradients_of_windows_hold_no_quotients_in_their_lanes() -> None:
    text = windows("y[a] = sum[s < k](x[a*k + s]**3)")
    backward = text[text.index("int backward") :]
    assert "rt::Phases" in backward
    found = re.findall(r"rt::each\(span, \[&\]\(int64_t i\) \{(.*?)\}\);", backward, re.S)
    assert found
    for lanes in found:
        assert "floordiv" not in lanes
        assert "mod" not in lanes


def test_windows_that_overlap_are_looked_for_where_they_stand() -> None:
    text = windows("y[a] = sum[s < 2*k](pad(x[a*k + s], 0))")
    backward = text[text.index("int backward") :]
    assert "const rt::Teeth s_teeth(outer.index(columns, 0, 0), k);" in backward
    assert re.search(r"rt::points\(over_\w+, \{s_teeth\}, columns.at, ", backward)


def test_quotients_that_no_lane_changes_are_computed_once() -> None:
    text = kernels(
        "op: made\ninputs: {x: {shape: [N, M]}}\nparams: {k: {type: int, domain: k > 0}}\n"
        "outputs: {y: {shape: [N, M]}}\nforward: y[n, m] = where((n//k)*k < m, x[n, m], 0)*((n//k) % 2)\n"
    )
    for lanes in re.findall(r"rt::each\(run.size, \[&\]\(int64_t i\) \{(.*?)\}\);", text, re.S):
        assert "rt::floordiv(" not in lanes
        assert "rt::mod(" not in lanes


def test_conditions_on_where_lanes_are_take_no_quotients_in_them() -> None:
    text = kernels(
        "op: made\ninputs: {x: {shape: [N, M]}}\nparams: {k: {type: int, domain: k > 0}}\n"
        "outputs: {y: {shape: [N, M]}}\nforward: y[n, m] = where(m//k < 3 and (n + m)//k > 1, x[n, m], 2*x[n, m])\n"
    )
    assert "rt::Told" in text
    for lanes in re.findall(r"rt::each\(run.size, \[&\]\(int64_t i\) \{(.*?)\}\);", text, re.S):
        assert "rt::floordiv(" not in lanes


def test_no_local_is_left_that_only_positions_asked_for() -> None:
    text = kernels(
        "op: made\ninputs: {x: {shape: [N, D]}, at: {shape: [M], dtype: int, domain: 0 <= at < N}}\n"
        "forward: y[m, d] = exp(x[at[m], d])\n"
    )
    for name in re.findall(r"const \w+ (\w+) = ", text):
        assert len(re.findall(rf"\b{name}\b", text)) > 1, name


def found_in(body: Body, op: str = "sum") -> Comb | None:
    """The comb of a body that folds into `a`."""
    return comb(body, "w", (Acc("a", op), *body))


def test_where_a_sum_adds_something() -> None:
    uniform = call("lt", S, C)
    guard = call("and", ON_TEETH, uniform, in_range(PLACE, N))
    found = found_in((Join("a", where(guard, READ, ZERO)),))
    assert found is not None
    assert (found.divisor, found.start) == (STEP, add(C, W))
    assert (found.uniform, found.clips) == ((uniform,), ((PLACE, N),))
    assert found.body == (Join("a", READ),)


def on(index: Scalar, divisor: Scalar = STEP) -> Scalar:
    """Is a number a multiple of another one?"""
    return call("eq", call("mod", index, divisor), ZERO)


def test_loops_whose_places_a_comb_tells() -> None:
    """`r` has something every `K` places from where `h - r` is a multiple, `s` from where `w + s` is; `t` at all."""
    h, r, t = Index("h"), Index("r"), Index("t")
    other = call("lt", t, C)
    whole = Comb("w", STEP, add(W, S), (on(sub(h, r)), other), (), (), ())
    left, found = teeth(whole, [Axis("r", C), Axis("s", C), Axis("t", C)])
    assert found == ((h, STEP), (neg(W), STEP), None)
    assert (left.uniform, left.start) == ((other,), None)


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(on(add(Index("h"), mul(Lit(2), Index("r")))), id="two apart"),
        pytest.param(on(add(Index("r"), Index("q"))), id="of two loops"),
        pytest.param(on(add(Index("r"), Read("at", (Index("h"),)))), id="read from data"),
        pytest.param(on(Index("r"), Index("q")), id="a divisor that moves"),
    ],
)
def test_loops_whose_places_it_does_not_tell(condition: Scalar) -> None:
    whole = Comb("w", STEP, None, (condition,), (), (), ())
    assert teeth(whole, [Axis("r", C), Axis("q", C)]) == (whole, (None, None))


def test_where_a_store_is_not_zero() -> None:
    other, least = call("gt", W, C), call("lt", PLACE, C)
    guard = call("and", in_range(PLACE, N), other, least)
    found = found_in((Store("out", (W,), where(guard, READ, ZERO)),))
    assert found is not None
    assert (found.start, found.clips, found.below) == (None, ((PLACE, N),), ((PLACE, C),))
    assert found.body == (Store("out", (W,), where(other, READ, ZERO)),)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(where(in_range(PLACE, N), READ, ZERO), id="a sum at all lanes"),
        pytest.param(where(ON_TEETH, READ, Lit(1)), id="not zero elsewhere"),
        pytest.param(where(ON_TEETH, Read("g", (call("floordiv", W, S),)), ZERO), id="two divisors"),
        pytest.param(where(ON_TEETH, Read("g", (mul(W, PLACE),)), ZERO), id="a product"),
        pytest.param(where(ON_TEETH, Read("g", (Read("at", (W,)),)), ZERO), id="a gather"),
        pytest.param(where(ON_TEETH, Read("g", (add(Read("a", ()), PLACE),)), ZERO), id="a place of each lane"),
        pytest.param(where(on(W, Read("at", (S,))), ONE, ZERO), id="a divisor from data"),
        pytest.param(where(on(W, S), ONE, ZERO), id="a divisor that moves"),
    ],
)
def test_what_is_no_comb(value: Read) -> None:
    assert found_in((Join("a", value),)) is None


@pytest.mark.parametrize("op", ["max", "prod"])
def test_zeros_count_in_other_folds(op: str) -> None:
    assert found_in((Join("a", where(ON_TEETH, READ, ZERO)),), op) is None


def test_a_store_beside_a_sum_is_at_every_lane() -> None:
    value = where(ON_TEETH, READ, ZERO)
    assert found_in((Join("a", value), Store("out", (W,), value))) is None


def test_what_each_lane_has_its_own_of_is_asked_for_there() -> None:
    above = call("gt", Read("a", ()), ZERO)
    found = found_in((Join("a", where(call("and", ON_TEETH, above), READ, ZERO)),))
    assert found is not None
    assert (found.uniform, found.body) == ((), (Join("a", where(above, READ, ZERO)),))


def test_what_would_fill_a_read_that_cannot_leave_is_not_asked_for() -> None:
    """The loops of the gradient stop where the tensor does."""
    text = kernels(
        "op: made\ninputs: {x: {shape: [..., N]}}\ndims: {M: N + 2}\noutputs: {y: {shape: [..., N]}}\nforward: |\n"
        "  u[..., i < M] = softmax[i](pad(x[..., i], -1.5))\n  y[..., n] = u[..., n]\n"
    )
    lines = re.findall(r"rt::Line<[^;]*-1\.5\)[^;]*;", text)
    assert lines
    assert all("rt::clipped" in line for line in lines)
