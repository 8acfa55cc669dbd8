"""Updates of other languages, `y **= 2`: here a new value has a new name, and what adds up is a scatter."""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Power, Product, Unary
from opgen.lang.vocabulary import Vocabulary

FOREIGN = ("-", "/", "//", "%", "**")  # in front of `=`
RENAMED = "a new value is a new name, also where it is read further down"


def updated(words: Vocabulary, s: Assign) -> Assign | None:
    """A statement with one of these as its operator, as it is written here; None where it is nothing."""
    sign, target, value, at = s.op[:-1], s.target, s.value, s.span
    if sign == "-":
        return replace(s, op="+=", value=Unary("-", value, at))
    plain = [Name(i.name, i.span) if isinstance(i, Binder) else i for i in target.items or ()]
    if not all(isinstance(i, Name | Dots) for i in plain):
        inverse: Expr = Product((("*", Number(1, at)), ("/", value)), at)
        return replace(s, op="*=", value=inverse) if sign == "/" else None
    own: Expr = Name(target.name, at) if target.items is None else Access(target.name, tuple(plain), at, at)
    made: Expr = Power(own, value, at) if sign == "**" else Product((("*", own), (sign, value)), at)
    taken = (*words.shapes, *words.letters, *words.names)
    free = next(n for k in range(2, 99) if (n := f"{target.name}{k}") not in taken)
    return replace(s, op="=", target=replace(target, name=free), value=made)
