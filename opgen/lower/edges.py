"""Edges of a tensor with statements of their own, `v[0] = left` beside `v[i] = 2*u[i]`, as the one statement of all.

In go the statements of a block, out comes one mistake for each name. An edge is a place that does not move, inside or
right behind the end: `v[T] = last`. What begins a recurrence is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag, Label, Span
from opgen.ir import text
from opgen.ir.scalar import Batch, Lit, Scalar
from opgen.lang.circles import circles, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Name, Number, Product, Sum, Unary
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.declare import Declarations
from opgen.lower.joined import JOINED
from opgen.lower.parts import OVERWRITTEN, with_part


@dataclass(frozen=True, slots=True)
class _Edge:
    """A statement of places, where it has one that does not move, and that place."""

    s: Assign
    at: int
    place: Expr


def without_edges(d: Declarations, bag: Bag) -> Declarations:
    """The declarations without the statements of names whose edges are assigned beside the whole; each name is told."""
    told: list[str] = []
    running = [name for group in circles(d.forward) for name in group]
    for name in d.targets():
        own = [s for s in d.forward if s.target.name == name]
        if len(own) == 1 or name in (*running, *d.lost, *d.inputs) or any(s.op != "=" or s.guard for s in own):
            continue
        if any(name in names_read(s.value) for s in own):
            continue
        plain = [s for s in own if _edges(d, s) == []]
        edges = [e[0] for s in own if (e := _edges(d, s)) and len(e) == 1]
        if len(plain) != 1 or len(edges) != len(own) - 1 or (made := _whole(d, plain[0], edges)) is None:
            continue
        told.append(name)
        line, padded = made
        what = f"{OVERWRITTEN}: " if plain[0] is own[0] else f"{JOINED}: "
        hint = f"{what}`{unparse_assign(line)}`{', or what there is outside in place of 0' if padded else ''}"
        related = [Label(s.target.span, "this too") for s in own[2:]]
        message = f"`{name}` is assigned as a whole and by components"
        bag.error("OPG217", message, own[1].target.span, related=related, hints=(hint,))
    if not told:
        return d
    return replace(d, forward=tuple(s for s in d.forward if s.target.name not in told), lost=(*d.lost, *told))


def _edges(d: Declarations, s: Assign) -> list[_Edge] | None:
    """The places of a target that do not move; None where it has others than these and distinct plain indices."""
    found, names = [], []
    for k, item in enumerate(s.target.items or ()):
        match item:
            case Dots():
                pass
            case Binder(name=name, extent=None, span=span) if name in d.known_dims():
                found.append(_Edge(s, k, Name(name, span)))
            case Binder(name=name):
                names.append(name)
            case _ if _is_minus_one(item) or _is_still(d, item):
                found.append(_Edge(s, k, item))
            case _:
                return None
    return found if s.target.items and len({*names}) == len(names) else None


def _is_still(d: Declarations, e: Expr) -> bool:
    """Whether a position is made of numbers and sizes; one in front of the start begins something."""
    counted = all(isinstance(n, Number | Name | Sum | Product) for n in nodes(e))
    return counted and {*names_read(e)} <= {*d.known_dims(), *d.params}


def _whole(d: Declarations, plain: Assign, edges: Sequence[_Edge]) -> tuple[Assign, bool] | None:
    """The statement of all, and whether something in it had to be padded; None where the parts do not fit together."""
    items = plain.target.items or ()
    if any(len(e.s.target.items or ()) != len(items) for e in edges):
        return None
    made, padded, behind = plain, False, list[_Edge]()
    for at in dict.fromkeys(e.at for e in edges):
        here, own = [e for e in edges if e.at == at], items[at]
        size = _size(d, plain, at) or _from_places(here)
        if not isinstance(own, Binder) or size is None:
            return None
        last = total([(1, size), (-1, Number(1, own.span))], own.span)
        begun = any(_is_number(e.place, 0) for e in here)
        if any(_is_minus_one(e.place) for e in here) and not begun:
            return None  # it may be what comes before the first
        here = [replace(e, place=last) if _is_minus_one(e.place) else e for e in here]
        behind += [e for e in here if e.place == size]
        inner = [e for e in here if e.place != size]
        beyond = (total([(1, e.place), (-1, size)], own.span) for e in inner)
        if any(isinstance(more, Number) and more.value > 0 for more in beyond):
            return None
        value = _padded(d, made.value, own.name, size, [e.place for e in inner])
        padded = padded or value != made.value
        left = made.target.items or ()
        if not any(_is_alone(n, own.name) for n in nodes(value)):
            left = (*left[:at], replace(own, extent=own.extent or size), *left[at + 1 :])
        made = replace(made, value=value, target=replace(made.target, items=left))
        for e in reversed(inner):
            chosen = _with(d, made, e)
            if chosen is None:
                return None
            made = chosen
    if len(behind) > 1:
        return None
    whole = _appended(d, made, behind[0]) if behind else made
    return None if whole is None else (whole, padded)


def _appended(d: Declarations, whole: Assign, e: _Edge) -> Assign | None:
    """One more at the end: `v[t < T + 1] = where(t < T, value[t], last)`."""
    items, own = whole.target.items or (), (whole.target.items or ())[e.at]
    chosen = _with(d, whole, e)
    if chosen is None or not isinstance(own, Binder) or not isinstance(chosen.value, Call):
        return None
    size = total([(1, e.place), (1, Number(1, own.span))], own.span)
    left = (*items[: e.at], replace(own, extent=size), *items[e.at + 1 :])
    inside = Compare((Name(own.name, own.span), e.place), ("<",), own.span)
    value = replace(chosen.value, args=(inside, whole.value, chosen.value.args[1]))
    return replace(whole, target=replace(whole.target, items=left), value=value)


def _with(d: Declarations, whole: Assign, e: _Edge) -> Assign | None:
    """The whole with a choice of an edge."""
    items = e.s.target.items or ()
    return with_part(
        d, whole, replace(e.s, target=replace(e.s.target, items=(*items[: e.at], e.place, *items[e.at + 1 :])))
    )


def _size(d: Declarations, s: Assign, at: int, passed: tuple[str, ...] = ()) -> Expr | None:
    """How far an index of a statement runs: as it says itself, or by what is read at it alone."""
    own = (s.target.items or ())[at]
    if not isinstance(own, Binder) or own.extent is not None:
        return own.extent if isinstance(own, Binder) else None
    for a in (n for n in nodes(s.value) if isinstance(n, Access)):
        places = [k for k, i in enumerate(a.items) if isinstance(i, Name) and i.name == own.name]
        shape = d.shapes.get(a.name)
        if places and shape is not None and len(shape) == len(a.items):
            size = shape[places[0]]
            return _written(size, own.span)
        makers = [o for o in d.forward if o.target.name == a.name and a.name not in passed]
        fits = [o for o in makers if len(o.target.items or ()) == len(a.items)]
        if places and fits and (found := _size(d, fits[0], places[0], (*passed, a.name))) is not None:
            return found
    shape = d.output_shapes.get(s.target.name, ())
    return _written(shape[at], own.span) if len(shape) == len(s.target.items or ()) else None


def _written(size: Scalar | Batch, at: Span) -> Expr | None:
    if isinstance(size, Batch):
        return None
    return Number(size.value, at) if isinstance(size, Lit) else Name(text.scalar(size), at)


def _from_places(edges: Sequence[_Edge]) -> Expr | None:
    """The size of which one edge is the last place, `N - 1`."""
    sums = (
        p for e in edges if isinstance(p := e.place, Sum) and p.terms[-1][0] == "-" and _is_number(p.terms[-1][1], 1)
    )
    return next((total([(1, p), (1, Number(1, p.span))], p.span) for p in sums), None)


def _is_number(e: Expr, value: int) -> bool:
    return isinstance(e, Number) and e.value == value


def _is_minus_one(e: Expr | Dots | Binder) -> bool:
    return isinstance(e, Unary) and e.op == "-" and _is_number(e.operand, 1)


def _is_alone(n: Expr, index: str) -> bool:
    return isinstance(n, Access) and any(isinstance(i, Name) and i.name == index for i in n.items)


def _padded(d: Declarations, value: Expr, index: str, size: Expr, places: Sequence[Expr]) -> Expr:
    """A value whose neighbours on a side without edges are padded, where nothing is said of them."""
    first = next(k for k in range(len(places) + 1) if Number(k, value.span) not in places)
    ends = [total([(1, size), (-1, Number(k, value.span))], value.span) for k in range(1, len(places) + 2)]
    last = next(k for k, end in enumerate(ends) if end not in places)

    def step(e: Expr) -> Expr | None:
        if isinstance(e, Call) and (e.name == "pad" or (e.name == "where" and index in names_read(e.args[0]))):
            return e
        shape = d.shapes.get(e.name, ()) if isinstance(e, Access) else ()
        if not isinstance(e, Access) or len(shape) != len(e.items):
            return None
        alike = [
            s for i, n in zip(e.items, shape, strict=True) if text.position(n) == unparse(size) and (s := shift_of(i))
        ]
        outside = any(s.index == index and (s.offset > last or -s.offset > first) for s in alike)
        return Call("pad", (e, Number(0, e.span)), e.span, e.span) if outside else None

    return transform(value, step)
