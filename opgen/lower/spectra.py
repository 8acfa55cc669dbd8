"""Fourier transforms of a tensor as the sums that they are, with the dims and the names of the spec.

In goes a call, out come the hints with the statements; none where it is not clear along which dim it goes.
"""

from __future__ import annotations

from types import MappingProxyType

from opgen.ir.scalar import Dim
from opgen.lang.nodes import Call, Name
from opgen.lang.unparse import respelled
from opgen.lang.walk import statement_at
from opgen.lower.readings import letters_of
from opgen.lower.scope import Frame

_SUMS = MappingProxyType({"fft": ("{0}", "-", ""), "rfft": ("{0}//2 + 1", "-", ""), "ifft": ("{0}", "", "/{0}")})
_WHOLE = "pass its result as an input of `dtype: complex`, or write the sum: "


def spectrum(f: Frame, e: Call) -> tuple[str, ...]:
    """What a transform of a tensor as a whole is, with its statement where that has no indices."""
    s = statement_at(f.decl.forward, e.span)
    known = f.state.tensors.get(e.args[0].name) if len(e.args) == 1 and isinstance(e.args[0], Name) else None
    shape = known.shape if known is not None else None
    if e.name not in _SUMS or s is None or known is None or not shape or not isinstance(shape[-1], Dim):
        return ()
    if s.target.items is not None or s.op != "=" or s.guard is not None:
        return ()
    *lead, over = letters_of(f, shape)
    taken = (*f.state.tensors, *f.state.later, *f.decl.params, *f.decl.targets())
    size, sign, scale = (part.format(shape[-1].name) for part in _SUMS[e.name])
    index = next(c for c in ("k", "f", "m", "q") if c not in (*lead, over, *taken))
    other = next(n for n in ("z", "spectrum", f"{e.name}_{known.name}") if n not in taken)
    name = s.target.name if s.value is e else other
    at, read = ", ".join((*lead, index)), ", ".join((*lead, over))
    exponent = f"complex(0, {sign}2*pi*{index}*{over}/{shape[-1].name})"
    left = f"{name}[{', '.join((*lead, f'{index} < {size}'))}]"
    line = f"{left} = sum[{over}]({known.name}[{read}]*exp({exponent})){scale}"
    rest = "" if s.value is e else f", then `{s.target.name}[{at}] = {respelled(s.value, (e, f'{name}[{at}]'))}`"
    return (f"{_WHOLE}`{line}`{rest}",)
