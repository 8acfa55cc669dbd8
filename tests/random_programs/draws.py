"""Random draws, order statistics and storage types: what decides by the last bit.

Their elements are read from the inputs, and changed exactly only. So they are distinct, or equal because they are one
element: back ends that round differently agree on which one comes first, and on where a number is rounded to.
"""

from __future__ import annotations

from tests.random_programs.forms import new_indices, written
from tests.random_programs.positions import access
from tests.random_programs.scope import ATOM, PLUS, TIMES, UNARY, Expr, Scope, World

WHOLE = ("int8", "uint8", "int16", "int32", "int64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
WIDER = ("half", "bfloat16", "float32")


def drawn(w: World, scope: Scope, depth: int) -> Expr:
    """A random float."""
    w.seeded = True
    name = w.choose.pick(("uniform", "normal"))
    w.mark(f"draw {name}")
    return Expr(f"{name}(seed)", ATOM, *((0, 1) if name == "uniform" else (-6, 6)))


def drawn_integer(w: World, scope: Scope, depth: int) -> Expr:
    n = w.choose.pick((2, 3, 5, 1))
    w.seeded = True
    w.mark("draw integer")
    return Expr(f"integer(seed, {n})", ATOM, 0, n - 1)


def sample(w: World, scope: Scope) -> Expr | None:
    """An element of an input, or a sum of two; None where there is no input to read."""
    c = w.choose
    fits = [t for t in w.tensors if t.kind == "float" and not t.name.startswith("t") and scope.batch >= t.batched]
    if not fits:
        return None
    first, kind = access(w, scope, c.pick(fits)), c.pick(("plain", "negative", "half", "sum"))
    assert first is not None
    if kind == "sum":
        second = access(w, scope, c.pick(fits))
        assert second is not None
        return Expr(f"{first.at(PLUS)} + 0.5*{second.at(UNARY)}", PLUS, -1.5 * first.width, 1.5 * second.width)
    text = {"plain": "{0}", "negative": "-{0}", "half": "0.5*{0}"}[kind].format(first.at(UNARY))
    return Expr(text, TIMES, -first.width, first.width)


def order_statistic(w: World, scope: Scope, depth: int) -> Expr:
    """`median`, `quantile` or `kth` over new indices."""
    c = w.choose
    bound = new_indices(w, scope, c.weighted(((8, 1), (2, 2))))
    body = sample(w, scope.inside(bound, False))
    if body is None:
        return drawn(w, scope, depth)
    points = 1
    for i in bound:
        points *= i.size.value
    name = c.pick(("median", "quantile", "kth")) if points else c.pick(("median", "quantile"))
    w.mark(f"reduction {name}")
    further = {"median": "", "quantile": f", {c.pick(('0.5', '0.3', '0', '1', '0.9'))}"}.get(name)
    if further is None:
        further = f", {1 + c.below(points)}"
    text = f"{name}[{', '.join(written(w, i) for i in bound)}]({body.text}{further})"
    if points:
        return Expr(text, ATOM, -body.width, body.width)
    w.mark("an order of nothing")
    some = " and ".join(f"{i.size.text} > 0" for i in bound)
    return Expr(f"where({some}, {text}, 0.5)", ATOM, -body.width, body.width)


def in_order(w: World, scope: Scope, depth: int) -> Expr:
    """`sort` along an index that is bound outside."""
    body = sample(w, scope) if scope.indices else None
    if body is None:
        return order_statistic(w, scope, depth)
    w.mark("operator sort")
    return Expr(f"sort[{w.choose.pick(scope.indices).name}]({body.text})", ATOM, body.low, body.high)


def few_bits(w: World, scope: Scope, depth: int) -> Expr:
    """A number that is rounded to fewer bits."""
    c = w.choose
    body = sample(w, scope)
    if body is None:
        return drawn(w, scope, depth)
    dtype = c.pick((*WHOLE, *FLOAT8))
    w.mark("cast to whole numbers" if dtype in WHOLE else "cast to 8 bits")
    times = c.pick((4, 64, 256))
    wide = body.width + 2 / times
    return Expr(f"cast({times}*({body.text}), {dtype})/{times}", TIMES, -wide, wide)
