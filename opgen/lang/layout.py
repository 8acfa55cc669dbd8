"""The indices of an expression: in which order its axes stand, and the same with every tensor read at its indices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from opgen.lang.commas import between_commas
from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name, Number, Reduction
from opgen.lang.picks import picked
from opgen.lang.slices import size_of, total
from opgen.lang.vocabulary import FIRST, ROWS, SPARE, Vocabulary
from opgen.lang.walk import integer, nodes, operands, transform

CONSTANTS = ("pi", "inf", "nan")
_ACCESS = re.compile(r"\b(\w+)\[([^\[\]]*)\]")


def stated(e: Expr) -> set[str]:
    """The indices that are written out."""
    found = {i.name for i in e.items if isinstance(i, Name)} if isinstance(e, Access) else set()
    if isinstance(e, Access) and any(isinstance(i, Dots) for i in e.items):
        found.add("...")
    return found.union(*(stated(o) for o in operands(e)))


def layout(words: Vocabulary, e: Expr) -> tuple[str, ...]:
    """The indices of an expression in the order of its axes: those of its part with the most of them."""
    match e:
        case Name(name=name):
            return tuple(i for i in words.letters.get(name, ()) if i != FIRST)
        case Access(items=items):
            found: list[str] = []
            for item in items:
                found += ["..."] if isinstance(item, Dots) else indices_of(words, item)
            return tuple(dict.fromkeys(found))
        case Reduction(name=name, binders=binders, body=body):
            inner = layout(words, body)
            bound = {"..." if isinstance(b, Dots) else b.name for b in binders}
            return inner if words.reductions.get(name) else tuple(i for i in inner if i not in bound)
        case _:
            found = []
            for part in sorted((layout(words, o) for o in operands(e)), key=len, reverse=True):
                found += [i for i in part if i not in found]
            beside = words.places if all(i in words.places for i in found) else {}
            return tuple(sorted(found, key=lambda i: -beside.get(i, 0)))


def indices_of(words: Vocabulary, item: Expr) -> list[str]:
    if isinstance(item, Name):
        scalar = words.knows(item.name) and words.letters.get(item.name, ()) in ((), ("...",))
        return [] if scalar or item.name[:1].isupper() else [item.name]
    return [i for o in operands(item) for i in indices_of(words, o)]


def spelled(words: Vocabulary, e: Expr) -> Expr:
    """The expression with every tensor read at its indices; letters that stand for others there give way."""
    said = [a for a in nodes(e) if isinstance(a, Access) and a.span.text != a.name]  # others are made of bare tensors
    written = {i.name for a in said for i in a.items if isinstance(i, Name)}
    own = lined_up(words, e)
    spare = [c for c in SPARE if c not in written and not words.knows(c)]
    over = [b.name for r in nodes(e) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]

    def rest(letters: tuple[str, ...], given: int, taken: set[str]) -> tuple[str, ...]:
        """The letters behind those that are given, with others for those that are written out elsewhere."""
        free = iter(c for c in spare if c not in (*letters, *taken))
        return tuple(next(free) if i in taken and i != "..." else i for i in letters[given:])

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Call) and node.name in ("given", "cast"):  # these name a tensor
            return replace(node, args=(*(spelled(words, a) for a in node.args[:-1]), *node.args[-1:]))
        if not isinstance(node, Name | Access):
            return None
        letters = words.letters.get(node.name, ()) if isinstance(node, Access) else own(node.name)
        if isinstance(node, Name) and not words.knows(node.name) and node.name.lower() in CONSTANTS:
            return replace(node, name=node.name.lower())
        if isinstance(node, Name):
            return node if letters in ((), ("...",)) else access_at(node.name, letters, node)
        if words.reading != ROWS and (one := picked(words, node, (*words.left, *words.bound, *over))) is not None:
            words.doubts |= {one.by: None} if one.doubtful else {}
            return one.read
        node = from_the_front(words, node)
        if lacks_batch(words, node):
            place = letters.index("...")
            return replace(node, items=(*node.items[:place], Dots(node.span), *node.items[place:]))
        partial = 0 < len(node.items) < len(letters)
        read = {n.name for i in node.items if not isinstance(i, Dots) for n in nodes(i) if isinstance(n, Name)}
        missing = rest(letters, len(node.items), written | read) if partial else letters[len(node.items) :]
        plain = read.isdisjoint(missing) and not any(isinstance(i, Dots) for i in node.items)
        if "..." in letters or not missing or not plain:
            return node
        return replace(node, items=(*node.items, *access_at(node.name, missing, node).items))

    return transform(e, step)


def from_the_front(words: Vocabulary, a: Access) -> Access:
    """An element of an input that is counted from the end, `x[-1]`, counted from the first one."""
    shape = words.shapes.get(a.name, ())
    if a.name not in words.given or len(a.items) > len(shape) or any(isinstance(i, Dots) for i in a.items):
        return a
    ends = [size_of(size, a.span) for size in shape]
    items = (
        total([(1, end), (1, i)], a.span) if end is not None and (integer(i) or 0) < 0 else i
        for i, end in zip(a.items, ends, strict=False)
        if not isinstance(i, Dots)
    )
    return replace(a, items=tuple(items))


def lacks_batch(words: Vocabulary, a: Access) -> bool:
    """Whether an access has a position for each axis of a tensor but those of the batch."""
    own = words.letters.get(a.name, ())
    return "..." in own and len(a.items) == len(own) - 1 > 0 and not any(isinstance(i, Dots) for i in a.items)


def lined_up(words: Vocabulary, e: Expr) -> Callable[[str], tuple[str, ...]]:
    """The indices of each bare tensor: along one dim it has, from behind, the index that stands there before it.

    Of two tensors of one shape the product is one of elements, whatever their own indices are called. Beside a
    reduction that is the last index that it leaves over that dim, wherever it stands there.
    """
    bound = {b.name for r in nodes(e) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)}
    before: list[tuple[Sequence[str], Sequence[str]]] = []
    for a in (n for n in nodes(e) if isinstance(n, Access)):
        names = [i.name if isinstance(i, Name) else "..." if isinstance(i, Dots) else "" for i in a.items]
        before.append((names, words.shapes.get(a.name, ())))
    left = [*_left_by_reductions(words, e)]
    within = {n.name for r in nodes(e) if isinstance(r, Reduction) for n in bare(words, r)}
    found: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(n.name for n in bare(words, e)):
        own, shape = [*words.letters[name]], words.shapes.get(name, ())
        known = {i for names, _ in before for i in names}
        for k in range(1, len(shape) + 1 if len(shape) == len(own) else 1):
            there = (
                names[-k] for names, sizes in before
                if len(names) == len(sizes) >= k and sizes[-k] == shape[-k] and names[-k] not in ("", *bound, *own)
            )  # fmt: skip
            if shape[-k] != "..." and own[-k] not in (*known, *bound, FIRST):
                over = [i for i, size in reversed(left) if size == shape[-k] and i not in own and name not in within]
                own[-k] = next(there, over[0] if over else own[-k])
        found[name] = tuple(own)
        before.append((own, shape))
    return lambda name: found.get(name, words.letters.get(name, ()))


def _left_by_reductions(words: Vocabulary, e: Expr) -> Iterator[tuple[str, str]]:
    """The indices that stand in the reductions of an expression, and that these leave, each with what it runs over."""
    summed = [r for r in nodes(e) if isinstance(r, Reduction)]
    bound = {b.name for r in summed if not words.reductions.get(r.name) for b in r.binders if isinstance(b, Binder)}
    for a in (n for r in summed for n in nodes(r) if isinstance(n, Access)):
        shape = words.shapes.get(a.name, ())
        for item, size in zip(a.items, shape, strict=True) if len(shape) == len(a.items) else ():
            if isinstance(item, Name) and item.name not in bound:
                yield item.name, size


def over_the_rest(e: Expr, left: frozenset[str]) -> Expr:
    """The expression with what `sum[...](…)` runs over: without a batch, all indices of its body that are not left."""

    def step(node: Expr) -> Expr | None:
        if not isinstance(node, Reduction) or not all(isinstance(b, Dots) for b in node.binders):
            return None
        items = [i for a in nodes(node.body) if isinstance(a, Access) for i in a.items]
        free = dict.fromkeys(i.name for i in items if isinstance(i, Name) and i.name not in left)
        if not free or not all(isinstance(i, Name) for i in items):
            return None
        return replace(node, binders=tuple(Binder(i, None, node.span) for i in free))

    return transform(e, step)


def access_at(name: str, items: Sequence[str], at: Expr) -> Access:
    other: dict[str, Expr | Dots] = {"...": Dots(at.span), FIRST: Number(0, at.span)}
    made = tuple(other.get(i, Name(i, at.span)) for i in items)
    return Access(name, made, at.span, at.span)


def bare(words: Vocabulary, e: Expr) -> Iterator[Name]:
    """The names of tensors with named dims that stand without indices."""
    if isinstance(e, Name) and words.letters.get(e.name, ()) not in ((), ("...",)):
        yield e
    parts = () if isinstance(e, Access) else operands(e)
    if isinstance(e, Call) and e.name in ("given", "cast", "pad"):  # these have words of their own for it
        parts = parts[1:] if e.name == "pad" else parts[:-1]
    if isinstance(e, Reduction):  # an extent reads no tensor, which is told there
        parts = (e.body,) if e.further is None else (e.body, e.further)
    for part in parts:
        yield from bare(words, part)


def transposed(
    words: Vocabulary, e: Expr, dims: int | None, turned: Sequence[tuple[Expr, tuple[str, ...]]] = ()
) -> tuple[Expr, tuple[str, ...]] | None:
    """A value whose last two axes change places, with its indices in order; with `dims`, all axes of one with more.

    `turned`: nodes whose axes have another order than their indices, with that order.
    """
    order = next((order for node, order in turned if node is e), ())
    whole = replace(e) if order else spelled(words, e)
    if not order and isinstance(e, Name):
        order = words.letters.get(e.name, ())
    elif not order and isinstance(whole, Access):
        order = tuple(i.name if isinstance(i, Name) else "" for i in whole.items)
    if len(order) < 2 or not all(order[-2:]) or len({*order}) < len(order) or FIRST in order:
        return None
    if dims is not None and len([i for i in order if i != "..."]) > dims:
        return None if {"", "..."} & {*order} else (whole, order[::-1])
    few = dims is not None and len([i for i in order if i != "..."]) < dims
    return None if few or "..." in order[-2:] else (whole, (*order[:-2], order[-1], order[-2]))


def read_ahead(words: Vocabulary, statement: str) -> None:
    """Note what the text of a statement says of its indices, before it is read; what the last one said goes."""
    words.places.clear()
    words.doubts.clear()
    words.axes.clear()
    words.along, words.unsliced = _along(words, statement), _unsliced(statement.partition("=")[2])


def _along(words: Vocabulary, statement: str) -> dict[str, frozenset[str]]:
    """The sizes of the axes that each index of a statement stands alone at, in its text."""
    found: dict[str, frozenset[str]] = {}
    for name, inside in _ACCESS.findall(statement):
        items, shape = between_commas(inside), words.shapes.get(name, ())
        if len(items) == len(shape) - 1 and "..." not in items:  # the batch is left out
            shape = tuple(size for size in shape if size != "...")
        for item, size in zip(items, shape, strict=True) if len(items) == len(shape) else ():
            if item.isidentifier() and size != "...":
                found[item] = found.get(item, frozenset()) | {size}
    return found


def _unsliced(value: str) -> frozenset[str]:
    """The indices that stand alone in accesses of a formula, and in none that has a slice, in its text."""
    found: dict[bool, list[str]] = {False: [], True: []}
    for _, inside in _ACCESS.findall(value):
        found[":" in inside] += [i for i in between_commas(inside) if i.isidentifier()]
    return frozenset(i for i in found[False] if i not in found[True])


def is_open(words: Vocabulary, e: Expr, bound: frozenset[str]) -> bool:
    """Whether an expression reads at an index that nothing binds."""
    if isinstance(e, Reduction) and not words.reductions.get(e.name):
        bound |= {b.name for b in e.binders if isinstance(b, Binder)}
    parts = operands(e)
    if isinstance(e, Access):
        names = {n for i in parts for n in _own_names(i)}
        if any(not (n in bound or n[:1].isupper() or words.knows(n) or n in words.letters) for n in names):
            return True
    return any(is_open(words, part, bound) for part in parts)


def _own_names(e: Expr) -> Iterator[str]:
    """The names in a position, without those of reductions and accesses in it, which are looked at by themselves."""
    if isinstance(e, Name):
        yield e.name
    elif not isinstance(e, Reduction | Access):
        for part in operands(e):
            yield from _own_names(part)
