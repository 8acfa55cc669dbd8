"""A Program rewritten so that printing it statement by statement gives good torch code.

In goes a valid Program, out comes an equal one:

* what was opened of a softmax is one call again (`opgen.opt.normal`);
* a loop whose length is divided by a size has one where that is 0, too;
* functions that other libraries compute get what their derivatives need;
* scatters at plain positions become maps, and their bases accesses (`opgen.torch.rewrite`);
* products that vanish in a tail do so at infinity, too (`opgen.torch.tails`);
* `where` becomes safe (`opgen.torch.lazy`);
* what is computed more than once gets a name, and so do parts of bodies too long for a line.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from opgen.ir.described import described
from opgen.ir.functions import row
from opgen.ir.kinds import kind_of
from opgen.ir.point import read_of
from opgen.ir.program import Axis, Compute, Loop, Plain, Program, Recurrence, Scatter, Statement, definitions
from opgen.ir.scalar import ONE, Apply, Batch, Cast, Dim, Index, Lit, Read, Scalar, call, transform, walk
from opgen.opt.convolution import convolutions
from opgen.opt.normal import closed
from opgen.torch.elsewhere import calls
from opgen.torch.lazy import lazy
from opgen.torch.rewrite import (
    mapped,
    names_beside,
    open_operands,
    rebuilt_open,
    simple_scatters,
    statement,
    varies,
)
from opgen.torch.scope import batch_leading, loops_of
from opgen.torch.tails import calmed


def prepare(p: Program) -> Program:
    """Everything above, in order."""
    return shared(lazy(calmed(simple_scatters(calls(_with_lengths(closed(p)))))))


def _with_lengths(p: Program) -> Program:
    """Loops of no length that Python cannot compute: a ring without places has no steps to go round."""
    known = convolutions(p)  # by their lengths, too

    def length(a: Loop) -> Loop:
        return replace(a, extent=transform(a.extent, _sure)) if isinstance(a, Axis) else a

    def sure(s: Statement) -> Statement:
        match s:
            case Compute() if s.target not in known:
                return replace(s, axes=tuple(map(length, s.axes)), over=tuple(map(length, s.over)))
            case Scatter():
                return replace(s, axes=tuple(map(length, s.axes)), loops=tuple(map(length, s.loops)))
            case _:
                return s

    return replace(p, statements=tuple(map(sure, p.statements)))


def _sure(e: Scalar) -> Scalar:
    """A quotient by sizes with a divisor that is no 0."""
    match e:
        case Apply("floordiv" | "mod", (value, by)) if any(isinstance(n, Dim) for n in walk(by)):
            return Apply(e.fn, (value, call("max", ONE, by)))
        case _:
            return e


# --- names for what is used more than once ---------------------------------------------------------------------------


def shared(p: Program) -> Program:
    """Sub-expressions that cost something and stand at more than one place, over the same loops, named."""
    found = _repeated(p)
    if not found:
        return p
    fresh, held, out = names_beside(p), dict[_Place, Read](), list[Statement]()
    whole_calls = convolutions(p)
    kinds = {**{t.name: t.kind for t in p.inputs}, **{s.target: s.kind for s in definitions(p)}}
    for s in p.statements:
        if isinstance(s, Recurrence) or s.target in whole_calls:
            out.append(s)
            continue
        loops = batch_leading(s.loops)

        def put(e: Scalar, s: Plain = s, loops: tuple[Loop, ...] = loops) -> Scalar:
            place = (e, loops_of(e, loops))
            if place in held:
                return held[place]
            inner = rebuilt_open(e, put)
            if place not in found:
                return inner
            made = statement(fresh.fresh(described(inner)), inner, s, kind_of(kinds.__getitem__, p.params, e))
            kinds[made.target] = made.kind
            out.append(made)
            held[place] = read_of(made)
            return held[place]

        whole = isinstance(s, Compute) and s.op is None and batch_leading(s.axes) == loops_of(s.body, loops)
        if isinstance(s, Compute) and whole and varies(s.body) and (s.body, loops_of(s.body, loops)) not in held:
            out.append(replace(s, body=rebuilt_open(s.body, put)))
            held[s.body, loops_of(s.body, loops)] = read_of(s)
        else:
            out.append(mapped(s, put))
    return replace(p, statements=tuple(out))


_Place = tuple[Scalar, tuple[Loop, ...]]  # an expression and the loops it varies along


def _repeated(p: Program) -> dict[_Place, None]:
    """Expressions worth a name that different expressions, or different places of one, have as an operand."""
    uses: Counter[_Place] = Counter()
    whole_calls = convolutions(p)
    for s in p.statements:
        if isinstance(s, Recurrence) or s.target in whole_calls:
            continue
        loops = batch_leading(s.loops)
        roots = (s.body, *((q for q in s.at if not isinstance(q, Batch)) if isinstance(s, Scatter) else ()))
        stack = list(roots)
        while stack:
            e = stack.pop()
            place = (e, loops_of(e, loops))
            uses[place] += 1
            if uses[place] == 1:
                stack.extend(open_operands(e))
    return {place: None for place, n in uses.items() if n > 1 and place[1] and _cost(place[0])}


_FREE = ("neg", "detach", "not")


def _cost(e: Scalar) -> bool:
    """Is it more than an access, a number, or one cheap step on those?"""
    if isinstance(e, Cast):
        return True
    if isinstance(e, Read):
        return any(not isinstance(q, Batch | Index | Lit) for q in e.at)
    if not isinstance(e, Apply) or e.fn in _FREE or not varies(e):
        return False
    if row(e.fn).infix and e.fn not in ("where", "pow") and row(e.fn).result != "bool":
        varying = [a for a in e.args if varies(a)]
        return len(varying) > 1 or any(isinstance(a, Apply) and a.fn != "neg" for a in varying)
    if row(e.fn).result == "bool":
        return any(isinstance(a, Apply | Index) for a in e.args)
    return True
