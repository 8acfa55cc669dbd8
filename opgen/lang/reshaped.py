"""How `x.view(B, T, heads, -1)`, `x.flatten(1)` and `x.unflatten(-1, (heads, -1))` group the axes of a value anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Expr, Name, Number, Product
from opgen.lang.spread import Named, bound_in
from opgen.lang.targets import order_of
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, nodes

Groups = Sequence[tuple[str, ...]]  # of axes, each with the parts that it has
Turned = Sequence[tuple[Expr, tuple[str, ...]]]
Sizes = Callable[[Expr, str], Expr | None]  # how far an index of a value runs
Old = Sequence[tuple[str, Expr | None]]  # axes by their indices, with how far these run

VIEWS = ("view", "reshape", "flatten", "ravel", "unflatten")


@dataclass(frozen=True, slots=True)
class Axes:
    """A value at its indices, these in the order of its axes, and how far each runs, where that is known."""

    whole: Expr
    order: tuple[str, ...]
    sizes: tuple[Expr | None, ...]

    @staticmethod
    def of(words: Vocabulary, e: Expr, turned: Turned, sizes: Sizes) -> Axes | None:
        whole = spelled(words, e)
        own = next((order for node, order in turned if node is e), None)
        within = [t for t in turned if any(n is t[0] for n in nodes(e))]
        order = own or (order_of(words, within, whole) if within else layout(words, whole))
        if not order or (isinstance(e, Name) and len(order) != len(words.shapes.get(e.name, order))):
            return None
        return Axes(whole, order, tuple(None if i == "..." else sizes(whole, i) for i in order))

    def place(self, axis: Expr | tuple[Expr, ...] | None, default: int) -> int | None:
        """Where an axis is; None where a batch of any number of dims makes that unclear."""
        k = default if axis is None else None if isinstance(axis, tuple) else integer(axis)
        if k is None or not -len(self.order) <= k < len(self.order):
            return None
        passed = self.order[: k + 1] if k >= 0 else self.order[k:]
        return None if "..." in passed else k % len(self.order)


@dataclass(frozen=True, slots=True)
class Plan:
    """The axes of a value by their parts, those of the result by theirs, and the sizes of parts and of wholes."""

    left: Groups
    right: Groups
    sizes: dict[str, Expr]
    wholes: Mapping[tuple[str, ...], Expr] = field(default_factory=dict)


def planned(words: Vocabulary, of: Axes, name: str, given: Sequence[Expr], named: Named) -> Plan | None:
    """What a call of `VIEWS` does; None where that is not certain."""
    match name, given:
        case "view" | "reshape", (_, *_) if not named and "..." not in of.order and all(integer(e) != 1 for e in given):
            return _viewed(words, of, given)
        case "unflatten", (which, _, *_) if not named and (at := of.place(which, 0)) is not None:
            split = ([(of.order[at], of.sizes[at])], given[1:])
            alone: list[tuple[Old, Sequence[Expr]]] = [([axis], []) for axis in zip(of.order, of.sizes, strict=True)]
            return _plan(words, of, [*alone[:at], split, *alone[at + 1 :]])
        case "flatten" | "ravel", _ if len(given) < 3 and not {*named} - {"start_dim", "end_dim"}:
            ends: dict[str, Expr | tuple[Expr, ...]] = {
                **dict(zip(("start_dim", "end_dim"), given, strict=False)),
                **named,
            }
            return _flattened(of, of.place(ends.get("start_dim"), 0), of.place(ends.get("end_dim"), -1))
        case _:
            return None


def _flattened(of: Axes, start: int | None, end: int | None) -> Plan | None:
    if start is None or end is None or "..." in of.order[start : end + 1]:
        return None
    alone = [(i,) for i in of.order]
    return Plan(alone, [*alone[:start], of.order[start : end + 1], *alone[end + 1 :]], {})


def _viewed(words: Vocabulary, of: Axes, wanted: Sequence[Expr]) -> Plan | None:
    """Axes that are taken apart or put together, one group of them behind the other."""
    olds, news = [*zip(of.order, of.sizes, strict=True)], [*wanted]
    front = [*_same(words, olds, news)]
    olds, news = olds[sum(len(old) for old, _ in front) :], news[sum(len(new) for _, new in front) :]
    back = [(old[::-1], new[::-1]) for old, new in _same(words, olds[::-1], news[::-1])][::-1]
    olds = olds[: len(olds) - sum(len(old) for old, _ in back)]
    news = news[: len(news) - sum(len(new) for _, new in back)]
    if not olds and not news:
        return _plan(words, of, [*front, *back])
    other = all(isinstance(size, Number) for size in (*(size for _, size in olds), *news))
    if not olds or not news or (len(olds) > 1 and len(news) > 1) or other:
        return None
    return _plan(words, of, [*front, (olds, news), *back])


def _plan(words: Vocabulary, of: Axes, groups: Sequence[tuple[Old, Sequence[Expr]]]) -> Plan:
    """The plan for groups of axes, each with the sizes of those that take its place; with none it stays."""
    taken = (*of.order, *bound_in(of.whole))
    spare = (c for c in ("h", *SPARE) if c not in taken and not words.knows(c))
    left: list[tuple[str, ...]] = []
    right: list[tuple[str, ...]] = []
    sizes: dict[str, Expr] = {}
    wholes: dict[tuple[str, ...], Expr] = {}
    for old, new in groups:
        indices = tuple(i for i, _ in old)
        if len(new) < 2:
            left += [(i,) for i in indices]
            right.append(indices)
            if len(old) > 1 and integer(new[0]) != -1:
                wholes[indices] = new[0]
            continue
        last = indices[0] if not words.knows(indices[0]) else next(spare)
        parts = (*(next(spare) for _ in new[:-1]), last)
        sizes |= {p: e for p, e in zip(parts, new, strict=True) if integer(e) != -1}
        left.append(parts)
        right += [(p,) for p in parts]
    return Plan(left, right, sizes, wholes)


def _same(words: Vocabulary, olds: Old, news: Sequence[Expr]) -> Iterator[tuple[Old, Sequence[Expr]]]:
    """The groups of axes, from the first on, that certainly have as many elements in the old shape as in the new."""
    old = new = 0
    while new < len(news):
        ends = [(old + 1, j) for j in range(new + 1, len(news) + 1)] if old < len(olds) else []
        ends += [(i, new + 1) for i in range(old + 2, len(olds) + 1)]
        end = next(((i, j) for i, j in ends if _alike(words, olds[old:i], news[new:j])), None)
        if end is None:
            return
        yield olds[old : end[0]], news[new : end[1]]
        old, new = end


def _alike(words: Vocabulary, olds: Old, news: Sequence[Expr]) -> bool:
    """Whether two products of sizes are certainly the same."""
    known = [size for _, size in olds if size is not None]
    certain = len(known) == len(olds) and all(integer(e) != -1 for e in news)
    return certain and _factors(words, known) == _factors(words, news)


def _factors(words: Vocabulary, sizes: Sequence[Expr]) -> list[str]:
    """The factors of a number of elements; of `heads * (D // heads)` that is `D`."""
    number, found, queue = 1, list[str](), [*sizes]
    while queue:
        match e := queue.pop(0):
            case Number(value=int(value)):
                number *= value
            case Product(factors=factors) if all(op == "*" for op, _ in factors):
                queue[:0] = [f for _, f in factors]
            case _:
                found.append(words.sizes.get(unparse(e), unparse(e)))
    found += [str(number)] if number != 1 else []
    for part in [f for f in found if f.count(" // ") == 1]:
        whole, _, by = part.partition(" // ")
        if by in found:
            found.remove(by)
            found[found.index(part)] = whole
    return sorted(found)
