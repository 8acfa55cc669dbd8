"""Along which indices a recurrence runs, and which way.

In go the statements of its names; out come slots. A read goes back along a slot, by one or more, or stands still
there. Where a single index goes one back at every such read, the statements may each call it as they like. Along some
slots reads go both ways: `u[t - 1, i + 1]` beside `u[t - 1, i - 1]` goes back along `t` all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from opgen.diagnostics.model import Bag, Label
from opgen.lang.circles import Step, accesses, is_constant, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Logic, Name, Product, Sum, Unary
from opgen.lang.unparse import respelled
from opgen.lang.walk import integer, operands
from opgen.lower.declare import Declarations
from opgen.lower.relaxed import goes_one_way, is_even, relaxed


def slots(
    d: Declarations,
    bodies: Mapping[str, Assign],
    starts: Mapping[str, Sequence[Assign]],
    names: Sequence[str],
    bag: Bag,
) -> tuple[Step, ...]:
    """The indices along which the names run, as the first statement calls them, each with -1 or +1 for the way that
    its reads go, or 0 for both; none after a mistake."""
    step = _only(bodies, starts, names)
    return (step,) if step is not None else _several(d, bodies, starts, names, bag)


def _only(bodies: Mapping[str, Assign], starts: Mapping[str, Sequence[Assign]], names: Sequence[str]) -> Step | None:
    """The index that is one place back at every read at another place, if there is no more to it."""
    if any(
        len(found) > 1 or sum(map(is_constant, s.target.items or ())) > 1 for found in starts.values() for s in found
    ):
        return None
    along: list[Step] = []
    for s in bodies.values():
        moved = [steps for a in accesses((s,), names) if (steps := _shifts(a))]
        if not moved:
            continue
        common = [step for step in moved[0] if abs(step.offset) == 1 and all(step in steps for steps in moved)]
        if not common or any(not _is_guarded(s, a, common[0]) for a in accesses((s,), names)):
            return None
        along.append(common[0])
    return along[0]


def _is_guarded(s: Assign, a: Access, step: Step) -> bool:
    """Whether a read stands still along all indices of its statement but one, or conditions tell how far it goes."""
    own = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    others = [other for other in _shifts(a) if other.index in own and other.index != step.index]
    return not any(a in list(_bare(s.value, other.index)) for other in others)


def _bare(e: Expr, index: str) -> Iterator[Access]:
    """Accesses that nothing keeps from being evaluated at the ends of an index: no padding, no condition on it."""
    match e:
        case Call("pad"):
            return
        case Call("where", (condition, *branches)):
            parts: tuple[Expr, ...] = (condition,) if _tells(condition, index) else (condition, *branches)
        case Logic("and" | "or", parts):
            told = next((k + 1 for k, c in enumerate(parts) if _tells(c, index)), len(parts))
            parts = parts[:told]
        case _:
            parts = operands(e)
    if isinstance(e, Access):
        yield e
    for o in parts:
        yield from _bare(o, index)


def _tells(condition: Expr, index: str) -> bool:
    """Whether a condition compares an index, which a remainder of it or a tensor there is not."""
    match condition:
        case Compare(operands=sides):
            return any(_moves_with(side, index) for side in sides)
        case Access():
            return False
        case _:
            return any(_tells(o, index) for o in operands(condition))


def _moves_with(e: Expr, index: str) -> bool:
    match e:
        case Name(name):
            return name == index
        case Sum() | Unary():
            return any(_moves_with(o, index) for o in operands(e))
        case Product(factors=factors):
            return all(op == "*" for op, _ in factors) and any(_moves_with(o, index) for _, o in factors)
        case _:
            return False


def _several(
    d: Declarations,
    bodies: Mapping[str, Assign],
    starts: Mapping[str, Sequence[Assign]],
    names: Sequence[str],
    bag: Bag,
) -> tuple[Step, ...]:
    """The indices of the names that reads may leave the extent along, and those that tell their order."""
    found: dict[str, dict[int, Access]] = {}  # the first read of each way, by index
    reads: list[tuple[str, Access, set[str]]] = []
    needed: set[str] = set()
    for n, s in bodies.items():
        own = {i.name for i in s.target.items or () if isinstance(i, Binder)}
        needed |= _started(s, starts.get(n, ()))
        bare = {index: list(_bare(s.value, index)) for index in sorted(own)}
        for a in accesses((s,), names):
            shifts = [step for step in _shifts(a) if step.index in own]
            reads.append((n, a, {step.index for step in shifts}))
            needed |= {index for index in reads[-1][2] if a in bare[index]}
            for step in shifts:
                found.setdefault(step.index, {}).setdefault(1 if step.offset > 0 else -1, a)
    ordered = {index for index, ways in found.items() if len(ways) == 1}
    lost = next((i for n, a, i in reads if i and not i & ordered and (a.name == n or not _stands(a, ordered))), None)
    if lost is not None:
        index = next(i for i in found if i in lost)
        one, other = found[index].values()
        message = f"this recurrence runs along `{index}` upwards and downwards"
        related = (Label(one.span, "the other way here"),)
        again = relaxed(d, bodies[names[0]], names, starts.get(names[0], ())) if not ordered else ()
        way = _one_way(other, index, ordered)
        even = any(is_even(bodies[names[0]], a, b) for a, b in ((one, other), (other, one)))
        alone = not (ordered or even or starts.get(names[0]))
        line = goes_one_way(bodies[names[0]], names, index) if alone else ""
        before = [f"a recurrence runs one way: for the element before in both places write `{line}`"] if line else []
        first, *more = (*before, *again, *way)
        hints = (first, *(f"or {w}" for w in more)) if again or before else way
        turned = "" if again or before or even else _turned([a for _, a, _ in reads], index, ordered, bodies, starts)
        if turned:
            hints = (turned, *(f"or {w}" for w in way))
        bag.error("OPG250", message, other.span, related=related, hints=hints)
        return ()
    if not found:
        first_read = next(a for s in bodies.values() for a in accesses((s,), names) if _shifts(a))
        message = "a recurrence goes back along an index of its own"
        hints = (f"`{_shifts(first_read)[0].index}` stands nowhere left of `=`",)
        bag.error("OPG250", message, first_read.span, hints=hints)
    for index in (i for i in found if i in ordered):
        if any(indices and not indices & ordered & needed for _, _, indices in reads):
            needed.add(index)
    return tuple(
        Step(index, next(iter(ways)) if len(ways) == 1 else 0) for index, ways in found.items() if index in needed
    )


def _stands(a: Access, ordered: Collection[str]) -> bool:
    """Whether a read stands still along what tells the order: another name is computed ahead there, at all places."""
    return any(isinstance(i, Name) and i.name in ordered for i in a.items)


def _started(s: Assign, starts: Sequence[Assign]) -> set[str]:
    """The indices of a statement that have a start."""
    own = s.target.items or ()
    apart = {k for start in starts for k, i in enumerate(start.target.items or ()) if is_constant(i) and k < len(own)}
    return {i.name for k, i in enumerate(own) if k in apart and isinstance(i, Binder)}


def _one_way(a: Access, index: str, ordered: Collection[str]) -> tuple[str, ...]:
    """How to say what a read along an index means, beside one that goes the other way."""
    hint = "run one name upwards and another one downwards, and combine them afterwards"
    if not ordered:
        return (hint,)
    return (f"read `{a.name}` further back along `{sorted(ordered)[0]}`, too: that tells what is computed first", hint)


def _turned(
    reads: Sequence[Access],
    index: str,
    ordered: Collection[str],
    bodies: Mapping[str, Assign],
    starts: Mapping[str, Sequence[Assign]],
) -> str:
    """The one read that goes the other way along an index, turned round, where the starts lie on the side of the rest.

    Without starts the others are several. Empty where more goes that way.
    """
    along = {a: step.offset for a in dict.fromkeys(reads) for step in _shifts(a) if step.index == index}
    for odd, offset in along.items():
        others = [o for a, o in along.items() if a != odd]
        item = next(i for i in odd.items if not isinstance(i, Dots) and shift_of(i) == Step(index, offset))
        written = respelled(item)
        same = any(a != odd and _turns(a, odd, Step(index, offset)) for a in along)
        is_odd = not any(o * offset > 0 for o in others) and not any(step.index in ordered for step in _shifts(odd))
        if same or not is_odd or not written.startswith(index):
            continue
        sides = {side for n, s in bodies.items() for side in _sides(s, starts.get(n, ()), index)}
        if sides == {-offset // abs(offset)} or (not sides and len(others) > 1):
            back = written.translate(str.maketrans("+-", "-+"))
            return f"if it runs one way, write `{respelled(odd, (item, back))}`"
    return ""


def _turns(a: Access, odd: Access, step: Step) -> bool:
    """Whether a read is another one turned round along an index."""
    pairs = [*zip(a.items, odd.items, strict=False)]
    back = Step(step.index, -step.offset)
    return a.name == odd.name and all(i == j or (shift_of(i), shift_of(j)) == (back, step) for i, j in pairs)


def _sides(s: Assign, starts: Sequence[Assign], index: str) -> set[int]:
    """On which sides of an index there are starts: -1 in front of it, 1 behind its end."""
    own = s.target.items or ()
    places = [k for k, i in enumerate(own) if isinstance(i, Binder) and i.name == index]
    items = [i for start in starts for k, i in enumerate(start.target.items or ()) if k in places and is_constant(i)]
    return {1 if isinstance(i, Dots | Binder) or integer(i) is None else -1 for i in items}


def _shifts(a: Access) -> tuple[Step, ...]:
    return tuple(s for i in a.items if (s := shift_of(i)) is not None)
