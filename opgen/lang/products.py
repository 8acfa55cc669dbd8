"""Products of matrices as other libraries write them, as sums with the indices that the spec has.

Nodes in, nodes out; None where it is not certain which indices are meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name, Number, Power, Product, Reduction, Sum, Unary
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import nodes, rebuild


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand of a product, its indices in the order of its axes, and whether a person chose them."""

    node: Expr
    order: tuple[str, ...]
    written: bool
    sizes: Mapping[str, str]  # of the axes at its indices, where they are known
    is_row: bool = False  # whether all but its last index were chosen, as of `x[n]` of a matrix

    def meets(self, index: str, other: Factor, theirs: str) -> bool:
        """Whether one may be summed over together with an index of another."""
        sizes = self.sizes.get(index), other.sizes.get(theirs)
        return None in sizes or sizes[0] == sizes[1]

    def pairs_rows_of(self, other: Factor) -> bool:
        """Whether rows of both are of one dim: the product can only be meant with this one transposed."""
        if not self.order or not other.order or len(self.order) < 2:
            return False
        along, mine = other.sizes.get(other.order[-1]), [self.sizes.get(i) for i in self.order[-2:]]
        return along is not None and mine[1] == along != mine[0]


Made = tuple[Expr, tuple[str, ...]]


def by_elements(words: Vocabulary, e: Expr, whole: Expr) -> Factor | None:
    """An operand that is made of tensors with the same axes, element by element, such as `x - mu`."""
    parts = [*nodes(e)]
    if (read := [n for n in parts if isinstance(n, Access)]) and (own := _at_indices(words, e, read)) is not None:
        return own
    if not all(isinstance(n, Name | Number | Sum | Product | Unary) for n in parts):
        return None
    bare = {words.letters.get(n.name, ()): n.name for n in parts if isinstance(n, Name)}
    order, name = max(bare.items(), key=lambda item: len(item[0]), default=((), ""))
    if any(own != order[-len(own) :] and own != ("...",) for own in bare if own) or len({*order}) < len(order):
        return None
    sizes = dict(zip(order, words.shapes.get(name, ()), strict=False))
    return Factor(whole, order, False, sizes) if order else None


def _at_indices(words: Vocabulary, e: Expr, read: Sequence[Access]) -> Factor | None:
    """An operand whose tensors are all read at plain indices, those of one of them, such as `w[n, k] - zero[n]`."""
    at = [tuple("..." if isinstance(i, Dots) else i.name if isinstance(i, Name) else "" for i in a.items) for a in read]
    order = max(at, key=len)
    plain = all(isinstance(n, Access | Name | Number | Sum | Product | Unary | Call | Power) for n in nodes(e))
    names = (n.name for n in nodes(e) if isinstance(n, Name) and n.name not in order)
    sizes: dict[str, str] = {}
    for a, own in zip(read, at, strict=True):
        shape = words.shapes.get(a.name, ())
        if "" in own or len(shape) != len(own) or not {*own} <= {*order} or len({*own}) < len(own):
            return None
        sizes.update(zip(own, shape, strict=True))
    scalars = all(words.letters.get(n, ()) == () for n in names)
    return Factor(e, order, True, sizes) if plain and scalars else None


def product(a: Factor, b: Factor, left: Sequence[str]) -> Made | None:
    """`a @ b` with the order of its indices; `left`: those of the target."""
    if not a.order or not b.order or "..." in (a.order[-1], b.order[-1]):
        return None
    matrix = len([i for i in b.order if i != "..."]) > 1 and not b.is_row
    place = len(b.order) - (2 if matrix else 1)
    if b.order[place] == "...":
        return None
    if a.written and b.written:
        return _as_written(a, b, place, left)
    if not a.meets(a.order[-1], b, b.order[place]):
        return None
    along = b.order[place] if b.written and not a.written and not b.is_row else a.order[-1]
    lead, after = b.order[:place], b.order[place + 1 :]
    first, second = {a.order[-1]: along}, {b.order[place]: along}
    rows = a.order[:-1]
    if along in rows or along in lead or (b.written and along in after):
        return None
    if a.written:
        second |= _free(after, left, (*rows, *lead, along))
    elif b.written:
        first |= _free(tuple(i for i in rows if i != "..."), left, (*lead, *after, along))
    else:
        second |= _free(after, (), (*rows, *lead, along))
    if _captured(a.node, first) or _captured(b.node, second):
        return None
    made = reindexed(a.node, first), reindexed(b.node, second)
    named = [i for i in lead if i not in rows]
    if "..." in rows and any(i != "..." for i in named):  # which of the batch dims they are is not said
        return None
    order = (*named, *(first.get(i, i) for i in rows), *(second.get(i, i) for i in after))
    return _sum(*made, along), order


def _free(names: Sequence[str], left: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for indices that are free to choose: those of the target that nothing else has, or new ones."""
    spare = [i for i in left if i != "..." and i not in taken]
    if len(spare) == len(names) and not set(names) <= set(spare):
        return dict(zip(names, spare, strict=True))
    found: dict[str, str] = {}
    for name in names:
        used = (*taken, *found.values())
        found[name] = name if name not in used else next(c for c in SPARE if c not in (*used, *names))
    return found


def _captured(e: Expr, names: Mapping[str, str]) -> bool:
    """Whether a new name for an index is one that a reduction inside binds."""
    new = {after for before, after in names.items() if after != before}
    bound = (i for r in nodes(e) if isinstance(r, Reduction) for i in r.binders)
    return any(isinstance(i, Binder) and i.name in new for i in bound)


def _as_written(a: Factor, b: Factor, place: int, left: Sequence[str]) -> Made | None:
    """Where both have their indices: what they share and the target has not is summed over."""
    mine, theirs = a.order, b.order
    along, other = mine[-1], theirs[place]
    shared = [i for i in mine if i in theirs and i != "..."]
    over = [i for i in dict.fromkeys((*mine, *theirs)) if i not in left and i != "..."]
    if left and over and all(i in shared and a.meets(i, b, i) for i in over):
        return _sum(a.node, b.node, *over), ()
    if not a.meets(along, b, other):
        return None
    if along == other and (not left or over == [along]):
        rest = [*(i for i in theirs[:place] if i not in mine), *mine[:-1], *theirs[place + 1 :]]
        return _sum(a.node, b.node, along), tuple(dict.fromkeys(rest))
    if along in theirs or other in mine or (left and set(over) != {along, other}):
        return None
    order = (*mine[:-1], *theirs[:place], *theirs[place + 1 :])
    return _sum(a.node, reindexed(b.node, {other: along}), along), tuple(dict.fromkeys(order))


def _sum(a: Expr, b: Expr, *over: str) -> Expr:
    span = a.span.to(b.span)
    body = Product((("*", a), ("*", b)), span)
    return Reduction("sum", tuple(Binder(i, None, a.span) for i in over), body, span, span)


def reindexed(e: Expr, names: Mapping[str, str]) -> Expr:
    """An expression with other names for indices, where these are read and where they are bound."""
    if isinstance(e, Name):
        return replace(e, name=names.get(e.name, e.name))
    made = rebuild(e, lambda part: reindexed(part, names))
    if not isinstance(made, Reduction):
        return made
    bound = tuple(b if isinstance(b, Dots) else replace(b, name=names.get(b.name, b.name)) for b in made.binders)
    return replace(made, binders=bound)
