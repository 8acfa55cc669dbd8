"""`tensordot(a, b, dims)` of torch and NumPy: a sum over axes of both tensors, at all of their others."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Binder, Call, Expr, Number, Product, Reduction
from opgen.lang.products import reindexed
from opgen.lang.spread import Named, Spread, axis_of, bound_in, size_at
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer

_TWO = 2  # axes that are summed over where nothing says how many


def tensordot(words: Vocabulary, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """What such a call means; None for any other, and where it is not certain."""
    keys = {"dims", "axes", "dim", "axis"}
    if name != "tensordot" or len(args) + len(named) not in (2, 3) or not {*named} <= keys:
        return None
    given = next(iter((*args[2:], *named.values())), Number(_TWO, args[0].span))
    first, second = (spelled(words, e) for e in args[:2])
    own, other = layout(words, first), layout(words, second)
    pairs = None if "..." in (*own, *other) else _pairs(words, own, other, given)
    if not pairs or bound_in(first) or bound_in(second):
        return None
    sizes = [(size_at(words, first, i), size_at(words, second, j)) for i, j in pairs]
    if any(a is None or a != b for a, b in sizes):
        return None
    names = {j: i for i, j in pairs}
    spare = (c for c in SPARE if c not in (*own, *other) and not words.knows(c) and c not in words.letters)
    names |= {j: next(spare) if j in own else j for j in other if j not in names}
    here, over = args[0].span, [i for i, _ in pairs]
    body = Product((("*", first), ("*", reindexed(second, names))), here)
    made = Reduction("sum", tuple(Binder(i, None, here) for i in over), body, here, here)
    return Spread(made, tuple(i for i in (*own, *(names[j] for j in other)) if i not in over))


def _pairs(
    words: Vocabulary, own: Sequence[str], other: Sequence[str], given: Expr | tuple[Expr, ...]
) -> list[tuple[str, str]] | None:
    """The indices of both that are summed over together."""
    match given:
        case Call(name="[]", args=(left, right)) | (left, right):
            axes = [[*e.args] if isinstance(e, Call) and e.name == "[]" else [e] for e in (left, right)]
            found = [
                [axis_of(words, order, e, 0) for e in each] for order, each in zip((own, other), axes, strict=True)
            ]
            known = [[i for i in each if i is not None] for each in found]
            fits = known == found and len(known[0]) == len(known[1]) and all(len({*k}) == len(k) for k in known)
            return [*zip(*known, strict=True)] if fits else None
        case tuple():
            return None
        case _:
            count = integer(given)
            if count is None or not 0 < count <= min(len(own), len(other)):
                return None
            return [*zip(own[-count:], other[:count], strict=True)]
