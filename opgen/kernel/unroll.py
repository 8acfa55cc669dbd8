"""Short loops of a known size written out, so that points further out can be the lanes.

In goes a kernel as it was lowered, out comes one in which each point of such a loop has statements of its own: its
index is a literal, and what was joined is one local after the other. Vectors, quaternions and small matrices are what
this is for: a row of three has no lanes worth the name, while a thousand rows have.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from opgen.ir.names import Names
from opgen.ir.program import Axis, Kind
from opgen.ir.scalar import ZERO, Apply, Batch, Index, Lit, Read, Scalar, both, call, substitute, transform, walk, where
from opgen.kernel.model import Acc, Body, For, If, Join, Kernel, Node, Role, Store
from opgen.kernel.walk import alive, bound, inside, values, waits
from opgen.plan.model import Let, Storage, is_written_out

_ROOM = 2000  # nodes of values that a kernel may get by it
_FOLDS = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}
_FLOATS = (Storage.SCALAR, Storage.COMPUTE)
_WHOLE: dict[str, Callable[..., int]] = {
    "add": lambda *a: sum(a), "sub": operator.sub, "neg": operator.neg, "floordiv": operator.floordiv,
    "mod": operator.mod, "min": min, "max": max, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def unrolled(k: Kernel) -> Kernel:
    """The kernel without its short loops; as it was where it has none, or would become too long."""
    names = Names(())
    for name in (*(s.name for s in k.slots), *bound(k.body)):
        names.fresh(name)
    found = replace(k, body=_body(k.body, names, frozenset(s.name for s in k.slots if s.storage in _FLOATS)))
    return k if found.body == k.body or _size(found.body) > _ROOM + _size(k.body) else found


def _size(body: Body) -> int:
    return sum(1 for e in values(body) for _ in walk(e))


def _body(body: Body, names: Names, floats: frozenset[str]) -> Body:
    """A body with its short loops written out; the accumulators that only these join into are locals."""
    inner = tuple(_inside(n, names, floats) for n in body)
    accs = {n.name: n for n in inner if isinstance(n, Acc) and n.op in _FOLDS}
    short = [n for n in inner if isinstance(n, For) and len(inner) > 1 and _is_short(n, accs)]
    long = {j.acc for n in inner if n not in short for j in _joins(n)}
    short = [n for n in short if not any(j.acc in long for j in _joins(n))]
    held = _Held(floats, {a: accs[a] for a in accs if any(j.acc == a for n in short for j in _joins(n))}, names)
    for loop in short:
        held.expect(loop)
    found: list[Node] = []
    for n in inner:
        if isinstance(n, For) and n in short:
            found += _points(n, held)
        elif not (isinstance(n, Acc) and n.name in held.accs):
            found.append(n)
    return alive(tuple(found)) if short else tuple(found)


def _inside(node: Node, names: Names, floats: frozenset[str]) -> Node:
    match node:
        case For(body=body):
            return replace(node, body=_body(body, names, floats))
        case If(body=body, otherwise=otherwise):
            return replace(node, body=_body(body, names, floats), otherwise=_body(otherwise, names, floats))
        case _:
            return node


def _joins(node: Node) -> list[Join]:
    return [n for n in inside((node,)) if isinstance(n, Join)]


def _is_short(node: Node, accs: Collection[str]) -> bool:
    """Whether a loop can be written out; `accs` stand beside it."""
    match node:
        case For(loop, body, Role.SERIAL) if is_written_out(loop) and not waits(node):
            plain = all(isinstance(n, Let | Join | Store) for n in body)
            return plain and all(j.acc in accs for j in _joins(node))
        case _:
            return False


@dataclass
class _Held:
    """What is in accumulators so far; the slots of floats."""

    floats: frozenset[str]
    accs: dict[str, Acc]
    names: Names
    values: dict[str, Scalar] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)  # values still to come

    def expect(self, loop: For) -> None:
        for j in _joins(loop):
            self.left[j.acc] = self.left.get(j.acc, 0) + _points_of(loop)

    def join(self, acc: str, value: Scalar) -> Let:
        """The local that holds an accumulator after a value more; the last has its name."""
        self.left[acc] -= 1
        a = self.accs[acc]
        whole = call(_FOLDS[a.op], self.values[acc], value) if acc in self.values else value
        name = acc if self.left[acc] == 0 else self.names.fresh(acc)
        self.values[acc] = Read(name, ())
        return Let(name, whole, a.kind)


def _points_of(loop: For) -> int:
    assert isinstance(loop.loop, Axis)
    assert isinstance(loop.loop.extent, Lit)
    return int(loop.loop.extent.value)


def _points(loop: For, held: _Held) -> list[Node]:
    """The points of a loop; what they store comes last."""
    assert isinstance(loop.loop, Axis)
    lines: list[Node] = []
    stores: list[Node] = []
    for point in range(_points_of(loop)):
        at: dict[Scalar, Scalar] = {Index(loop.loop.name): Lit(point)}
        for n in loop.body:
            match n:
                case Let(name, value, kind):
                    value = _at(value, at)
                    if kind is Kind.BOOL and isinstance(value, Lit):  # a condition that is known here
                        at[Read(name, ())] = value
                        continue
                    own = held.names.fresh(name)
                    lines.append(Let(own, value, kind))
                    at[Read(name, ())] = Read(own, ())
                case Join(acc, value):
                    lines.append(held.join(acc, _at(value, at)))
                case Store(slot, places, value):
                    places = tuple(p if isinstance(p, Batch) else _at(p, at) for p in places)
                    value = _at(value, at)
                    if slot in held.floats:  # all is read before anything is written
                        own = held.names.fresh(slot)
                        lines.append(Let(own, value))
                        value = Read(own, ())
                    stores.append(Store(slot, places, value))
    return [*lines, *stores]


def _at(e: Scalar, at: Mapping[Scalar, Scalar]) -> Scalar:
    """A value at a point, with what is known of whole numbers then."""
    return transform(substitute(e, at), _folded)


def _folded(e: Scalar) -> Scalar:
    match e:
        case Apply("where", (condition, a, b)):
            return where(condition, a, b)
        case Apply("and", (a, b)):
            return both(a, b)
        case Apply("not", (Lit(known),)):
            return Lit(not known)
        case Apply(fn, args) if fn in _WHOLE and all(isinstance(a, Lit) and isinstance(a.value, int) for a in args):
            if fn in ("floordiv", "mod") and args[1] == ZERO:
                return e
            return Lit(_WHOLE[fn](*(a.value for a in args if isinstance(a, Lit))))
        case _:
            return e
