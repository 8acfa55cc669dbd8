"""Programs with accesses of every kind."""

from __future__ import annotations

from opgen.ir.program import Axis, Compute, Kind, Statement
from opgen.ir.scalar import BATCH, NEG_INF, ONE, ZERO, Index, Lit, Param
from tests.torch.programs import I_, J_, A, B, C, K, S, add, call, i, j, k, map_of, mul, read, sub

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
            "y",
            (BATCH, Axis("i", Lit(2)), Axis("j", Lit(2))),
            read("m", BATCH, add(mul(i, S), Index("r")), add(mul(j, S), mul(Index("s"), Lit(2)))),
            "max",
            (Axis("r", K), Axis("s", Lit(2))),
        ),
    ),
    "conv": (
        Compute(
            "y",
            (BATCH, Axis("i", A), Axis("j", B)),
            mul(
                read(
                    "m",
                    BATCH,
                    sub(add(mul(i, Lit(2)), Index("r")), K),
                    sub(add(mul(j, S), mul(Index("s"), Lit(2))), ONE),
                    fill=ZERO,
                ),
                read("w", Index("r"), Index("s")),
            ),
            "sum",
            (Axis("r", A), Axis("s", B)),
        ),
    ),
    "pool": (
        Compute("y", (BATCH, J_), read("x", BATCH, sub(add(j, Index("r")), ONE), fill=NEG_INF), "max", (Axis("r", K),)),
    ),
    "fill_select": (
        map_of(
            add(read("v", Lit(7), fill=Lit(5)), read("v", Param("shift"), fill=Lit(2)), read("x", BATCH, i)), BATCH, I_
        ),
    ),
    "fill_scalar": (map_of(read("v", add(i, Lit(3)), fill=mul(read("x", BATCH, i), Lit(2))), BATCH, I_),),
    "fill_computed": (
        map_of(
            read(
                "m", BATCH, sub(mul(Lit(2), i), Lit(1)), call("floordiv", sub(Lit(7), mul(i, i)), Lit(2)), fill=Lit(9)
            ),
            BATCH,
            I_,
        ),
    ),
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
    "truncated": (
        map_of(read("v", call("int", mul(call("abs", call("sin", read("x", BATCH, i))), Lit(5)))), BATCH, I_),
    ),
    "diagonal": (map_of(read("m", BATCH, i, i), BATCH, Axis("i", B)),),
    "off_diagonal": (map_of(mul(read("m", BATCH, i, add(i, ONE)), read("x", BATCH, i)), BATCH, I_),),
    "diagonal_pad": (map_of(read("w", i, sub(mul(i, Lit(2)), ONE), fill=Lit(3)), I_),),
    "stencil": (
        map_of(
            sub(
                add(read("x", BATCH, sub(i, ONE), fill=ZERO), read("x", BATCH, add(i, ONE), fill=ZERO)),
                mul(Lit(2), read("x", BATCH, i)),
            ),
            BATCH,
            I_,
        ),
    ),
    "lead": (map_of(mul(read("e", add(i, ONE), BATCH), read("x", BATCH, i)), BATCH, Axis("i", Lit(2))),),
    "guarded": (
        map_of(
            call("where", call("le", j, i), call("log", call("abs", read("x", BATCH, sub(i, j)))), ZERO),
            BATCH,
            I_,
            Axis("j", A),
        ),
    ),
    "guarded_and": (
        map_of(
            call("where", call("and", call("lt", j, A), call("gt", read("x", BATCH, j), ZERO)), ONE, ZERO), BATCH, J_
        ),
    ),
    "guarded_param": (
        map_of(
            call(
                "where", call("ge", Param("shift"), ZERO), read("x", BATCH, add(i, Param("shift"))), read("x", BATCH, i)
            ),
            BATCH,
            I_,
        ),
    ),
    "guarded_zero": (
        map_of(
            call(
                "where",
                call("ne", add(Param("shift"), ONE), ZERO),
                read("x", BATCH, call("floordiv", i, add(Param("shift"), ONE))),
                read("x", BATCH, i),
            ),
            BATCH,
            I_,
        ),
    ),
    "wide_loop": (map_of(call("where", call("lt", j, A), read("x", BATCH, j), ZERO), BATCH, J_),),
    "lean": (
        Compute("t", (I_, J_), read("row", i), kind=Kind.INT),
        map_of(read("t", i, add(j, ONE), fill=Lit(-3)), I_, J_, kind=Kind.INT),
    ),
    "empty": (
        Compute("y", (BATCH, Axis("k", sub(K, Lit(3)))), read("x", BATCH, add(k, Index("r"))), "max", (Axis("r", A),)),
    ),
    "empty_sum": (
        Compute("y", (BATCH, I_), read("x", BATCH, add(i, Index("r"))), "sum", (Axis("r", sub(K, Lit(3))),)),
    ),
    "counted": (Compute("y", (BATCH, I_), read("x", BATCH, i), "sum", (Axis("r", K),)),),
    "number": (map_of(add(mul(i, S), K), Axis("i", K), kind=Kind.INT),),
}
