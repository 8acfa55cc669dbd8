"""The oracle itself, against values worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from opgen.ir import text
from opgen.ir.interp import Array, array, run
from opgen.ir.program import Axis, Compute, DimSource, Kind, Output, Program, Scatter, Tensor
from opgen.ir.scalar import BATCH, NEG_INF, ZERO, Apply, Dim, Index, Lit, Param, Read, add, call, mul, where
from opgen.ir.verify import IllegalProgramError, verify

N, K, V = Dim("N"), Dim("K"), Dim("V")
n, k = Axis("n", N), Axis("k", K)


def program(inputs: tuple[Tensor, ...], statement: Compute | Scatter, **changes: object) -> Program:
    """One statement whose target is the only output."""
    dims: dict[str, DimSource] = {}
    for t in inputs:
        for place, size in enumerate(t.shape):
            if isinstance(size, Dim):
                dims.setdefault(size.name, DimSource(size.name, t.name, place))
    output = Output("y", "y", statement.shape, statement.kind)
    return verify(Program("p", inputs, (), tuple(dims.values()), (statement,), (output,)))


def test_contraction_with_a_batch() -> None:
    x, w = Tensor("x", (BATCH, K)), Tensor("w", (N, K))
    body = mul(Read("x", (BATCH, Index("k"))), Read("w", (Index("n"), Index("k"))))
    p = program((x, w), Compute("y", (BATCH, n), body, "sum", (k,)))
    result = run(p, {"x": array([[1.0, 2.0], [3.0, 4.0]]), "w": array([[1.0, 1.0], [2.0, 0.0], [0.0, 1.0]])})
    assert result["y"] == Array((2, 3), [3.0, 2.0, 2.0, 7.0, 6.0, 4.0])
    assert text.statement(p.statements[0]) == "y[..., n < N] = sum[k < K](x[..., k]*w[n, k])"


def test_batches_broadcast_from_the_right() -> None:
    a, b = Tensor("a", (BATCH,)), Tensor("b", (BATCH,))
    p = program((a, b), Compute("y", (BATCH,), add(Read("a", (BATCH,)), Read("b", (BATCH,)))))
    result = run(p, {"a": array([[1.0], [2.0]]), "b": array([10.0, 20.0, 30.0])})
    assert result["y"] == Array((2, 3), [11.0, 21.0, 31.0, 12.0, 22.0, 32.0])


def test_gradient_is_summed_to_the_shape_of_its_operand() -> None:
    a, b = Tensor("a", (BATCH, K)), Tensor("b", (BATCH, K))
    p = program((a, b), Compute("y", (BATCH, k), mul(*(Read(t, (BATCH, Index("k"))) for t in "ab"))))
    p = replace(p, outputs=(Output("y", "y", (BATCH, K), like="b"),))
    result = run(p, {"a": array([[1.0, 2.0], [3.0, 4.0]]), "b": array([1.0, 10.0])})
    assert result["y"] == Array((2,), [4.0, 60.0])


def test_where_does_not_read_the_branch_not_taken() -> None:
    ids = Tensor("ids", (N,), Kind.INT)
    table = Tensor("table", (V,))
    at = Read("ids", (Index("n"),))
    body = where(Apply("ge", (at, ZERO)), Read("table", (at,)), Lit(7))
    p = program((ids, table), Compute("y", (n,), body))
    assert run(p, {"ids": array([1, -100, 0]), "table": array([0.5, 1.5])})["y"].data == [1.5, 7, 0.5]


def test_out_of_range_is_an_error_and_pad_fills() -> None:
    x = Tensor("x", (N,))
    shifted = (add(Index("n"), Lit(1)),)
    with pytest.raises(IndexError, match="out of range"):
        run(program((x,), Compute("y", (n,), Read("x", shifted))), {"x": array([1.0, 2.0])})
    p = program((x,), Compute("y", (n,), Read("x", shifted, Lit(9))))
    assert run(p, {"x": array([1.0, 2.0])})["y"].data == [2.0, 9]


def test_scatter_accumulates_repeats() -> None:
    ids, g = Tensor("ids", (N,), Kind.INT), Tensor("g", (N,))
    table = Tensor("table", (V,))
    scatter = Scatter("y", (Axis("v", V),), (n,), (Read("ids", (Index("n"),)),), Read("g", (Index("n"),)))
    p = program((ids, g, table), scatter)
    result = run(p, {"ids": array([2, 0, 2]), "g": array([1.0, 10.0, 100.0]), "table": array([0.0, 0.0, 0.0])})
    assert result["y"].data == [10.0, 0, 101.0]


@pytest.mark.parametrize(
    ("op", "kind", "expected"),
    [
        ("sum", Kind.FLOAT, 0.0),
        ("prod", Kind.FLOAT, 1),
        ("max", Kind.FLOAT, -math.inf),
        ("min", Kind.FLOAT, math.inf),
        ("logsumexp", Kind.FLOAT, -math.inf),
        ("norm", Kind.FLOAT, 0.0),
        ("mean", Kind.FLOAT, math.nan),
        ("var", Kind.FLOAT, math.nan),
        ("count", Kind.INT, 0),
        ("any", Kind.BOOL, False),
        ("all", Kind.BOOL, True),
    ],
)
def test_empty_reductions(op: str, kind: Kind, expected: float) -> None:
    x = Tensor("x", (N,), Kind.BOOL if op in ("any", "all", "count") else Kind.FLOAT)
    p = program((x,), Compute("y", (), Read("x", (Index("n"),)), op, (n,), kind))
    (found,) = run(p, {"x": Array((0,), [])})["y"].data
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_softmax_of_a_masked_row_and_argmax_of_ties() -> None:
    x = Tensor("x", (N,))
    read = Read("x", (Index("n"),))
    softmax = program((x,), Compute("y", (n,), read, "softmax", (n,)))
    found = run(softmax, {"x": array([0.0, -math.inf, 0.0])})["y"].data
    assert found == pytest.approx([0.5, 0.0, 0.5])
    argmax = program((x,), Compute("y", (), read, "argmax", (n,), Kind.INT))
    assert run(argmax, {"x": array([1.0, 3.0, 3.0])})["y"].data == [1]
    top = program((x,), Compute("y", (), where(Apply("gt", (read, ZERO)), read, NEG_INF), "max", (n,)))
    assert run(top, {"x": array([-1.0, -2.0])})["y"].data == [-math.inf]


def test_edges_follow_ieee() -> None:
    x = Tensor("x", (N,))
    p = program((x,), Compute("y", (n,), call("log", Read("x", (Index("n"),)))))
    found = run(p, {"x": array([0.0, -1.0, 1.0])})["y"].data
    assert found[0] == -math.inf
    assert math.isnan(found[1])
    assert found[2] == 0.0


@pytest.mark.parametrize(
    "body",
    [Index("q"), Param("missing"), Dim("Q"), Read("z", ()), Read("x", ()), Apply("nosuch", (ZERO,)), Apply("exp", ())],
    ids=text.scalar,
)
def test_verify_refuses(body: object) -> None:
    with pytest.raises(IllegalProgramError):
        program((Tensor("x", (N,)),), Compute("y", (n,), body))  # type: ignore[arg-type]
