"""One program for every rule of the differentiator."""

from __future__ import annotations

from fractions import Fraction

from opgen.ir.program import Compute, Kind, Program, Scatter
from opgen.ir.scalar import ONE, TWO, ZERO, Cast, Index, Lit, add, call, mul, neg, power, sub, where
from tests.diff.programs import at, axes, program, tensor

_X = tensor("x", "... K")
_IDS = tensor("ids", "...", Kind.INT)
_REDUCTIONS = ("sum", "mean", "logsumexp", "norm", "var", "max", "min", "prod")


def samples() -> dict[str, Program]:
    made: dict[str, Program] = {}
    for op in _REDUCTIONS:
        body = call("square", at("x", "... k"))
        made[op] = program([_X], [Compute("y", axes("..."), body, op, axes("k"))])
        made[f"{op}_of_all"] = program([_X], [Compute("y", (), at("x", "... k"), op, axes("... k"))])
        two = mul(at("x", "... k"), at("w", "k"))
        made[f"{op}_of_two"] = program([_X, tensor("w", "K")], [Compute("y", axes("..."), two, op, axes("k"))])
    for op in ("softmax", "log_softmax"):
        made[op] = program([_X], [Compute("y", axes("... k"), at("x", "... k"), op, axes("k"))])
        square = mul(at("x", "... k"), at("x", "... k"))
        made[f"{op}_of_square"] = program([_X], [Compute("y", axes("... k"), square, op, axes("k"))])
        joint = tensor("x", "... K N")
        made[f"{op}_joint"] = program([joint], [Compute("y", axes("... k n"), at("x", "... k n"), op, axes("k n"))])
    made |= _contractions() | _accesses() | _norms() | _bodies()
    return made


def _contractions() -> dict[str, Program]:
    linear = program(
        [_X, tensor("w", "N K"), tensor("b", "N")],
        [
            Compute("s", axes("... n"), mul(at("x", "... k"), at("w", "n k")), "sum", axes("k")),
            Compute("y", axes("... n"), add(at("s", "... n"), at("b", "n"))),
        ],
    )
    three = mul(at("a", "... k"), at("w", "n k d"), at("b", "... d"))
    bilinear = program(
        [tensor("a", "... K"), tensor("w", "N K D"), tensor("b", "... D")],
        [Compute("y", axes("... n"), three, "sum", axes("k d"))],
    )
    gated = mul(call("exp", at("x", "... k")), at("x", "... k"), at("w", "n k"), at("g", "... n"))
    prologue = program(
        [_X, tensor("w", "N K"), tensor("g", "... N")], [Compute("y", axes("... n"), gated, "mean", axes("k"))]
    )
    return {"linear": linear, "bilinear": bilinear, "prologue": prologue}


def _accesses() -> dict[str, Program]:
    row = at("w", "", at("ids", "..."), Index("d"))
    picked = neg(at("l", "...", at("ids", "...")))
    spread = Scatter(
        "y", axes("v d"), axes("... d"), (at("ids", "..."), Index("d")), at("x", "... d"), base=at("b", "v d")
    )
    return {
        "gather": program([_IDS, tensor("w", "V D")], [Compute("y", axes("... d"), row)]),
        "pick": program(
            [_IDS, _X],
            [
                Compute("l", axes("... k"), at("x", "... k"), "log_softmax", axes("k")),
                Compute("y", axes("..."), where(call("eq", at("ids", "..."), ONE), ZERO, picked)),
            ],
        ),
        "masked_gather": program(
            [_IDS, tensor("w", "V D")],
            [Compute("y", axes("... d"), where(call("eq", at("ids", "..."), ONE), ZERO, call("square", row)))],
        ),
        "scatter": program([_IDS, tensor("x", "... D"), tensor("b", "V D")], [spread]),
        "diagonal": program([tensor("x", "K K")], [Compute("y", axes("k"), call("exp", at("x", "k k")))]),
        "transposed": program([tensor("x", "K N")], [Compute("y", axes("n k"), at("x", "k n"))]),
        "elements": program([_X], [Compute("y", axes("..."), mul(at("x", "... 0"), at("x", "... 1")))]),
        "broadcast": program(
            [tensor("x", "..."), tensor("w", "K")], [Compute("y", axes("... k"), mul(at("x", "..."), at("w", "k")))]
        ),
    }


def _norms() -> dict[str, Program]:
    centre = [
        Compute("mu", axes("..."), at("x", "... k"), "mean", axes("k")),
        Compute("c", axes("... k"), sub(at("x", "... k"), at("mu", "..."))),
    ]
    spread = Compute("v", axes("..."), power(at("c", "... k"), TWO), "mean", axes("k"))
    scale = Compute("r", axes("..."), call("rsqrt", add(at("v", "..."), Lit(Fraction(1, 100)))))
    out = Compute("y", axes("... k"), mul(at("c", "... k"), at("r", "..."), at("g", "k")))
    exponentials = [
        Compute("m", axes("..."), at("x", "... k"), "max", axes("k")),
        Compute("e", axes("... k"), call("exp", sub(at("x", "... k"), at("m", "...")))),
        Compute("s", axes("..."), at("e", "... k"), "sum", axes("k")),
    ]
    squares = Compute("s", axes("..."), power(at("x", "... k"), TWO), "sum", axes("k"))
    return {
        "layer_norm": program([_X, tensor("g", "K")], [*centre, spread, scale, out]),
        "spelled_softmax": program(
            [_X], [*exponentials, Compute("y", axes("... k"), call("div", at("e", "... k"), at("s", "...")))]
        ),
        "spelled_logsumexp": program(
            [_X],
            [
                Compute("s", axes("..."), call("exp", at("x", "... k")), "sum", axes("k")),
                Compute("y", axes("..."), call("log", at("s", "..."))),
            ],
        ),
        "spelled_norm": program(
            [_X], [squares, Compute("y", axes("... k"), call("div", at("x", "... k"), call("sqrt", at("s", "..."))))]
        ),
    }


def _bodies() -> dict[str, Program]:
    x, y, d = at("x", "..."), at("y", "..."), at("d", "...")
    huber = where(
        call("lt", call("abs", sub(x, y)), Lit(Fraction(1, 2))),
        mul(Lit(Fraction(1, 2)), power(sub(x, y), TWO)),
        sub(call("abs", sub(x, y)), Lit(Fraction(1, 8))),
    )
    inputs = [tensor("x", "..."), tensor("y", "...")]
    several = [
        Compute("a", axes("..."), call("tanh", mul(x, y))),
        Compute("b", (), at("a", "..."), "mean", axes("...")),
        Compute("z", axes("..."), mul(at("a", "..."), at("b"))),
    ]
    gelu = mul(Lit(Fraction(1, 2)), x, add(ONE, call("erf", call("div", x, call("sqrt", TWO)))))
    mish = mul(x, call("tanh", call("log", add(ONE, call("exp", x)))))
    detached = mul(call("square", x), Cast(y, "x"), call("exp", call("neg", d)))
    return {
        "huber": program(inputs, [Compute("z", axes("..."), huber)]),
        "several_outputs": program(inputs, several, ["z", "b"]),
        "gelu": program([inputs[0]], [Compute("z", axes("..."), gelu)]),
        "mish": program([inputs[0]], [Compute("z", axes("..."), mish)]),
        "cast": program([*inputs, tensor("d", "...")], [Compute("z", axes("..."), detached)]),
        "mse": program(inputs, [Compute("z", (), power(sub(x, y), TWO), "mean", axes("..."))]),
    }
