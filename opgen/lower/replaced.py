"""Elements that a statement puts in the place of others, `y[at[n]] = x[n]`, as other languages write into a tensor.

Here what is at one place is chosen by a condition, and what is at several is a scatter of the difference. In go the
statements of a block, out come lines of help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Label
from opgen.lang.layout import access_at
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Reduction,
    Sum,
    Target,
    Unary,
)
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import read_as
from opgen.lang.vocabulary import SPARE, letters
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.declare import Declarations
from opgen.lower.renewed import as_listed

Item = Binder | Dots | Expr
_CHOSEN = "what is at one place is chosen by a condition: write"


def replaced(d: Declarations, s: Assign) -> tuple[str, ...]:
    """How such a statement is written; nothing where it is none, or where it is not certain what stays."""
    base = _base(d, s)
    if base is None or not _is_plain(s, base[0]):
        return ()
    own, value = base
    found = _places(d, s, own)
    if found is None:
        return ()
    places, chosen = found
    if _is_moved(d, s, chosen):
        return _scattered(d, s, own, value, places | dict(chosen))
    line = unparse_assign(_chosen(d, s, own, value, places, chosen))
    both = " in place of both" if any(o.target.name == s.target.name and o is not s for o in d.forward) else ""
    return (f"{_CHOSEN} `{line}`{both}",)


def _places(
    d: Declarations, s: Assign, own: Sequence[Binder | Dots]
) -> tuple[dict[str, Expr], list[tuple[str, Expr]]] | None:
    """What stands for each of a tensor's own indices left of `=`, and those of them that are places."""
    places: dict[str, Expr] = {}
    chosen: list[tuple[str, Expr]] = []
    for ours, item in zip(own, s.target.items or (), strict=True):
        if isinstance(ours, Dots) or isinstance(item, Dots):
            if isinstance(ours, Dots) != isinstance(item, Dots):
                return None
            continue
        if is_place(d, item) or (s.target.name in d.inputs and _is_fixed(d, item)):
            chosen.append((ours.name, Name(item.name, item.span) if isinstance(item, Binder) else item))
        elif isinstance(item, Binder):
            places[ours.name] = Name(item.name, item.span)
        else:
            return None
    clash = {i for i, _ in chosen} & {i.name for i in s.target.items or () if isinstance(i, Binder)}
    return (places, chosen) if chosen and not clash else None


def _is_moved(d: Declarations, s: Assign, chosen: Sequence[tuple[str, Expr]]) -> bool:
    """Whether places have indices that are not those of the target: several elements of one row."""
    kept = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    read = [n.name for _, e in chosen for n in nodes(e) if isinstance(n, Name)]
    return any(n not in kept and not _is_declared(d, n) for n in read)


def _is_fixed(d: Declarations, item: Item) -> bool:
    """Whether an item left of `=` is one position that a number, a dim or an int param gives."""
    if isinstance(item, Binder):
        return item.extent is None and item.name in d.params and d.params[item.name].type == "int"
    if isinstance(item, Dots) or any(isinstance(n, Access | Unary) for n in nodes(item)):
        return False
    names = [n.name for n in nodes(item) if isinstance(n, Name)]
    return all(n in d.params or n in d.known_dims() for n in names) and (bool(names) or isinstance(item, Number))


def without_replaced(d: Declarations, bag: Bag) -> Declarations:
    """The declarations without the statements that write into inputs; how the result is written is told of each."""
    told: list[str] = []
    for name in d.targets():
        own = [s for s in d.forward if s.target.name == name]
        if name not in d.inputs or not (hints := _of_input(d, own)):
            continue
        told.append(name)
        related = [Label(d.inputs[name].span, "declared here")]
        related += [Label(s.target.name_span, "this too") for s in own[1:]]
        message = f"`{name}` is an input and cannot be assigned"
        bag.error("OPG236", message, own[0].target.name_span, related=related, hints=hints)
    return replace(d, forward=tuple(s for s in d.forward if s.target.name not in told)) if told else d


def _of_input(d: Declarations, own: Sequence[Assign]) -> tuple[str, ...]:
    """How all that is written into an input is one statement of its own name."""
    first, *others = own
    made = replaced(d, first)
    if others:
        made = ()
        whole = _base(d, first)
        for s in own if whole is not None else ():
            assert whole is not None
            items, value = whole
            found = _places(d, s, items) if _is_plain(s, items) else None
            again = s is not first and s.target.name in names_read(s.value)
            if found is None or again or _is_moved(d, s, found[1]):
                return ()
            line = _chosen(d, s, items, value, *found)
            whole = tuple(i for i in line.target.items or () if isinstance(i, Binder | Dots)), line.value
            made = (f"{_CHOSEN} `{unparse_assign(line)}` in place of all of them",)
    if not made:
        return ()
    name, new = first.target.name, _name(d, first)
    later = [read_as(s, {name: new}) for s in d.forward if s.span.start > own[-1].span.start]
    later = [s for s in later if new in names_read(s.value)]
    further = (f"and read that further down: {', '.join(f'`{unparse_assign(s)}`' for s in later)}",) if later else ()
    listed = any(o.name == name for o in d.spec.outputs or ())
    return (*made, *further, *(as_listed(d, {name: new}) if listed else ()))


def _is_plain(s: Assign, own: Sequence[Binder | Dots]) -> bool:
    return s.op == "=" and s.guard is None and len(s.target.items or ()) == len(own)


def is_place(d: Declarations, item: Item) -> bool:
    """Whether an item left of `=` is a position that a tensor gives: `at[n]`, and `at` of one number."""
    if isinstance(item, Binder | Dots):
        alone = isinstance(item, Binder) and item.extent is None and item.name in d.words.integers
        return alone and isinstance(item, Binder) and d.words.letters.get(item.name) == ()
    return any(isinstance(n, Access | Name) and n.name in d.inputs for n in nodes(item))


def _chosen(
    d: Declarations, s: Assign, own: Sequence[Binder | Dots], value: Expr, places: Mapping[str, Expr],
    chosen: Sequence[tuple[str, Expr]],
) -> Assign:  # fmt: skip
    """One place, by a condition in a statement of all of it."""
    at = s.span
    tests = [Compare((Name(index, at), place), ("==",), at) for index, place in chosen]
    test: Expr = tests[0] if len(tests) == 1 else Logic("and", tuple(tests), at)
    kept = {i: e.name for i, e in places.items() if isinstance(e, Name)}
    items = tuple(i if isinstance(i, Dots) else replace(i, name=kept.get(i.name, i.name)) for i in own)
    made = Call("where", (test, s.value, _at(value, places)), at, at)
    return Assign(Target(_name(d, s), items, at, at), "=", made, None, at)


def _scattered(
    d: Declarations, s: Assign, own: Sequence[Binder | Dots], value: Expr, places: Mapping[str, Expr]
) -> tuple[str, ...]:
    """Several places, by what they lack; nothing where they begin with 0."""
    if isinstance(value, Number) and value.value == 0:
        return ()
    at, name = s.span, _name(d, s)
    less = Sum((("+", s.value), ("-", _at(value, places))), at)
    line = unparse_assign(replace(s, op="+=", target=replace(s.target, name=name), value=less))
    if name != s.target.name:
        first = unparse_assign(Assign(Target(name, tuple(own), at, at), "=", value, None, at))
        line = f"{first}`, then `{line}"
    return (f"to replace what is there, where positions do not repeat: `{line}`",)


def _base(d: Declarations, s: Assign) -> tuple[Sequence[Binder | Dots], Expr] | None:
    """What is there before, at which indices: an input, the one statement above, or 0 in the shape of an output."""
    name, at = s.target.name, s.span
    above = [o for o in d.forward if o.target.name == name and o is not s and o.span.start < at.start]
    shape = d.words.results.get(name, ())
    if name in d.inputs:
        own = _apart(d, s, d.words.letters.get(name, ()))
        value: Expr = access_at(name, own, Name(name, at))
    elif not above and shape:
        own, value = letters(shape, d.words.instead), Number(0, at)
    else:
        (start, *more) = above or (None,)
        items = () if start is None else start.target.items or ()
        if start is None or more or start.op != "=" or start.guard is not None:
            return None
        whole = tuple(i for i in items if isinstance(i, Binder | Dots))
        plain = isinstance(start.value, Access | Name | Number) and start.value != Name("inf", start.value.span)
        return (whole, start.value) if plain and len(whole) == len(items) else None
    return tuple(Dots(at) if i == "..." else Binder(i, None, at) for i in own), value


def _apart(d: Declarations, s: Assign, own: Sequence[str]) -> tuple[str, ...]:
    """A tensor's own indices, with others at places where the statement has the same for something else."""
    items = s.target.items or ()
    read = [n for e in (s.value, *items) if not isinstance(e, Binder | Dots) for n in nodes(e)]
    bound = [b for n in read if isinstance(n, Reduction) for b in n.binders]
    used = [n.name for n in (*read, *bound, *items) if isinstance(n, Name | Binder)]
    made = list(own)
    for k, item in enumerate(items):
        if k < len(own) and own[k] in used and not (isinstance(item, Binder | Dots) and not _is_fixed(d, item)):
            made[k] = next(c for c in ("i", "j", *SPARE) if c not in (*used, *made) and not d.words.knows(c))
    return tuple(made)


def _at(e: Expr, places: Mapping[str, Expr]) -> Expr:
    """What is read at other positions."""

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Access):
            items = tuple(i if isinstance(i, Dots) else _at(i, places) for i in node.items)
            return replace(node, items=items)
        return places.get(node.name) if isinstance(node, Name) else None

    return transform(e, step)


def _is_declared(d: Declarations, name: str) -> bool:
    return name in d.inputs or name in d.params or name in d.known_dims()


def _name(d: Declarations, s: Assign) -> str:
    """The name itself, or that of the result where it is an input."""
    name = s.target.name
    taken = (*d.inputs, *d.params, *d.targets(), *d.functions)
    if name not in d.inputs:
        return name
    if any(o.name == name for o in d.spec.outputs or ()):
        wishes: tuple[str, ...] = (f"{name}_out",)
    else:
        later = any(name in names_read(o.value) for o in d.forward if o.span.start > s.span.start)
        wishes = () if later else ("y", "output")
    return next(n for n in (*wishes, *(f"{name}{k}" for k in range(2, 99))) if n not in taken)
