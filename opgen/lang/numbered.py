"""How far an index of the target runs that only numbers what integers say: `v` of `deg[v] = count[e](dst[e] == v)`.

The target and the value in, out the extents that no access says; None for one that nothing says.
"""

from __future__ import annotations

from opgen.lang.nodes import Access, Binder, Compare, Dots, Expr, Name, Reduction, Target
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import names_read, nodes


def numbered(words: Vocabulary, target: Target, value: Expr) -> dict[str, Expr | None]:
    """The indices of a target without an extent that stand in equalities alone."""
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
        if not with_it or index.name in inner or index.name in placed:
            continue
        ends = [words.ends[o.name] for o in with_it if o.name in words.ends]
        dims = [size for shape in words.shapes.values() for size in shape if size == index.name.upper()]
        end = next((e for e in (*ends, *dims) if e.isidentifier()), None)
        found[index.name] = None if end is None else Name(end, index.span)
    return found
