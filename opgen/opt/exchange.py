"""Sums in another order, where an output is the inner one: the gradient of attention needs no scores for its row sums.

    g[i, j] = sum[v](a[i, v]*b[j, v])    y[i, v] = sum[j](s[i, j]*b[j, v])    d[i] = sum[j](g[i, j]*s[i, j])

is `d[i] = sum[v](a[i, v]*y[i, v])`. What goes in is a gradient and the program that it is of, whose output `y` is alive
anyway: keeping it is all that the sum then needs. It is done where kernels have `g` in no memory, and would compute it
once more for `d`. A stored `g` may be rounded to 16 bits, and only a sum of what was rounded cancels it: where one
`s[i, j]` is 1, `g[i, j] - d[i]` is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, replace

from opgen.diff.contribution import rename
from opgen.ir.program import Axis, Compute, Program, Statement, definitions, targets
from opgen.ir.scalar import Apply, Batch, Index, Position, Read, mentions, mul
from opgen.opt.dce import dce
from opgen.opt.functions import inline_functions
from opgen.opt.save import save
from opgen.opt.streams import never_stored


def exchange(p: Program, primal: Program, stated: tuple[str, ...] | None) -> Program:
    """Sums over products of sums in the other order, where an output that may be kept is then the inner one.

    `stated`: what the spec says is kept.
    """
    kept = [o.value for o in primal.outputs if stated is None or o.value in stated]
    made, products = _made(p, primal, kept)
    if not products:
        return p
    backward = save(inline_functions(primal), inline_functions(dce(made)), stated).backward
    return made if products <= never_stored(backward) else p


def _made(p: Program, primal: Program, kept: Collection[str]) -> tuple[Program, Set[str]]:
    """The program after the exchange, and the names of what is summed up in it no more."""
    found = {s.target: s for s in definitions(p) if isinstance(s, Compute)}
    inner = [s for s in primal.statements if isinstance(s, Compute) and s.target in kept and _terms(s) is not None]
    products: dict[str, None] = {}
    done: list[Statement] = []
    present = {t.name for t in p.inputs}
    later = {t for s in p.statements for t in targets(s)}
    for s in p.statements:
        made = None
        for y in inner if isinstance(s, Compute) else ():
            there = y.target in present or (y.target not in later and _needs(y) <= present)
            made = made or (_exchanged(s, y, found) if there and isinstance(s, Compute) else None)
            if made is not None and y.target not in present:
                done.append(y)
                present.add(y.target)
        if made is not None:
            products[made.product] = None
        done.append(s if made is None else made.statement)
        present.update(targets(s))
        later.difference_update(targets(s))
    return replace(p, statements=tuple(done)), products.keys()


def _terms(s: Compute) -> tuple[Read, ...] | None:
    """The factors of a sum of products of different tensors over one index."""
    if s.op != "sum" or len(s.over) != 1 or not isinstance(s.over[0], Axis):
        return None
    match s.body:
        case Apply("mul", args) if all(isinstance(a, Read) and a.fill is None for a in args):
            reads = tuple(a for a in args if isinstance(a, Read))
            return reads if len({r.tensor for r in reads}) == len(reads) else None
        case _:
            return None


def _needs(s: Compute) -> set[str]:
    return {r.tensor for r in _terms(s) or ()}


@dataclass(frozen=True, slots=True)
class _Exchanged:
    """A sum in the other order, and the product that it read before."""

    statement: Compute
    product: str


def _exchanged(s: Compute, y: Compute, found: Mapping[str, Compute]) -> _Exchanged | None:
    """A sum with `y` as its inner one."""
    factors = _terms(s)
    if factors is None:
        return None
    for g in factors:
        definition = found.get(g.tensor)
        inside = None if definition is None else _inside(g, definition)
        if definition is None or inside is None:
            continue
        others = (*(f for f in factors if f is not g), *inside)
        names = _matched(y, others, s.over[0])
        if names is None:
            continue
        rest = tuple(f for f in others if f.tensor not in _needs(y))
        at = tuple(a if isinstance(a, Batch) else Index(names[a.name]) for a in y.axes)
        over = definition.over[0]
        known = {a.name for a in (*s.axes, over) if isinstance(a, Axis)}
        told = all(isinstance(q, Batch) or q.name in known for q in at)
        if rest and told and not any(s.over[0].name in mentions(f)[0] for f in rest if isinstance(s.over[0], Axis)):
            return _Exchanged(replace(s, body=mul(*rest, Read(y.target, at)), over=(over,)), g.tensor)
    return None


def _inside(g: Read, definition: Compute) -> tuple[Read, ...] | None:
    """The factors of the sum that a read is, at its place."""
    terms = _terms(definition)
    if terms is None:
        return None
    over, names = definition.over[0], dict[str, str]()
    for axis, at in zip(definition.axes, g.at, strict=True):
        if isinstance(axis, Axis):
            if not isinstance(at, Index) or at.name in names.values():
                return None
            names[axis.name] = at.name
    if isinstance(over, Axis) and over.name in names.values():
        return None
    renamed = (rename(t, names) for t in terms)
    return tuple(t for t in renamed if isinstance(t, Read))


def _matched(y: Compute, factors: tuple[Read, ...], along: object) -> dict[str, str] | None:
    """What the indices of `y` are called among the factors, if each of its own stands there; it sums over `along`."""
    by_name = {f.tensor: f for f in factors}
    names: dict[str, str] = {}
    if len(by_name) < len(factors):
        return None
    pairs: list[tuple[Position, Position]] = []
    for term in _terms(y) or ():
        factor = by_name.get(term.tensor)
        if factor is None:
            return None
        pairs += zip(term.at, factor.at, strict=True)
    for own, other in pairs:
        if isinstance(own, Index) and isinstance(other, Index) and names.setdefault(own.name, other.name) != other.name:
            return None
    if any((own if isinstance(own, Batch) else rename(own, names)) != other for own, other in pairs):
        return None
    over = y.over[0]
    same = isinstance(over, Axis) and isinstance(along, Axis) and names.get(over.name) == along.name
    return names if same and len(set(names.values())) == len(names) else None
