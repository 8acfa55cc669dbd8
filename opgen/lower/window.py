"""How many places a window has, by how many windows a spec says there are: `k` of `P: (H + 2*padding - k)//s + 1`."""

from __future__ import annotations

from opgen.ir import text
from opgen.ir.polynomial import Polynomial, atom, number, polynomial
from opgen.ir.scalar import Apply, Dim, Index, Param, Scalar
from opgen.lower.scope import Check, Frame, IndexInfo


def window_size(f: Frame, c: Check, info: IndexInfo) -> str | None:
    """The extent of an index that runs within windows of a padded tensor; None where the spec does not say.

    The tensor is taken to be as much longer at its end as it is in front of its start.
    """
    others = [(Index(name), i) for name, i in c.indices if i is not info]
    own = next(Index(name) for name, i in c.indices if i is info)
    inside = polynomial(c.position).split(own)
    if len(others) != 1 or inside is None or (between := inside[1].split(others[0][0])) is None:
        return None
    step, shift = between
    last = _last_window(f, others[0][1], step, c.extent)
    if last is None:
        return None
    span = polynomial(c.extent) - shift.times(2) - last  # from the first place of a window to behind its last
    said = {*shift.atoms()} <= {*last.atoms()}  # whether the number of windows is one with what is padded
    if not said or c.extent in span.atoms() or not all(isinstance(a, Param | Dim) for a in span.atoms()):
        return None
    if inside[0].same(number(1)):
        return text.scalar(span.scalar()) if span.constant is None or span.constant > 0 else None
    return next((text.scalar(s) for s in _sizes(f) if _reach(s, inside[0]).same(span)), None)


def _last_window(f: Frame, info: IndexInfo, step: Polynomial, extent: Scalar) -> Polynomial | None:
    """How far the start of a window goes, where the number of windows is a formula of the spec."""
    count = info.stated or info.extent or (info.sites[0].extent if info.sites else None)
    value = f.state.dims.get(count.name) if isinstance(count, Dim) and count != extent else None
    if value is None:
        return None
    most = polynomial(value) - number(1)
    if step.same(number(1)):
        return most
    for a in most.atoms():
        if isinstance(a, Apply) and a.fn == "floordiv" and polynomial(a.args[1]).same(step):
            return polynomial(a.args[0]) + (most - atom(a)) * step
    return None


def _reach(size: Scalar, apart: Polynomial) -> Polynomial:
    """What a window covers of which every place is so far from the next."""
    return (polynomial(size) - number(1)) * apart + number(1)


def _sizes(f: Frame) -> list[Scalar]:
    """What a window may be as wide as: int params, elements of lists of them, and dims."""
    ints = [(name, p.length) for name, p in f.decl.params.items() if p.type == "int"]
    params = [Param(name, k) for name, n in ints for k in ((None,) if n is None else range(n))]
    return [*params, *map(Dim, f.decl.known_dims())]
