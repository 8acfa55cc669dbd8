"""A tensor that other libraries pad by a width, and read at moved positions: what is padded here is each read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.suggest import listed
from opgen.ir import text
from opgen.ir.scalar import Batch
from opgen.lang.joins import LIST
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Reduction, Sum
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import nodes, transform
from opgen.lower.digits import alone_at, is_index
from opgen.lower.scope import Frame

_GENERAL = "`pad` has no width, and covers one access, whose positions say how far: `pad({}, {})`"


@dataclass(frozen=True, slots=True)
class _Width:
    """A tensor, how many places stand in front of it and behind it, and what these hold."""

    of: str
    front: Expr
    back: Expr
    fill: Expr


def padded_by_width(f: Frame, e: Call) -> tuple[str, ...]:
    """What to write for `p = pad(x, 1, 0)` and the statements that read `p`; nothing where no width is meant."""
    width = _width(f, e)
    if width is None:
        return ()
    own = next((s for s in f.decl.forward if s.value is e), None)
    readers = [] if own is None else [s for s in f.decl.forward if _mentions(s, own.target.name)]
    lines = [] if own is None else [_read_padded(f, s, own.target.name, width) for s in readers]
    made = [unparse_assign(s) for s in lines if s is not None]
    if own is None or not made or len(made) < len(lines) or own.target.name in f.decl.outputs:
        return (_GENERAL.format(_example(f, width), unparse(width.fill)),)
    reads = f"in place of this line and of what reads `{own.target.name}`"
    return (f"`pad` has no width, and each read is padded: {reads} write {listed(made, 'and')}",)


def _width(f: Frame, e: Call) -> _Width | None:
    """What is meant by a call with a width behind a tensor as a whole."""
    if len(e.args) not in (2, 3):
        return None
    first, width, *rest = e.args
    known = f.state.tensors.get(first.name) if isinstance(first, Access | Name) else None
    as_list = isinstance(width, Call) and width.name == LIST
    plain = isinstance(first, Name) or (isinstance(first, Access) and _is_whole(f, first) and (rest or as_list))
    if not rest and width == Number(0, width.span):
        return None  # which is a fill
    if known is None or not isinstance(first, Access | Name) or known.shape is None or not plain:
        return None
    ends = width.args if isinstance(width, Call) and width.name == LIST else (width, width)
    if len(ends) != 2 and len({unparse(end) for end in ends}) != 1:
        return None
    return _Width(first.name, ends[0], ends[1 % len(ends)], rest[0] if rest else Number(0, e.span))


def _is_whole(f: Frame, a: Access) -> bool:
    return all(isinstance(i, Dots) or (isinstance(i, Name) and is_index(f, i.name)) for i in a.items)


def _mentions(s: Assign, name: str) -> bool:
    return any(isinstance(n, Access | Name) and n.name == name for n in nodes(s.value))


def _example(f: Frame, w: _Width) -> str:
    """A read of the tensor that begins as far in front of it."""
    letters = f.decl.words.letters.get(w.of, ())
    last = max((k for k, i in enumerate(letters) if i != "..."), default=None)
    if last is None:
        return "x[i - 1]"
    back = unparse(w.front) if isinstance(w.front, Name) or (isinstance(w.front, Number) and w.front.value) else "1"
    return f"{w.of}[{', '.join(f'{i} - {back}' if k == last else i for k, i in enumerate(letters))}]"


def _read_padded(f: Frame, s: Assign, name: str, w: _Width) -> Assign | None:
    """A statement with the padded reads of the tensor itself; None where one is no move along a dim."""
    shape = f.state.tensors[w.of].shape or ()
    reads = [n for n in nodes(s.value) if isinstance(n, Access) and n.name == name]
    bare = any(isinstance(n, Name) and n.name == name for n in nodes(s.value))
    if bare or any(len(a.items) != len(shape) for a in reads):
        return None
    axes = [[a.items[k] for a in reads] for k in range(len(shape))]
    if any(isinstance(i, Dots) != isinstance(size, Batch) for at, size in zip(axes, shape, strict=True) for i in at):
        return None
    moved = [any(isinstance(i, Sum) for i in at) for at in axes]
    ends: dict[str, Expr] = {}
    for at, size in ((at, size) for at, size, m in zip(axes, shape, moved, strict=True) if m):
        found = _furthest(f, s, [i for i in at if not isinstance(i, Dots)])
        extent = _size(text.scalar(size), s) if not isinstance(size, Batch) else None
        if found is None or extent is None:
            return None
        ends[found[0]] = total([(1, extent), (1, w.front), (1, w.back), (-1, found[1])], s.span)

    def step(e: Expr) -> Expr | None:
        if not isinstance(e, Access) or e.name != name:
            return None
        items = (
            total([(1, i), (-1, w.front)], e.span) if m and not isinstance(i, Dots) else i
            for m, i in zip(moved, e.items, strict=True)
        )
        return Call("pad", (replace(e, name=w.of, items=tuple(items)), w.fill), e.span, e.span)

    return _bounded(f, replace(s, value=transform(s.value, step)), ends) if ends else None


def _furthest(f: Frame, s: Assign, items: Sequence[Expr]) -> tuple[str, Expr] | None:
    """The index of the target that positions move with, and how far ahead of it the last of them is."""
    left = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    found = [_ahead(f, s, i, left) for i in items]
    indices = {o[0] for o in found if o is not None}
    beside = {unparse(o[1]) for o in found if o is not None}  # what the indices of a window add
    if None in found or len(indices) != 1 or len(beside) != 1 or any(o is None or o[2] < 0 for o in found):
        return None  # in front of what is padded, nothing is
    last = max((o for o in found if o is not None), key=lambda o: o[2])
    return last[0], total([(1, last[1]), (1, Number(last[2], s.span))], s.span)


def _ahead(f: Frame, s: Assign, e: Expr, left: set[str]) -> tuple[str, Expr, int] | None:
    """The index of the target in a position, how far the other indices in it go, and the number in it."""
    index, number, others = "", 0, list[tuple[int, Expr]]()
    for op, t in e.terms if isinstance(e, Sum) else (("+", e),):
        if isinstance(t, Number) and isinstance(t.value, int):
            number += t.value if op == "+" else -t.value
        elif isinstance(t, Name) and op == "+" and t.name in left and not index:
            index = t.name
        elif isinstance(t, Name) and op == "+" and (size := _window(f, s, t.name)) is not None:
            others += [(1, size), (-1, Number(1, s.span))]
        else:
            return None
    return (index, total(others, s.span), number) if index else None


def _window(f: Frame, s: Assign, index: str) -> Expr | None:
    """How far an index runs that a reduction binds."""
    bound = (b for n in nodes(s.value) if isinstance(n, Reduction) for b in n.binders if isinstance(b, Binder))
    stated = next((b.extent for b in bound if b.name == index and b.extent is not None), None)
    return stated if stated is not None else _size(alone_at(f, s, index) or "", s)


def _size(shown: str, s: Assign) -> Expr | None:
    """A size that is a number or a name."""
    if shown.isdigit():
        return Number(int(shown), s.span)
    return Name(shown, s.span) if shown.isidentifier() else None


def _bounded(f: Frame, s: Assign, ends: Mapping[str, Expr]) -> Assign:
    """A statement with the extents that its padded reads do not say, and no declared shape either."""
    if f.decl.output_shapes.get(s.target.name) is not None:
        return s

    def bounded(i: Binder | Dots | Expr) -> Binder | Dots | Expr:
        if not isinstance(i, Binder) or i.extent is not None or i.name not in ends:
            return i
        return i if alone_at(f, s, i.name) == unparse(ends[i.name]) else replace(i, extent=ends[i.name])

    items = tuple(map(bounded, s.target.items or ()))
    return replace(s, target=replace(s.target, items=items))
