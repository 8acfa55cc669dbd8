"""Elements of one tensor that are written in turn, `y[2*i] = a[i]` and `y[2*i + 1] = b[i]`, as one statement; and those
of a matrix that are written one by one, by its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Name, Number, Product, Sum, Target
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import integer, names_read, nodes, transform
from opgen.lower.digits import alone_at, is_index, put
from opgen.lower.joined import JOINED, is_other
from opgen.lower.scope import Frame

_LETTERS = "dkmpcuv"


@dataclass(frozen=True, slots=True)
class _Turn:
    """A position `step*index + first`."""

    index: str
    step: int
    first: int


def interleaved(f: Frame, s: Assign) -> tuple[str, ...]:
    """A choice by the remainder; nothing where the statements of the name do not fill all places in turn."""
    own = [o for o in f.decl.forward if o.target.name == s.target.name]
    first = own[0].target.items or () if own else ()
    at = next((k for k, i in enumerate(first) if not isinstance(i, Binder | Dots)), None)
    if at is None or len(own) < 2 or any(is_other(o, own[0], at) for o in own):
        return ()
    turns = [t for o in own if (t := _turn(f, (o.target.items or ())[at])) is not None]
    if [t.first for t in turns] != [*range(len(own))] or {t.step for t in turns} != {len(own)}:
        return ()
    read, n = _read(f, own[0], len(first)), Number(len(own), s.span)
    taken = {i for o in own for i in names_read(o.value)} | {i.name for i in first if isinstance(i, Binder)}
    wish = read[at][0] if read else ""
    letter = next((c for c in (wish, *_LETTERS) if c.isidentifier() and c not in taken and is_index(f, c)), None)
    left = None if letter is None else _left(f, own[0], at, (turns[0], letter), read)
    if left is None or letter is None:
        return ()
    place = Name(letter, s.span)
    whole, rest = (Product((("*", place), (sign, n)), s.span) for sign in ("//", "%"))
    values = [transform(_beside(f, o.value, t, place), put({t.index: whole})) for o, t in zip(own, turns, strict=True)]
    made = values[-1]
    for k in range(len(own) - 2, -1, -1):
        chosen = Compare((rest, Number(k, s.span)), ("==",), s.span)
        made = Call("where", (chosen, values[k], made), s.span, s.span)
    line = replace(s, target=replace(s.target, items=tuple(left)), value=made)
    return (f"{JOINED}: `{unparse_assign(line)}`",)


def _beside(f: Frame, e: Expr, own: _Turn, place: Name) -> Expr:
    """A value with what is read in turn, too, as so many places from the one that it is written to."""

    def step(n: Expr) -> Expr | None:
        if not isinstance(n, Access):
            return None
        items: list[Expr | Dots] = []
        for item in n.items:
            turn = None if isinstance(item, Dots) else _turn(f, item)
            if turn is None or (turn.index, turn.step) != (own.index, own.step):
                items.append(item)
                continue
            far = turn.first - own.first
            terms = (("+", place), ("+" if far > 0 else "-", Number(abs(far), place.span)))
            items.append(Sum(terms, place.span) if far else place)
        return replace(n, items=tuple(items))

    return transform(e, step)


def mirrored(f: Frame, s: Assign) -> tuple[str, ...]:
    """`g[T - 1 - t] = r[T - 1 - t] + g[T - t]`, which counts from the end, by its own index."""
    items = s.target.items or ()
    at = [k for k, i in enumerate(items) if not isinstance(i, Binder | Dots)]
    item = items[at[0]] if len(at) == 1 else None
    if not isinstance(item, Sum):
        return ()
    back = [t.name for sign, t in item.terms if sign == "-" and isinstance(t, Name) and is_index(f, t.name)]
    if len(back) != 1 or [n for n in names_read(item) if is_index(f, n)] != back:
        return ()
    value = transform(s.value, put({back[0]: item}))
    own = (*items[: at[0]], Binder(back[0], None, s.target.span), *items[at[0] + 1 :])
    line = replace(s, target=replace(s.target, items=own), value=value)
    return (f"each of its places is written once, by an index of its own: `{unparse_assign(line)}`",)


def rows_of(t: Target) -> str:
    """How a matrix is written whose elements are given one by one, `r[..., 0, 1] = …`."""
    items = t.items or ()
    places = [k for k, i in enumerate(items) if isinstance(i, Number)]
    shown = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) else unparse(i) for i in items]
    letter = next((c for c in "jkmn" if c not in shown), "p")
    row, whole = f"{t.name}{shown[places[0]]}", [letter if k == places[-1] else i for k, i in enumerate(shown)]
    one, all_of = ([i for k, i in enumerate(o) if k != places[0]] for o in (shown, whole))
    return (
        f"a row has a name of its own, `{row}[{', '.join(one)}] = …`, and is one component of the whole:"
        f" `{t.name}[{', '.join(whole)}] = {row}[{', '.join(all_of)}]`"
    )


def _turn(f: Frame, e: Expr | Binder | Dots) -> _Turn | None:
    terms = e.terms if isinstance(e, Sum) else (("+", e),) if isinstance(e, Product) else ()
    numbers = [n for sign, t in terms if sign == "+" and (n := integer(t)) is not None]
    match [t for sign, t in terms if sign == "+" and integer(t) is None]:
        case [Product(factors=(("*", Number(value=int(step))), ("*", Name(name=index))))] if is_index(f, index):
            pass
        case [Product(factors=(("*", Name(name=index)), ("*", Number(value=int(step)))))] if is_index(f, index):
            pass
        case _:
            return None
    return _Turn(index, step, sum(numbers)) if len(numbers) == len(terms) - 1 else None


def _read(f: Frame, s: Assign, rank: int) -> Sequence[tuple[str, str | None]]:
    """The indices at which the tensor is read further down, each with the dim of another tensor that it runs along."""
    for o in f.decl.forward:
        for a in (n for n in nodes(o.value) if isinstance(n, Access) and n.name == s.target.name):
            names = [i.name if isinstance(i, Name) else "..." if isinstance(i, Dots) else "" for i in a.items]
            if len(names) == rank and all(names):
                own: Mapping[str, str | None] = {i: alone_at(f, o, i, (s,)) for i in names if i != "..."}
                return [(i, own.get(i)) for i in names]
    return ()


def _left(
    f: Frame, s: Assign, at: int, turn: tuple[_Turn, str], read: Sequence[tuple[str, str | None]]
) -> list[Binder | Dots | Expr] | None:
    """What stands in the brackets of the target; None where nothing says how far an index runs."""
    (t, letter), left = turn, list[Binder | Dots | Expr]()
    declared = f.decl.output_shapes.get(s.target.name) is not None
    for k, item in enumerate(s.target.items or ()):
        if isinstance(item, Dots):
            left.append(item)
            continue
        along = read[k][1] if read else None
        alone = alone_at(f, s, t.index if k == at else item.name if isinstance(item, Binder) else "")
        size: Expr | None = Name(along, s.span) if along else None
        if k == at and alone is not None and size is None:
            size = Product((("*", Number(t.step, s.span)), ("*", Name(alone, s.span))), s.span)
        if isinstance(item, Binder) and (item.extent is not None or alone is not None):
            size = item.extent
        elif size is None and not declared:
            return None
        left.append(Binder(letter if k == at or not isinstance(item, Binder) else item.name, size, s.span))
    return left
