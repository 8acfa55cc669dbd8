"""A reduction over an index of the left side, beside one that nothing binds: `c[n, m] = sum[n](a[n, k]*b[k, m])`.

In goes the place of what is not bound; out come the statements that may be meant: the reduction is over that one, or
the left side has it. A product is summed over what two of its factors read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.ir.scalar import Batch, Scalar
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse, unparse_assign, unparse_target
from opgen.lang.walk import nodes, operands, rebuild
from opgen.lower.loose import around, as_read, loose_in, statement_of
from opgen.lower.scope import Frame


def as_meant(f: Frame, name: str, place: Span) -> tuple[str, ...]:
    """What an index that nothing binds means beside what else is written; nothing where that is not plain to see."""
    return bound_on_the_left(f, place) or as_read(f, name, place)


def bound_on_the_left(f: Frame, place: Span) -> tuple[str, ...]:
    """What is said of an index that is not bound where the reduction around it binds one of the left side instead."""
    s = statement_of(f, place)
    left = [i.name for i in (s.target.items or () if s else ()) if isinstance(i, Binder) and i.extent is None]
    own = [b.name for r in around(f, place) for b in r.binders if isinstance(b, Binder) and b.name in left]
    own = [] if s is None else [n for n in dict.fromkeys(own) if not _is_free(s.value, n, ())]
    loose = [*dict.fromkeys(n.name for n in loose_in(f, s.value) if isinstance(n, Name))] if s is not None else []
    if s is None or not own or place.text not in loose:
        return ()
    value = _exchanged(f, s.value, own)
    if any(isinstance(n, Name) for n in loose_in(f, value)):
        return ()
    over = next(r for r in around(f, place) if any(isinstance(b, Binder) and b.name in own for b in r.binders))
    lines = [unparse_assign(replace(s, value=value))]
    if len(own) == len(loose) == 1 and not f.target.startswith("grad_"):
        place_of = next(k for k, i in enumerate(s.target.items or ()) if isinstance(i, Binder) and i.name == own[0])
        items = tuple(replace(i, name=loose[0]) if isinstance(i, Binder) and k == place_of else i
                      for k, i in enumerate(s.target.items or ()))  # fmt: skip
        other = f"{unparse_target(replace(s.target, items=items))} = {unparse(s.value)}"
        here, there = _reads(s.value, loose[0]), _reads(s.value, own[0])
        if declared := [*f.decl.output_shapes.get(s.target.name, ())][place_of : place_of + 1]:
            here, there = declared[0] in _sizes(f, s.value, own[0]), declared[0] in _sizes(f, s.value, loose[0])
        lines = lines if here > there else [other] if there > here else [*lines, other]
    shown = unparse(replace(over, body=Name("…", place)))
    meant = ", or ".join(f"`{line}`" for line in lines)
    are = "is" if len(own) == 1 else "are"
    return (f"`{shown}` binds `{'`, `'.join(own)}`, which {are} on the left: write {meant}",)


def _exchanged(f: Frame, e: Expr, own: Sequence[str]) -> Expr:
    """An expression whose reductions over indices of the left side are over what is loose in them instead."""
    if isinstance(e, Reduction) and any(isinstance(b, Binder) and b.name in own for b in e.binders):
        loose = dict.fromkeys(n.name for n in loose_in(f, e.body) if isinstance(n, Name))
        if loose:
            kept: list[Binder | Dots] = [b for b in e.binders if isinstance(b, Dots) or b.name not in own]
            return replace(e, binders=(*kept, *(Binder(n, None, e.span) for n in loose)))
    return rebuild(e, lambda part: _exchanged(f, part, own))


def _is_free(e: Expr, index: str, bound: tuple[str, ...]) -> bool:
    """Whether an index is read somewhere outside of the reductions that bind it."""
    if isinstance(e, Name):
        return e.name == index and index not in bound
    if isinstance(e, Reduction):
        bound = (*bound, *(b.name for b in e.binders if isinstance(b, Binder)))
    return any(_is_free(part, index, bound) for part in operands(e))


def _reads(e: Expr, index: str) -> int:
    """How many accesses read an index."""
    return sum(any(n == Name(index, a.span) for i in a.items if not isinstance(i, Dots) for n in nodes(i))
               for a in nodes(e) if isinstance(a, Access))  # fmt: skip


def _sizes(f: Frame, e: Expr, index: str) -> list[Scalar | Batch]:
    """The sizes along which an index is read by itself."""
    read = ((a, f.decl.shapes.get(a.name, ())) for a in nodes(e) if isinstance(a, Access))
    return [n for a, shape in read for i, n in zip(a.items, shape, strict=False) if i == Name(index, a.span)]
