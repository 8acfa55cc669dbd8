"""Programs with scatters of every operator, scans and recurrences."""

from __future__ import annotations

from opgen.ir.program import Axis, Compute, Kind, Recurrence, Scatter, Statement
from opgen.ir.scalar import BATCH, NEG_INF, ONE, ZERO, Batch, Index, Lit, Scalar
from tests.torch.programs import I_, J_, A, B, C, K, add, call, i, j, k, map_of, mul, read, sub

SCATTERS: dict[str, tuple[Statement, ...]] = {
    # scatters
    "histogram": (Scatter("y", (Axis("b", C),), (BATCH, J_), (read("ids", BATCH, j),), ONE),),
    "segment_max": (
        Scatter("y", (Axis("b", C), Axis("d", B)), (I_, J_), (read("row", i), j), read("w", i, j), "max", NEG_INF),
    ),
    "segment_prod": (
        Scatter(
            "y",
            (BATCH, Axis("b", C)),
            (BATCH, J_),
            (BATCH, read("ids", BATCH, j)),
            read("m", BATCH, j, ZERO),
            "prod",
            ONE,
        ),
    ),
    "segment_min": (
        Scatter(
            "y",
            (BATCH, Axis("b", A)),
            (BATCH, I_),
            (BATCH, read("one", BATCH)),
            read("x", BATCH, i),
            "min",
            read("x", BATCH, Index("b")),
        ),
    ),
    "chain": (
        Scatter("a", (Axis("b", C),), (I_,), (read("row", i),), ONE, base=read("v", Index("b"))),
        Scatter(
            "c",
            (Axis("b", C),),
            (I_, J_),
            (call("floordiv", add(i, j), Lit(2)),),
            read("w", i, j),
            "max",
            base=add(read("a", Index("b")), Lit(1)),
        ),
        Scatter("y", (Axis("b", C),), (), (Lit(2),), Lit(3), "prod", base=read("c", Index("b"))),
    ),
    "fold": (
        Scatter(
            "y",
            (BATCH, Axis("p", Lit(10))),
            (BATCH, J_, Axis("k", C)),
            (BATCH, sub(add(j, k), ZERO)),
            read("m", BATCH, j, k),
        ),
    ),
    "fold_padded": (
        Scatter(
            "y",
            (BATCH, Axis("p", Lit(5))),
            (BATCH, J_, Axis("k", C)),
            (BATCH, sub(add(j, k), Lit(2))),
            read("m", BATCH, j, k),
            padded=True,
        ),
    ),
    "padded_two": (
        Scatter(
            "y",
            (Axis("p", A), Axis("q", B)),
            (I_, J_),
            (sub(i, ONE), add(read("row", i), j)),
            read("w", i, j),
            "max",
            base=Lit(-1),
            padded=True,
        ),
    ),
    "padded_row": (
        Scatter("y", (Axis("p", A), Axis("q", B)), (I_, J_), (sub(i, Lit(2)), j), read("w", i, j), padded=True),
    ),
    "joint": (
        Scatter(
            "y",
            (Axis("p", A), Axis("q", B)),
            (BATCH, J_),
            (read("one", BATCH), read("ids", BATCH, j)),
            read("m", BATCH, j, ONE),
        ),
    ),
    "literal": (Scatter("y", (BATCH, I_), (BATCH,), (BATCH, Lit(2)), read("z", BATCH), base=read("x", BATCH, i)),),
    "literal_pair": (Scatter("y", (Axis("p", A), Axis("q", B)), (I_,), (Lit(1), Lit(2)), read("w", i, ZERO)),),
    "transposed": (Scatter("y", (Axis("p", B), Axis("q", A)), (I_, J_), (j, i), read("w", i, j), "max", base=ZERO),),
    "diagonal_to": (Scatter("y", (Axis("p", A), Axis("q", A)), (I_, J_), (i, i), read("w", i, j), "prod", base=ONE),),
    "summed_into": (
        Scatter("y", (Axis("p", A),), (BATCH, I_), (i,), read("x", BATCH, i), base=read("w", Index("p"), ZERO)),
    ),
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
}


def back(name: str, *at: Scalar | Batch, start: Scalar) -> Scalar:
    return call("where", call("eq", Index("t"), ZERO), start, read(name, *at))


T_ = Axis("t", A)
t = Index("t")
LOOPS: dict[str, tuple[Statement, ...]] = {
    "linear": (
        Recurrence(
            T_,
            (
                Compute(
                    "y",
                    (BATCH, T_),
                    add(
                        mul(read("x", BATCH, t), back("y", BATCH, sub(t, ONE), start=read("z", BATCH))),
                        read("x", BATCH, t),
                    ),
                ),
            ),
        ),
    ),
    "zero_start": (
        Recurrence(
            T_,
            (
                Compute(
                    "y", (BATCH, T_), add(mul(Lit(2), back("y", BATCH, sub(t, ONE), start=ZERO)), read("x", BATCH, t))
                ),
            ),
        ),
    ),
    "down": (
        Recurrence(
            T_,
            (
                Compute(
                    "y",
                    (BATCH, T_),
                    add(
                        read("x", BATCH, t),
                        call(
                            "where",
                            call("lt", add(t, ONE), A),
                            mul(read("y", BATCH, add(t, ONE)), read("x", BATCH, add(t, ONE))),
                            ZERO,
                        ),
                    ),
                ),
            ),
            reverse=True,
        ),
    ),
    "matrix": (
        Recurrence(
            T_,
            (
                Compute(
                    "s",
                    (BATCH, T_, Axis("p", B)),
                    mul(
                        read("w", t, Index("q")),
                        back("y", BATCH, sub(t, ONE), Index("q"), start=read("m", BATCH, Index("q"), ZERO)),
                    ),
                    "sum",
                    (Axis("q", B),),
                ),
                Compute(
                    "y",
                    (BATCH, T_, Axis("p", B)),
                    call("tanh", add(read("s", BATCH, t, Index("p")), read("x", BATCH, t))),
                ),
            ),
        ),
    ),
    "two_states": (
        Recurrence(
            T_,
            (
                Compute("u", (BATCH, T_), add(back("v_", BATCH, sub(t, ONE), start=ONE), read("x", BATCH, t))),
                Compute(
                    "v_", (BATCH, T_), mul(back("u", BATCH, sub(t, ONE), start=read("z", BATCH)), read("u", BATCH, t))
                ),
            ),
        ),
        map_of(add(read("u", BATCH, i), read("v_", BATCH, sub(sub(A, ONE), i))), BATCH, I_),
    ),
    "swap": (
        Recurrence(
            T_,
            (
                Compute("u", (T_,), back("v_", sub(t, ONE), start=ONE)),
                Compute("v_", (T_,), back("u", sub(t, ONE), start=ZERO)),
            ),
        ),
        map_of(add(mul(read("u", i), Lit(3)), read("v_", i)), I_),
    ),
    "tensor_condition": (
        Recurrence(
            T_,
            (
                Compute(
                    "y",
                    (BATCH, T_),
                    call(
                        "where",
                        call("and", call("gt", t, ZERO), call("gt", read("x", BATCH, t), ZERO)),
                        call("log", call("abs", read("y", BATCH, sub(t, ONE)))),
                        read("x", BATCH, t),
                    ),
                ),
            ),
        ),
    ),
    "gather": (
        Recurrence(
            Axis("t", B),
            (
                Compute(
                    "y",
                    (BATCH, Axis("t", B)),
                    add(
                        read("v", read("ids", BATCH, t)),
                        call("where", call("gt", t, ZERO), read("y", BATCH, sub(t, ONE)), read("v", t)),
                    ),
                ),
            ),
        ),
    ),
    "empty_loop": (
        Recurrence(
            Axis("t", sub(K, Lit(3))),
            (
                Compute(
                    "y",
                    (BATCH, Axis("t", sub(K, Lit(3)))),
                    add(back("y", BATCH, sub(t, ONE), start=ZERO), read("x", BATCH, t)),
                ),
            ),
        ),
    ),
    "counting": (
        Recurrence(
            Axis("t", K), (Compute("y", (Axis("t", K),), add(back("y", sub(t, ONE), start=ZERO), t), kind=Kind.INT),)
        ),
    ),
}
