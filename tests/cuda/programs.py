"""Small programs that between them need every form of kernel."""

from __future__ import annotations

from opgen.ir.program import Argument, Axis, Compute, DimSource, Kind, Output, Program, Role, Scatter, Tensor
from opgen.ir.scalar import BATCH, Batch, Dim, Index, Lit, Param, Read, Scalar, add, call, div, mul, sub, where

K, N, V = Dim("K"), Dim("N"), Dim("V")
k, n, v = Axis("k", K), Axis("n", N), Axis("v", V)


def read(tensor: str, *at: str | Scalar | Batch) -> Read:
    return Read(tensor, tuple(Index(a) if isinstance(a, str) else a for a in at))


def pointwise() -> Program:
    """Element-wise, broadcast, with a parameter."""
    body = add(mul(Param("scale"), read("a", BATCH), call("sigmoid", read("a", BATCH))), read("b", BATCH))
    return Program(
        "forward",
        (Tensor("a", (BATCH,)), Tensor("b", (BATCH,))),
        (Argument("scale", "float"),),
        (),
        (Compute("y", (BATCH,), body),),
        (Output("y", "y", (BATCH,)),),
    )


def softmax() -> Program:
    """Two folds and a map over a row."""
    shifted = call("exp", sub(read("x", BATCH, "k"), read("top", BATCH)))
    return Program(
        "forward",
        (Tensor("x", (BATCH, K)),),
        (),
        (DimSource("K", "x", 1),),
        (
            Compute("top", (BATCH,), read("x", BATCH, "k"), "max", (k,)),
            Compute("total", (BATCH,), shifted, "sum", (k,)),
            Compute("y", (BATCH, k), div(shifted, read("total", BATCH))),
        ),
        (Output("y", "y", (BATCH, K)),),
    )


def moved() -> Program:
    """A row and what may be missing, folded together."""
    x, g = read("x", BATCH, "k"), read("g", BATCH, "k")
    return Program(
        "forward",
        (Tensor("x", (BATCH, K)), Tensor("g", (BATCH, K), role=Role.COTANGENT)),
        (),
        (DimSource("K", "x", 1),),
        (
            Compute("dot", (BATCH,), mul(x, g), "sum", (k,)),
            Compute("y", (BATCH, k), add(x, g, read("dot", BATCH))),
        ),
        (Output("y", "y", (BATCH, K)),),
    )


def halves() -> Program:
    """A map in cases: planes of a first and a second half, and what is behind both; and a fold of the halves."""
    h, d = Dim("H"), Axis("d", Dim("D"))
    here, plane = Index("d"), sub(Index("d"), h)
    first = sub(mul(read("x", BATCH, here), read("c", here)), read("x", BATCH, add(here, h)))
    second = add(mul(read("x", BATCH, here), read("c", plane)), read("x", BATCH, plane))
    value = where(call("lt", here, h), first, where(call("lt", plane, h), second, Lit(0)))
    product = mul(read("x", BATCH, Index("k")), read("x", BATCH, add(Index("k"), h)))
    return Program(
        "forward",
        (Tensor("x", (BATCH, Dim("D"))), Tensor("c", (h,))),
        (),
        (DimSource("D", "x", 1), DimSource("H", "c", 0)),
        (
            Compute("y", (BATCH, d), value),
            Compute("both", (Axis("k", h),), product, "sum", (BATCH,)),
        ),
        (Output("y", "y", (BATCH, Dim("D"))), Output("both", "both", (h,))),
    )


def affine() -> Program:
    """A contraction with a bias; the batch stands in the middle of the shape of x."""
    product = Compute("p", (n, BATCH), mul(read("x", "k", BATCH), read("w", "n", "k")), "sum", (k,))
    return Program(
        "forward",
        (Tensor("x", (K, BATCH)), Tensor("w", (N, K)), Tensor("c", (N,))),
        (),
        (DimSource("K", "x", 0), DimSource("N", "w", 0)),
        (product, Compute("y", (n, BATCH), add(read("p", "n", BATCH), read("c", "n")))),
        (Output("y", "y", (N, BATCH)),),
    )


def reductions() -> Program:
    """Columns, rows and the whole, of every core reduction."""
    x = read("x", BATCH, "k")
    positive = call("gt", x, Param("limit"))
    return Program(
        "forward",
        (Tensor("x", (BATCH, K)), Tensor("g", (BATCH, K))),
        (Argument("limit", "float"),),
        (DimSource("K", "x", 1),),
        (
            Compute("column", (k,), mul(x, read("g", BATCH, "k")), "sum", (BATCH,)),
            Compute("product", (k,), x, "prod", (BATCH,)),
            Compute("largest", (BATCH,), x, "max", (k,)),
            Compute("at", (BATCH,), x, "argmax", (k,), Kind.INT),
            Compute("least_at", (BATCH,), x, "argmin", (k,), Kind.INT),
            Compute("some", (BATCH,), positive, "any", (k,), Kind.BOOL),
            Compute("every", (k,), positive, "all", (BATCH,), Kind.BOOL),
            Compute("many", (), positive, "count", (BATCH, k), Kind.INT),
            Compute("least", (), x, "min", (BATCH, k)),
            Compute("total", (), x, "sum", (BATCH, k)),
        ),
        (
            Output("column", "column", (K,)),
            Output("product", "product", (K,)),
            Output("largest", "largest", (BATCH,)),
            Output("at", "at", (BATCH,), Kind.INT),
            Output("least_at", "least_at", (BATCH,), Kind.INT),
            Output("some", "some", (BATCH,), Kind.BOOL),
            Output("every", "every", (K,), Kind.BOOL),
            Output("many", "many", (), Kind.INT),
            Output("least", "least", ()),
            Output("total", "total", ()),
        ),
    )


def lookup() -> Program:
    """A lazy gather and its scatter, with names that C++ keeps for itself."""
    inside = call("ne", read("ids", BATCH), Param("skip"))
    zero = mul()  # a literal 1
    row = where(inside, Read("double", (read("ids", BATCH), Index("k"))), zero)
    at = (where(inside, read("ids", BATCH), Param("start")), Index("k"))
    return Program(
        "forward",
        (Tensor("double", (V, K)), Tensor("ids", (BATCH,), Kind.INT), Tensor("int", (BATCH, K))),
        (Argument("skip", "int"), Argument("start", "int")),
        (DimSource("V", "double", 0), DimSource("K", "double", 1)),
        (
            Compute("auto", (BATCH, k), row),
            Scatter("spread", (v, k), (BATCH, k), at, read("int", BATCH, "k")),
        ),
        (Output("auto", "auto", (BATCH, K)), Output("spread", "spread", (V, K))),
    )
