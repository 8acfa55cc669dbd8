"""The range rule: a position that provably leaves its tensor is a mistake; what cannot be proven is checked in a run.

Positions are noted while a formula is lowered and judged when the extents of its indices are known.
"""

from __future__ import annotations

from opgen.diagnostics.model import Label, Span
from opgen.ir import text
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis
from opgen.ir.ranges import corner, facts_of, is_nonnegative
from opgen.ir.scalar import Apply, Batch, Dim, Index, Lit, Scalar, walk
from opgen.lang.nodes import Access, Dots, Product, Sum
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, statement_at
from opgen.lower.both_ends import both_ends
from opgen.lower.declare import every
from opgen.lower.earlier import from_the_start, less, shift, without_first
from opgen.lower.exchanged import exchanged
from opgen.lower.from_0 import from_0
from opgen.lower.furthest import furthest, step_and_room
from opgen.lower.guarded import guarded
from opgen.lower.half_way import half_way
from opgen.lower.later import shorter_or_filled
from opgen.lower.leaving import leaving, rewritten
from opgen.lower.neighbours import sums_apart
from opgen.lower.one_more import one_more
from opgen.lower.outside import left_out, over, scattered_apart
from opgen.lower.scope import DECLARED, UNKNOWN, Check, Frame, IndexInfo, Site
from opgen.lower.step_more import declared_longer
from opgen.lower.too_many import fewer_windows
from opgen.lower.unguarded import asked_further, unguarded


def note(f: Frame, position: Scalar, extent: Scalar, site: Site, span: Span) -> None:
    """Remember a position for the check at the end of the statement."""
    if f.scope is None or extent == Dim(UNKNOWN):
        return
    visible = {i.unique: i for i in f.scope.visible() if not isinstance(i, Batch)}

    def within(*read: Scalar) -> tuple[tuple[str, IndexInfo], ...]:
        used = dict.fromkeys(n.name for e in read for n in walk(e) if isinstance(n, Index))
        return tuple((name, visible[name]) for name in used if name in visible)

    indices = within(position)
    if site.padded:
        for name, info in indices:
            info.padded = True
            moved = polynomial(position) - polynomial(Index(name))
            window = info in f.scope.root().loops and Index(name) not in moved.atoms()
            if isinstance(extent, Dim):
                info.around = Check(position, extent, site, span, indices, f.path)
                if window or isinstance(moved.scalar(), Lit):
                    info.beside = extent
        return
    f.checks.append(Check(position, extent, site, span, indices, f.path, within(*f.path)))


def check_ranges(f: Frame) -> bool:
    """Whether no noted position is provably out of range."""
    good = every(_check(f, c) for c in f.checks)
    if good:
        exchanged(f)
    return good


def _check(f: Frame, c: Check) -> bool:
    axes = tuple(Axis(name, _extent(i)) for name, i in c.indices)
    facts = facts_of(axes, f.state.dims, positive=_shares(f))
    position = polynomial(c.position)
    low, high = corner(position, facts, least=True), corner(position, facts, least=False)
    last = polynomial(c.extent) - number(1)
    # Conditions may keep an index away from its ends, but not from both.
    below = low if c.always else high
    above = high if c.always else low
    if below is not None and is_nonnegative(number(-1) - below, facts):
        return _report(f, c, low, high)
    if above is not None and is_nonnegative(above - last - number(1), facts):
        return _report(f, c, low, high)
    if unguarded(f, c, facts):
        return _report(f, c, low, high)
    leaving(f, c, furthest)
    return True


def _shares(f: Frame) -> list[Scalar]:
    """Sizes such as `H: D//2`: what is right only where nothing is left of them is a mistake."""
    return [
        Dim(name)
        for name, e in f.state.dims.items()
        if isinstance(e, Apply) and e.fn == "floordiv" and isinstance(e.args[0], Dim) and isinstance(e.args[1], Lit)
    ]


def _extent(info: IndexInfo) -> Scalar:
    return info.extent if info.extent is not None else Lit(1)


def _report(f: Frame, c: Check, low: Polynomial | None, high: Polynomial | None) -> bool:
    site = c.site
    if any(f.is_loose(i) for _, i in c.indices):
        return False  # which follows from what has been said of its shape
    last = text.scalar((polynomial(c.extent) - number(1)).scalar())
    runs = _runs(low, high)
    verb = "written" if site.written else "read"
    related = [Label(i.span, f"`{i.name}` runs to {text.scalar(_extent(i))}") for _, i in c.indices if i.stated]
    shown = site.span.text if not site.span.text.startswith("pad") else f"{site.tensor}[…]"
    if isinstance(c.position, Lit):
        over = isinstance(c.extent, Lit) and c.position.value == c.extent.value
        counted = f"positions count from 0: number 1 is at 0, and number {runs} at {last}"
        if lines := from_0(f, site.tensor) if over else ():
            counted = f"positions count from 0: write {', '.join(lines)}"
        hints: tuple[str, ...] = (counted,) if over else ()
        if lines and any(counted in told.hints for told in f.bag.items):
            return False
    elif not c.indices and (polynomial(c.position) - polynomial(c.extent)).constant == 0:
        hints = (f"the last one is read at `{last}`",)
    elif site.written:
        hints = (f"write `pad({shown})`, which drops what is outside",)
    else:
        ahead = low is None or is_nonnegative(low, facts_of((), f.state.dims))
        behind = high is None or not is_nonnegative(polynomial(c.extent) - number(1) - high, facts_of((), f.state.dims))
        apart = sums_apart(f, c)
        filled = left_out(f, c, below=not ahead, above=behind, alone=apart is not None)
        hints = (filled, *(_earlier_end(f, c) if ahead else from_the_start(f, c)))
        if not ahead and len(hints) > 1 and _divides(f, c):
            hints = (hints[1].removeprefix("or "), *hints[2:], f"or {filled}")
        if ahead and (count := fewer_windows(f, c, step_and_room)):
            hints = (*count, f"or {filled}")
        elif ahead and (ends := _stated_ends(f, c)):
            hints = shorter_or_filled(f, c, ends, filled)
        elif ahead and len(hints) > 1 and (_is_difference(f, c) or any(n in walk(c.position) for n in _shares(f))):
            hints = hints[1].removeprefix("or "), f"or {filled}"  # a half is read, or one place less has a difference
        hints = _with_ring(f, c, hints if apart is None else _each_with_its_end(f, c, apart, filled))
        hints = (*hints, *declared_longer(f, c))
        if apart is None and (
            first := _counted_down(f, c, low, high) or _shifted(f, c, low, high) or without_first(f, c)
        ):
            hints = (*first, *(h if h.startswith("or") else f"or {h}" for h in hints))
        if further := asked_further(f, c):
            hints = (*further, *(h if h.startswith("or") else f"or {h}" for h in hints))
        if _is_position(f, c):  # where what is outside is no number of a place
            hints = tuple(h.removeprefix("or ") for h in hints if filled not in h) or _asked(f, c)
        hints = (*hints, *(f"or, {told}" if hints else told for told in one_more(f, c)))
    if (sides := both_ends(f, c)) is not None:
        if any(sides[1] == told.hints for told in f.bag.items):
            return False
        related, hints = [*related, *(Label(o.span, "") for o in sides[0] if o is not c)], sides[1]
    if (early := half_way(f, c)) is not None:
        if any(early[1] == told.hints for told in f.bag.items):
            return False
        related, hints = [*related, early[0]], early[1]
    before = low is not None and is_nonnegative(number(-1) - low, facts_of((), f.state.dims))
    end = "begins at 0" if before else f"ends at {last}"
    f.bag.error(
        "OPG232", f"`{site.tensor}` is {verb} at {runs}, and {end} there", c.span,
        label="out of range", related=related, hints=hints, notes=(f"positions run from 0 to {last}",),
    )  # fmt: skip
    return False


def _each_with_its_end(f: Frame, c: Check, line: str, filled: str) -> tuple[str, ...]:
    """The statement with a sum for each end, once, and the fill: behind it where 0 outside makes a difference."""
    if not line or line in f.reported:
        return (filled,)
    f.reported.add(line)
    told = f"for each term as far as its neighbours go, sum them apart: `{line}`"
    return (told, f"or {filled}") if _is_difference(f, c) else (filled, f"or, {told}")


def _asked(f: Frame, c: Check) -> tuple[str, ...]:
    """The statement with a condition around what is read at a place behind the end of another tensor."""
    s = statement_at(f.decl.forward, c.span)
    ahead = (polynomial(c.position) - polynomial(Index(c.indices[0][0]))).constant if len(c.indices) == 1 else None
    if s is None or ahead is None or ahead < 0:
        return ()
    info = c.indices[0][1]
    line = guarded(s, info.name, text.scalar(_extent(info)), unparse(less(c, int(ahead))), [c.site.span])
    return (f"write `{line}`, with 0 or the like where there is none",) if line else ()


def _counted_down(f: Frame, c: Check, low: Polynomial | None, high: Polynomial | None) -> tuple[str, ...]:
    """The last place but as many as an index counts, for a position that begins behind it."""
    position, facts = polynomial(c.position), facts_of((), f.state.dims)
    down = any((own := position.split(Index(name))) is not None and own[0] == number(-1) for name, _ in c.indices)
    first = number(0) if low is None else low
    if not down or high is None or (high - polynomial(c.extent)).constant != 0 or is_nonnegative(-first, facts):
        return ()
    written, size = c.span.text, text.scalar(c.extent)
    moved = f"{size} - 1{written.removeprefix(size)}" if written.startswith(f"{size} -") else f"{written} - 1"
    read = rewritten(c, moved)
    return () if read is None else (f"write `{read}`, which begins at the last one",)


def _shifted(f: Frame, c: Check, low: Polynomial | None, high: Polynomial | None) -> tuple[str, ...]:
    """The position from 0 on, for one that moves with several indices through as many places as there are."""
    if low is None or high is None or len(c.indices) < 2:
        return ()
    first, more = low.constant, high - low - polynomial(c.extent) + number(1)
    facts = facts_of((), f.state.dims)
    if not first or not is_nonnegative(more, facts) or not is_nonnegative(number(0) - more, facts):
        return ()
    read = rewritten(c, f"{c.span.text} {'-' if first > 0 else '+'} {abs(first)}")
    return () if read is None else (f"write `{read}`, which begins at 0",)


def _divides(f: Frame, c: Check) -> bool:
    """Does a divisor read it?"""
    at = c.site.span
    own = (s.value for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    below = (x for e in own for p in nodes(e) if isinstance(p, Product) for sign, x in p.factors if sign == "/")
    return any(x.span.start <= at.start and at.end <= x.span.end for x in below)


def _is_difference(f: Frame, c: Check) -> bool:
    """Whether it is read to be subtracted from, or by, another element of the same tensor, and none is read before."""
    own = (s.value for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    sums = (n.terms for e in own for n in nodes(e) if isinstance(n, Sum))
    apart = any(
        a.span == c.site.span and isinstance(b, Access) and b.name == c.site.tensor and sign != other
        for terms in sums
        for sign, a in terms
        for other, b in terms
    )
    return apart and all((shift(o) or 0) >= 0 for o in f.checks if o.site.tensor == c.site.tensor)


def _is_position(f: Frame, c: Check) -> bool:
    """Whether what is read there is itself a position of something."""
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    places = (
        i for s in own for a in nodes(s.value) if isinstance(a, Access) for i in a.items if not isinstance(i, Dots)
    )
    return any(n.span == c.site.span for i in places for n in nodes(i))


def _earlier_end(f: Frame, c: Check) -> list[str]:
    """How far the indices run with which everything that is read lies inside."""
    ends = ((i, furthest(f, c, i)) for _, i in c.indices if i.stated is None)
    told = ((i, end, scattered_apart(f, c, i, end)) for i, end in ends if end)
    plain = "or let `{0}` end earlier, where it is introduced: `{0} < {1}`"
    return [line for i, end, other in told if (line := plain.format(i.name, end) if other is None else other)]


def _stated_ends(f: Frame, c: Check) -> list[tuple[str, str]]:
    """The same for indices whose extent is written out beside them, where that is what does not fit."""
    ends = ((i, furthest(f, c, i)) for _, i in c.indices if i.stated is not None and i.origin != DECLARED)
    return [(i.name, end) for i, end in ends if end]


def _with_ring(f: Frame, c: Check, hints: tuple[str, ...]) -> tuple[str, ...]:
    """How a neighbour is read where the last place stands beside the first: ahead of the rest where others are so."""
    own = shift(c)
    others = [o for o in f.checks if o.site.tensor == c.site.tensor and o.extent == c.extent and o.indices == c.indices]
    ring = any(
        isinstance(o.position, Apply) and (o.position.fn, *o.position.args[1:]) == ("mod", c.extent) for o in others
    )
    both = not ring and any((shift(o) or 0) * (own or 0) < 0 for o in others)
    size = text.scalar(c.extent)
    read = rewritten(c, f"({c.span.text}) % {size if isinstance(c.extent, Dim | Lit) else f'({size})'}")
    full = c.indices[0][1].stated == c.extent if own else False  # which asks for as many places as there are
    wraps = f"wraps along {c.indices[0][1].name}" if own else ""
    pair = any(shift(o) == 0 for o in others) and (over(f, c) is not None or not _is_difference(f, c))
    if not own or (own > 0 and not (both or ring or full or pair)) or read is None or (both and wraps in f.reported):
        return hints
    f.reported.update((wraps,) if both else ())
    if ring:
        first, *rest = hints
        return (f"to wrap around, as the read beside it does: write `{read}`", f"or {first}", *rest)
    return (*hints, f"or, to wrap around{', here and in the reads beside it' if both else ''}: `{read}`")


def _runs(low: Polynomial | None, high: Polynomial | None) -> str:
    first = "?" if low is None else text.scalar(low.scalar())
    end = "?" if high is None else text.scalar(high.scalar())
    return first if first == end else f"{first} to {end}"
