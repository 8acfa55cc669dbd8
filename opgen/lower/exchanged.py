"""Two dims of a declared output that stand in the other order than the indices of its statement: a warning.

In go the positions of a statement that is right for some sizes. Where not all of them surely are in their tensors with
the extents as declared, and all are once two of these change places, the order is most likely a slip.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir import text
from opgen.ir.polynomial import number, polynomial
from opgen.ir.program import Axis
from opgen.ir.ranges import corner, facts_of, is_nonnegative
from opgen.ir.scalar import Lit, Param, Scalar, walk
from opgen.lower.scope import DECLARED, Check, Frame, IndexInfo


def exchanged(f: Frame) -> None:
    """A warning where two declared extents of the target have changed places."""
    loops = f.scope.root().loops if f.scope is not None else []
    own = [x for x in loops if isinstance(x, IndexInfo)]
    if len(own) < 2 or any(x.origin != DECLARED or x.stated is None for x in own) or _fit(f, {}):
        return
    found = []
    for a, b in combinations(own, 2):
        assert a.stated is not None
        assert b.stated is not None
        if a.stated != b.stated and _fit(f, {a.unique: b.stated, b.unique: a.stated}):
            found.append((a, b))
    told = any(d.code == "OPG253" and d.message.startswith(f"`{x.name}` runs over") for d in f.bag.items for x in own)
    if len(found) == 1 and not told:
        _warn(f, *found[0])


def _fit(f: Frame, instead: Mapping[str, Scalar]) -> bool:
    """Whether all that is read in any case surely lies in its tensor, with these extents for some indices."""
    return all(_fits(f, c, instead) for c in f.checks if c.always)


def _fits(f: Frame, c: Check, instead: Mapping[str, Scalar]) -> bool:
    extents = {name: instead.get(name, info.extent if info.extent is not None else Lit(1)) for name, info in c.indices}
    scalars = (c.position, c.extent, *extents.values(), *(e for e in f.state.dims.values() if e is not None))
    params = dict.fromkeys(n for e in scalars for n in walk(e) if isinstance(n, Param))
    facts = facts_of((Axis(name, e) for name, e in extents.items()), f.state.dims, params)
    position, last = polynomial(c.position), polynomial(c.extent) - number(1)
    low, high = corner(position, facts, least=True), corner(position, facts, least=False)
    return low is not None and high is not None and is_nonnegative(low, facts) and is_nonnegative(last - high, facts)


def _warn(f: Frame, a: IndexInfo, b: IndexInfo) -> None:
    read = [(x, s) for x in (a, b) for s in x.sites if not (s.padded or s.written) and s.extent != x.stated]
    place = next((o.span for o in f.decl.spec.outputs or () if o.name == f.target), None)
    if not read or place is None or f.scope is None:
        return
    x, site = read[0]
    other = {id(a): b, id(b): a}
    sized = [other.get(id(i), i) if isinstance(i, IndexInfo) else i for i in f.scope.root().loops]
    names = ", ".join(i.name if isinstance(i, IndexInfo) else "..." for i in sized)
    sizes = ", ".join(text.scalar(i.stated or Lit(1)) if isinstance(i, IndexInfo) else "..." for i in sized)
    over = text.scalar(x.stated or Lit(1))
    message = f"`{x.name}` runs over `{over}`, and is read along `{text.scalar(site.extent)}` of `{site.tensor}`"
    hint = f"write `{f.target}: {{shape: [{sizes}]}}`, or `{f.target}[{names}]` on the left"
    order = f"{hint}: shape and indices have one order"
    f.bag.add(
        Diagnostic("OPG253", message, site.span, "as long as another dim", hints=(order,), severity=Severity.WARNING)
    )
