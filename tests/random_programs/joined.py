"""Random statements that put tensors one behind the other, and recurrences of integers and conditions."""

from __future__ import annotations

from tests.random_programs.discrete import conditions, integers
from tests.random_programs.expressions import floats
from tests.random_programs.forms import any_size
from tests.random_programs.scope import AND, BATCH, PLUS, Index, Scope, Size, Tensor, World


def joined(w: World) -> list[str]:
    """`t[..., i < A + B] = where(i < A, a[..., i], b[..., i - A])`, or one tensor and what stands behind it."""
    c = w.choose
    fits = [t for t in w.tensors if t.kind == "float" and t.dims and all(s.value > 0 for s in t.dims)]
    if not fits:
        return []
    a, b = c.pick(fits), c.pick(fits)
    batch = a.batched or b.batched
    first, second = c.pick(_places(a)), c.pick(_places(b))
    rows = Index("j", any_size(w), statable=True) if c.chance(40) else None
    m, n = _size(a, first), _size(b, second)
    body_a = _at(w, a, first, "i", rows)
    name = w.fresh("t")
    kind = c.pick(("two", "pad", "rest", "guarded"))
    w.mark("joined", f"joined: {kind}")
    if kind == "two":
        text, count = (
            f"where(i < {m.text}, {body_a}, {_at(w, b, second, f'i - {_in_sum(m)}', rows)})",
            m.value + n.value,
        )
        size = Size(f"{m.text} + {n.text}", count)
    else:
        more = c.pick((1, 2))
        size = Size(f"{m.text} + {more}", m.value + more)
        text = {
            "pad": f"pad({body_a}, {c.pick(('0', '0.5'))})",
            "rest": f"where(i < {m.text}, {body_a}, {floats(w, Scope((), batch), 1).text})",
            "guarded": f"sin(where(i >= {m.text}, 0.3, {body_a}*{body_a}))",
        }[kind]
        batch = batch if kind == "rest" else a.batched
    order: list[str] = [f"i < {size.text}"]
    shape: list[Size | str] = [size]
    if rows is not None:
        order.append(f"{rows.name} < {rows.size.text}")
        shape.append(rows.size)
    if batch:
        place = c.below(len(order) + 1)
        order.insert(place, BATCH)
        shape.insert(place, BATCH)
    if c.chance(40):
        text = f"0.5*({text})"
    w.tensors.append(Tensor(name, tuple(shape), "float", -6, 6))
    return [f"{name}[{', '.join(order)}] = {text}"]


def _places(t: Tensor) -> list[int]:
    return [k for k, s in enumerate(t.shape) if isinstance(s, Size)]


def _size(t: Tensor, k: int) -> Size:
    s = t.shape[k]
    return s if isinstance(s, Size) else Size("1", 1)


def _in_sum(s: Size) -> str:
    return s.text if s.text.isalnum() else f"({s.text})"


def _at(w: World, t: Tensor, k: int, position: str, rows: Index | None) -> str:
    """The tensor at a position of one axis, at plain indices and constants of the others."""
    items: list[str] = []
    for place, s in enumerate(t.shape):
        if isinstance(s, str):
            items.append(s)
        elif place == k:
            items.append(position)
        elif rows is not None and rows.size.text == s.text and w.choose.chance(70):
            items.append(rows.name)
        else:
            items.append("0")
    return f"{t.name}[{', '.join(items)}]"


def counted(w: World) -> list[str]:
    """A recurrence of integers, of conditions or of positions, perhaps with one of floats that reads it."""
    c = w.choose
    size = any_size(w)
    if size.value == 0:
        return []
    down, batch = c.chance(40), c.chance(50)
    along = Index("s", size)
    scope = Scope((along,), batch)
    start, back = (size.text, "s + 1") if down else ("-1", "s - 1")
    dots, name = ("..., " if batch else ""), w.fresh("t")
    before = f"{name}[{dots}{back}]"
    kind = c.pick(("sum", "or", "and", "count", "pointer"))
    w.mark("discrete recurrence", f"discrete recurrence: {kind}")
    lines = []
    if kind in ("or", "and"):
        if kind == "and" or c.chance(40):
            lines.append(f"{name}[{dots}{start}] = true")
        body = f"{before} {kind} {conditions(w, scope, 1).at(AND)}"
        made = Tensor(name, _shape(size, batch), "bool")
    else:
        first = c.pick(("0", "1", "2"))
        lines.append(f"{name}[{dots}{start}] = {first}")
        e = integers(w, scope, 1).at(PLUS)
        test = conditions(w, scope, 1).text
        body, high = {
            "sum": (f"({before} + {e}) % 4", 4),
            "count": (f"where({test}, min({before} + 1, 5), 0)", 6),
            "pointer": (f"({before} + s) % {size.value}", size.value),
        }[kind]
        made = Tensor(name, _shape(size, batch), "int", 0, high)
    lines.append(f"{name}[{dots}s < {size.text}] = {body}")
    w.tensors.append(made)
    if c.chance(50):
        other, x = w.fresh("t"), floats(w, scope, 1)
        here = f"{name}[{dots}s]"
        test = here if made.kind == "bool" else f"{here} > 1"
        own = f"{other}[{dots}{back}]"
        lines.append(f"{other}[{dots}s < {size.text}] = where({test}, tanh(0.5*{own} + {x.at(PLUS)}), 0.5*{own})")
        w.tensors.append(Tensor(other, _shape(size, batch), "float", -1, 1))
    return lines


def _shape(size: Size, batch: bool) -> tuple[Size | str, ...]:
    return (BATCH, size) if batch else (size,)
