"""Random statements: assignments, variants, components and scatters."""

from __future__ import annotations

from collections.abc import Sequence

from tests.random_programs import draws
from tests.random_programs.discrete import conditions, integers
from tests.random_programs.expressions import floats
from tests.random_programs.forms import LETTERS, any_size, tamed, written
from tests.random_programs.positions import times
from tests.random_programs.scope import BATCH, PLUS, TIMES, Expr, Index, Scope, Size, Tensor, World

Order = tuple[Index | str, ...]
DEPTH = 2


def target(w: World, most: int = 2, batch: bool | None = None) -> tuple[Order, Scope]:
    """New indices for the left side, `...` anywhere among them or not there."""
    c = w.choose
    count = c.weighted(((3, 1), (2, 0), (3, min(2, most))))
    taken: list[Index] = []
    for k in range(count):
        taken.append(Index(LETTERS[k], any_size(w)))
    has = batch if batch is not None else c.chance(60)
    order: list[Index | str] = list(taken)
    if has:
        order.insert(c.pick((0, len(order), len(order) // 2)), BATCH)
    return tuple(order), Scope(tuple(taken), has)


def head(w: World, name: str, order: Order, fixed: dict[int, str] | None = None) -> str:
    """The left side; `fixed` replaces positions."""
    items = []
    for k, o in enumerate(order):
        items.append((fixed or {}).get(k) or (o if isinstance(o, str) else written(w, o)))
    return f"{name}[{', '.join(items)}]" if items else name


def shape_of(order: Order) -> tuple[Size | str, ...]:
    return tuple(o if isinstance(o, str) else o.size for o in order)


def assign(w: World) -> list[str]:
    """`t[i, ...] = e`, an integer or a condition now and then."""
    c = w.choose
    name = c.weighted(((8, "float"), (1, "int"), (1, "bool")))
    order, scope = target(w)
    if name == "int":
        return _integer(w, order, scope)
    name_ = w.fresh("t")
    if name == "bool":
        e = conditions(w, scope, 1)
        w.mark("condition as a result")
        line = f"{head(w, name_, order)} = {e.text}"
        kept: Tensor = Tensor(name_, shape_of(order), "bool")
    else:
        e = floats(w, scope, c.weighted(((4, DEPTH), (2, 1), (2, 3))))
        line = f"{head(w, name_, order)} = {e.text}"
        if not order and "(seed" in e.text:  # a bare target with a draw has a batch, as there is one for each point
            order = (BATCH,)
        kept = Tensor(name_, shape_of(order), "float", e.low, e.high)
        if order == (BATCH,) and e.text.isidentifier():
            line = f"{name_} = {e.text}"
    if not order:
        w.mark("0-dim result")
    w.tensors.append(kept)
    return [line]


def _integer(w: World, order: Order, scope: Scope) -> list[str]:
    """Positions: sorted, or any integers."""
    c = w.choose
    name = w.fresh("t")
    sortable = [i for i in scope.indices if i.size.value]
    if sortable and c.chance(60):
        w.mark("argsort")
        i = sortable[0]
        body = floats(w, scope, 1)
        w.tensors.append(Tensor(name, shape_of(order), "int", 0, i.size.value))
        return [f"{head(w, name, order)} = argsort[{i.name}]({body.text})"]
    e = integers(w, scope, 1)
    whole = Expr(f"{e.at(PLUS)} + 0*1", PLUS, e.low, e.high) if e.text.startswith("t") else e
    w.mark("integer result")
    w.tensors.append(Tensor(name, shape_of(order), "int", min(e.low, -1), max(e.high, 1) + 1))
    return [f"{head(w, name, order)} = {whole.text}"]


def stored(w: World) -> list[str]:
    """A result of a storage type, which is rounded where it is of few bits."""
    c = w.choose
    name = w.fresh("t")
    order, scope = target(w)
    body = draws.sample(w, scope)
    if body is None:
        return []
    dtype = c.pick((*draws.WHOLE, *draws.FLOAT8, *draws.WIDER))
    w.stored[name] = dtype
    w.mark("stored result", f"stored result: {'wider' if dtype in draws.WIDER else 'few bits'}")
    times = c.pick((2, 100, 300))
    w.tensors.append(Tensor(name, shape_of(order), "float", -times * body.width, times * body.width))
    return [f"{head(w, name, order)} = {times}*({body.text})"]


def variants(w: World) -> list[str]:
    """Guards over a flag, a choice, or an optional input."""
    name = w.fresh("t")
    guards = _guards(w)
    order, scope = target(w)
    lines, low, high = [], 0.0, 0.0
    for guard in guards:
        e = floats(w, scope, 2)
        lines.append(f"{head(w, name, order)} = {e.text} if {guard}")
        low, high = min(low, e.low), max(high, e.high)
        for i in scope.indices:
            i.plain = i.other = False
    if not order and any("(seed" in line for line in lines):  # a draw for each of the batch
        order, lines = (BATCH,), [line.replace(f"{name} =", f"{name}[...] =", 1) for line in lines]
    w.tensors.append(Tensor(name, shape_of(order), "float", low, high))
    return lines


def _guards(w: World) -> tuple[str, ...]:
    c = w.choose
    kind = c.pick(("flag", "mode", "given", "limit"))
    optional = [m.split()[1] for m in w.marks if m in ("optional y", "optional z", "optional on", "optional o0")]
    if kind == "given" and optional:
        w.mark("guard: given(input)")
        name = c.pick(optional)
        return (f"given({name})", f"not given({name})")
    if kind == "limit":
        w.mark("guard: given(param)")
        w.params["limit"], w.values["limit"] = "{type: float, default: null}", 0.7
        return ("given(limit)", "not given(limit)")
    if kind == "mode":
        w.mark("guard: choices")
        w.params["mode"] = "{choices: [fast, slow, none], default: slow}"
        return ('mode == "fast"', 'mode == "slow" or mode == "none"')
    w.mark("guard: bool")
    w.params["flag"], w.values["flag"] = "{type: bool, default: true}", True
    return ("flag", "not flag")


def chosen_reduction(w: World) -> list[str]:
    """`loss = reduction[n](each[n])`, at the end, since its rank differs."""
    c = w.choose
    w.mark("reduction param")
    size = any_size(w)
    i = Index("i", size)
    has = c.chance(50)
    name = w.fresh("t")
    e = floats(w, Scope((i,), has), 2)
    order: Order = (BATCH, i) if has else (i,)
    lines = [f"{head(w, name, order)} = {e.text}"]
    w.params["reduction"] = "{choices: [sum, mean, none], default: mean}"
    result = w.fresh("t")
    if has and c.chance(50):
        w.mark("reduced batch")
        lines.append(f"{result} = reduction[..., i]({name}[..., i])")
    else:
        dots = "..., " if has else ""
        lines.append(f"{result}{'[...]' if has else ''} = reduction[i]({name}[{dots}i])")
    return lines


def of_a_sum(w: World, shape: tuple[Size | str, ...]) -> list[str]:
    """A formula in which two inputs of this shape occur in one sum only, or in that and its negative."""
    c = w.choose
    order, at = _along(shape)
    a, b = (c.pick((f"{n}[{at}]", f"0.5*{n}[{at}]", f"{n}[{at}]/4")) for n in ("u", "v"))
    total = c.pick((f"({a} - {b})", f"({a} + {b} + 0.5)", f"({b} - 1 - {a})"))
    body = c.pick((f"{total}**2", f"sin({total})", f"abs({total})*{total}", f"tanh({total})/(2 + cos({total}))"))
    if c.chance(50):
        body = f"{body}*{floats(w, _scope_of(order), 1).at(TIMES)}"
    return _folded(w, order, body)


def of_a_slope(w: World, shape: tuple[Size | str, ...]) -> list[str]:
    """A formula that is linear in the first of two inputs of this shape, but for kinks; the second has no gradient."""
    c = w.choose
    order, at = _along(shape)
    u, v = f"u[{at}]", f"v[{at}]"
    kinked = (
        f"max(0, 0.5 - {v}*{u})", f"max({u}*{v}, -0.5*{u}*{v})", f"where({u} > {v}, {v}*{u}, 0.25*{u} - {v})",
        f"{v}*abs({u} - 0.25)", f"clamp({u}, {v}, {v} + 0.5)*{v}",
    )  # fmt: skip
    return _folded(w, order, c.pick(kinked))


def of_a_factor(w: World, factor: Tensor) -> list[str]:
    """A formula times an input that may be missing, and is 0 then: the result says nothing of the others."""
    order, at = _along(factor.shape)
    w.mark("optional factor")
    body = f"{factor.name}[{at}]*{floats(w, _scope_of(order), DEPTH).at(TIMES)}"
    return _folded(w, order, body)


def _along(shape: tuple[Size | str, ...]) -> tuple[Order, str]:
    """Indices of a tensor of this shape, and how it is read at them."""
    order = tuple(s if isinstance(s, str) else Index(LETTERS[k], s, plain=True) for k, s in enumerate(shape))
    return order, ", ".join(o if isinstance(o, str) else o.name for o in order)


def _scope_of(order: Order) -> Scope:
    return Scope(tuple(o for o in order if isinstance(o, Index)), BATCH in order)


def _folded(w: World, order: Order, body: str) -> list[str]:
    """A statement of this body, folded over the last of its indices more often than not."""
    c = w.choose
    name = w.fresh("t")
    if order and c.chance(60):
        last, order = order[-1], order[:-1]
        body = f"{c.pick(('sum', 'mean', 'max'))}[{last if isinstance(last, str) else written(w, last)}]({body})"
    bound = 2.0 * 16
    w.tensors.append(Tensor(name, shape_of(order), "float", -bound, bound))
    return [f"{head(w, name, order)} = {body}"]


def components(w: World) -> list[str]:
    c = w.choose
    w.mark("components")
    name = w.fresh("t")
    order, scope = target(w, 1)
    count = c.pick((2, 3, 1))
    place = c.below(len(order) + 1)
    lines, low, high = [], 0.0, 0.0
    for k in range(count):
        e = floats(w, scope, 2)
        fixed = (*order[:place], str(k), *order[place:])
        items = [o if isinstance(o, str) else f"{o.name} < {o.size.text}" for o in fixed]
        lines.append(f"{name}[{', '.join(items)}] = {e.text}")
        low, high = min(low, e.low), max(high, e.high)
    shape = shape_of(order)
    w.tensors.append(Tensor(name, (*shape[:place], Size(str(count), count), *shape[place:]), "float", low, high))
    return lines


# --- scatters --------------------------------------------------------------------------------------------------------


def scatter(w: World) -> list[str]:
    c = w.choose
    fits = [s for s in w.sizes if s.text.isalnum() and s.value > 0]
    if not fits:
        return assign(w)
    ops = c.weighted(((5, ("+=",)), (2, ("*=",)), (2, ("max=",)), (2, ("min=",)), (2, ("+=", "*="))))
    name = w.fresh("t")
    order, scope = target(w, 1)
    first = c.pick(fits)
    axes: Order = (Index("p", first), *order)
    lines: list[str] = []
    if c.chance(55):
        base = floats(w, Scope(tuple(o for o in axes if isinstance(o, Index)), scope.batch), 1)
        lines.append(f"{head(w, name, axes)} = {base.text}")
        w.mark("scatter onto a base")
    elif all(isinstance(s, str) or s.text.isalnum() for s in shape_of(axes)):
        w.required[name] = shape_of(axes)
        w.mark("scatter onto the identity")
    else:
        lines.append(f"{head(w, name, tuple(_stated(axes)))} = 0.25")
    wide = 4.0
    w.infinite |= name in w.required and ops[0] in ("max=", "min=")
    for op in ops:
        line = _one_scatter(w, name, op, first, order, scope)
        if line is None:
            return [*lines, *_plain_scatter(w, name, op, axes)] if not lines or name in w.required else lines
        lines.append(line)
        w.mark(f"scatter {op}")
    w.tensors.append(Tensor(name, shape_of(axes), "float", -wide * 8, wide * 8))
    return lines


def _stated(axes: Order) -> Sequence[Index | str]:
    for a in axes:
        if isinstance(a, Index):
            a.other = True
    return axes


def _plain_scatter(w: World, name: str, op: str, axes: Order) -> list[str]:
    items = ", ".join(a if isinstance(a, str) else a.name for a in axes)
    w.tensors.append(Tensor(name, shape_of(axes), "float", -32, 32))
    return [f"{name}[{items}] {op} 0.5"]


def _one_scatter(w: World, name: str, op: str, first: Size, order: Order, scope: Scope) -> str | None:
    """`t[position, …] op= e`: the position from a tensor of integers, or computed."""
    c = w.choose
    loop = Index("q", first, statable=False)
    gathers = [t for t in w.tensors if t.kind == "int" and len(t.dims) == 1 and (scope.batch or not t.batched)]
    padded = False
    if gathers and c.chance(75):
        t = c.pick(gathers)
        loop = Index("q", t.dims[0], statable=False)
        items = ", ".join(s if isinstance(s, str) else "q" for s in t.shape)
        position = f"{t.name}[{items}]"
        if not (t.low >= 0 and t.high <= first.value):
            padded = True
        elif c.chance(25):
            position, padded = f"{position} + 1", True
        loop.plain = True
    else:
        fits = [t for t in w.tensors if t.kind == "float" and len(t.dims) >= 1 and (scope.batch or not t.batched)]
        if not fits:
            return None
        position, padded = c.pick((("q", False), (f"{times(2, loop)} - 1", True), (f"{first.text} - 1 - q", False),
                                   (f"(2*q + 1) % {first.text}", False), ("q//2", False)))  # fmt: skip
        if position != "q":
            t = c.pick(fits)  # whose dim says how far the index runs
            loop = Index("q", t.dims[0], statable=False)
            items = ", ".join(
                s if isinstance(s, str) else "q" if k == _first_dim(t) else "0" for k, s in enumerate(t.shape)
            )
            if any(s.value == 0 for s in t.dims):
                return None
            if position in ("q//2",) and (loop.size.value - 1) // 2 >= first.value:
                padded = True
            if position.startswith(first.text) and loop.size.text != first.text:
                padded = True
            extra = f"{t.name}[{items}]"
            body = floats(w, Scope((*scope.indices, loop), scope.batch), 2)
            return _line(w, name, op, position, order, padded, f"{body.at(TIMES)}*{extra}")
    body = floats(w, Scope((*scope.indices, loop), scope.batch), 2)
    if op == "*=":
        body = tamed(w, body, 1.5)
    return _line(w, name, op, position, order, padded, body.text)


def _first_dim(t: Tensor) -> int:
    return next(k for k, s in enumerate(t.shape) if isinstance(s, Size))


def _line(w: World, name: str, op: str, position: str, order: Order, padded: bool, body: str) -> str:
    items = [position, *(o if isinstance(o, str) else o.name for o in order)]
    left = f"{name}[{', '.join(items)}]"
    if op in ("max=", "min="):
        body = f"0.5*({body})"  # not an integer, which has no identity
    if padded:
        w.mark("padded scatter")
    return f"{f'pad({left})' if padded else left} {op} {body}"
