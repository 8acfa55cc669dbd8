"""Positions of every kind in torch code: affine, padded, computed, nested; scatters of every operator; scans."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from opgen.emit.torch_code import torch_function  # noqa: E402
from opgen.ir import interp  # noqa: E402
from opgen.ir.program import (  # noqa: E402
    Argument,
    Axis,
    Compute,
    DimSource,
    Kind,
    Loop,
    Operator,
    Output,
    Program,
    Recurrence,
    Scatter,
    Shape,
    Statement,
    Tensor,
    Variant,
    definitions,
    statement_reads,
)
from opgen.ir.scalar import BATCH, NEG_INF, ONE, ZERO, Apply, Batch, Const, Dim, Index, Lit, Param, Read, Scalar  # noqa: E402
from tests.emit.torch_cases import compare, to_array  # noqa: E402
from tests.emit.torch_exec import function, source  # noqa: E402

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
            out[t.name] = torch.randint(0, min(sizes.values()), shape, generator=seed)
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
INF_ = Const("inf")
FORMS: dict[str, tuple[Statement, ...]] = {
    "shift": (map_of(read("x", BATCH, add(i, ONE)), BATCH, Axis("i", sub(A, ONE))),),
    "narrow": (map_of(read("x", BATCH, i), BATCH, Axis("i", K)),),
    "reverse": (map_of(read("x", BATCH, sub(sub(A, ONE), i)), BATCH, I_),),
    "stride": (map_of(read("v", mul(Lit(2), i)), Axis("i", Lit(3))),),
    "param": (map_of(read("v", mul(S, i)), Axis("i", K)),),
    "unproven": (map_of(mul(read("v", add(mul(S, i), ONE)), read("x", BATCH, ZERO)), BATCH, Axis("i", Lit(2))),),
    "toeplitz": (map_of(read("v", add(sub(i, j), Lit(2))), Axis("i", Lit(4)), Axis("j", Lit(3))),),
    "window": (
        Compute(
            "y", (BATCH, Axis("i", Lit(2)), Axis("j", Lit(2))),
            read("m", BATCH, add(mul(i, S), Index("r")), add(mul(j, S), mul(Index("s"), Lit(2)))),
            "max", (Axis("r", K), Axis("s", Lit(2))),
        ),
    ),
    "conv": (
        Compute(
            "y", (BATCH, Axis("i", A), Axis("j", B)),
            mul(
                read("m", BATCH, sub(add(mul(i, Lit(2)), Index("r")), K), sub(add(mul(j, S), mul(Index("s"), Lit(2))), ONE),
                     fill=ZERO),
                read("w", Index("r"), Index("s")),
            ),
            "sum", (Axis("r", A), Axis("s", B)),
        ),
    ),
    "pool": (
        Compute("y", (BATCH, J_), read("x", BATCH, sub(add(j, Index("r")), ONE), fill=NEG_INF), "max", (Axis("r", K),)),
    ),
    "fill_select": (map_of(add(read("v", Lit(7), fill=Lit(5)), read("v", Param("shift"), fill=Lit(2)), read("x", BATCH, i)),
                           BATCH, I_),),
    "fill_scalar": (map_of(read("v", add(i, Lit(3)), fill=mul(read("x", BATCH, i), Lit(2))), BATCH, I_),),
    "fill_computed": (map_of(read("m", BATCH, sub(mul(Lit(2), i), Lit(1)), call("floordiv", sub(Lit(7), mul(i, i)), Lit(2)),
                             fill=Lit(9)), BATCH, I_),),
    "fill_gathered": (map_of(read("v", sub(mul(read("ids", BATCH, j), Lit(3)), Lit(2)), fill=NEG_INF), BATCH, J_),),
    "fill_int": (map_of(read("row", sub(i, ONE), fill=Lit(-1)), I_, kind=Kind.INT),),
    "fill_rows": (map_of(read("w", sub(read("ids", BATCH, k), ONE), j, fill=ONE), BATCH, J_, Axis("k", B)),),
    "fill_pick": (map_of(read("m", BATCH, j, sub(read("ids", BATCH, j), ONE), fill=ONE), BATCH, J_),),
    "quotient": (map_of(read("x", BATCH, call("floordiv", i, Lit(2))), BATCH, Axis("i", mul(Lit(2), A))),),
    "remainder": (map_of(read("w", call("mod", k, A), j), Axis("k", mul(A, K)), J_),),
    "shuffle": (map_of(read("m", BATCH, call("mod", i, B), call("floordiv", i, B)), BATCH, Axis("i", mul(B, C))),),
    "two_gathers": (map_of(read("w", read("row", i), read("row", call("mod", add(i, ONE), A))), I_),),
    "two_mixed": (map_of(read("m", BATCH, read("row", i), sub(sub(C, ONE), i)), BATCH, I_),),
    "batch_gathers": (map_of(read("m", BATCH, read("one", BATCH), add(read("ids", BATCH, j), ONE)), BATCH, J_),),
    "nested": (map_of(read("v", add(read("ids", BATCH, read("row", i)), ONE)), BATCH, I_),),
    "truncated": (map_of(read("v", call("int", mul(call("abs", call("sin", read("x", BATCH, i))), Lit(5)))), BATCH, I_),),
    "diagonal": (map_of(read("m", BATCH, i, i), BATCH, Axis("i", B)),),
    "off_diagonal": (map_of(mul(read("m", BATCH, i, add(i, ONE)), read("x", BATCH, i)), BATCH, I_),),
    "diagonal_pad": (map_of(read("w", i, sub(mul(i, Lit(2)), ONE), fill=Lit(3)), I_),),
    "stencil": (map_of(sub(add(read("x", BATCH, sub(i, ONE), fill=ZERO), read("x", BATCH, add(i, ONE), fill=ZERO)),
                           mul(Lit(2), read("x", BATCH, i))), BATCH, I_),),
    "lead": (map_of(mul(read("e", add(i, ONE), BATCH), read("x", BATCH, i)), BATCH, Axis("i", Lit(2))),),
    "guarded": (map_of(call("where", call("le", j, i), call("log", call("abs", read("x", BATCH, sub(i, j)))), ZERO),
                       BATCH, I_, Axis("j", A)),),
    "guarded_and": (map_of(call("where", call("and", call("lt", j, A), call("gt", read("x", BATCH, j), ZERO)), ONE, ZERO),
                           BATCH, J_),),
    "guarded_param": (map_of(call("where", call("ge", Param("shift"), ZERO), read("x", BATCH, add(i, Param("shift"))),
                                  read("x", BATCH, i)), BATCH, I_),),
    "guarded_zero": (map_of(call("where", call("ne", add(Param("shift"), ONE), ZERO),
                                 read("x", BATCH, call("floordiv", i, add(Param("shift"), ONE))), read("x", BATCH, i)),
                            BATCH, I_),),
    "wide_loop": (map_of(call("where", call("lt", j, A), read("x", BATCH, j), ZERO), BATCH, J_),),
    "lean": (
        Compute("t", (I_, J_), read("row", i), kind=Kind.INT),
        map_of(read("t", i, add(j, ONE), fill=Lit(-3)), I_, J_, kind=Kind.INT),
    ),
    "empty": (
        Compute("y", (BATCH, Axis("k", sub(K, Lit(3)))), read("x", BATCH, add(k, Index("r"))), "max", (Axis("r", A),)),
    ),
    "empty_sum": (Compute("y", (BATCH, I_), read("x", BATCH, add(i, Index("r"))), "sum", (Axis("r", sub(K, Lit(3))),)),),
    "counted": (Compute("y", (BATCH, I_), read("x", BATCH, i), "sum", (Axis("r", K),)),),
    "number": (map_of(add(mul(i, S), K), Axis("i", K), kind=Kind.INT),),
    # scatters
    "histogram": (Scatter("y", (Axis("b", C),), (BATCH, J_), (read("ids", BATCH, j),), ONE),),
    "segment_max": (
        Scatter("y", (Axis("b", C), Axis("d", B)), (I_, J_), (read("row", i), j), read("w", i, j), "max", NEG_INF),
    ),
    "segment_prod": (Scatter("y", (BATCH, Axis("b", C)), (BATCH, J_), (BATCH, read("ids", BATCH, j)), read("m", BATCH, j, ZERO),
                             "prod", ONE),),
    "segment_min": (Scatter("y", (BATCH, Axis("b", A)), (BATCH, I_), (BATCH, read("one", BATCH)), read("x", BATCH, i), "min",
                            read("x", BATCH, Index("b"))),),
    "chain": (
        Scatter("a", (Axis("b", C),), (I_,), (read("row", i),), ONE, base=read("v", Index("b"))),
        Scatter("c", (Axis("b", C),), (I_, J_), (call("floordiv", add(i, j), Lit(2)),), read("w", i, j), "max",
                base=add(read("a", Index("b")), Lit(1))),
        Scatter("y", (Axis("b", C),), (), (Lit(2),), Lit(3), "prod", base=read("c", Index("b"))),
    ),
    "fold": (
        Scatter("y", (BATCH, Axis("p", Lit(10))), (BATCH, J_, Axis("k", C)), (BATCH, sub(add(j, k), ZERO)),
                read("m", BATCH, j, k)),
    ),
    "fold_padded": (
        Scatter("y", (BATCH, Axis("p", Lit(5))), (BATCH, J_, Axis("k", C)), (BATCH, sub(add(j, k), Lit(2))),
                read("m", BATCH, j, k), padded=True),
    ),
    "padded_two": (
        Scatter("y", (Axis("p", A), Axis("q", B)), (I_, J_), (sub(i, ONE), add(read("row", i), j)), read("w", i, j),
                "max", base=Lit(-1), padded=True),
    ),
    "padded_row": (
        Scatter("y", (Axis("p", A), Axis("q", B)), (I_, J_), (sub(i, Lit(2)), j), read("w", i, j), padded=True),
    ),
    "joint": (
        Scatter("y", (Axis("p", A), Axis("q", B)), (BATCH, J_), (read("one", BATCH), read("ids", BATCH, j)),
                read("m", BATCH, j, ONE)),
    ),
    "literal": (Scatter("y", (BATCH, I_), (BATCH,), (BATCH, Lit(2)), read("z", BATCH), base=read("x", BATCH, i)),),
    "literal_pair": (Scatter("y", (Axis("p", A), Axis("q", B)), (I_,), (Lit(1), Lit(2)), read("w", i, ZERO)),),
    "transposed": (Scatter("y", (Axis("p", B), Axis("q", A)), (I_, J_), (j, i), read("w", i, j), "max", base=ZERO),),
    "diagonal_to": (Scatter("y", (Axis("p", A), Axis("q", A)), (I_, J_), (i, i), read("w", i, j), "prod", base=ONE),),
    "summed_into": (Scatter("y", (Axis("p", A),), (BATCH, I_), (i,), read("x", BATCH, i), base=read("w", Index("p"), ZERO)),),
    "plain_batch": (Scatter("y", (BATCH,), (BATCH, I_), (BATCH,), read("x", BATCH, i), "min", base=ZERO),),
    # scans
    "cumsum": (Compute("y", (BATCH, J_, Axis("k", C)), read("m", BATCH, j, k), "cumsum", (J_,)),),
    "cumprod": (Compute("y", (BATCH, I_), read("x", BATCH, i), "cumprod", (I_,)),),
    "logcumsumexp": (Compute("y", (I_, J_), mul(read("w", i, j), Lit(2)), "logcumsumexp", (J_,)),),
    "argsort": (Compute("y", (BATCH, J_), read("ids", BATCH, j), "argsort", (J_,), Kind.INT),),
    "sorted": (
        Compute("o", (BATCH, I_), read("x", BATCH, i), "argsort", (I_,), Kind.INT),
        map_of(read("x", BATCH, read("o", BATCH, i)), BATCH, I_),
    ),
    "scan_constant": (Compute("y", (BATCH, I_, J_), read("x", BATCH, i), "cumsum", (J_,)),),
    "scan_mask": (Compute("y", (BATCH, I_), call("gt", read("x", BATCH, i), ZERO), "cumsum", (I_,), Kind.INT),),
    "joint_softmax": (Compute("y", (BATCH, J_, Axis("k", C)), read("m", BATCH, j, k), "softmax", (J_, Axis("k", C))),),
    "joint_log": (Compute("y", (BATCH, J_, Axis("k", C)), read("m", BATCH, j, k), "log_softmax", (Axis("k", C), J_)),),
    "joint_batch": (Compute("y", (BATCH, I_), read("x", BATCH, i), "softmax", (BATCH, I_)),),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    check(program(*FORMS[form]))


RAISES: dict[str, tuple[Statement, ...]] = {
    "beyond": (map_of(read("x", BATCH, add(i, K)), BATCH, I_),),
    "before": (map_of(read("x", BATCH, sub(i, ONE)), BATCH, I_),),
    "negative": (map_of(read("x", BATCH, Param("shift")), BATCH),),
    "wide": (map_of(read("x", BATCH, j), BATCH, J_),),
    "computed": (map_of(read("v", sub(read("ids", BATCH, j), Lit(9))), BATCH, J_),),
    "joined": (map_of(read("w", call("floordiv", i, Lit(4)), add(i, mul(read("row", i), ZERO), Lit(4))), I_),),
    "scattered": (Scatter("y", (Axis("p", C),), (I_,), (sub(i, ONE),), read("w", i, ZERO)),),
    "scattered_joined": (Scatter("y", (Axis("p", A), Axis("q", B)), (I_,), (ZERO, mul(i, Lit(2))), read("w", i, ZERO)),),
    "maximum": (Scatter("y", (Axis("p", Lit(2)),), (I_,), (i,), read("w", i, ZERO), "max", base=ZERO),),
    "extent": (map_of(ONE, Axis("i", Param("shift"))),),
}  # fmt: skip


@pytest.mark.parametrize("form", RAISES)
def test_out_of_range_is_an_error(form: str) -> None:
    p = program(*RAISES[form])
    variant = Variant((), p)
    operator = Operator("f", p.inputs, (), p.params, ("y",), (variant,))
    made = torch_function("f", [(variant, p)], operator)
    given = arguments(p, (2,), SIZES)
    with pytest.raises((IndexError, RuntimeError, ValueError)):
        function(made)(*({**given, **PARAMS}[n] for n in made.arguments))
    if form != "extent":
        with pytest.raises(IndexError):
            interp.run(p, {n: to_array(t) for n, t in given.items()}, PARAMS)


TEXTS = {
    "shift": "y = x[..., 1:]",
    "narrow": "y = window(x, -1, 0, (count, 1))",
    "reverse": "y = x.flip(-1)",
    "pool": "x_view = window(x, -1, -1, (B, 1), (count, 1), fill=-math.inf)\n    y = amax(x_view, -1)",
    "stencil": "y = window(x, -1, -1, (A, 1), fill=0) + window(x, -1, 1, (A, 1), fill=0) - 2 * x",
    "cumsum": "y = m.cumsum(-2)",
    "argsort": "y = ids.argsort(dim=-1, stable=True)",
}


@pytest.mark.parametrize("form", TEXTS)
def test_text(form: str) -> None:
    assert TEXTS[form] in check(program(*FORMS[form]))


def back(name: str, *at: Scalar | Batch, start: Scalar) -> Scalar:
    return call("where", call("eq", Index("t"), ZERO), start, read(name, *at))


T_ = Axis("t", A)
t = Index("t")
LOOPS: dict[str, tuple[Statement, ...]] = {
    "linear": (
        Recurrence(T_, (
            Compute("y", (BATCH, T_), add(mul(read("x", BATCH, t), back("y", BATCH, sub(t, ONE), start=read("z", BATCH))),
                                          read("x", BATCH, t))),
        )),
    ),
    "zero_start": (
        Recurrence(T_, (Compute("y", (BATCH, T_), add(mul(Lit(2), back("y", BATCH, sub(t, ONE), start=ZERO)),
                                                     read("x", BATCH, t))),)),
    ),
    "down": (
        Recurrence(T_, (
            Compute("y", (BATCH, T_), add(read("x", BATCH, t), call("where", call("lt", add(t, ONE), A), mul(
                read("y", BATCH, add(t, ONE)), read("x", BATCH, add(t, ONE))), ZERO))),
        ), reverse=True),
    ),
    "matrix": (
        Recurrence(T_, (
            Compute("s", (BATCH, T_, Axis("p", B)), mul(read("w", t, Index("q")), back(
                "y", BATCH, sub(t, ONE), Index("q"), start=read("m", BATCH, Index("q"), ZERO))), "sum", (Axis("q", B),)),
            Compute("y", (BATCH, T_, Axis("p", B)), call("tanh", add(read("s", BATCH, t, Index("p")), read("x", BATCH, t)))),
        )),
    ),
    "two_states": (
        Recurrence(T_, (
            Compute("u", (BATCH, T_), add(back("v_", BATCH, sub(t, ONE), start=ONE), read("x", BATCH, t))),
            Compute("v_", (BATCH, T_), mul(back("u", BATCH, sub(t, ONE), start=read("z", BATCH)), read("u", BATCH, t))),
        )),
        map_of(add(read("u", BATCH, i), read("v_", BATCH, sub(sub(A, ONE), i))), BATCH, I_),
    ),
    "swap": (
        Recurrence(T_, (
            Compute("u", (T_,), back("v_", sub(t, ONE), start=ONE)),
            Compute("v_", (T_,), back("u", sub(t, ONE), start=ZERO)),
        )),
        map_of(add(mul(read("u", i), Lit(3)), read("v_", i)), I_),
    ),
    "tensor_condition": (
        Recurrence(T_, (
            Compute("y", (BATCH, T_), call("where", call("and", call("gt", t, ZERO), call("gt", read("x", BATCH, t), ZERO)),
                                           call("log", call("abs", read("y", BATCH, sub(t, ONE)))), read("x", BATCH, t))),
        )),
    ),
    "gather": (
        Recurrence(Axis("t", B), (
            Compute("y", (BATCH, Axis("t", B)), add(read("v", read("ids", BATCH, t)), call(
                "where", call("gt", t, ZERO), read("y", BATCH, sub(t, ONE)), read("v", t)))),
        )),
    ),
    "empty_loop": (
        Recurrence(Axis("t", sub(K, Lit(3))), (
            Compute("y", (BATCH, Axis("t", sub(K, Lit(3)))), add(back("y", BATCH, sub(t, ONE), start=ZERO),
                                                                read("x", BATCH, t))),
        )),
    ),
    "counting": (
        Recurrence(Axis("t", K), (
            Compute("y", (Axis("t", K),), add(back("y", sub(t, ONE), start=ZERO), t), kind=Kind.INT),
        )),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", LOOPS)
def test_recurrences(form: str) -> None:
    check(program(*LOOPS[form], outputs=("y",)))


def test_a_recurrence_reads_as_a_loop() -> None:
    assert check(program(*LOOPS["linear"])).splitlines()[6:-2] == [
        "    steps = []",
        "    y_before = torch.broadcast_to(z, batch)",
        "    for t in range(A):",
        "        x_t = x_each[t]",
        "        y_t = x_t * y_before + x_t",
        "        steps.append(y_t)",
        "        y_before = y_t",
        "    y = torch.stack(steps, -1) if steps else x.new_zeros(*batch, A)",
    ]
