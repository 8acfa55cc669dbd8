"""An index that runs over two dims at once: what is said of it, and what is most likely meant."""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Label, Span
from opgen.ir import text
from opgen.ir.polynomial import Polynomial, polynomial
from opgen.ir.ranges import facts_of, is_nonnegative
from opgen.ir.scalar import BATCH, Apply, Dim, Index, Lit, Param, Scalar, walk
from opgen.lang.nodes import Access, Binder, Expr, Name, Reduction
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, statement_at
from opgen.lower.common_end import common_end, ended
from opgen.lower.guarded import guarded
from opgen.lower.in_dims_order import in_dims_order, items_of
from opgen.lower.loose import around
from opgen.lower.readings import shape_text
from opgen.lower.scope import Frame, IndexInfo, Site
from opgen.lower.size_one import of_size_one

_FIRST = "where the first"
_TWO = "use two indices, or give the dims one name if they are always equal"


def clash(f: Frame, info: IndexInfo, first: Site, second: Site) -> None:
    if f.is_loose(info):
        return  # which may follow from what has been said of its shape
    a, b = text.scalar(first.extent), text.scalar(second.extent)
    notes = [f"`{info.name}` would need {a} = {b}"]
    for site in (first, second):
        known = f.state.tensors.get(site.tensor)
        if known is not None and known.shape is not None:
            notes.append(f"`{site.tensor}` has shape {shape_text(known.shape)}")
    hints = (
        _square(f, info, first, second)
        or of_size_one(f, info, first, second)
        or _longer(f, info, first, second)
        or _swapped(f, info, first, second)
        or _as_assigned(f, info, first, second)
        or _another(f, info, first, second)
    )
    hints = hints or _part(f, info, first, second)
    if hints and hints[0].startswith(_FIRST):
        hints = (*hints, *(f"or {told}" for told in _shorter(f, info, first, second)))
    elif not hints and (told := _shorter(f, info, first, second)):
        hints = (*told, f"or {_TWO}")
    if hints and _is_told(f, hints, first, second):
        return
    assigned = {(s.tensor, *sorted((a, b))) for s in (first, second) if s.tensor in f.decl.targets()}
    if assigned & f.state.clashes:
        return  # said where it was read before
    f.state.clashes |= assigned
    f.bag.error(
        "OPG213", f"the index `{info.name}` runs over `{a}` and over `{b}`", second.span,
        label=f"here it runs over `{b}`",
        related=(Label(first.span, f"here it runs over `{a}`"), *_declared(f, first, second)),
        notes=tuple(dict.fromkeys(notes)),
        hints=hints or _said_equal(f, first.extent, second.extent) or (_TWO,),
    )  # fmt: skip


def _is_told(f: Frame, hints: tuple[str, ...], *sites: Site) -> bool:
    """Whether the same has been said of another index of one of these accesses."""
    places = [s.span for s in sites]
    same = (told for told in f.bag.items if told.code == "OPG213" and told.hints == hints)
    return any(span in places for told in same for span in (told.span, *(label.span for label in told.related)))


def _said_equal(f: Frame, *sizes: Scalar) -> tuple[str, ...]:
    """A hint where one size is worked out of others, and the other one is a dim of inputs that may be said to be it."""
    for dim, other in (sizes, sizes[::-1]):
        made = isinstance(other, Apply) and all(isinstance(n, Apply | Dim | Lit | Param) for n in walk(other))
        if isinstance(dim, Dim) and dim.name in f.decl.sizes and dim.name not in f.decl.derived and made:
            inner = {n.name for n in walk(other) if isinstance(n, Dim)}
            if not any(dim in walk(f.state.dims.get(name) or Dim(name)) for name in inner):
                size = text.scalar(other)
                return (f"where `{dim.name}` is always `{size}`, say so: `dims: {{{dim.name}: {size}}}`",)
    return ()


def _square(f: Frame, info: IndexInfo, first: Site, second: Site) -> tuple[str, ...]:
    """A hint where a diagonal is read of what is not square: its two dims are one, declared under two names."""
    a, b = first.extent, second.extent
    if (
        all(items_of(s).count(info.name) < 2 for s in (first, second))
        or not isinstance(a, Dim)
        or not isinstance(b, Dim)
    ):
        return ()
    other = [name for name in f.decl.inputs if b in f.decl.shapes[name]]
    shapes = [text.shape(tuple(a if s == b else s for s in f.decl.shapes[name])) for name in other]
    lines = ", ".join(f"`{name}: {{shape: {shape}}}`" for name, shape in zip(other, shapes, strict=True))
    return (
        (f"a diagonal is that of a square: where `{b.name}` is `{a.name}`, declare it as such: {lines}",)
        if lines
        else ()
    )


def _longer(f: Frame, info: IndexInfo, *sites: Site) -> tuple[str, ...]:
    """A hint where one tensor is also read behind the index, as one that has some elements more is."""
    for site, other in (sites, sites[::-1]):
        a, b = site.extent, other.extent
        if not isinstance(a, Dim) or not isinstance(b, Dim) or {a.name, b.name} & {d.name for d in f.decl.spec.dims}:
            continue
        ends = [
            rest.constant
            for c in f.checks
            if c.site.tensor == site.tensor and c.extent == a and len(c.indices) == 1 and c.indices[0][1] is info
            for rest in (polynomial(c.position) - polynomial(Index(c.indices[0][0])),)
        ]
        more = max((n for n in ends if n is not None), default=0)
        if more > 0:
            size, bound = f"`dims: {{{b.name}: {a.name} - {more}}}`", f"`{info.name} < {b.name}`"
            return (f"where `{site.tensor}` has {more} more: {size}, and {bound} where `{info.name}` is bound",)
    return ()


def _declared(f: Frame, *sites: Site) -> tuple[Label, ...]:
    """Where the dims come from, for inputs."""
    spans: dict[Span, str] = {}
    for site in sites:
        known = f.state.tensors.get(site.tensor)
        if known is not None and known.declared and known.shape is not None:
            spans.setdefault(known.span, f"`{site.tensor}` is declared with shape {shape_text(known.shape)}")
    return tuple(Label(span, said) for span, said in spans.items())


def _swapped(f: Frame, info: IndexInfo, first: Site, second: Site) -> tuple[str, ...]:
    """A hint where the clash goes away by exchanging two positions of an access."""
    known = f.state.tensors.get(second.tensor)
    if known is None or known.shape is None:
        return ()
    for site in (first, second):
        if (lettered := in_dims_order(f, site)) is not None:
            return (f"did you mean `{lettered}`?",)
    items = items_of(second)
    if len(items) != len(known.shape):
        return ()
    here = [k for k, i in enumerate(items) if i == info.name]
    there = [k for k, s in enumerate(known.shape) if s != BATCH and s == first.extent]
    if len(here) != 1 or len(there) != 1:
        return ()
    items[here[0]], items[there[0]] = items[there[0]], items[here[0]]
    return (f"did you mean `{second.tensor}[{', '.join(items)}]`?",)


def _as_assigned(f: Frame, info: IndexInfo, first: Site, second: Site) -> tuple[str, ...]:
    """A hint where an index of a reduction and another one are exchanged, and both fit the other way round.

    An index of the target is as likely to be the wrong one where it is read elsewhere.
    """
    if f.scope is None or any(loop is info for loop in f.scope.root().loops):
        return ()
    for site, other in ((first, second), (second, first)):
        known, items = f.state.tensors.get(site.tensor), items_of(site)
        shape = known.shape if known is not None and known.shape is not None else ()
        visible = [i for i in f.scope.visible() if isinstance(i, IndexInfo)]
        there = [k for k, size in enumerate(shape) if size == other.extent]
        if len(there) != 1 or items.count(info.name) != 1 or len(items) != len(shape) or BATCH in shape:
            continue
        here, (to,) = items.index(info.name), there
        beside = [i for i in visible if i.name == items[to] and items.count(i.name) == 1]
        if not beside or any(s.extent != site.extent for s in beside[0].sites if s.span != site.span):
            continue
        items[here], items[to] = items[to], items[here]
        return (f"did you mean `{site.tensor}[{', '.join(items)}]`?",)
    return ()


def _another(f: Frame, info: IndexInfo, *sites: Site) -> tuple[str, ...]:
    """A hint where one access is as long as another index runs, and does not read it."""
    found = []
    for site in sites:
        items = items_of(site)
        others = [i for i in f.scope.visible() if isinstance(i, IndexInfo)] if f.scope is not None else []
        for other in others:
            runs = [s for s in other.sites if s.tensor != site.tensor and s.extent == site.extent]
            if other is not info and runs and other.name not in items and items.count(info.name) == 1:
                shown = ", ".join(other.name if i == info.name else i for i in items)
                found.append(f"did you mean `{site.tensor}[{shown}]`?")
    found = found or [shown for site in sites for shown in _inner(f, info, site)]
    if not found and (meant := _unread(f, info, sites[-1])):
        return (meant,)
    return tuple(found) if len(found) == 1 else ()


def _inner(f: Frame, info: IndexInfo, site: Site) -> list[str]:
    """The hint where an index of a reduction around an access is read along such a dim elsewhere, and not in it."""
    items = items_of(site)
    found: dict[str, None] = {}
    for r in around(f, site.span) if items.count(info.name) == 1 else ():
        for b in (b.name for b in r.binders if isinstance(b, Binder) and b.name not in items):
            for a in (n for n in nodes(r.body) if isinstance(n, Access)):
                known = f.state.tensors.get(a.name)
                sizes = zip(a.items, known.shape or () if known is not None else (), strict=False)
                if any(isinstance(i, Name) and i.name == b and size == site.extent for i, size in sizes):
                    shown = ", ".join(b if i == info.name else i for i in items)
                    found[f"did you mean `{site.tensor}[{shown}]`?"] = None
    return [*found]


def _unread(f: Frame, info: IndexInfo, site: Site) -> str:
    """A hint where one index of the target is read nowhere, and another one twice."""
    others = [i for i in f.scope.visible() if isinstance(i, IndexInfo)] if f.scope is not None else []
    idle = [i for i in others if i is not info and i.stated is None and not i.sites and not i.padded]
    items = items_of(site)
    if len(idle) != 1 or items.count(info.name) != 1 or any(i is idle[0] for c in f.checks for _, i in c.indices):
        return ""
    f.reported.add(idle[0].name)  # what says how far it runs is missing for this reason
    shown = ", ".join(idle[0].name if i == info.name else i for i in items)
    return f"`{idle[0].name}` is read nowhere: did you mean `{site.tensor}[{shown}]`?"


def _part(f: Frame, info: IndexInfo, *sites: Site) -> tuple[str, ...]:
    """A hint where a tensor was assigned over a whole dim of which only a part is meant, or is read in part."""
    for site, other in (sites, sites[::-1]):
        if (first := _bounded(f, info, site, other)) is not None:
            return (first,)
    for site, other in (sites, sites[::-1]):
        if _is_part(f, site, other) or not _is_made(f, site, other):
            continue
        own = [s for s in f.decl.forward if s.target.name == site.tensor]
        items, written = items_of(site), (own[0].target.items or ()) if len(own) == 1 else ()
        if len(items) != len(written) or info.name not in items or not isinstance(other.extent, Dim):
            continue
        place = items.index(info.name)
        if _is_read_again(f, site, other, place):
            continue
        binder = written[place]
        if isinstance(binder, Binder) and binder.extent is None and not _runs_along(own[0].value, binder.name):
            bounded = replace(binder, extent=Name(other.extent.name, binder.span))
            target = replace(own[0].target, items=(*written[:place], bounded, *written[place + 1 :]))
            line = unparse_assign(replace(own[0], target=target))
            return (
                f"`{site.tensor}` runs over the whole of `{text.scalar(site.extent)}`; for a part of it write `{line}`",
            )
    for site, other in (sites, sites[::-1]):
        if _is_part(f, site, other):
            size = text.scalar(site.extent)
            first = f"{_FIRST} `{size}` of `{text.scalar(other.extent)}`"
            line = ended(f, info, site.span, size) if common_end(f, info) == size else ""
            told = f"write `{line}`" if line else f"say so where `{info.name}` is bound: `{info.name} < {size}`"
            return (f"{first} are meant, {told}",)
    size = common_end(f, info)
    line = ended(f, info, sites[0].span, size) if size else ""
    return (f"{_FIRST} `{size}` of all of them are meant, write `{line}`",) if line else ()


def _bounded(f: Frame, info: IndexInfo, site: Site, other: Site) -> str | None:
    """A hint where a tensor was assigned over the first few places of a dim, and a reduction does not say so again."""
    if not isinstance(site.extent, Lit | Param) or not isinstance(other.extent, Dim):
        return None
    size = text.scalar(site.extent)
    for r in around(f, site.span) if site.tensor in f.decl.targets() else ():
        if any(isinstance(b, Binder) and b.name == info.name and b.extent is None for b in r.binders):
            bound = f"`{r.name}[{info.name} < {size}](…)`"
            return f"{_FIRST} `{size}` of `{text.scalar(other.extent)}` are meant, say so: {bound}"
    return None


def _shorter(f: Frame, info: IndexInfo, first: Site, second: Site) -> tuple[str, ...]:
    """A hint where one dim goes on behind the other: the statement with a condition around what ends earlier."""
    s = statement_at(f.decl.forward, first.span)
    own = [polynomial(c.position).split(Index(n)) for c in f.checks for n, i in c.indices if i is info]
    ahead = any(p is None or (p[0].constant != 0 and not (p[0].constant == 1 and _is_behind(p[1]))) for p in own)
    if s is None or f.scope is None or info not in f.scope.root().loops or ahead:
        return ()
    for short, long in ((first, second), (second, first)):
        if _ends_before(f, short, long):
            size, end = text.scalar(long.extent), text.scalar(short.extent)
            places = [site.span for site in info.sites if site.extent == short.extent]
            line = guarded(s, info.name, size, end, places)
            return (f"for all of `{size}`, with 0 or the like where `{end}` has ended: `{line}`",) if line else ()
    return ()


def _is_behind(rest: Polynomial) -> bool:
    return rest.constant is not None and rest.constant <= 0


def _ends_before(f: Frame, short: Site, long: Site) -> bool:
    """Whether one dim has a few places less than another, as it is derived, or by their names: `U` beside `U1`."""
    a, b = short.extent, long.extent
    if not isinstance(a, Dim) or not isinstance(b, Dim):
        return False
    more = polynomial(b, f.state.dims) - polynomial(a, f.state.dims)
    named = b.name.startswith(a.name) and b.name[len(a.name) :].lower().strip("_") in ("1", "p1", "plus1", "plus")
    return (more.constant or 0) > 0 or (named and not {a.name, b.name} & f.decl.derived.keys())


def _is_made(f: Frame, *sites: Site) -> bool:
    """Whether a dim is worked out of another; two that callers choose are no part of each other."""
    return any(not isinstance(s.extent, Dim) or s.extent.name in f.decl.derived for s in sites)


def _is_part(f: Frame, site: Site, other: Site) -> bool:
    """Whether only one of two dims is computed: it is most likely a part of the other one, unless it is longer."""
    a, b = site.extent, other.extent
    derived = {str(d.name) for d in f.decl.spec.dims}
    if not isinstance(a, Dim) or not isinstance(b, Dim) or (a.name in derived) == (b.name in derived):
        return False
    more, facts = polynomial(a, f.state.dims) - polynomial(b, f.state.dims), facts_of((), f.state.dims)
    if more.constant is not None:
        return more.constant < 0
    return is_nonnegative(-more, facts) or (a.name in derived and not is_nonnegative(more, facts))


def _is_read_again(f: Frame, site: Site, other: Site, place: int) -> bool:
    """Whether another statement reads a tensor where it needs more places than there are of the shorter dim."""
    own = statement_at(f.decl.forward, site.span)
    for s in (s for s in (*f.decl.forward, *f.decl.backward) if s is not own):
        read = [n for n in nodes(s.value) if isinstance(n, Access | Name)]
        for a in (n for n in read if n.name == site.tensor):
            item = a.items[place] if isinstance(a, Access) and place < len(a.items) else None
            if not isinstance(item, Name) or not any(_runs_to(f, n, item.name, other) for n in read):
                return True
    return False


def _runs_to(f: Frame, a: Access | Name, index: str, other: Site) -> bool:
    """Whether an access reads a dim of the size of another one at an index."""
    shape = f.decl.shapes.get(a.name, ())
    items = a.items if isinstance(a, Access) and len(a.items) == len(shape) else ()
    pairs = zip(items, shape, strict=False)
    return any(size == other.extent for i, size in pairs if isinstance(i, Name) and i.name == index)


def _runs_along(e: Expr, index: str) -> bool:
    """Whether a value depends on all places of an index, as a softmax does."""
    bound = (b for r in nodes(e) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder))
    return any(b.name == index for b in bound)
