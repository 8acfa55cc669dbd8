"""Sums that are only added to each other: one sum of what they add up.

for n: fold a = sum x[n]*y[n]; fold b = sum u[n]*v[n]        for n: fold a = sum x[n]*y[n] + u[n]*v[n]
z = a + b                                                    z = a
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from opgen.ir.order import occurrences
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Batch, Read, Scalar, transform
from opgen.plan.model import Fold, Nest, Pass

_Signed = tuple[str, str]  # how a sum goes into another one, by name of the function, and its own name


def together(n: Nest) -> Nest:
    """A nest with such sums taken together."""
    passes = n.passes
    uses = Counter[str]()
    for e in (e for p in passes for e in _scalars(p)):
        uses.update({r.tensor: k for r, k in occurrences(e).items() if isinstance(r, Read) and not r.at})
    folds = ((f, k) for k, p in enumerate(passes) for f in p.folds)
    own = {f.name: k for f, k in folds if f.op == "sum" and f.kind is Kind.FLOAT and uses[f.name] == 1}
    taken: dict[str, list[_Signed]] = {}

    def met(e: Scalar) -> Scalar:
        terms = list(_terms(e, own))
        first = next((name for fn, name in terms if fn == "add"), None)
        others = [(fn, name) for fn, name in terms if first not in (None, name) and own[name] == own[first]]
        if first is None or not others or not isinstance(e, Apply):
            return e
        taken.setdefault(first, []).extend(others)
        left = tuple(a for a in e.args if not {name for _, name in _terms(a, own)} & {name for _, name in others})
        return replace(e, args=left) if len(left) > 1 else Read(first, ())

    found = tuple(_mapped(p, lambda e: transform(e, met)) for p in passes)
    gone = {name for others in taken.values() for _, name in others}
    values = {f.name: f.value for p in found for f in p.folds}

    def whole(name: str) -> Scalar:
        value = values[name]
        for fn, other in taken.get(name, ()):
            value = Apply(fn, (value, whole(other)))
        return value

    def folds_of(p: Pass) -> tuple[Fold, ...]:
        return tuple(replace(f, value=whole(f.name)) for f in p.folds if f.name not in gone)

    return replace(n, passes=tuple(replace(p, folds=folds_of(p)) for p in found))


def _terms(e: Scalar, own: dict[str, int]) -> Iterator[_Signed]:
    """The sums that an expression adds up or subtracts, and nothing else does."""
    match e:
        case Read(name, ()) if name in own:
            yield "add", name
        case Apply("neg", (Read(name, ()),)) if name in own:
            yield "sub", name
        case Apply("sub", (Read() as first, Read(name, ()))) if name in own:
            yield from _terms(first, own)
            yield "sub", name
        case Apply("add", args):
            for a in args:
                if isinstance(a, Read) or (isinstance(a, Apply) and a.fn == "neg"):
                    yield from _terms(a, own)
        case _:
            return


def _scalars(p: Pass) -> Iterator[Scalar]:
    yield from (n.value for n in p.named)
    for s in p.stores:
        yield from (s.value, *(q for q in s.at if not isinstance(q, Batch)))


def _mapped(p: Pass, f: Callable[[Scalar], Scalar]) -> Pass:
    lets = tuple(replace(x, value=f(x.value)) for x in p.lets)
    folds = tuple(replace(x, value=f(x.value)) for x in p.folds)
    stores = tuple(replace(s, value=f(s.value)) for s in p.stores)
    return Pass(p.loops, lets, folds, stores)
