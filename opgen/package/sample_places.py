"""Where integer inputs of a program select: between how many places, and how many of them one point reads at once.

Three places or more, as the atoms of an angle or of a torsion, are kept apart in samples: where two of them coincide a
formula degenerates, and what is compared there says little. A pair may coincide, as the ends of a loop in a graph do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from opgen.ir.program import Axis, Program, Scatter, Shape, parts, statement_reads, statement_scalars
from opgen.ir.scalar import ZERO, Apply, Batch, Dim, Index, Lit, Read, Scalar, reads, walk

_MANY = 3


@dataclass(frozen=True, slots=True)
class Places:
    """How an input selects together with others: the first of them, its axis of places, how many come before."""

    first: str
    axis: int | None
    shift: int


def index_range(p: Program, name: str, number: Callable[[Scalar], int]) -> int:
    """The smallest size that an integer input selects from; 3 where it selects nothing."""
    found = (number(size) for by, size, _ in _selections(p) if by.tensor == name)
    return min(found, default=3)


def by_sizes(p: Program) -> bool:
    """Whether what is read where follows from sizes and params alone: no position is read itself, and no condition on
    what may be out of range."""
    for s in parts(p.statements):
        extents = {a.name: a.extent for a in (*s.axes, *s.loops) if isinstance(a, Axis)}

        def stays(r: Read, extents: Mapping[str, Scalar] = extents) -> bool:
            made = p.tensor(r.tensor)
            pairs = () if made is None else zip(r.at, made.shape, strict=True)
            return made is not None and all(
                isinstance(q, Batch) or (isinstance(q, Index) and extents.get(q.name) == size) for q, size in pairs
            )

        nodes = [n for e in statement_scalars(s) for n in walk(e)]
        places = [q for n in nodes if isinstance(n, Read) for q in n.at]
        places += s.at if isinstance(s, Scatter) else ()
        choices = [n.args for n in nodes if isinstance(n, Apply) and n.fn in ("where", "and", "or")]
        lazy = (first for first, *others in choices if not all(stays(r) for e in others for r in reads(e)))
        if any(reads(e) for e in (*lazy, *(q for q in places if not isinstance(q, Batch)))):
            return False
    return True


def crowded(p: Program) -> dict[str, int]:
    """Dims that a point reads at several places of, and how many these are."""
    found: dict[str, int] = {}
    for size, selectors in _groups(p):
        if isinstance(size, Dim):
            found[size.name] = max(found.get(size.name, 0), len(selectors))
    return found


def places(p: Program) -> dict[str, Places]:
    """The inputs that select several places for a point; what follows no simple pattern is left out."""
    found: dict[str, Places] = {}
    for _, selectors in _groups(p):
        shift = 0
        for name in dict.fromkeys(s.tensor for s in selectors):
            mine = [s for s in selectors if s.tensor == name]
            axes = {tuple(k for k, q in enumerate(s.at) if isinstance(q, Lit) and q != ZERO) for s in mine} - {()}
            if len(axes) <= 1 and all(len(a) == 1 for a in axes):
                axis = next((a[0] for a in axes), None)
                found.setdefault(name, Places(selectors[0].tensor, axis, shift))
            shift += len(mine)
    return found


def _groups(p: Program) -> Iterator[tuple[Scalar, list[Read]]]:
    """The sizes of axes of which many places are read, with what selects them: the distinct ones, but for indices."""
    found: dict[tuple[str, int], tuple[Scalar, dict[Read, None]]] = {}
    for by, size, key in _selections(p):
        plain = Read(by.tensor, tuple(q if isinstance(q, Lit) else Batch() for q in by.at))
        found.setdefault(key, (size, {}))[1][plain] = None
    return ((size, list(selectors)) for size, selectors in found.values() if len(selectors) >= _MANY)


def _selections(p: Program) -> Iterator[tuple[Read, Scalar, tuple[str, int]]]:
    """Every position that is an element of an input, with the size that it selects from, and whose axis that is."""
    inputs = {t.name for t in p.inputs}
    for s in parts(p.statements):
        reads: list[tuple[str, tuple[Scalar | Batch, ...], Shape]] = []
        if isinstance(s, Scatter):
            reads.append((s.target, s.at, s.shape))
        reads += [(r.tensor, r.at, p.shape_of(r.tensor)) for r in statement_reads(s)]
        for tensor, at, shape in reads:
            for axis, (q, size) in enumerate(zip(at, shape, strict=True)):
                if isinstance(q, Read) and q.tensor in inputs and not isinstance(size, Batch):
                    yield q, size, (tensor, axis)
