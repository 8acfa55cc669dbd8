"""How far an index can run with everything that a position reads by it, as the extent that is missing."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.ir import text
from opgen.ir.polynomial import Polynomial, atom, number, polynomial
from opgen.ir.program import Axis
from opgen.ir.ranges import Facts, corner, facts_of, is_nonnegative
from opgen.ir.scalar import ONE, Apply, Dim, Index, Lit, Param, Read, Scalar, call, children, mul, sub
from opgen.lower.scope import Check, Frame, IndexInfo


def furthest(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """The extent with which an index just reaches the end of what a position reads; None where that is not clear."""
    parts = step_and_room(f, c, info)
    step = None if parts is None else parts[0].constant
    if parts is None or step is None or step < 1:
        return None
    room = parts[1]
    if step == 1:
        halves = (n for n, e in f.state.dims.items() if e == call("floordiv", c.extent, Lit(2)))
        half = next((n for n in halves if (polynomial(c.extent) - room - polynomial(Dim(n))).constant == 0), None)
        return half or text.scalar(places(room))
    return text.scalar(call("floordiv", places(room + number(step - 1)), Lit(step)))


def is_guarded(c: Check, info: IndexInfo) -> bool:
    """Whether a condition under which a position is read asks where an index is."""
    index = next(Index(name) for name, i in c.indices if i is info)
    return any(_asks(condition, index) for condition in c.path)


def _asks(e: Scalar, index: Index) -> bool:
    return e == index or (not isinstance(e, Read) and any(_asks(inner, index) for inner in children(e)))


def tightest(f: Frame, c: Check, inside: Sequence[Check], info: IndexInfo) -> Check:
    """The position of a statement beyond which an index does not run: `c`, or another one that ends before it.

    What is read under a condition on the index may lie behind that; steps are taken not to be negative.
    """
    free = [other for other in inside if not is_guarded(other, info)]
    best = c if c in free or not free else free[0]
    parts = step_and_room(f, best, info)
    for other in free:
        own = step_and_room(f, other, info)
        if parts is None or own is None:
            continue
        steps = [a for step in (own[0], parts[0]) for a in step.atoms() if isinstance(a, Param)]
        facts = facts_of((), f.state.dims, steps)
        differ = own[0] - parts[0], parts[1] - own[1]
        if differ != (number(0), number(0)) and all(is_nonnegative(d, facts) for d in (own[0], *differ)):
            best, parts = other, own
    return best


def block_of(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """The size of the blocks that make up a dim, `H` of `R: 4*H`, in one of which an index moves: `x[2*H + h]`."""
    parts = polynomial(c.position).split(Index(next(name for name, i in c.indices if i is info)))
    if parts is None or parts[0] != number(1) or not isinstance(c.extent, Dim):
        return None
    whole, first = polynomial(c.extent, f.state.dims), parts[1]
    for size in (Dim(name) for name in f.decl.known_dims() if name != c.extent.name):
        own, block = whole.split(size), first.split(size)
        count, before = (None if x is None or x[1] != number(0) else x[0].constant for x in (own, block))
        if count is not None and before is not None and count > 1 and 0 <= before < count:
            return size.name
    return None


def windows(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """The same where the step from one position to the next is an int param or a dim."""
    parts = step_and_room(f, c, info)
    step = None if parts is None else parts[0].scalar()
    if parts is None or not isinstance(step, Param | Dim):
        return None
    count = call("floordiv", places(parts[1] - number(1)), step)
    return f"{text.scalar(count)} + 1"


def padded_windows(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """How many windows there are in a tensor that is as much longer on either side as int params say."""
    index = next(Index(name) for name, i in c.indices if i is info)
    parts, facts = polynomial(c.position).split(index), _facts(f, c, info)
    if parts is None or facts is None:
        return None
    first, last = (corner(parts[1], facts, least=end) for end in (True, False))
    if first is None or last is None or first == last:
        return None
    shift = (number(0) - first).atoms()
    if not shift or not all(isinstance(n, Param) for n in shift):
        return None
    step, room = parts[0].scalar(), polynomial(c.extent) - first - last
    if step == Lit(1):
        return text.scalar(places(room))
    if not isinstance(step, Param) and not (isinstance(step, Lit) and step.value > 1):
        return None
    return f"{text.scalar(call('floordiv', places(room - number(1)), step))} + 1"


def place_value(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """How far the last of two indices runs that count together, as in `g*D + d`.

    No window that moves counts so, whose places have a step and a number of their own: `x[p + r*dilation]*w[r]`.
    """
    loops = f.scope.root().loops if f.scope is not None else []
    index = next(Index(name) for name, i in c.indices if i is info)
    own = polynomial(c.position).split(index)
    if own is None or own[0] != number(1):
        return None
    for name, i in c.indices:
        behind = info in loops and i not in loops[: loops.index(info)]
        if behind and (i.stated is not None or i.extent is not None or i.sites):
            continue
        other = own[1].split(Index(name))
        step = None if other is None else other[0].scalar()
        if isinstance(step, Param | Dim) and other is not None and other[1] == number(0):
            return text.scalar(step)
    return None


def of_quotient(c: Check, info: IndexInfo) -> str | None:
    """How far an index runs of which several read one element, as in `x[t//2]`."""
    match c.position:
        case Apply("floordiv", (Index(name), Lit() | Param() | Dim() as step)) if isinstance(c.extent, Dim | Param):
            own = any(n == name and i is info for n, i in c.indices)
            return f"{text.scalar(step)}*{text.scalar(c.extent)}" if own else None
        case _:
            return None


def before_the_start(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """Where reading begins if an index does at 0, where that is in front of the tensor for all sizes but the least."""
    index = next(Index(name) for name, i in c.indices if i is info)
    parts = polynomial(c.position).split(index)
    facts = _facts(f, c, info)
    if parts is None or facts is None or not c.always or not is_nonnegative(parts[0], facts):
        return None
    first = corner(parts[1], facts, least=True)
    if first is None or is_nonnegative(first, facts) or not is_nonnegative(number(0) - first, facts):
        return None
    return text.scalar(places(first))


def _facts(f: Frame, c: Check, info: IndexInfo) -> Facts | None:
    """What is known of the other indices of a position, if their extents are; steps are taken not to be negative."""
    others = [(name, i) for name, i in c.indices if i is not info]
    sizes = {name: i.stated or i.extent or (i.sites[0].extent if i.sites else None) for name, i in others}
    if None in sizes.values():
        return None
    axes = tuple(Axis(name, size) for name, size in sizes.items() if size is not None)
    moved = (m for m, _ in polynomial(c.position).terms if any(isinstance(a, Index) for a in m))  # no padding
    return facts_of(axes, f.state.dims, [a for m in moved for a in m if isinstance(a, Param)])


def step_and_room(f: Frame, c: Check, info: IndexInfo) -> tuple[Polynomial, Polynomial] | None:
    """What an index is multiplied with in a position, and how many places are left for it beside the other indices."""
    index = next(Index(name) for name, i in c.indices if i is info)
    parts, facts = polynomial(c.position).split(index), _facts(f, c, info)
    if parts is None or facts is None:
        return None
    most = corner(parts[1], facts, least=False)
    return None if most is None else (parts[0], polynomial(c.extent) - most)


def places(p: Polynomial) -> Scalar:
    """A number of places as one reads it: `T - (R - 1)*dilation`, and not `T + dilation - R*dilation`."""
    parts = dict(p.terms)
    for m, c in p.terms:
        for size, step in (m, m[::-1]) if len(m) == 2 and c == -1 else ():
            if parts.get((step,)) == 1:
                rest = p - atom(step) + atom(size) * atom(step)
                return sub(places(rest), mul(sub(size, ONE), step)) if rest.terms else mul(sub(ONE, size), step)
    return p.scalar()
