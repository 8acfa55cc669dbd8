"""How far an index of the target runs that stands alone in no access.

It numbers what integers say, `v` of `deg[v] = count[e](dst[e] == v)`, or steps, `i` of `y[i] = x[2*i]`. The target and
the value in, out the extents that no access says; None for one that nothing says.
"""

from __future__ import annotations

from opgen.lang.nodes import Access, Binder, Compare, Dots, Expr, Name, Number, Product, Reduction, Target
from opgen.lang.slices import total
from opgen.lang.strides import step_along
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer, names_read, nodes


def numbered(words: Vocabulary, target: Target, value: Expr) -> dict[str, Expr | None]:
    """The indices of a target without an extent that stand in equalities or steps alone."""
    if target.name in words.results:
        return {}
    plain = [i for i in target.items or () if isinstance(i, Binder) and i.extent is None]
    inner = {b.name for r in nodes(value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)}
    placed = {n for a in nodes(value) if isinstance(a, Access)
              for i in a.items if not isinstance(i, Dots) for n in names_read(i)}  # fmt: skip
    found: dict[str, Expr | None] = {}
    for index in plain:
        with_it = [
            other
            for c in nodes(value)
            if isinstance(c, Compare) and c.ops == ("==",)
            for own, other in (c.operands, c.operands[::-1])
            if isinstance(own, Name) and own.name == index.name
            if isinstance(other, Access | Name) and other.name in words.integers
        ]
        if index.name in placed and (end := _steps(words, value, index.name)) is not None:
            found[index.name] = end
        if not with_it or index.name in inner or index.name in placed:
            continue
        ends = [words.ends[o.name] for o in with_it if o.name in words.ends]
        dims = [size for shape in words.shapes.values() for size in shape if size == index.name.upper()]
        known = next((e for e in (*ends, *dims) if e.isidentifier()), None)
        found[index.name] = None if known is None else Name(known, index.span)
    return found


def _steps(words: Vocabulary, value: Expr, index: str) -> Expr | None:
    """How many steps of an index fit into the axis that it is read along in steps alone."""
    found = dict[str, Expr]()
    for a in (n for n in nodes(value) if isinstance(n, Access)):
        for item, size in zip(a.items, words.shapes.get(a.name, ()), strict=False):
            if isinstance(item, Dots) or index not in names_read(item):
                continue
            moved = step_along(item, index)
            step = None if moved is None else integer(moved[1])
            start = None if moved is None else integer(total([(1, item), (-1, moved[0])], item.span))
            if step is None or start is None or not 0 <= start < step or step == 1 or not size.isidentifier():
                return None
            end = Product((("*", Name(size, item.span)), ("//", Number(step, item.span))), item.span)
            found[unparse(end)] = end
    return next(iter(found.values())) if len(found) == 1 else None
