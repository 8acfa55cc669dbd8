"""Positions of two digits on the left, as in `y[h*r + i] = x[h, i]`, and the statement read backwards.

Such a statement fills all of its result, each place once: what the position is made of is found on the right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from opgen.ir import text
from opgen.ir.scalar import Batch, Dim
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Product, Reduction, Sum, Unary
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import integer, names_read, nodes, transform
from opgen.lower.scope import Frame

_LETTERS = "pquvabcdefgmoz"  # of what counts all places


@dataclass(frozen=True, slots=True)
class Digits:
    """A position `high*base + low`, where `low` runs to `base`, and how far `high` does where that is known."""

    high: str
    low: str
    base: Expr
    rows: str | None

    @property
    def size(self) -> str | None:
        """How many places there are."""
        base = unparse(self.base)
        return None if self.rows is None else f"{_factor(self.rows)}*{base if base.isidentifier() else _factor(base)}"


def digits(f: Frame, s: Assign, e: Expr | Binder | Dots) -> Digits | None:
    """What a position on the left is made of; None where it is no position of two digits."""
    if not isinstance(e, Sum) or len(e.terms) != 2 or any(sign != "+" for sign, _ in e.terms):
        return None
    for (_, scaled), (_, low) in (e.terms, e.terms[::-1]):
        parts = _scaled(f, scaled)
        if parts is None or not isinstance(low, Name) or not is_index(f, low.name) or low.name == parts[0]:
            continue
        own = alone_at(f, s, low.name)
        if own in (None, unparse(parts[1])):
            return Digits(parts[0], low.name, parts[1], extent_on_the_right(f, s, parts[0]))
    return None


def one_of_several(f: Frame, s: Assign) -> str | None:
    """What `y[t//2] = x[t] + x[t + 1]` may mean, with a plain index on the left and every second place on the right."""
    items = s.target.items or ()
    for k, item in enumerate(items):
        match item:
            case Product(factors=(("*", Name(name=name, span=at) as index), ("//", Number() as step))):
                size = extent_on_the_right(f, s, name)
                if size is None or not size.isidentifier():
                    return None
                scaled = Product((("*", step), ("*", index)), at)
                value = transform(s.value, put({name: scaled}))
                own = Binder(name, Product((("*", Name(size, at)), ("//", step)), at), at)
                target = replace(s.target, items=(*items[:k], own, *items[k + 1 :]))
                return unparse_assign(replace(s, target=target, value=value))
            case _:
                pass
    return None


def put(names: Mapping[str, Expr]) -> Callable[[Expr], Expr | None]:
    """The step that puts positions in the place of indices, and counts together what they are made of."""

    def step(e: Expr) -> Expr | None:
        if isinstance(e, Access):
            return replace(e, items=tuple(i if isinstance(i, Dots) else transform(i, step) for i in e.items))
        if isinstance(e, Name):
            return names.get(e.name)
        counted = isinstance(e, Sum) and all(isinstance(n, Name | Number | Sum | Product | Unary) for n in nodes(e))
        if (
            not isinstance(e, Sum)
            or not counted
            or not any(isinstance(t, Name) and t.name in names for _, t in e.terms)
        ):
            return None
        return total([(1 if sign == "+" else -1, transform(t, step)) for sign, t in e.terms], e.span)

    return step


def read_backwards(f: Frame, s: Assign) -> Assign | None:
    """The statement with plain indices on the left; None where it is another one, or nothing says how far they run."""
    items, bound = (
        s.target.items or (),
        {b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in _binders(r)},
    )
    taken = {*names_read(s.value), *(i.name for i in items if isinstance(i, Binder)), *bound}
    free = (c for c in _LETTERS if c not in taken and is_index(f, c))
    declared = f.decl.output_shapes.get(s.target.name) is not None
    value, found, left = s.value, set[str](), list[Binder | Dots | Expr]()
    for item in items:
        if isinstance(item, Binder):
            size = item.extent or (None if declared or alone_at(f, s, item.name) else _extent(f, s, item))
            if size is None and not declared and alone_at(f, s, item.name) is None:
                return None
            left.append(replace(item, extent=size))
            continue
        if isinstance(item, Dots):
            left.append(item)
            continue
        parts = digits(f, s, item)
        if parts is None or parts.size is None or {parts.high, parts.low} & (found | bound):
            return None
        found |= {parts.high, parts.low}
        place = next(free, "")
        if not place:
            return None
        value = _without(value, parts, place)
        left.append(Binder(place, None if declared else Name(parts.size, item.span), item.span))
    if not found or any(i.name in found for i in left if isinstance(i, Binder)):
        return None
    return replace(s, op="=", target=replace(s.target, items=tuple(left)), value=value)


def extent_on_the_right(f: Frame, s: Assign, index: str) -> str | None:
    """How far an index runs: by where it stands alone, by its letter, or by what it is multiplied with."""
    if (own := alone_at(f, s, index)) is not None:
        return own
    if any(index.upper() == str(d.name) for d in f.decl.spec.dims):
        return index.upper()
    for read in nodes(s.value):
        shape = f.decl.shapes.get(read.name) if isinstance(read, Access) else None
        if not isinstance(read, Access) or shape is None or len(shape) != len(read.items):
            continue
        for item, size in zip(read.items, shape, strict=True):
            terms = item.terms if isinstance(item, Sum) else ()
            scaled = [parts for sign, t in terms if sign == "+" and (parts := _scaled(f, t)) and parts[0] == index]
            if len(scaled) == 1 and isinstance(size, Dim):
                return f"{size.name}//{_factor(unparse(scaled[0][1]))}"
    return None


def _extent(f: Frame, s: Assign, item: Binder) -> Expr | None:
    found = extent_on_the_right(f, s, item.name)
    return None if found is None else Name(found, item.span)


def _scaled(f: Frame, e: Expr) -> tuple[str, Expr] | None:
    """An index that is multiplied with sizes alone: its name and these."""
    if not isinstance(e, Product) or any(op != "*" for op, _ in e.factors):
        return None
    index = [x for _, x in e.factors if isinstance(x, Name) and is_index(f, x.name)]
    rest = tuple(x for _, x in e.factors if x not in index)
    if len(index) != 1 or not rest or not all(_is_size(f, x) for x in rest):
        return None
    return index[0].name, rest[0] if len(rest) == 1 else Product(tuple(("*", x) for x in rest), e.span)


def _without(value: Expr, parts: Digits, place: str) -> Expr:
    """A value with both digits of a position as what they are of it."""

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Name) and node.name in (parts.high, parts.low):
            sign = "//" if node.name == parts.high else "%"
            return Product((("*", Name(place, node.span)), (sign, parts.base)), node.span)
        if isinstance(node, Access):
            return replace(node, items=tuple(i if isinstance(i, Dots) else transform(i, step) for i in node.items))
        return None

    return transform(value, step)


def _is_size(f: Frame, e: Expr) -> bool:
    if isinstance(e, Number):
        return (integer(e) or 0) > 1
    p = f.decl.params.get(e.name) if isinstance(e, Name) else None
    return isinstance(e, Name) and (e.name in f.decl.known_dims() or (p is not None and p.type == "int"))


def is_index(f: Frame, name: str) -> bool:
    d = f.decl
    return not (
        name in f.state.tensors or name in d.targets() or name in d.inputs or name in d.params or name in d.known_dims()
        or name[:1].isupper()
    )  # fmt: skip


def _binders(r: Reduction) -> list[Binder]:
    return [b for b in r.binders if isinstance(b, Binder)]


def _factor(size: str) -> str:
    return size if size.isalnum() else f"({size})"


def alone_at(f: Frame, s: Assign, index: str, passed: tuple[Assign, ...] = ()) -> str | None:
    """The dim at which an index stands alone on the right; `passed`: the statements on the way to this one."""
    return _alone_in(f, s, s.value, index, passed)


def alone_left(f: Frame, s: Assign, index: str) -> str | None:
    """The dim at which an index stands alone in what is read at a position on the left: `r` of `y[r, slot[r, n]]`."""
    positions = (i for i in s.target.items or () if not isinstance(i, Dots | Binder))
    return next((size for e in positions if (size := _alone_in(f, s, e, index, ())) is not None), None)


def _alone_in(f: Frame, s: Assign, e: Expr, index: str, passed: tuple[Assign, ...]) -> str | None:
    for node in nodes(e):
        known = f.state.tensors.get(node.name) if isinstance(node, Access) else None
        if not isinstance(node, Access) or known is None:
            continue
        if known.shape is None and (found := _of_its_statement(f, node, index, (*passed, s))) is not None:
            return found
        if known.shape is None or len(known.shape) != len(node.items):
            continue
        for item, size in zip(node.items, known.shape, strict=True):
            if isinstance(item, Name) and item.name == index and not isinstance(size, Batch):
                return text.scalar(size)
    return None


def _of_its_statement(f: Frame, read: Access, index: str, passed: tuple[Assign, ...]) -> str | None:
    """How far an index runs at which a tensor is read whose own statement has a mistake, by what stands in that."""
    for s in f.decl.forward:
        items = s.target.items or ()
        if s.target.name != read.name or s in passed or len(items) != len(read.items):
            continue
        for item, own in zip(read.items, items, strict=True):
            if isinstance(item, Name) and item.name == index and isinstance(own, Binder):
                return unparse(own.extent) if own.extent is not None else alone_at(f, s, own.name, passed)
    return None
