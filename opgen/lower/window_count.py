"""How many windows there are, where a dim that does not exist counts them: `y[p < P] = sum[k](x[p + k]*w[k])`.

The first window begins where the tensor does, and the last one ends there. In: the statements as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from opgen.ir import text
from opgen.ir.polynomial import Polynomial, atom, number
from opgen.ir.scalar import ONE, Apply, Dim, Index, Param, Scalar, add
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.walk import names_read, nodes
from opgen.lower.along import size_of, sizes_at
from opgen.lower.declare import Declarations
from opgen.lower.multiples import Known

_GUARDED = ("where", "pad")  # what is read there may lie outside


def counted_windows(d: Declarations, dim: str) -> tuple[str, ...]:
    """The formula of a dim that counts windows, if all that is read along it gives the same one."""
    found = {count for s in d.forward for i in _along(s, dim) for count in _Windows(d, s, i).counts()}
    count = found.pop() if len(found) == 1 else None
    return (f"so many windows fit: `dims: {{{dim}: {text.scalar(count)}}}`",) if count is not None else ()


def _along(s: Assign, dim: str) -> Iterator[str]:
    """The indices of a target that run as far as a dim."""
    for i in s.target.items or ():
        if isinstance(i, Binder) and isinstance(i.extent, Name) and i.extent.name == dim:
            yield i.name


@dataclass(frozen=True, slots=True)
class _Windows:
    """What is read along an index of a statement."""

    d: Declarations
    s: Assign
    index: str

    def counts(self) -> Iterator[Scalar | None]:
        """How many places the index has by each read along it; None where one does not say."""
        guarded = (c for c in nodes(self.s.value) if isinstance(c, Call) and c.name in _GUARDED)
        inside = {id(a) for c in guarded for a in nodes(c)}
        for a in (n for n in nodes(self.s.value) if isinstance(n, Access)):
            for k, item in enumerate(a.items):
                if not isinstance(item, Dots) and self.index in names_read(item):
                    sizes = sizes_at(self.d, a, k)
                    yield None if id(a) in inside or len(sizes) != 1 else self.count(item, _size(sizes.pop()))

    def count(self, item: Expr, size: Polynomial | None) -> Scalar | None:
        """How many windows that are read by a position fit into so many places."""
        place = self.position(item)
        parts = None if place is None else place.split(Index(self.index))
        last = None if parts is None else self.last(parts[1])
        if size is None or parts is None or last is None or not self.is_positive(parts[0]):
            return None
        room = size - number(1) - last
        if parts[0].same(number(1)):
            return add(room.scalar(), ONE) if () not in dict(room.terms) else (room + number(1)).scalar()
        return add(Apply("floordiv", (room.scalar(), parts[0].scalar())), ONE)

    def last(self, inside: Polynomial) -> Polynomial | None:
        """The last place within a window, whose other indices run from 0."""
        indices = [i for i in inside.atoms() if isinstance(i, Index)]
        for i in indices:
            parts, extent = inside.split(i), self.extent(i.name)
            if parts is None or extent is None or not self.is_positive(parts[0]):
                return None
            inside = parts[0] * (extent - number(1)) + parts[1]
        return inside if indices else None

    def position(self, e: Expr) -> Polynomial | None:
        """A position as a polynomial of indices and sizes, from 0 on."""
        match e:
            case Number(value=int(value)):
                return number(value)
            case Name(name=name) if name in self.d.params:
                is_size = self.d.params[name].type == "int" and self.d.params[name].length is None
                return atom(Param(name)) if is_size and self.is_positive(atom(Param(name))) else None
            case Name(name=name):
                return atom(Dim(name)) if name in self.d.known_dims() else atom(Index(name))
            case Sum(terms=terms) if all(op == "+" for op, _ in terms):
                found = [self.position(t) for _, t in terms]
            case Product(factors=factors) if all(op == "*" for op, _ in factors):
                found = [self.position(f) for _, f in factors]
            case _:
                return None
        total = number(0 if isinstance(e, Sum) else 1)
        for part in found:
            if part is None:
                return None
            total = total + part if isinstance(e, Sum) else total * part
        return total

    def extent(self, index: str) -> Polynomial | None:
        """How far another index runs, as it says or by where it stands alone."""
        reductions = (r for r in nodes(self.s.value) if isinstance(r, Reduction))
        bound = (*(self.s.target.items or ()), *(b for r in reductions for b in r.binders))
        own = [b.extent for b in bound if isinstance(b, Binder) and b.name == index]
        if len(own) != 1:
            return None
        return _size(size_of(self.d, self.s, index)) if own[0] is None else self.position(own[0])

    def is_positive(self, e: Polynomial) -> bool:
        """Whether a number is a literal above 0, or a param whose domain says so."""
        match e.scalar():
            case Param(name=name):
                own = Name(name, self.s.span)
                return Known(self.d).shown({own: Fraction(1)}, strict=True)
            case _:
                return (e.constant or 0) > 0


def _size(shown: str) -> Polynomial | None:
    """The size of an axis, as a shape writes it."""
    return number(int(shown)) if shown.isdigit() else atom(Dim(shown)) if shown.isidentifier() else None
