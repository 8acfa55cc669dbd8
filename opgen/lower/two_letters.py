"""A matrix over one dim twice, `gram[k, k] = sum[n](x[n, k]*x[n, k])`: its rows and columns have two letters.

In goes a statement whose target has an index twice, or one index for two dims of one size; out come the lines that may
be meant. Each pair of factors, terms or arguments that reads the index once reads the second letter in the other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.ir.program import Shape
from opgen.ir.scalar import Batch, Dim, Lit, Scalar
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction, Sum
from opgen.lang.pairs import in_two_letters
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, operands
from opgen.lower.proposals import diagonal, letters
from opgen.lower.scope import UNKNOWN, Frame


def hints_of_two(f: Frame, s: Assign, *, declared: bool) -> tuple[str, ...]:
    """What is meant by a target in which an index stands twice: all pairs where the value has them, or a diagonal."""
    told = []
    line = _with_pairs(f, s, declared=declared)
    if line:
        told.append(f"for all pairs use two indices: `{line}`")
    if not line or not (_cancels(s.value) or _differs(f, s)):
        told.append(f"{'or ' if line else ''}for a diagonal use two indices: `{diagonal(f, s, declared=declared)}`")
    return tuple(told)


def for_shape(f: Frame, s: Assign, shape: Shape) -> str:
    """The statement with an index for each dim of its shape, of which it has one for two; empty where it is unclear."""
    free = [*dict.fromkeys(_free(s.value, ()))]
    items = [i for i in s.target.items or () if not isinstance(i, Dots)]
    if not all(isinstance(i, Binder) for i in items):
        return ""
    sizes = {name: _sizes(f, s.value, name) for name in free}
    left = [i.name for i in items if isinstance(i, Binder)] if s.target.items is not None else free
    made: list[Binder | Dots] = []
    twice = ""
    for size in shape:
        own = next((i for i in left if isinstance(size, Dim) and sizes.get(i) == [size]), None)
        if isinstance(size, Batch):
            made.append(Dots(s.target.span))
        elif own is not None:
            left.remove(own)
            made.append(Binder(own, None, s.target.span))
        elif not twice and (before := _before(made, sizes, size)):
            twice = before
            made.append(Binder(before, None, s.target.span))
        else:
            return ""
    if not twice or left or any(isinstance(i, Dots) for i in made) != any(_has_dots(s)):
        return ""
    return _with_pairs(f, replace(s, target=replace(s.target, items=tuple(made))), declared=True)


def _has_dots(s: Assign) -> Iterator[bool]:
    yield any(isinstance(i, Dots) for i in s.target.items or ())
    if s.target.items is None:
        yield any(isinstance(i, Dots) for a in nodes(s.value) if isinstance(a, Access) for i in a.items)


def _before(made: list[Binder | Dots], sizes: dict[str, list[Scalar]], size: Scalar) -> str:
    """The index so far that runs over a size."""
    return next((i.name for i in made if isinstance(i, Binder) and sizes[i.name] == [size]), "")


def _with_pairs(f: Frame, s: Assign, *, declared: bool) -> str:
    """The statement for all pairs; empty where the value has none, or an index stands more than twice."""
    own = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    made = in_two_letters(s, letters(f, "jklmnpqrs"))
    if made is None:
        return ""
    new = [i.name for i in made.target.items or () if isinstance(i, Binder)]
    both = {i for pair in zip(own, new, strict=True) if pair[0] != pair[1] for i in pair}
    known = declared or all(_sizes(f, made.value, i) for i in new if i in both)
    return unparse_assign(made) if known else ""


def _free(e: Expr, bound: tuple[str, ...]) -> Iterator[str]:
    """What stands alone as a position and is not bound."""
    if isinstance(e, Access):
        yield from (i.name for i in e.items if isinstance(i, Name) and i.name not in bound and i.name[:1].islower())
    own = [b.name for b in e.binders if isinstance(b, Binder)] if isinstance(e, Reduction) else []
    for part in operands(e):
        yield from _free(part, (*bound, *own))


def _sizes(f: Frame, e: Expr, index: str) -> list[Scalar]:
    """The dims along which an index is read."""
    found: dict[Scalar, None] = {}
    for a in nodes(e):
        known = f.state.tensors.get(a.name) if isinstance(a, Access) else None
        if isinstance(a, Access) and known is not None and known.shape is not None and len(known.shape) == len(a.items):
            own = zip(a.items, known.shape, strict=True)
            read = [size for i, size in own if isinstance(i, Name) and i.name == index]
            found |= dict.fromkeys(n for n in read if isinstance(n, Dim | Lit) and n != Dim(UNKNOWN))
    return [*found]


def _differs(f: Frame, s: Assign) -> bool:
    """Whether an index is read along different dims, so that it cannot be one."""
    return any(len(_sizes(f, s.value, i.name)) > 1 for i in s.target.items or () if isinstance(i, Binder))


def _cancels(e: Expr) -> bool:
    """Whether a difference is one of the same with itself."""
    pairs = (n.terms for n in nodes(e) if isinstance(n, Sum) and len(n.terms) == 2)
    return any(a == b and plus != minus for (plus, a), (minus, b) in pairs)
