"""Random recurrences along one index."""

from __future__ import annotations

from tests.random_programs.expressions import floats
from tests.random_programs.forms import any_size, tamed
from tests.random_programs.scope import PLUS, UNARY, Index, Scope, Tensor, World
from tests.random_programs.statements import Order, assign, shape_of, target


def recurrence(w: World) -> list[str]:
    """One or two names that run along an index, up or down."""
    c = w.choose
    size = any_size(w)
    if size.value == 0:  # reads at the ends
        return assign(w)
    down = c.chance(40)
    names = [w.fresh("t")] + ([w.fresh("t")] if c.chance(35) else [])
    order, scope = target(w, 1)
    place = c.below(len(order) + 1)
    along = Index("s", size)
    axes: Order = (*order[:place], along, *order[place:])
    w.mark("recurrence", "recurrence down" if down else "recurrence up", *(("two states",) if len(names) > 1 else ()))
    back = "s + 1" if down else "s - 1"
    start = size.text if down else "-1"
    lines = []
    for n in names:
        if c.chance(50):
            e = tamed(w, floats(w, scope, 1), 2)
            w.mark("recurrence with a start")
            lines.append(_at(n, axes, start, stated=True) + f" = {e.text}")
    inside = Scope((*scope.indices, along), scope.batch)
    crossed = c.chance(50)
    for k, n in enumerate(names):
        source = names[-1 - k] if crossed else n
        before = _at(source, axes, back)
        if c.chance(25):
            first = f"{size.text} - 1" if down else "0"
            before = f"where(s == {first}, {floats(w, scope, 0).at(PLUS)}, {before})"
            w.mark("a first step that is chosen")
        e = floats(w, inside, 1)
        shape = c.pick(("{a}*0.5 + {e}", "tanh({a} + {e})", "0.5*{a}*{b} + {e}", "sin({a})*{m}", "max({a}, {e})",
                        "where({t} > 0.1, {e}, 0.5*{a})", "{r} + {e}"))  # fmt: skip
        mixed = f"tanh({before})"
        if order and isinstance(order[-1], Index) and "{r}" in shape:
            inner = order[-1]
            held = _at(source, tuple(Index("r", o.size) if o is inner else o for o in axes), back)
            mixed = f"0.3*sum[r < {inner.size.text}]({held})"
            w.mark("recurrence with a reduction")
        other = _at(names[0], axes, "s") if k == 1 else before
        b = floats(w, inside, 0)
        text = shape.format(
            a=before, b=other if k == 1 else b.at(UNARY), e=e.at(PLUS), m=e.at(UNARY), t=b.at(PLUS), r=mixed
        )  # fmt: skip
        lines.append(_at(n, axes, None, stated=True) + f" = tanh({text})")
    for n in names:
        w.tensors.append(Tensor(n, shape_of(axes), "float", -1, 1))
    return lines


def _at(name: str, axes: Order, along: str | None, stated: bool = False) -> str:
    """A name of a recurrence at a place of its index."""
    items = []
    for a in axes:
        if isinstance(a, str):
            items.append(a)
        elif a.name == "s" and along is not None:
            items.append(along)
        else:
            items.append(f"{a.name} < {a.size.text}" if stated else a.name)
    return f"{name}[{', '.join(items)}]"
