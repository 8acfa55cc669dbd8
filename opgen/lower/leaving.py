"""Positions that stay in their tensor for the least sizes only: a warning.

A position such as `j - i` over one dim, or `n - padding`, is inside where the dim is 1 or the param is 0, so that it is
no certain mistake; with any larger one each call fails. In go the positions of a statement with the extents of their
indices; int params count as not negative, unless a default says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir import text
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis
from opgen.ir.ranges import Facts, corner, facts_of, is_nonnegative
from opgen.ir.scalar import Dim, Lit, Param, Read, Scalar, children, walk
from opgen.lang.nodes import Binder
from opgen.lang.walk import statement_at
from opgen.lower.domain import end_of
from opgen.lower.first_point import leaves_at_an_end
from opgen.lower.outside import left_out
from opgen.lower.scope import Check, Frame, IndexInfo


def leaving(f: Frame, c: Check, furthest: Callable[[Frame, Check, IndexInfo], str | None]) -> None:
    """A warning for a position that leaves its tensor for all sizes but the least.

    `furthest`: how far an index runs with which it does not.
    """
    if not c.always or isinstance(c.position, Lit):
        return
    if isinstance(c.position, Read) and _past_the_end(f, c, c.position.tensor):
        return
    if leaves_at_an_end(f, c):
        return
    facts = _facts(f, c)
    position, last = polynomial(c.position), polynomial(c.extent) - number(1)
    low, high = corner(position, facts, least=True), corner(position, facts, least=False)
    if low is not None and _mostly_negative(low, facts):
        where, hints = f"at {_shown(low)}, which is outside unless that is 0", _in_front(f, c, low, high, last, facts)
    elif high is not None and _mostly_negative(last - high, facts):
        where = f"up to {_shown(high)}, which is outside unless {_shown(high - last)} is 0"
        hints = (*_padded(f, c, below=False, above=True), *_shorter(f, c, furthest))
    else:
        return
    message = f"`{c.site.tensor}` is {'written' if c.site.written else 'read'} {where}"
    note = f"positions run from 0 to {_shown(last)}, and negative ones do not wrap"
    f.bag.add(Diagnostic("OPG260", message, c.span, notes=(note,), hints=hints, severity=Severity.WARNING))


def _past_the_end(f: Frame, c: Check, name: str) -> bool:
    """A warning for a position that is read from an input whose domain goes on where the tensor ends."""
    given, size = f.decl.inputs.get(name), text.scalar(c.extent)
    if given is None or end_of(given.domain) != f"{size} + 1":
        return False
    message = f"the domain of `{name}` lets it be {size}, and `{c.site.tensor}` ends at {size} - 1"
    one_less = rewritten(c, f"{c.span.text} - 1")
    from_1 = () if one_less is None else (f"or, where it counts from 1, read `{one_less}`",)
    hints = (f"write `domain: 0 <= {name} < {size}`", *from_1)
    f.bag.add(Diagnostic("OPG266", message, c.span, hints=hints, severity=Severity.WARNING))
    return True


def _shown(p: Polynomial) -> str:
    return text.scalar(p.scalar())


def _facts(f: Frame, c: Check) -> Facts:
    axes = tuple(Axis(name, i.extent if i.extent is not None else Lit(1)) for name, i in c.indices)
    scalars = (c.position, c.extent, *(a.extent for a in axes))
    params = dict.fromkeys(n for s in scalars for n in walk(s) if isinstance(n, Param))
    return facts_of(axes, f.state.dims, nonnegative=[p for p in params if not _is_negative(f, p)])


def _is_negative(f: Frame, p: Param) -> bool:
    """Whether a param is less than 0 unless a call says otherwise."""
    spec = f.decl.params.get(p.name)
    default = None if spec is None else spec.default
    return default is not None and str(default).lstrip("([ ").startswith("-")


def _mostly_negative(p: Polynomial, facts: Facts) -> bool:
    """Whether something is never more than 0, and 0 for the least sizes at most."""
    return is_nonnegative(-p, facts) and not is_nonnegative(p, facts)


def _shorter(f: Frame, c: Check, furthest: Callable[[Frame, Check, IndexInfo], str | None]) -> list[str]:
    """The other way out of a window that goes beyond the end: an index of the target that does not run as far."""
    s = statement_at((*f.decl.forward, *f.decl.backward), c.span)
    stays = s is None or c.site.written or f.target in f.decl.output_shapes
    items = () if stays or s is None else s.target.items or ()
    sized = [i.name for i in items if isinstance(i, Binder) and i.extent is not None]
    own = [i for _, i in c.indices if i.name in sized and i.stated is not None]
    ends = ((i, furthest(f, c, i)) for i in own if len(c.indices) > 1)
    return [f"or let `{i.name}` end earlier: `{i.name} < {end}`" for i, end in ends if end]


def _in_front(
    f: Frame, c: Check, low: Polynomial, high: Polynomial | None, last: Polynomial, facts: Facts
) -> tuple[str, ...]:
    """What a position means that begins in front of its tensor: one counted from there, if all fit that are read."""
    padded = _padded(f, c, below=True, above=high is None or not is_nonnegative(last - high, facts))
    if c.site.written or high is None or all(isinstance(n, Param | Lit) for n in _atoms(low)):
        last_ones = None if c.indices else rewritten(c, _shown(last + number(1) + low))
        return (*([] if last_ones is None else [f"counted from the end: `{last_ones}`"]), *padded)  # whatever the sizes
    if is_nonnegative(last - (high - low), facts):
        moved = rewritten(c, f"{c.span.text} + {_shown(-low)}")
        return () if moved is None else (f"count from the first place that is read: `{moved}`",)
    around = all(i.extent == c.extent for _, i in c.indices)
    size = text.scalar(c.extent) if isinstance(c.extent, Dim | Lit) else f"({text.scalar(c.extent)})"
    wrapped = rewritten(c, f"({c.span.text}) % {size}") if around else None
    return (*padded, *([] if wrapped is None else [f"or, to wrap around: `{wrapped}`"]))


def _atoms(p: Polynomial) -> list[Scalar]:
    return [n for n in walk(p.scalar()) if not children(n)]


def _padded(f: Frame, c: Check, *, below: bool, above: bool) -> tuple[str, ...]:
    if c.site.written:
        return (f"write `pad({c.site.span.text})`, which drops what is outside",)
    return (left_out(f, c, below=below, above=above),)


def rewritten(c: Check, place: str) -> str | None:
    """The access with another position in place of the one at hand; None where that does not stand in it."""
    written, start = c.site.span.text, c.span.start - c.site.span.start
    if start < 0 or not written[start:].startswith(c.span.text):
        return None
    return f"{written[:start]}{place}{written[start + len(c.span.text) :]}"
