"""Indices that nothing binds, and the brackets of a reduction that are meant to: what messages propose for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.ir.formula import CONSTANTS
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.scalar import BATCH
from opgen.lang.layout import spelled
from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, operands
from opgen.lower.scope import Frame, Scope

_KEEPING = tuple(name for name, row in (REDUCTIONS | ORDERS).items() if row.keeps_index)
_NONE: frozenset[str] = frozenset()


def over_all(f: Frame, e: Call) -> str | None:
    """`red(x[..., c])` as the reduction over all that nothing binds; None where nothing is left to reduce."""
    if len(e.args) != 1 or f.scope is None:
        return None
    body = spelled(f.decl.words, e.args[0])
    over = _binders(_loose(f, body, _NONE), e.span)
    return unparse(Reduction(e.name, over, body, e.span, e.span)) if over else None


def bound_by(f: Frame, place: Span) -> tuple[str, ...]:
    """The reductions around a place, the innermost first, each with all that is loose in its body in its brackets."""
    by_use = f.scope is not None and f.scope.root().batch is None  # what is not reduced is the target's
    shown = []
    for r in around(f, place):
        loose = (i for i in _loose(f, r.body, _NONE) if not (by_use and isinstance(i, Dots)))
        shown.append(unparse(replace(r, binders=_binders((*r.binders, *loose), place), body=Name("…", place))))
    return tuple(shown)


def loose_beside(f: Frame, place: Span) -> tuple[Name, ...]:
    """The other indices that are loose in the innermost reduction around a place, each where it stands first."""
    inside = around(f, place)[:1]
    names = [n for r in inside for n in _loose(f, r.body, _NONE) if isinstance(n, Name) and n.name != place.text]
    return tuple({n.name: n for n in reversed(names)}.values())


def around(f: Frame, place: Span) -> list[Reduction]:
    """The reductions of the statement at hand whose body holds a place, the innermost first."""
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    found = [r for s in own for r in nodes(s.value) if isinstance(r, Reduction) and r.name not in _KEEPING]
    inside = [r for r in found if r.body.span.start <= place.start and place.end <= r.body.span.end]
    return [replace(r, further=None) for r in reversed(inside)]


def as_read(f: Frame, name: str) -> tuple[str, ...]:
    """An index that a target lacks at which other statements read it: `s[i, j]` of `s[i] = …`."""
    for s in (s for s in f.decl.forward if s.target.name == f.target and s.op == "="):
        own = s.target.items or ()
        known = {"..." if isinstance(i, Dots) else i.name for i in own if isinstance(i, Dots | Binder)}
        others = (o for o in f.decl.forward if o.target.name != f.target)
        for a in (n for o in others for n in nodes(o.value) if isinstance(n, Access) and n.name == f.target):
            read = ["..." if isinstance(i, Dots) else i.name for i in a.items if isinstance(i, Dots | Name)]
            if name in read and len(known) == len(own) and known <= {*read} and len(read) == len(a.items) > len(own):
                return (f"it is read with that index: write `{unparse(a)} = …`",)
    return ()


def in_round_brackets(f: Frame, e: Access) -> str:
    """What is meant by the brackets of `min[a, b]` and of `sum[k]`: values, or indices without a body."""
    if any(not isinstance(i, Name | Dots) or (isinstance(i, Name) and i.name in f.state.tensors) for i in e.items):
        return f"write `{e.name}({', '.join('...' if isinstance(i, Dots) else unparse(i) for i in e.items)})`"
    return f"the body follows: `{e.name}[…](…)`"


def _binders(over: Iterable[Binder | Name | Dots], at: Span) -> tuple[Binder | Dots, ...]:
    """Each of these once, `...` in front."""
    found: dict[str, Binder | Dots] = {}
    for i in over:
        made = Binder(i.name, None, at) if isinstance(i, Name) else i
        found.setdefault("..." if isinstance(i, Dots) else i.name, made)
    return tuple(sorted(found.values(), key=lambda b: not isinstance(b, Dots)))


def _loose(f: Frame, e: Expr, inner: frozenset[str], *, position: bool = False) -> Iterator[Name | Dots]:
    """The indices in positions, and batch dims, that nothing binds."""
    match e:
        case Name(name=name) if position and name not in inner and _is_free(f, name):
            yield e
        case Name(name=name) if not position and "..." not in inner and _is_free(f, "..."):
            known = f.state.tensors.get(name)
            if known is not None and known.shape is not None and BATCH in known.shape:
                yield Dots(e.span)
        case Access(items=items):
            for i in items:
                if not isinstance(i, Dots):
                    yield from _loose(f, i, inner, position=True)
                elif "..." not in inner and _is_free(f, "..."):
                    yield i
        case Reduction(name=name, binders=binders) if name not in _KEEPING:
            own = frozenset("..." if isinstance(b, Dots) else b.name for b in binders)
            for part in operands(e):
                yield from _loose(f, part, inner | own, position=position)
        case _:
            for part in operands(e):
                yield from _loose(f, part, inner, position=position)


def _is_free(f: Frame, name: str) -> bool:
    scope: Scope | None = f.scope
    if name != "...":
        names = (*f.state.tensors, *f.state.later, *f.decl.params, *f.decl.known_dims(), *f.args, *CONSTANTS)
        return name not in names and scope is not None and scope.find(name) is None
    while scope is not None:
        if scope.batch:
            return False
        scope = scope.parent
    return True
