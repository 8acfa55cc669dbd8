"""Domains of integer inputs that kernels keep to by themselves, since every element is a position.

In goes a `Surface`; out come the tensors that have to have elements for that: where one is empty, nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opgen.ir.declared import Domain
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Loop, Program, Recurrence, Scatter, Shape, Tensor
from opgen.ir.ranges import derived_sizes
from opgen.ir.scalar import ZERO, Apply, Batch, Dim, Index, Param, Position, Read, Scalar, children, walk
from opgen.package.view import Surface


def read_for_sure(s: Surface, name: str, domain: Domain) -> tuple[str, ...]:
    """The tensors without which an input out of its domain may go unseen; empty where it may anyway."""
    found: dict[str, None] = {}
    for _, p in s.programs("forward"):
        own = next((t for t in p.inputs if t.name == name), None)
        extent = None if own is None or own.name in s.operator.optional else _end(domain)
        sized = None if own is None or extent is None else _read(p, own, extent)
        if sized is None or any(n in s.operator.optional for n in sized):
            return ()
        found.update(dict.fromkeys((name, *sized)))
    return tuple(found)


def _end(d: Domain) -> Scalar | None:
    """What the elements are less than, where they are not negative and that is all that is asked."""
    name = Param(d.name)
    match d.holds:
        case (
            Apply(fn="and", args=(Apply(fn="le", args=(low, a)), Apply(fn="lt", args=(b, high))))
            | Apply(fn="and", args=(Apply(fn="ge", args=(a, low)), Apply(fn="lt", args=(b, high))))
        ) if low == ZERO and a == b == name and name not in walk(high):
            return high
        case _:
            return None


def _read(p: Program, own: Tensor, extent: Scalar) -> tuple[str, ...] | None:
    """The tensors whose sizes the loops of an access at every element have; None where there is no such access."""
    derived = derived_sizes(p)
    end = polynomial(extent, derived)

    def same(size: Scalar | Batch) -> bool:
        return not isinstance(size, Batch) and polynomial(size, derived).same(end)

    for st in p.statements:
        if isinstance(st, Recurrence):
            continue
        loops = st.loops
        sized = _sources(p, loops)
        if sized is not None and any(_is_all_of(own, at, loops, shape, same) for at, shape in _accesses(p, st)):
            return sized
    return None


def _accesses(p: Program, st: Compute | Scatter) -> Iterator[tuple[Sequence[Position], Shape]]:
    """Where a statement reads and writes at every point of its loops."""
    if isinstance(st, Scatter):
        if st.padded or any(isinstance(n, Apply) and n.fn == "where" for n in walk(st.body)):
            return
        yield st.at, st.shape
    stack: list[Scalar] = [st.body]
    while stack:
        node = stack.pop()
        made = p.tensor(node.tensor) if isinstance(node, Read) else None
        if isinstance(node, Read) and made is not None and node.fill is None:
            yield node.at, made.shape
        lazy = isinstance(node, Apply) and node.fn in ("where", "and", "or")
        stack.extend(children(node)[:1] if lazy else children(node))


def _is_all_of(
    own: Tensor, at: Sequence[Position], loops: Sequence[Loop], shape: Shape, same: Callable[[Scalar | Batch], bool]
) -> bool:
    """Whether one of some positions, where the size is the `same` as the end, is each element of a tensor in turn."""
    extents = {a.name: a.extent for a in loops if isinstance(a, Axis)}
    batched = any(isinstance(a, Batch) for a in loops)
    for position, size in zip(at, shape, strict=True):
        if not isinstance(position, Read) or position.tensor != own.name or not same(size):
            continue
        indices = [i.name for i in position.at if isinstance(i, Index)]
        whole = all(
            batched if isinstance(i, Batch) else isinstance(i, Index) and extents.get(i.name) == n
            for i, n in zip(position.at, own.shape, strict=True)
        )
        if whole and len({*indices}) == len(indices):
            return True
    return False


def _sources(p: Program, loops: Sequence[Loop]) -> tuple[str, ...] | None:
    """The inputs whose sizes some loops have; None where one has another."""
    named = {d.name: d.tensor for d in p.dims}
    found: dict[str, None] = {}
    for a in loops:
        if isinstance(a, Batch):
            found.update({t.name: None for t in p.inputs if any(isinstance(n, Batch) for n in t.shape)})
            continue
        tensor = named.get(a.extent.name) if isinstance(a.extent, Dim) else None
        if tensor is None:
            return None
        found[tensor] = None
    return tuple(found)
