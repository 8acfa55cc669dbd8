"""Random reductions and index operators."""

from __future__ import annotations

import re

from tests.random_programs import expressions
from tests.random_programs.forms import new_indices, tamed, written
from tests.random_programs.scope import ATOM, TIMES, Expr, Scope, World

WITHOUT_EMPTY = ("mean", "var")  # nan where nothing is reduced
UNBOUNDED = ("max", "min", "logsumexp")  # infinite there


def reduced(w: World, scope: Scope, depth: int) -> Expr:
    """A reduction over new indices, the batch dims, or both."""
    c = w.choose
    name = c.pick(("sum", "mean", "max", "min", "prod", "logsumexp", "norm", "var"))
    over_batch = not scope.batch or c.chance(12)
    count = c.weighted(((8, 1), (3, 2))) if not over_batch else c.weighted(((5, 0), (3, 1)))
    bound = new_indices(w, scope, count)
    inside = Scope(scope.indices, False).inside(bound, True) if over_batch else scope.inside(bound, False)
    body = expressions.floats(w, inside, depth - 1)
    if name in ("prod", "var"):
        body = tamed(w, body, 2)
    if name == "var" and bound and not any(re.search(rf"\b{i.name}\b", body.text) for i in bound):
        varied = f"{body.at(TIMES)}*(1 + 0.1*{bound[0].name})"  # else rounding alone decides whether it is 0
        body = Expr(varied, TIMES, -1.5 * body.width, 1.5 * body.width)
    heads = [written(w, i) for i in bound] + (["..."] if over_batch else [])
    if over_batch:
        w.mark("reduced batch")
    w.mark(f"reduction {name}")
    text = f"{name}[{', '.join(heads)}]({body.text})"
    points = 1
    for i in bound:
        points *= i.size.value
    points *= 6 if over_batch else 1
    empty = points == 0 or over_batch
    if empty and name in WITHOUT_EMPTY:
        w.mark("mean or var of nothing")
        return Expr(f"where(isfinite({text}), {text}, 0.5)", ATOM, -body.width, body.width**2 + body.width)
    if empty and name in UNBOUNDED:
        w.mark("max, min or logsumexp of nothing")
        return Expr(f"clamp({text}, -3, 3)", ATOM, -3, 3)
    if points == 0:
        w.mark("empty reduction")
    wide = {"sum": body.width * points, "prod": max(1, body.width) ** min(points, 8), "norm": body.width * points,
            "var": body.width**2, "logsumexp": body.width + 3}.get(name, body.width)  # fmt: skip
    return Expr(text, ATOM, -wide, wide)


def index_operator(w: World, scope: Scope, depth: int) -> Expr:
    """softmax and the scans, along an index that is bound outside."""
    c = w.choose
    if not scope.indices:
        return reduced(w, scope, depth)
    name = c.pick(("softmax", "cumsum", "log_softmax", "cumprod", "logcumsumexp"))
    along = [c.pick(scope.indices)]
    if name.endswith("softmax") and len(scope.indices) > 1 and c.chance(35):
        along.append(c.pick([i for i in scope.indices if i is not along[0]]))
        w.mark("joint softmax")
    body = expressions.floats(w, scope, depth - 1)
    if name == "cumprod":
        body = tamed(w, body, 1.6)
    w.mark(f"operator {name}")
    points = 1
    for i in along:
        points *= max(i.size.value, 1)
    wide = {"softmax": 1.0, "cumsum": body.width * points, "cumprod": max(1, body.width) ** points,
            "log_softmax": 2 * body.width + 2, "logcumsumexp": body.width + 2}[name]  # fmt: skip
    return Expr(f"{name}[{', '.join(i.name for i in along)}]({body.text})", ATOM, -wide, wide)
