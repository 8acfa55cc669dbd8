"""Components that go on from one another: `s[t, 0] = s[t - 1, 0] + s[t - 1, 1]` beside `s[t, 1] = …`.

In go the statements of such a name; out come the same with a name for each component, joined behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.ir import text
from opgen.lang.circles import accesses, is_constant
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Reduction, Target
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import integer, nodes, rebuild, transform
from opgen.lower.declare import Declarations


def components_go_on(d: Declarations, name: str, statements: Sequence[Assign]) -> tuple[str, ...]:
    """What is said of components that read one another; nothing where none does."""
    own = [s for s in statements if any(accesses((s,), (name,)))]
    places = {k: None for s in own for k in _constants(s)}
    if not own or not all(len(_constants(s)) == 1 for s in own) or len(places) != 1:
        return ()
    lines = _with_names(d, name, statements, next(iter(places)))
    if not lines:
        return ("a recurrence has one statement for all of its elements: give each component a name of its own, and"
                f" join them behind it, as in `{name}[t, 0] = a[t]` and `{name}[t, 1] = b[t]`",)  # fmt: skip
    shown = ", ".join(f"`{line}`" for line in lines[:-1])
    return (f"each component has a name of its own, and they are joined: write {shown} and `{lines[-1]}`",)


def _constants(s: Assign) -> list[int]:
    """The positions at which a target has an integer that chooses a component."""
    items = s.target.items or ()
    found = ((k, _chosen(items, k)) for k in range(len(items)))
    return [k for k, chosen in found if chosen is not None and chosen >= 0]


def _with_names(d: Declarations, name: str, statements: Sequence[Assign], place: int) -> list[str]:
    """The statements with a name for each component; empty where that is not certain."""
    statements = _each(statements, place)
    components = [*dict.fromkeys(_chosen(s.target.items or (), place) for s in statements)]
    known = {*d.inputs, *d.params, *(o.target.name for o in (*d.forward, *d.backward))}
    around = {a.name for s in statements for a in nodes(s.value) if isinstance(a, Access)}
    others = (o for o in d.forward if o.target.name != name and o.target.name in around)
    if None in components or any(s.op != "=" or s.guard is not None for s in statements) or any(
        any(accesses((o,), (name,))) for o in others
    ):  # fmt: skip
        return []
    form = next(form for form in (f"{name}{{}}", f"{name}_{{}}", f"{name}_part{{}}")
                if known.isdisjoint(form.format(c) for c in components))  # fmt: skip
    good = True

    def step(e: Expr) -> Expr | None:
        nonlocal good
        if not isinstance(e, Access) or e.name != name:
            return None
        chosen = _chosen(e.items, place)
        good = good and chosen in components and len(e.items) > 1
        return replace(e, name=form.format(chosen), items=(*e.items[:place], *e.items[place + 1 :]))

    made, joined = [], []
    for s in statements:
        items = s.target.items or ()
        own, chosen = (*items[:place], *items[place + 1 :]), form.format(_chosen(items, place))
        made.append(
            replace(s, target=replace(s.target, name=chosen, items=_sized(d, s, place)), value=transform(s.value, step))
        )
        if not any(map(is_constant, own)):
            read = tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in own)
            joined.append(replace(s, value=Access(chosen, _plain(read), s.span, s.span)))
    starts = [s for s in made if any(map(is_constant, s.target.items or ()))]
    names = tuple(form.format(c) for c in components)

    def reads(s: Assign) -> bool:  # what reads none of them comes first
        return any(accesses((s,), names))

    apart = {s.target.name for s in made if not reads(s)} - {s.target.name for s in made if reads(s)}
    shifted = {a.name for a in accesses(made, names) if not all(isinstance(i, Name | Dots) for i in a.items)}
    good = good and apart.isdisjoint(shifted)  # elsewhere 0 stands before the first element
    if not good or len(joined) != len(components) or not all(_is_outside(s.target) for s in starts):
        return []
    return [unparse_assign(s) for s in (*starts, *sorted((s for s in made if s not in starts), key=reads), *joined)]


def _each(statements: Sequence[Assign], place: int) -> list[Assign]:
    """The statements, with one for each component in place of a start of them all: `s[-1, c] = x0[c]`."""
    chosen = [k for s in statements if (k := _chosen(s.target.items or (), place)) is not None]
    made: list[Assign] = []
    for s in statements:
        items = s.target.items or ()
        item = items[place] if place < len(items) else None
        if not isinstance(item, Binder) or item.extent is not None or is_constant(item):
            made.append(s)
            continue
        for k in dict.fromkeys(chosen):
            number = Number(k, item.span)
            target = replace(s.target, items=(*items[:place], number, *items[place + 1 :]))
            made.append(replace(s, target=target, value=_with_number(s.value, item.name, number)))
    return made


def _with_number(e: Expr, index: str, number: Number) -> Expr:
    """An expression with a number in place of an index."""
    if isinstance(e, Name):
        return number if e.name == index else e
    if isinstance(e, Reduction) and any(isinstance(b, Binder) and b.name == index for b in e.binders):
        return e
    return rebuild(e, lambda part: _with_number(part, index, number))


def _plain(items: Sequence[object]) -> tuple[Expr | Dots, ...]:
    return tuple(i for i in items if isinstance(i, Name | Dots))


def _chosen(items: Sequence[Binder | Dots | Expr], place: int) -> int | None:
    item = items[place] if place < len(items) else None
    return None if item is None or isinstance(item, Binder | Dots) else integer(item)


def _is_outside(target: Target) -> bool:
    """Whether a start stands before the first element, or at a size."""
    apart = [i for i in target.items or () if is_constant(i) and not isinstance(i, Dots)]
    return all(isinstance(i, Binder | Name) or (integer(i) or 0) < 0 for i in apart)


def _sized(d: Declarations, s: Assign, place: int) -> tuple[Binder | Dots | Expr, ...]:
    """The positions of a component, with the declared extent of an index that stands alone in no other tensor."""
    items, shape = s.target.items or (), d.output_shapes.get(s.target.name, ())
    read = {i.name for a in nodes(s.value) if isinstance(a, Access) and a.name != s.target.name
            for i in a.items if isinstance(i, Name)}  # fmt: skip
    return tuple(
        replace(i, extent=Name(text.position(shape[k]), i.span))
        if isinstance(i, Binder)
        and not (i.extent or is_constant(i))
        and i.name not in read
        and len(shape) == len(items)
        else i
        for k, i in enumerate(items)
        if k != place
    )
