"""A formula that compares choices params with strings: the statements with guards that are meant by it.

A statement in, one for each case out; none where what is left of a case still asks for a string.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Expr, Logic, Name, Target, Text, Unary
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes, transform


def asked(e: Expr) -> tuple[str, str, bool] | None:
    """The param and the string of a comparison, and whether they are to be equal."""
    match e:
        case Compare((Name(name), Text(word)) | (Text(word), Name(name)), ("==" | "!=" as op,)):
            return name, word, op == "=="
        case _:
            return None


def by_choice(words: Vocabulary, s: Assign) -> tuple[Assign, ...]:
    """The statement at hand as one for each case, each with the extents that the formulas of others say."""
    made = _cases(words, s)
    return () if any(isinstance(n, Text) for m in made for n in nodes(m.value)) else made


def _cases(words: Vocabulary, s: Assign) -> tuple[Assign, ...]:
    found = [a[0] for n in nodes(s.value) if (a := asked(n)) is not None and words.choices.get(a[0])]
    made = _by(s, found[0], words.choices[found[0]]) if found else ()
    again = (_cases(words, m) or (m,) for m in made)
    return tuple(replace(m, target=bounded(words, m, s.value)) for cases in again for m in cases)


def bounded(words: Vocabulary, s: Assign, whole: Expr) -> Target:
    """The target of a statement with the extents of its indices at which `whole` reads a tensor, and it does not."""
    found, left = ({i: size for a in nodes(e) for i, size in _read_at(words, a)} for e in (whole, s.value))
    items = [
        replace(i, extent=Name(found[i.name], i.span))
        if isinstance(i, Binder) and i.extent is None and i.name in found and i.name not in left else i
        for i in s.target.items or ()
    ]  # fmt: skip
    return s.target if s.target.items is None else replace(s.target, items=tuple(items))


def _read_at(words: Vocabulary, e: Expr) -> Iterator[tuple[str, str]]:
    """The indices at which a tensor is read, each with the size that it runs over."""
    shape = words.shapes.get(e.name, ()) if isinstance(e, Access) else ()
    if isinstance(e, Access) and len(shape) == len(e.items):
        for item, size in zip(e.items, shape, strict=True):
            if isinstance(item, Name) and size != "...":
                yield item.name, size


def _by(s: Assign, param: str, words: Sequence[str]) -> tuple[Assign, ...]:
    of: dict[Expr, list[str]] = {}
    for word in words:
        of.setdefault(_taken(s.value, param, word), []).append(word)
    if len(of) == 1:
        return ()
    first = next(iter(of.values()))
    rest = len(of) == 2 and len(first) == 1
    made: list[Assign] = []
    for value, found in of.items():
        op = "==" if found is first or not rest else "!="
        at = s.value.span
        each = tuple(Compare((Name(param, at), Text(w, at)), (op,), at) for w in (first if rest else found))
        guard = each[0] if len(each) == 1 else Logic("or", each, at)
        whole = guard if s.guard is None else Logic("and", (s.guard, guard), at)
        made.append(replace(s, value=value, guard=whole))
    return tuple(made)


def _taken(e: Expr, param: str, word: str) -> Expr:
    """A formula as it is for one choice."""

    def step(n: Expr) -> Expr | None:
        if not isinstance(n, Call) or n.name != "where" or len(n.args) != 3:
            return None
        condition, yes, no = n.args
        left = _decided(condition, param, word)
        if isinstance(left, bool):
            return _taken(yes if left else no, param, word)
        return replace(n, args=(left, _taken(yes, param, word), _taken(no, param, word)))

    return transform(e, step)


def _decided(e: Expr, param: str, word: str) -> Expr | bool:
    """A condition as it is for one choice: what is left of it, or whether it holds."""
    found = asked(e)
    if found is not None and found[0] == param:
        return (found[1] == word) == found[2]
    match e:
        case Unary(op="not", operand=operand):
            inner = _decided(operand, param, word)
            return not inner if isinstance(inner, bool) else replace(e, operand=inner)
        case Logic(op=op, operands=parts):
            made = [_decided(p, param, word) for p in parts]
            if (op == "or") in [m for m in made if isinstance(m, bool)]:
                return op == "or"
            left = tuple(m for m in made if not isinstance(m, bool))
            return replace(e, operands=left) if len(left) > 1 else left[0] if left else op == "and"
        case _:
            return e
