"""Elements that a statement puts in the place of others, `y[at[n]] = x[n]`, as other languages write into a tensor.

Here what is at one place is chosen by a condition, and what is at several is a scatter of the difference. In go the
statements of a block, out come lines of help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Label
from opgen.lang.layout import access_at
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Logic, Name, Number, Sum, Target
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import letters
from opgen.lang.walk import nodes, transform
from opgen.lower.declare import Declarations

Item = Binder | Dots | Expr


def replaced(d: Declarations, s: Assign) -> tuple[str, ...]:
    """How such a statement is written; nothing where it is none, or where it is not certain what stays."""
    items, base = s.target.items or (), _base(d, s)
    if s.op != "=" or s.guard is not None or base is None or len(base[0]) != len(items):
        return ()
    own, value = base
    places: dict[str, Expr] = {}
    chosen: list[tuple[str, Expr]] = []
    for ours, item in zip(own, items, strict=True):
        if isinstance(ours, Dots) or isinstance(item, Dots):
            if isinstance(ours, Dots) != isinstance(item, Dots):
                return ()
            continue
        if is_place(d, item):
            chosen.append((ours.name, Name(item.name, item.span) if isinstance(item, Binder) else item))
        elif isinstance(item, Binder):
            places[ours.name] = Name(item.name, item.span)
        else:
            return ()
    indices = [n.name for _, e in chosen for n in nodes(e) if isinstance(n, Name) and not _is_declared(d, n.name)]
    if not chosen or ({i for i, _ in chosen} & {i.name for i in items if isinstance(i, Binder)}):
        return ()
    return _scattered(d, s, own, value, places | dict(chosen)) if indices else _chosen(d, s, own, value, places, chosen)


def check_replaced(d: Declarations, bag: Bag) -> None:
    """Tell of inputs that are written into how the result is written."""
    for s in d.forward:
        name = s.target.name
        listed = any(o.name == name for o in d.spec.outputs or ())
        if name in d.inputs and not listed and (hints := replaced(d, s)):
            related = (Label(d.inputs[name].span, "declared here"),)
            message = f"`{name}` is an input and cannot be assigned"
            bag.error("OPG236", message, s.target.name_span, related=related, hints=hints)


def is_place(d: Declarations, item: Item) -> bool:
    """Whether an item left of `=` is a position that a tensor gives: `at[n]`, and `at` of one number."""
    if isinstance(item, Binder | Dots):
        alone = isinstance(item, Binder) and item.extent is None and item.name in d.words.integers
        return alone and isinstance(item, Binder) and d.words.letters.get(item.name) == ()
    return any(isinstance(n, Access | Name) and n.name in d.inputs for n in nodes(item))


def _chosen(
    d: Declarations, s: Assign, own: Sequence[Binder | Dots], value: Expr, places: Mapping[str, Expr],
    chosen: Sequence[tuple[str, Expr]],
) -> tuple[str, ...]:  # fmt: skip
    """One place, by a condition in a statement of all of it."""
    at = s.span
    tests = [Compare((Name(index, at), place), ("==",), at) for index, place in chosen]
    test: Expr = tests[0] if len(tests) == 1 else Logic("and", tuple(tests), at)
    kept = {i: e.name for i, e in places.items() if isinstance(e, Name)}
    items = tuple(i if isinstance(i, Dots) else replace(i, name=kept.get(i.name, i.name)) for i in own)
    made = Call("where", (test, s.value, _at(value, places)), at, at)
    line = unparse_assign(Assign(Target(_name(d, s), items, at, at), "=", made, None, at))
    both = " in place of both" if any(o.target.name == s.target.name and o is not s for o in d.forward) else ""
    return (f"what is at one place is chosen by a condition: write `{line}`{both}",)


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
        own = d.words.letters.get(name, ())
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
    taken = (*d.inputs, *d.params, *d.targets(), *d.functions)
    wishes = ("y", "output", *(f"{s.target.name}{k}" for k in range(2, 99)))
    return s.target.name if s.target.name not in d.inputs else next(n for n in wishes if n not in taken)
