"""Updates of other languages, `y **= 2`: here a new value has a new name, and what adds up is a scatter.

An input that is updated, `x += e`, is a new value as well, which is what further updates read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.lang.layout import access_at, spelled
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Power, Product, Sum, Target, Unary
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import FIRST, Vocabulary
from opgen.lang.walk import names_read, transform

FOREIGN = ("-", "/", "//", "%", "**")  # in front of `=`
IN_PLACE = "an operator with `=` is a scatter, and the update of an input is a new value"
TAKEN = "what is taken away is added with a minus: `+= -(…)`"
RENAMED = "a new value is a new name, also where it is read further down"
TWICE = (
    "a scatter multiplies a place as often as it is met; for once, mark the places, `hit[n < N] = 0` and"
    " `hit[ids[k]] max= 1`, and choose: `y[n] = where(hit[n] > 0, x[n]/a, x[n])`"
)


def updated(words: Vocabulary, s: Assign, *, own: str = "", new: str = "") -> Assign | None:
    """A statement with one of these as its operator, as it is written here; None where it is nothing.

    `own`: the name of the value so far, where it has another one, and `new`: that of what it becomes.
    """
    sign, target, value, at = s.op[:-1], s.target, s.value, s.span
    if sign == "-":
        added = replace(s, op="+=", value=Unary("-", value, at))
        return new_value(words, read_as(added, {target.name: own}), own, new) if own else added
    plain = [Name(i.name, i.span) if isinstance(i, Binder) else i for i in target.items or ()]
    if not all(isinstance(i, Name | Dots) for i in plain):
        inverse: Expr = Product((("*", Number(1, at)), ("/", value)), at)
        return replace(s, op="*=", value=inverse) if sign == "/" else None
    before = own or words.renewed.get(target.name, target.name)
    value = _read_as(value, {target.name: before})
    whole: Expr = Name(before, at) if target.items is None else Access(before, tuple(plain), at, at)
    made: Expr = Power(whole, value, at) if sign == "**" else Product((("*", whole), (sign, value)), at)
    free = new or free_name(words, target.name)
    whole_line = replace(s, op="=", target=replace(target, name=free), value=made)
    if target.name in words.inputs:
        words.renewed[target.name], words.updates[s.span.start] = free, whole_line
    return whole_line


def in_place(words: Vocabulary, s: Assign) -> Assign | None:
    """An update of an input, `x += e`, as the new value that it is; None where a statement is none.

    What has been updated before is read as it is then.
    """
    name = s.target.name
    if name not in words.inputs:
        return None
    again = s.op == "=" and s.guard is not None and name in words.renewed  # another case of the same value
    free, before = words.renewed[name] if again else free_name(words, name), words.renewed.get(name, name)
    value = _read_as(spelled(words, s.value), words.renewed)
    words.renewed[name] = free
    of_part = any(
        isinstance(i, Expr) or (isinstance(i, Binder) and i.name in words.masks) for i in s.target.items or ()
    )
    if (s.op != "=" or of_part) and name in words.letters:
        for known in (words.letters, words.shapes):
            known.setdefault(free, known.get(before, known[name]))
    return None if s.op == "=" else new_value(words, replace(s, value=value), before, free)


def new_value(words: Vocabulary, s: Assign, before: str, new: str) -> Assign | None:
    """An update, `x += e`, of what is called `before` so far, as a statement of its own; None for a scatter."""
    whole, letters, at = s.target.items, words.letters.get(s.target.name, ()), s.span
    if whole is None and letters not in ((), ("...",)) and FIRST not in letters:
        whole = tuple(Dots(at) if i == "..." else Binder(i, None, at) for i in letters)
    plain = tuple(Name(i.name, at) if isinstance(i, Binder) else i for i in whole or ())
    if not all(isinstance(i, Name | Dots) for i in plain):
        return None
    own: Expr = Name(before, at) if whole is None else Access(before, plain, at, at)
    match s.op:
        case "+=":
            made: Expr = Sum((("+", own), *_terms(s.value)), at)
        case "*=":
            made = Product((("*", own), ("*", s.value)), at)
        case _:
            made = Call(s.op.removesuffix("="), (own, s.value), at, at)
    return replace(s, op="=", target=Target(new, whole, s.target.span, s.target.name_span), value=made)


def free_name(words: Vocabulary, name: str, first: int = 2) -> str:
    """The name with a number behind it that nothing has."""
    taken = (*words.shapes, *words.letters, *words.names, *words.renewed.values())
    return next(n for k in range(first, 99) if (n := f"{name}{k}") not in taken)


def read_as(s: Assign, other: Mapping[str, str]) -> Assign:
    """A statement with other names for these tensors, on either side."""

    def item(i: Binder | Dots | Expr) -> Binder | Dots | Expr:
        return i if isinstance(i, Binder | Dots) else _read_as(i, other)

    items = None if s.target.items is None else tuple(map(item, s.target.items))
    target = replace(s.target, name=other.get(s.target.name, s.target.name), items=items)
    return replace(s, target=target, value=_read_as(s.value, other))


def _read_as(e: Expr, other: Mapping[str, str]) -> Expr:
    """An expression with other names for these tensors."""

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Name) and node.name in other:
            return replace(node, name=other[node.name])
        if isinstance(node, Access):
            items = tuple(i if isinstance(i, Dots) else transform(i, step) for i in node.items)
            return replace(node, name=other.get(node.name, node.name), items=items)
        return None

    return transform(e, step)


def _terms(e: Expr) -> tuple[tuple[str, Expr], ...]:
    match e:
        case Sum(terms=terms):
            return terms
        case Unary(op="-", operand=operand):
            return (("-", operand),)
        case _:
            return (("+", e),)


def in_place_hints(words: Vocabulary, s: Assign) -> tuple[str, ...]:
    """What is written for the update of an input, which may be a scatter into a copy of it."""
    made = words.updates.get(s.span.start)
    if made is not None:
        return (f"{IN_PLACE}: `{unparse_assign(made)}`",)
    name, at = s.target.name, s.span
    letters, copy = words.letters.get(name, ()), words.renewed[name]
    items = None if letters in ((), ("...",)) else tuple(
        Dots(at) if i == "..." else Binder(i, None, at) for i in letters
    )  # fmt: skip
    value: Expr = Name(name, at) if items is None else access_at(name, letters, Name(name, at))
    first = Assign(Target(copy, items, at, at), "=", value, None, at)
    scatter = replace(s, target=replace(s.target, name=copy), value=spelled(words, s.value))
    hint = f"what is scattered into starts as a copy: `{unparse_assign(first)}`"
    same = len(s.target.items or ()) == len(letters) or items is None
    return (f"{hint}, then `{unparse_assign(scatter)}`" if same else hint,)


def all_new(words: Vocabulary, others: Sequence[str]) -> tuple[str, ...]:
    """How all that is updated is returned, and the other outputs: what is read on the way is no output by itself."""
    made = words.updates.values()
    new = [*dict.fromkeys(words.renewed.values())]
    if not any(n in names_read(s.value) for s in made for n in new):
        return ()
    return (f"what is read is no output by itself; to return it: `outputs: [{', '.join((*new, *others))}]`",)
