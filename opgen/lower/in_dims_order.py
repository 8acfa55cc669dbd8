"""An access whose indices stand in another order than the dims that they run over, by their letters and other uses.

In goes an access of a statement; out comes the same with each index at its dim, where nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.ir.scalar import BATCH, Dim, Index, Scalar
from opgen.lower.scope import Frame, IndexInfo, Site


def in_dims_order(f: Frame, site: Site) -> str | None:
    """The access with its indices in the order of the dims; None where it has that order, or it is not clear."""
    known, items = f.state.tensors.get(site.tensor), items_of(site)
    shape = known.shape if known is not None and known.shape is not None else ()
    sizes = [s for s in shape if isinstance(s, Dim)]
    named = [i for i in items if i != "..."]
    if len(named) != len(sizes) or len(items) != len(shape) or len({*sizes}) < len(sizes):
        return None
    if len({*named}) < len(named) or not all(i.isidentifier() for i in named):
        return None
    at: dict[Scalar, str] = {}
    for item, own in zip(named, sizes, strict=True):
        used = [size for size in _run_over(f, site, item) if size in sizes]
        letter = [size for size in sizes if size.name.lower() == item]
        found = dict.fromkeys((*used, *letter))
        if len(found) > 1 or any(size in at for size in found) or (used and not letter and own not in used):
            return None  # other uses alone may be the wrong ones
        at |= dict.fromkeys(found, item)
    rest = [item for item in named if item not in at.values()]
    if len(rest) > 1:
        return None
    meant = [at[size] if size in at else rest[0] for size in sizes]
    inside = ["..." if size == BATCH else meant.pop(0) for size in shape]
    return None if inside == items else f"{site.tensor}[{', '.join(inside)}]"


def _run_over(f: Frame, site: Site, index: str) -> Sequence[Scalar]:
    """What an index is declared to run over, and the dims at which it stands alone elsewhere in its statement."""
    loops = f.scope.root().loops if f.scope is not None else []
    stated = [x.stated for x in loops if isinstance(x, IndexInfo) and x.name == index and x.stated is not None]
    checks = [c for c in f.checks if c.site.span != site.span]
    return (
        *stated,
        *(c.extent for c in checks for name, i in c.indices if i.name == index and c.position == Index(name)),
    )


def items_of(site: Site) -> list[str]:
    """The positions of an access as they are written."""
    items, depth = [""], 0
    for c in site.span.text.partition("[")[2].rpartition("]")[0]:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            items.append("")
        else:
            items[-1] += c
    return [i.strip() for i in items]
