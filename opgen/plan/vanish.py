"""What of a plan is 0 where cotangents are missing.

In go a plan and the cotangents that may be; out comes, for buffers, when they hold nothing but zeros: a product is 0
where a factor is, a sum where all terms are. A host need not run a step for such buffers. Gradients of gradients are
sums over many cotangents, of which a call mostly has one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from itertools import product

from opgen.ir.scalar import ZERO, Apply, Cast, Read, Scalar
from opgen.plan.build import written
from opgen.plan.model import Contract, Convolve, KernelPlan, Nest, Pass, ScatterStep, Step

When = frozenset[frozenset[str]]  # where all of one of these are missing
_NEVER: When = frozenset()
_ALWAYS: When = frozenset({frozenset()})
_MOST = 8  # alternatives that a host asks for


def vanishing(plan: KernelPlan, missing: Collection[str]) -> dict[str, When]:
    """When the buffers hold zeros alone that can; `missing`: the cotangents that a call may lack."""
    found = {name: frozenset({frozenset({name})}) for name in missing}
    for step in plan.steps:
        _step(step, found)
    return {b.name: when for b in plan.buffers if (when := found.get(b.name, _NEVER))}


def skipped(step: Step, zeros: dict[str, When]) -> When:
    """When a step fills buffers with zeros alone."""
    return _all(zeros.get(b, _NEVER) for b in written(step))


def _step(step: Step, zeros: dict[str, When]) -> None:
    match step:
        case Nest():
            _nest(step, zeros)
        case Contract():
            bias = _ALWAYS if step.bias is None else zeros.get(step.bias.buffer, _NEVER)
            a, b = (zeros.get(o.buffer, _NEVER) for o in (step.a, step.b))
            zeros[step.out.buffer] = _all((_any((a, b)), bias))
        case Convolve():
            _nest(step.nest, zeros)
        case ScatterStep(op="sum"):
            own = dict(zeros)
            for x in (*step.base_lets, *step.lets):
                own[x.name] = _scalar(x.value, own)
            zeros[step.out] = _all((_scalar(step.base, own), _scalar(step.value, own)))
        case _:
            pass


def _nest(nest: Nest, zeros: dict[str, When]) -> None:
    own, stored = dict(zeros), dict[str, list[When]]()
    for p in nest.passes:
        _pass(p, own, stored)
    zeros.update((b, _all(each)) for b, each in stored.items())


def _pass(p: Pass, own: dict[str, When], stored: dict[str, list[When]]) -> None:
    for x in p.lets:
        own[x.name] = _scalar(x.value, own)
    for f in p.folds:
        own[f.name] = _scalar(f.value, own) if f.op == "sum" else _NEVER
    for s in p.stores:
        stored.setdefault(s.buffer, []).append(_scalar(s.value, own))


def _scalar(e: Scalar, zeros: dict[str, When]) -> When:
    match e:
        case _ if e == ZERO:
            return _ALWAYS
        case Read(tensor, _, fill):
            return zeros.get(tensor, _NEVER) if fill is None or fill == ZERO else _NEVER
        case Cast(arg):
            return _scalar(arg, zeros)
        case Apply("mul", args):
            return _any(_scalar(a, zeros) for a in args)
        case Apply("add" | "sub", args):
            return _all(_scalar(a, zeros) for a in args)
        case Apply("div" | "neg", (first, *_)):
            return _scalar(first, zeros)
        case Apply("where", (_, a, b)):
            return _all((_scalar(a, zeros), _scalar(b, zeros)))
        case _:
            return _NEVER


def _any(several: Iterable[When]) -> When:
    return _least(frozenset().union(*several))


def _all(several: Iterable[When]) -> When:
    return reduce(lambda a, b: _least(frozenset(x | y for x, y in product(a, b))), several, _ALWAYS)


def _least(when: When) -> When:
    """Without what holds only where another one does; nothing where it would be asked for too much."""
    least = frozenset(x for x in when if not any(y < x for y in when))
    return least if len(least) <= _MOST else _NEVER
