"""What is meant by the start of a recurrence that has fewer positions, or other sizes, than what goes on from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Diagnostic, Label, Severity
from opgen.ir import text
from opgen.ir.scalar import Scalar
from opgen.lang.circles import accesses, is_constant
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name
from opgen.lang.unparse import respelled, unparse, unparse_target
from opgen.lang.walk import literal, names_read, nodes, transform
from opgen.lower.declare import Declarations

_LETTERS = "tslkijmnpq"  # of the index that a recurrence goes along, the likeliest first


def goes_on_nowhere(d: Declarations, s: Assign, item: Expr) -> Diagnostic:
    """What is said of a start, at a position, where nothing reads the place before an element.

    A statement that gives the elements is pointed at, the start beside it.
    """
    name, items = s.target.name, s.target.items or ()
    place = next(k for k, i in enumerate(items) if i is item)
    others = [o for o in d.forward if o.target.name == name and len(o.target.items or ()) == len(items)]
    body = next((o for o in others if isinstance((o.target.items or ())[place], Binder)), None)
    if body is None:
        hints = (_template(s, place),) if sum(map(is_constant, items)) == 1 else ()
        return Diagnostic("OPG250", f"`{name}` starts here and goes on nowhere", item.span, hints=hints)
    left = unparse_target(body.target)
    before = _before(body, place)
    message = f"`{name}` has a start, and `{left}` does not go on from it"
    taken = _for_the_start(d, s, body)
    line = f"{left} = {respelled(body.value, *((e, before) for e in taken))}"
    hint = f"did you mean `{line}`?" if taken else f"it goes on with, say, `{left} = {before} + …`"
    beside = "where nothing is to go on leave out the start"
    if literal(s.value) is not None and any(unparse(a) == before for a in accesses(d.forward, (name,))):
        beside += f", and read `pad({before}, {unparse(s.value)})`"
    return Diagnostic(
        "OPG250", message, body.value.span, f"does not read `{before}`", (Label(item.span, "the start"),),
        hints=(hint, beside),
    )  # fmt: skip


def _template(s: Assign, place: int) -> str:
    """How a start goes on, with its positions."""
    shown = [_shown(i) for i in s.target.items or ()]
    letter = next(c for c in _LETTERS if c not in shown)
    left, right = ([*shown[:place], i, *shown[place + 1 :]] for i in (letter, f"{letter} - 1"))
    return f"it goes on with, say, `{s.target.name}[{', '.join(left)}] = {s.target.name}[{', '.join(right)}] + …`"


def _before(body: Assign, place: int) -> str:
    """The element one place before that of a target."""
    shown = [_shown(i) for i in body.target.items or ()]
    return f"{body.target.name}[{', '.join((*shown[:place], f'{shown[place]} - 1', *shown[place + 1 :]))}]"


def _for_the_start(d: Declarations, s: Assign, body: Assign) -> list[Expr]:
    """Where a statement reads a tensor that the start is, and other tensors beside it."""
    if not isinstance(s.value, Name | Access) or s.value.name in (*d.params, *d.known_dims()) or body.op != "=":
        return []
    read: list[Expr] = [e for e in nodes(body.value) if e == s.value]
    indices = {i.name for i in body.target.items or () if isinstance(i, Binder)}
    others = {n.name for e in nodes(body.value) if isinstance(e, Access) and e not in read for n in e.items
              if isinstance(n, Name)}  # fmt: skip
    return read if len(read) == 1 and indices <= others | {*names_read(s.value)} else []


def aligned(d: Declarations, body: Assign, s: Assign, places: Sequence[int], bag: Bag) -> bool:
    """Whether a start has the positions of what goes on from it; reports it where not."""
    if [isinstance(i, Dots) for i in s.target.items or ()] == [isinstance(i, Dots) for i in body.target.items or ()]:
        return True
    message = f"the start of `{s.target.name}` has other positions than `{body.target.span.text}`"
    bag.error("OPG250", message, s.target.span, hints=_at_all_positions(d, body, s, places))
    return False


def _at_all_positions(d: Declarations, body: Assign, s: Assign, places: Sequence[int]) -> tuple[str, ...]:
    """A start with every position of what goes on from it, what it reads included; nothing where that is unclear."""
    constants = [i for i in s.target.items or () if is_constant(i)]
    given = [i for i in s.target.items or () if not is_constant(i)]
    whole = [_plain(i) for i in body.target.items or ()]
    if len(places) != 1 or len(constants) != 1:
        return ()
    left = [i for k, i in enumerate(whole) if k != places[0]]
    if [i for i in left if i in map(_plain, given)] != [*map(_plain, given)]:
        return ()
    value = _read_at(d, s.value, left, [*map(_plain, given)])
    if value is None:
        return ()
    at = constants[0]
    shown = [Name(_outside(at), at.span) if k == places[0] else i for k, i in enumerate(whole)]
    start = Access(s.target.name, tuple(shown), s.span, s.span)
    return (f"it has a position for each index: write `{unparse(start)} = {unparse(value)}`",)


def _outside(item: Binder | Dots | Expr) -> str:
    """A position outside, as it was written."""
    return "..." if isinstance(item, Dots) else item.span.text.replace(" ", "")


def _shown(item: Binder | Dots | Expr) -> str:
    """A position as it is read."""
    plain = _plain(item)
    return "..." if isinstance(plain, Dots) else unparse(plain)


def _plain(item: Binder | Dots | Expr) -> Expr | Dots:
    return Name(item.name, item.span) if isinstance(item, Binder) else item


def _read_at(d: Declarations, value: Expr, left: Sequence[Expr | Dots], given: Sequence[Expr | Dots]) -> Expr | None:
    """A value that reads what has a position for each of these indices at all of them; None where others lack some.

    `given`: the indices that the start has already; others in their place mean those that it gets.
    """
    good = True

    def step(e: Expr) -> Expr | None:
        nonlocal good
        rank = _rank(d, e.name) if isinstance(e, Name | Access) else None
        if rank is None or not isinstance(e, Name | Access):
            return None
        items = e.items if isinstance(e, Access) else ()
        if len(items) == rank and not _are_others(items, left, given):
            return None
        known = [i for i in left if i in items] == [*items] or len(items) == rank
        good = good and rank == len(left) and known
        return Access(e.name, tuple(left), e.span, e.span)

    made = transform(value, step)
    return made if good else None


def _are_others(items: Sequence[Expr | Dots], left: Sequence[Expr | Dots], given: Sequence[Expr | Dots]) -> bool:
    """Whether positions are those of the start under other names: `h[-1] = h0[b, h]` of `h[b, t, j]`."""
    fits = len(items) == len(left) and all(a == b or a not in given for a, b in zip(items, left, strict=True))
    return fits and all(isinstance(i, Name | Dots) for i in items) and any(i not in left for i in items)


def _rank(d: Declarations, name: str) -> int | None:
    """How many positions a tensor has."""
    if name in d.shapes:
        return len(d.shapes[name])
    return next((len(s.target.items or ()) for s in d.forward if s.target.name == name), None)


def as_far_as_the_start(body: Assign, place: int, extent: Scalar) -> tuple[str, ...]:
    """A body that runs as far as its start does, where its index stands beside another number as well.

    `z[b, j]` and `z[b, j + H]` are parts of `z`, so that `j` runs over less than all of it.
    """
    items = body.target.items or ()
    item = items[place]
    if not isinstance(item, Binder) or item.extent is not None:
        return ()
    index = Name(item.name, item.span)
    read = {e for a in nodes(body.value) if isinstance(a, Access) for e in a.items if not isinstance(e, Dots)}
    if not any(e != index and index in nodes(e) for e in read):
        return ()
    sized = replace(item, extent=Name(text.scalar(extent), item.span))
    target = replace(body.target, items=(*items[:place], sized, *items[place + 1 :]))
    return (f"it goes on as far as it starts: write `{unparse_target(target)} = …`",)


def no_consequences(
    of_starts: Sequence[Diagnostic],
    of_bodies: Sequence[Diagnostic],
    unknown: Sequence[str],
    starts: Mapping[str, Sequence[Assign]],
) -> tuple[Diagnostic, ...]:
    """Of the messages about a recurrence those that are no consequence of others.

    Starts run as far as what goes on from them, and so do `unknown`: the indices at which a name reads itself.
    The indices in the targets of `starts` have the extents of the bodies once these are stated.
    """
    left = [i.span for own in starts.values() for s in own for i in s.target.items or () if isinstance(i, Binder)]
    again = {d.message for d in of_bodies if d.code == "OPG214"}
    if any(d.code != "OPG214" and d.severity is Severity.ERROR for d in of_bodies):
        of_bodies = [d for d in of_bodies if d.code != "OPG214" or d.span is None or d.span.text not in unknown]
        of_starts = [d for d in of_starts if d.code != "OPG214"]
    if again:
        of_starts = [d for d in of_starts if d.code != "OPG214" or d.span not in left]
    return (*of_bodies, *(d for d in of_starts if d.code != "OPG214" or d.message not in again))
