"""Random accesses: a tensor at positions that lie in range for the sizes at hand, or padded."""

from __future__ import annotations

from tests.random_programs.scope import BATCH, Expr, Index, Scope, Size, Tensor, World

FILLS = ("0", "1", "-1.5")
PREFERRED = 55  # percent of plain positions where there is one


def access(w: World, scope: Scope, t: Tensor) -> Expr | None:
    """An element of a tensor, or None where its batch dims cannot be read."""
    c = w.choose
    if t.batched and not scope.batch:
        return None
    if t.shape in ((), (BATCH,)) and c.chance(70):
        return Expr(t.name, low=t.low, high=t.high)
    if t.kind == "float" and c.chance(5) and (found := _chosen(w, scope, t)) is not None:
        return found
    items: list[str] = []
    padded = False
    for size in t.shape:
        if isinstance(size, str):
            items.append(BATCH)
            continue
        text, pads = position(w, scope, size)
        items.append(text)
        padded = padded or pads
    if t.batched and t.shape[-1] != BATCH:
        w.mark("batch in front or in the middle")
    if t.batched and t.shape[0] != BATCH:
        w.mark("batch behind")
    plain = [i for i in items if i.isidentifier()]
    if len(set(plain)) < len(plain):
        w.mark("diagonal")
    text = f"{t.name}[{', '.join(items)}]" if items else t.name
    if not padded:
        return Expr(text, low=t.low, high=t.high)
    w.mark("pad")
    fill = c.pick(FILLS) if t.kind == "float" else "0"  # in range as a position
    return Expr(f"pad({text}, {fill})", low=min(t.low, float(fill)), high=max(t.high, float(fill)))


def _chosen(w: World, scope: Scope, t: Tensor) -> Expr | None:
    """An element at a place that is read a step away, under a condition that keeps that read in range."""
    c = w.choose
    fits = [
        (k, ids, ids.shape[0], i)
        for k, size in enumerate(t.shape) if not isinstance(size, str)
        for ids in w.tensors if ids.kind == "int" and ids.low >= 0 and ids.high <= size.value
        if len(ids.shape) == 1 and not isinstance(ids.shape[0], str)
        for i in scope.indices if i.size.value <= ids.shape[0].value + 1
    ]  # fmt: skip
    if not fits:
        return None
    at, ids, size, i = c.pick(fits)
    forth = c.chance(50)
    place = f"{ids.name}[{i.name} {'+' if forth else '-'} 1]"
    items = [place if k == at else s if isinstance(s, str) else position(w, scope, s) for k, s in enumerate(t.shape)]
    if any(isinstance(item, tuple) and item[1] for item in items):
        return None
    w.mark("a place under a condition")
    text = f"{t.name}[{', '.join(item if isinstance(item, str) else item[0] for item in items)}]"
    condition = f"{i.name} + 1 < {size.text}" if forth else f"{i.name} > 0"
    return Expr(f"where({condition}, {text}, 0)", low=min(t.low, 0), high=max(t.high, 0))


def position(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    """One position and whether it may leave the range."""
    c = w.choose
    same = [i for i in scope.indices if i.size.text == size.text]
    if same and (size.value == 0 or c.chance(PREFERRED)):
        chosen = c.pick(same)
        chosen.plain = True
        return chosen.name, False
    if size.value == 0:
        return _affine(w, scope), True
    make = c.weighted(
        (
            (3, _constant), (3, _reversed), (3, _shorter), (2, _quotient), (2, _remainder), (3, _coupled),
            (4, _gathered), (2, _computed), (2, _param), (5, _outside), (1, _drawn),
        )
    )  # fmt: skip
    return make(w, scope, size)


def _constant(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    w.mark("constant position")
    return str(w.choose.below(size.value)), False


def _drawn(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    w.seeded = True
    w.mark("drawn position")
    return f"integer(seed, {size.text})", False


def _reversed(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    same = [i for i in scope.indices if i.size.text == size.text]
    if not same:
        return _shorter(w, scope, size)
    w.mark("reversed")
    return f"{size.text} - 1 - {w.choose.pick(same).name}", False


def _shorter(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    """An index that runs less far than the dim, perhaps shifted."""
    fits = [i for i in scope.indices if 0 < i.size.value <= size.value and i.size.text != size.text]
    if not fits:
        return _constant(w, scope, size)
    i = w.choose.pick(fits)
    shift = w.choose.below(size.value - i.size.value + 1)
    w.mark("checked position")
    if shift == 0 and i.statable:
        i.other = True
        return i.name, False
    return f"{i.name} + {shift}", False


def _quotient(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    fits = [(i, d) for i in scope.indices for d in (2, 3) if 0 < i.size.value <= d * size.value]
    if not fits:
        return _constant(w, scope, size)
    w.mark("// in a position")
    i, d = w.choose.pick(fits)
    return f"{i.name}//{d}", False


def _remainder(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    if not scope.indices:
        return _constant(w, scope, size)
    w.mark("% in a position")
    i = w.choose.pick(scope.indices).name
    inner = w.choose.pick((i, f"({i} + 1)", f"(2*{i} + 1)", f"({i} - 2)", f"(-{i})"))
    return f"{inner} % {_sized(size)}", False


def _sized(size: Size) -> str:
    return size.text if size.text.isalnum() else f"({size.text})"


def _coupled(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    c = w.choose
    fits = [
        (a, i, b, j)
        for a in (1, 2, 3)
        for b in (1, 2)
        for i in scope.indices
        for j in scope.indices
        if i is not j and i.size.value and j.size.value
        and a * (i.size.value - 1) + b * (j.size.value - 1) < size.value
    ]  # fmt: skip
    if not fits:
        return _quotient(w, scope, size)
    w.mark("coupled position")
    a, i, b, j = c.pick(fits)
    return f"{times(a, i)} + {times(b, j)}", False


def times(a: int, i: Index) -> str:
    return {1: i.name, -1: f"-{i.name}"}.get(a, f"{a}*{i.name}")


def _gathered(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    """A position that is read from a tensor of integers in range."""
    fits = [t for t in w.tensors if t.kind == "int" and t.low >= 0 and t.high <= size.value]
    for t in fits:
        found = access(w, scope, t)
        if found is not None:
            w.mark("gather", *(("nested gather",) if "[" in found.text.partition("[")[2] else ()))
            return found.text, False
    return _reversed(w, scope, size)


def _computed(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    """A position computed from floats."""
    fits = [t for t in w.tensors if t.kind == "float" and (scope.batch or not t.batched)]
    found = access(w, scope, w.choose.pick(fits)) if fits and not w.infinite else None
    if found is None:
        return _constant(w, scope, size)
    w.mark("int of a float in a position")
    return f"clamp(int(floor(2*{found.text} + 1)), 0, {size.text} - 1)", False


def _param(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    name = int_param(w)
    value = w.values[name]
    assert isinstance(value, int)
    w.mark("int param in a position")
    fits = [i for i in scope.indices if i.size.value > 0 and i.size.value - 1 + value < size.value]
    fits = [i for i in fits if i.size.text != size.text]
    if fits:
        return f"{w.choose.pick(fits).name} + {name}", False
    return (name, False) if value < size.value else (f"{_affine(w, scope)} - {name}", True)


def int_param(w: World) -> str:
    if "step" not in w.params:
        w.values["step"] = w.choose.pick((1, 2, 0))
        w.params["step"] = "{type: int, default: 1, domain: step >= 0}"
    return "step"


def _outside(w: World, scope: Scope, size: Size) -> tuple[str, bool]:
    c = w.choose
    longer = [i for i in scope.indices if i.size.value > size.value and i.statable]
    if longer and c.chance(30):
        w.mark("runs further")
        i = c.pick(longer)
        i.other = True
        return i.name, True
    fits = [t for t in w.tensors if t.kind == "int"]
    if fits and c.chance(20):
        found = access(w, scope, c.pick(fits))
        if found is not None:
            w.mark("gather with pad")
            return f"{found.text} - 1", True
    return _affine(w, scope), True


def _affine(w: World, scope: Scope) -> str:
    """Any affine form of one or two indices."""
    c = w.choose
    if not scope.indices:
        return str(c.below(4))
    a = c.pick((1, 2, -1, 3, -2))
    i = c.pick(scope.indices)
    text = times(a, i)
    if len(scope.indices) > 1 and c.chance(60):
        j = c.pick([x for x in scope.indices if x is not i])
        b = c.pick((1, -1, 2, -3))
        text += f" {'-' if b < 0 else '+'} {times(abs(b), j)}"
    shift = c.below(5) - 2
    return f"{text} {'-' if shift < 0 else '+'} {abs(shift)}" if shift or text.isidentifier() else text
