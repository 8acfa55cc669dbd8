"""Partial derivatives of one scalar body with respect to the tensors it reads.

The accesses of a body are replaced by numbered placeholders before sympy sees it. Bodies of the same form, which are
common in long programs, are then differentiated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from opgen.diff.algebra import product, total
from opgen.diff.symbolic import differentiate
from opgen.ir.program import Function, Program
from opgen.ir.scalar import ONE, ZERO, Apply, Dim, Lit, Param, Read, Scalar, children, substitute, walk

_REMEMBERED = 4096


def value_reads(e: Scalar) -> tuple[Read, ...]:
    """The distinct accesses whose value enters a body (not those inside positions), in order of appearance."""
    found: dict[Read, None] = {}
    stack = [e]
    while stack:
        node = stack.pop()
        match node:
            case Read(fill=fill):
                found[node] = None
                if fill is not None:
                    stack.append(fill)
            case _:
                stack.extend(reversed(children(node)))
    return tuple(found)


def partials(body: Scalar, wrt: Sequence[Read], functions: Sequence[Function] = ()) -> tuple[Scalar, ...]:
    """The derivative of `body` with respect to each access in `wrt`, in that order.

    A sum is taken term by term: the cotangent of a tensor that is read a thousand times is a sum of a thousand terms.
    """
    wanted = dict.fromkeys(wrt)
    found: dict[Read, list[Scalar]] = {}
    for sign, term in _terms(body):
        mine = tuple(r for r in value_reads(term) if r in wanted)
        for r, d in zip(mine, _of_term(term, mine, functions), strict=True):
            found.setdefault(r, []).append(product(Lit(sign), d))
    return tuple(total(found.get(r, ())) for r in wrt)


def with_partials(p: Program) -> Program:
    """The program with a derivative for every function: those of its value where none are stated."""
    known = {f.name: f for f in p.functions}
    while any(not f.partials for f in known.values()):
        for f in known.values():
            called = () if f.value is None else (n.fn for n in walk(f.value) if isinstance(n, Apply))
            if not f.partials and all(known[n].partials for n in called if n in known):
                known[f.name] = _differentiated(f, tuple(known.values()))
    return replace(p, functions=tuple(known.values()))


def _differentiated(f: Function, functions: Sequence[Function]) -> Function:
    if f.value is None:  # no output that depends on it has a gradient
        return replace(f, partials=tuple(ZERO for _ in f.params))
    holes = tuple(Read(f"#{n}", ()) for n in f.params)
    into: dict[Scalar, Scalar] = {Param(n): hole for n, hole in zip(f.params, holes, strict=True)}
    out: dict[Scalar, Scalar] = {hole: Param(n) for n, hole in zip(f.params, holes, strict=True)}
    found = partials(substitute(f.value, into), holes, functions)
    return replace(f, partials=tuple(substitute(e, out) for e in found))


def _terms(body: Scalar) -> Iterator[tuple[int, Scalar]]:
    stack = [(1, body)]
    while stack:
        sign, e = stack.pop()
        match e:
            case Apply("add", args):
                stack.extend((sign, a) for a in reversed(args))
            case Apply("sub", (a, b)):
                stack += [(-sign, b), (sign, a)]
            case Apply("neg", (a,)):
                stack.append((-sign, a))
            case _:
                yield sign, e


def _of_term(body: Scalar, wrt: tuple[Read, ...], functions: Sequence[Function]) -> tuple[Scalar, ...]:
    if not wrt or isinstance(body, Read):
        return tuple(ONE for _ in wrt)
    factors = _plain_factors(body)
    if factors is not None:
        return tuple(product(*(f for f in factors if f != r)) for r in wrt)
    into: dict[Scalar, Scalar] = {}
    out: dict[Scalar, Scalar] = {}
    for k, r in enumerate(value_reads(body)):
        hole = Read(f"#{k}", ())
        into[r], out[hole] = hole, r
    holes = tuple(_hole(into[r]) for r in wrt)
    found = _remembered(substitute(body, into), holes, tuple(functions))
    return tuple(substitute(p, out) for p in found)


def _plain_factors(body: Scalar) -> tuple[Scalar, ...] | None:
    """The factors of a product of different accesses and numbers: nothing that sympy would be needed for."""
    match body:
        case Apply("mul", args) if all(isinstance(a, Read | Param | Dim | Lit) for a in args):
            return args if len(dict.fromkeys(args)) == len(args) else None
        case _:
            return None


def _hole(e: Scalar) -> Read:
    assert isinstance(e, Read)
    return e


@lru_cache(maxsize=_REMEMBERED)
def _remembered(body: Scalar, holes: tuple[Read, ...], functions: tuple[Function, ...]) -> tuple[Scalar, ...]:
    return differentiate(body, holes, functions)
