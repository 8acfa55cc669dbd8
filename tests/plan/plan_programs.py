"""Hand-built programs: the shapes of kernels that plans have to get right."""

from __future__ import annotations

from opgen.ir.program import (
    Argument,
    Axis,
    Compute,
    DimSource,
    Kind,
    Loop,
    Output,
    Program,
    Role,
    Scatter,
    Statement,
    Tensor,
)
from opgen.ir.scalar import BATCH, Dim, Index, Param, Read, Scalar, add, call, mul, sub


def axis(name: str) -> Axis:
    """An index over the dim of the same letter."""
    return Axis(name, Dim(name.upper()))


def read(tensor: str, at: str = "") -> Read:
    """`read("x", "... d")` is `x[..., d]`."""
    return Read(tensor, tuple(BATCH if p == "..." else Index(p) for p in at.split()))


def tensor(name: str, shape: str = "", kind: Kind = Kind.FLOAT, role: Role = Role.INPUT) -> Tensor:
    return Tensor(name, tuple(BATCH if s == "..." else Dim(s) for s in shape.split()), kind, role)


def compute(
    target: str, axes: str, body: Scalar, op: str | None = None, over: str = "", kind: Kind = Kind.FLOAT
) -> Compute:
    def loops(text: str) -> tuple[Loop, ...]:
        return tuple(BATCH if a == "..." else axis(a) for a in text.split())

    return Compute(target, loops(axes), body, op, loops(over), kind)


def program(
    name: str, inputs: list[Tensor], statements: list[Statement], outputs: list[str], params: tuple[Argument, ...] = ()
) -> Program:
    """A program whose dims come from the first tensor that has them."""
    dims: dict[str, DimSource] = {}
    for t in inputs:
        for k, s in enumerate(t.shape):
            if isinstance(s, Dim):
                dims.setdefault(s.name, DimSource(s.name, t.name, k))
    shapes = {s.target: s for s in statements}
    made = tuple(Output(o, o, shapes[o].shape, shapes[o].kind) for o in outputs)
    return Program(name, tuple(inputs), params, tuple(dims.values()), tuple(statements), made)


def softmax() -> Program:
    body = read("x", "... d")
    return program("softmax", [tensor("x", "... D")], [compute("y", "... d", body, "softmax", "d")], ["y"])


def layer_norm() -> Program:
    x, mu, rstd = read("x", "... d"), read("mu", "..."), read("rstd", "...")
    return program(
        "layer_norm",
        [tensor("x", "... D"), tensor("w", "D")],
        [
            compute("mu", "...", x, "mean", "d"),
            compute("v", "...", x, "var", "d"),
            compute("rstd", "...", call("rsqrt", add(read("v", "..."), Param("eps")))),
            compute("y", "... d", mul(sub(x, mu), rstd, read("w", "d"))),
        ],
        ["y"],
        (Argument("eps", "float"),),
    )


def column_gradients() -> Program:
    g, x = read("g", "... d"), read("x", "... d")
    return program(
        "columns",
        [tensor("g", "... D", role=Role.COTANGENT), tensor("x", "... D")],
        [compute("gw", "d", mul(g, x), "sum", "..."), compute("gb", "d", g, "sum", "...")],
        ["gw", "gb"],
    )


def linear() -> Program:
    return program(
        "linear",
        [tensor("x", "... K"), tensor("w", "N K"), tensor("b", "N")],
        [
            compute("s", "... n", mul(read("x", "... k"), read("w", "n k")), "sum", "k"),
            compute("y", "... n", add(read("s", "... n"), read("b", "n"))),
        ],
        ["y"],
    )


def bilinear_weight_gradient() -> Program:
    body = mul(read("g", "... o"), read("a", "... i"), read("b", "... j"))
    return program(
        "bilinear",
        [tensor("g", "... O"), tensor("a", "... I"), tensor("b", "... J")],
        [compute("gw", "o i j", body, "sum", "...")],
        ["gw"],
    )


def embedding_gradient() -> Program:
    at = (read("ids", "..."), Index("d"))
    scatter = Scatter("gw", (axis("v"), axis("d")), (BATCH, axis("d")), at, read("g", "... d"))
    return program(
        "embedding", [tensor("g", "... D"), tensor("ids", "...", Kind.INT), tensor("w", "V D")], [scatter], ["gw"]
    )


def table_gradient() -> Program:
    """Of `y[..., m] = table[kind[m]]*x[..., m]`: a batch adds to the same places."""
    body = mul(read("g", "... m"), read("x", "... m"))
    scatter = Scatter("gt", (axis("v"),), (BATCH, axis("m")), (read("kind", "m"),), body)
    inputs = [tensor("g", "... M"), tensor("x", "... M"), tensor("kind", "M", Kind.INT), tensor("table", "V")]
    return program("table", inputs, [scatter], ["gt"])


def chain(length: int) -> Program:
    """Each value is used twice: written out as a tree it would have 2**length leaves."""
    statements: list[Statement] = []
    last = "x"
    for k in range(length):
        statements.append(compute(f"h{k}", "...", mul(read(last, "..."), call("sin", read(last, "...")))))
        last = f"h{k}"
    return program("chain", [tensor("x", "...")], statements, [last])
