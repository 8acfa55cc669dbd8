"""Hand-built programs over a fixed set of inputs, and their printed torch code checked against the interpreter."""

from __future__ import annotations

from typing import Any

import torch

from opgen.ir.operator import Operator, Variant
from opgen.ir.program import (
    Argument,
    Axis,
    Compute,
    DimSource,
    Kind,
    Loop,
    Output,
    Program,
    Shape,
    Statement,
    Tensor,
    definitions,
    statement_reads,
)
from opgen.ir.scalar import (
    BATCH,
    Apply,
    Batch,
    Dim,
    Index,
    Param,
    Read,
    Scalar,
)
from opgen.torch.functions import torch_function
from tests.torch.cases import compare
from tests.torch.execute import function, source

A, B, C = Dim("A"), Dim("B"), Dim("C")
SIZES = {"A": 4, "B": 5, "C": 6}
i, j, k = Index("i"), Index("j"), Index("k")
K, S = Param("count"), Param("step")
PARAMS = {"count": 3, "step": 2, "shift": -1}


def add(*args: Scalar) -> Scalar:
    return Apply("add", args)


def sub(a: Scalar, b: Scalar) -> Scalar:
    return Apply("sub", (a, b))


def mul(*args: Scalar) -> Scalar:
    return Apply("mul", args)


def call(fn: str, *args: Scalar) -> Scalar:
    return Apply(fn, args)


def read(tensor: str, *at: Scalar | Batch, fill: Scalar | None = None) -> Read:
    return Read(tensor, at, fill)


INPUTS = {
    "x": (BATCH, A),
    "w": (A, B),
    "m": (BATCH, B, C),
    "v": (C,),
    "e": (A, BATCH),
    "z": (BATCH,),
}
INTS = {"ids": (BATCH, B), "row": (A,), "one": (BATCH,)}


def program(*statements: Statement, outputs: tuple[str, ...] = ()) -> Program:
    """A program over the inputs above that its statements read."""
    read_names = {n for s in statements for n in _names(s)}
    shapes: dict[str, Shape] = {**INPUTS, **INTS}
    inputs = tuple(
        Tensor(n, s, Kind.INT if n in INTS else Kind.FLOAT)
        for n, s in shapes.items()
        if n in read_names or n in ("w", "m")
    )
    dims = []
    for d in SIZES:
        t = next((t for t in inputs if Dim(d) in t.shape), None)
        if t is not None:
            dims.append(DimSource(d, t.name, t.shape.index(Dim(d))))
    named = outputs or (statements[-1].target,)
    p = Program("f", inputs, tuple(Argument(n, "int") for n in PARAMS), tuple(dims), statements, ())
    made = {s.target: s for s in definitions(p)}
    return Program(
        "f",
        inputs,
        tuple(Argument(n, "int") for n in PARAMS),
        tuple(dims),
        statements,
        tuple(Output(n, n, made[n].shape, made[n].kind) for n in named),
    )


def _names(s: Statement) -> tuple[str, ...]:
    return tuple(r.tensor for r in statement_reads(s))


def arguments(p: Program, batch: tuple[int, ...], sizes: dict[str, int]) -> dict[str, Any]:
    seed = torch.Generator().manual_seed(3)
    out: dict[str, Any] = {}
    for n, t in enumerate(p.inputs):
        own = batch if n % 2 == 0 or not batch else (1, *batch[1:])
        shape = tuple(x for a in t.shape for x in (own if isinstance(a, Batch) else (sizes[a.name],)))  # type: ignore[union-attr]
        if t.kind is Kind.INT:
            out[t.name] = torch.randint(0, max(1, min(sizes.values())), shape, generator=seed)
        else:
            out[t.name] = torch.randn(shape, generator=seed, dtype=torch.float64)
    return out


def check(p: Program, sizes: dict[str, int] = SIZES, batches: tuple[tuple[int, ...], ...] = ((), (2,), (2, 3))) -> str:
    variant = Variant((), p)
    operator = Operator("f", p.inputs, (), p.params, tuple(o.name for o in p.outputs), (variant,))
    code = source(torch_function("f", [(variant, p)], operator))
    assert all(len(line) <= 116 for line in code.splitlines()[1:]), code
    for batch in batches:
        compare([(variant, p)], operator, [arguments(p, batch, sizes)], [PARAMS])
    f = function(torch_function("f", [(variant, p)], operator))
    given = arguments(p, (2, 3), sizes)
    names = torch_function("f", [(variant, p)], operator).arguments
    every = {**given, **PARAMS}
    floats = [n for n in names if n in given and given[n].is_floating_point()]
    if floats and all(o.kind is Kind.FLOAT for o in p.outputs):
        for n in floats:
            given[n].requires_grad_()
        out = f(*(every[n] if n in PARAMS else given[n] for n in names))
        out = out if isinstance(out, tuple) else (out,)
        if any(o.requires_grad for o in out):
            total = sum(torch.nan_to_num(o, neginf=0, posinf=0).sum() for o in out)
            grads = torch.autograd.grad(total, [given[n] for n in floats], allow_unused=True)
            assert all(g is None or bool(torch.isfinite(g).all()) for g in grads), code
    return code


def map_of(body: Scalar, *axes: Loop, kind: Kind = Kind.FLOAT) -> Compute:
    return Compute("y", axes, body, kind=kind)


I_, J_ = Axis("i", A), Axis("j", B)
