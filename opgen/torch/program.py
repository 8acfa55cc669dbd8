"""One variant of an operator as straight-line torch code.

In goes a Program; out comes a `Listing`: one assignment per line (a statement is one line, or a few), the local names
of its results, and what it uses. Merging the listings of all variants into one function is `opgen.torch.merge`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from opgen.code.printer import Text
from opgen.ir.functions import FUNCTIONS
from opgen.ir.kinds import kind_of
from opgen.ir.order import occurrences
from opgen.ir.point import read_of
from opgen.ir.program import (
    Compute,
    Kind,
    Loop,
    Output,
    Program,
    Recurrence,
    Role,
    Scatter,
    bodies,
    definitions,
    statement_reads,
    targets,
)
from opgen.ir.scalar import BATCH, Apply, Batch, Lit, Read, Scalar, reads, substitute, walk
from opgen.ir.storage import STORED
from opgen.ir.text import scalar as as_text
from opgen.opt.convolution import convolution, convolutions
from opgen.torch.body import as_kind, body_value, expanded, placeholder
from opgen.torch.contract import is_contracted
from opgen.torch.dialect import ATOM
from opgen.torch.liveness import live
from opgen.torch.loop import repeat
from opgen.torch.reduce import reduction
from opgen.torch.rewrite import mapped, varies
from opgen.torch.scatter import scatter
from opgen.torch.scope import Scope, Step, batch_leading
from opgen.torch.split import balanced, largest_part, nested
from opgen.torch.values import Stored, Value, aligned, batch_first, moved_out

# Dtypes that outputs are stored in.
DTYPES = {name: f"torch.{t.torch}" for name, t in STORED.items()}

# The longest assignment that is left on one line; functions are indented by at most 16 columns more.
WIDTH = 92
_SURELY = 4 * WIDTH  # as a formula; what is longer is no line in Python either

Loops = tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What holds for all variants of a function."""

    upcast: bool  # half is computed in float32
    keeps_upcast: bool  # so are residuals, or those that tangents among the results are of
    results: tuple[str, ...]  # the outputs of the operator
    masked: bool  # a result that is not asked for may not be assigned
    reserved: tuple[str, ...] = ()  # what the function takes in any variant: no local hides it from a later condition
    anchor: str = ""  # a float argument that every call has
    made: frozenset[str] = frozenset()  # the tensors and results of all variants


@dataclass(frozen=True, slots=True)
class Listing:
    """Straight-line code: steps in order, and the local name of each output.

    `views`: outputs that may share memory with an argument; `floats`: float arguments whose elements are read.
    """

    steps: tuple[Step, ...]
    returns: tuple[tuple[str, str], ...]  # output name -> local name
    views: tuple[str, ...]
    floats: tuple[str, ...]


def listing(p: Program, frame: Frame, batches: Mapping[str, frozenset[str]], *, several_batches: bool) -> Listing:
    """The code of a prepared program. `several_batches`: inputs may have different batch dims, to which gradients are
    summed. `batches`: of what is kept and has a tangent, the inputs whose batch dims it has."""
    scope = Scope(p, frame.upcast, several_batches, frame.results, frame.anchor, frame.keeps_upcast, frame.made)
    scope.batches = batches
    scope.names |= {n: n for n in frame.reserved}
    scope.bind = lambda s: bound(scope, s)
    last_reads = _last_reads(p)
    final = _final_names(p, last_reads, masked=frame.masked)
    made: dict[str, tuple[str, bool]] = {}
    of_target: dict[str, list[Output]] = {}
    for o in p.outputs:
        of_target.setdefault(o.value, []).append(o)
    for i, s in enumerate(p.statements):
        made_here = {t: scope.own(final.get(t, t)) for t in targets(s)}
        if isinstance(s, Recurrence):
            repeat(scope, s, made_here, {t for t in made_here if last_reads.get(t, -1) > i or t in of_target})
        else:
            _emit(scope, s, made_here[s.target])
        for o in (o for t in made_here for o in of_target.get(t, ())):
            if last_reads.get(o.value, -1) <= i:
                made[o.name] = _output(scope, o)
    for o in (*_parts_of_others(p), *p.outputs):
        if o.name not in made:
            made[o.name] = _output(scope, o)
    returns = tuple((o.name, made[o.name][0]) for o in p.outputs)
    steps = live(scope.steps, tuple(n for _, n in returns))
    floats = tuple(t.name for t in p.inputs if t.kind is Kind.FLOAT and t.name in scope.read)
    return Listing(steps, returns, tuple(o.name for o in p.outputs if made[o.name][1]), floats)


def _parts_of_others(p: Program) -> tuple[Output, ...]:
    """The outputs that may be views of others, each before what it is a view of: that gets its final form later."""
    values = {o.value for o in p.outputs}
    read = {t: {r.tensor for r in statement_reads(s)} for s in p.statements for t in targets(s)}
    order = {t: k for k, t in enumerate(read)}
    found = (o for o in p.outputs if not values.isdisjoint(read.get(o.value, ())))
    return tuple(sorted(found, key=lambda o: -order[o.value]))


def _last_reads(p: Program) -> dict[str, int]:
    """The number of the last statement that reads each tensor."""
    return {r.tensor: i for i, s in enumerate(p.statements) for r in statement_reads(s)}


def _final_names(p: Program, last_reads: dict[str, int], *, masked: bool) -> dict[str, str]:
    """Statements that only make an output are called after it; in a masked function, if nothing else needs them.

    What is called like the output that another statement makes, as the gradient is in its gradient, gives way.
    """
    made = {s.target for s in definitions(p)}
    inner = {o.name: f"first_{o.name}" for o in p.outputs if o.name in made and o.value != o.name}
    taken = {t.name for t in p.inputs} | {a.name for a in p.params} | (made - inner.keys())
    times = Counter(o.value for o in p.outputs)
    final = {o.value: o.name for o in p.outputs if times[o.value] == 1 and o.name not in taken}
    shared = {o.value: f"whole_{o.name}" for o in p.outputs if (masked and o.value in last_reads) or times[o.value] > 1}
    return {**inner, **final, **shared}


# --- statements ------------------------------------------------------------------------------------------------------


def _emit(scope: Scope, s: Compute | Scatter, name: str) -> None:
    """The lines of a statement, whose accesses mean what its own loops say."""
    with scope.within(tuple(dict.fromkeys((*scope.loops, *s.loops)))):
        _print(scope, s, name)


def _print(scope: Scope, s: Compute | Scatter, name: str) -> None:
    """The lines of a statement; what is too long for one is computed in parts."""
    if isinstance(s, Compute) and convolution(s, scope.known) is not None:
        _store(scope, s, _value(scope, s), name)
        return
    value = None if _surely_long(s) else _value(scope, s)
    if (value is None or len(value.text.text) > WIDTH) and (tree := balanced(s)) is not s:
        s, value = tree, _value(scope, tree)
    while value is None or len(value.text.text) + len(name) + 3 > WIDTH:
        part = largest_part(scope, s) or largest_part(scope, s := nested(s))
        if part is None or (value is not None and part.body == s.body and _contracted(value)):
            value = scatter(scope, s, name) if isinstance(s, Scatter) else value or _value(scope, s)
            break
        mapping: dict[Scalar, Scalar] = {part.body: bound(scope, part)}
        s = mapped(s, lambda e, mapping=mapping: substitute(e, mapping))  # type: ignore[misc]
        value = None if _surely_long(s) else _value(scope, s)
    _store(scope, s, value, name)


def _surely_long(s: Compute | Scatter) -> bool:
    """Is there no need to print a map to see that it is too long for a line?"""
    return isinstance(s, Compute) and s.op is None and len(as_text(s.body)) > _SURELY


def _contracted(value: Value) -> bool:
    """Would computing the summed product first give up a matrix product?"""
    return " @ " in value.text.text or "einsum" in value.text.text


def _value(scope: Scope, s: Compute | Scatter) -> Value:
    match s:
        case Scatter():
            value = scatter(scope, s)
        case Compute(op=None):
            value = _map(scope, s)
        case Compute():
            value = reduction(scope, s)
    value = as_kind(scope, value, s.kind)
    if value.text.number:
        value = expanded(scope, value, batch_leading(s.axes))
    return value


def _map(scope: Scope, s: Compute) -> Value:
    """The body over the loops it varies along."""
    space = batch_leading(s.axes)
    value = body_value(scope, s.body, space)
    return value if value.loops == space else body_value(scope, s.body, value.loops)


def bound(scope: Scope, s: Compute) -> Read:
    """A statement printed now, as an access to it."""
    s = replace(s, target=scope.fresh(s.target))
    scope.bodies[s.target] = s.body
    _emit(scope, s, s.target)
    return read_of(s)


def _store(scope: Scope, s: Compute | Scatter, value: Value, name: str) -> None:
    axes = tuple(s.axes.index(loop) for loop in value.loops)
    known = value.text.text
    if known.isidentifier() and known in scope.names and known not in ("True", "False"):
        local = known
    else:
        local = name
        scope.assign(local, known)
    scope.keep(s.target, Stored(local, s.shape, axes, s.kind, value.batch, value.view))


# --- results ---------------------------------------------------------------------------------------------------------


def _output(scope: Scope, o: Output) -> tuple[str, bool]:
    """The local name of a result in its declared shape and dtype, and whether it may be a view of an argument."""
    stored = scope.tensor(o.value)
    dims: Loops = tuple(x if isinstance(x, Batch) else replace(placeholder(i), extent=x) for i, x in enumerate(o.shape))
    value = Value(Text(stored.name, ATOM, stored.kind), tuple(dims[i] for i in stored.axes), stored.batch, stored.view)
    space = tuple(dims[i] for i in batch_first(o.shape))
    among = scope.batches.get(o.of, frozenset[str]())
    if not among <= value.batch:  # the tangent of a sum has the shape of the sum
        code = f"torch.broadcast_to({aligned(value, space).text.text}, {scope.shape_text(space, among)})"
        value = Value(Text(code, ATOM, stored.kind), space, among, value.view)
    elif not o.kept or any(dim not in value.loops for dim in dims if dim != BATCH):
        value = expanded(scope, aligned(value, space), space)
    if stored.name != o.name or value.text.text != stored.name:
        value = _named(scope, value, o)
    like = o.like if o.like is not None and scope.several_batches and _narrower(scope, o.like) else None
    if like is not None:
        scope.arrange(like)  # in this variant as in those that read it earlier
        value = value.method(f"sum_to_size({like}.shape)")
    if moved_out(o.shape):
        value = value.method(moved_out(o.shape))
    if o.dtype:
        value = value.method(f"to({DTYPES[o.dtype]})")
    elif scope.upcast and o.kind is Kind.FLOAT and not (o.kept and scope.keeps_upcast):
        value = value.method("to(dtype)")
    name = value.text.text.split(".")[0]
    if value.text.text != name:
        scope.assign(name, value.text.text)
    return name, value.view


def _arguments(scope: Scope) -> tuple[str, ...]:
    return (*(t.name for t in scope.program.inputs), *(a.name for a in scope.program.params))


def _named(scope: Scope, value: Value, o: Output) -> Value:
    """The value on a line of its own, under the name of the output."""
    name = o.name if o.name in scope.names and o.name not in _arguments(scope) else scope.own(o.name)
    scope.assign(name, value.text.text)
    return replace(value, text=replace(value.text, text=name, level=ATOM))


def _narrower(scope: Scope, like: str) -> bool:
    """May this argument have fewer batch dims than the operator?"""
    argument = next(t for t in scope.program.inputs if t.name == like)
    return BATCH in argument.shape and argument.role is not Role.COTANGENT


# --- precision -------------------------------------------------------------------------------------------------------

_JUMPS = ("frac", "mod", "modulus", "fmod", "remainder")
_DECIDING = {*(n for n, f in FUNCTIONS.items() if f.flat), *_JUMPS} - {"detach"}
_CHOOSING = ("max", "min", "argmax", "argmin", "argsort")
_EXACT = ("neg", "where", "detach", "abs", "sign", "max", "min", "relu", "floor", "ceil", "round", "trunc")


def needs_upcast(p: Program) -> bool:
    """Is half computed in float32? Not where torch's own operators round hardly more than once: an affine map."""
    if any(t.dtype for t in p.inputs) or any(o.dtype for o in p.outputs):
        return True
    roundings = 0
    for s in p.statements:
        if isinstance(s, Recurrence):
            return True
        if s.kind is not Kind.FLOAT:
            continue
        if isinstance(s, Scatter):
            return True
        if isinstance(s, Compute) and s.op not in (None, "sum", "max", "min"):
            return True
        within = _roundings(p, s.body)
        if s.op == "sum" and within and (is_contracted(s.body, s.axes, s.over) or s.target in convolutions(p)):
            within -= 1
        roundings += within
        if roundings > 1 or (s.op == "sum" and within):  # what is rounded and then summed up may cancel
            return True
    return _decides_by_rounded(p)


def _decides_by_rounded(p: Program) -> bool:
    """Would another choice be made, or another whole number found, by values that torch has rounded?"""
    inexact: set[str] = set()

    def is_rounded(e: Scalar) -> bool:
        return _roundings(p, e) > 0 or any(r.tensor in inexact for r in reads(e))

    for s in definitions(p):
        asked = (n for e in bodies(s) for n in walk(e) if isinstance(n, Apply) and n.fn in _DECIDING)
        if any(is_rounded(a) for n in asked for a in n.args):
            return True
        if isinstance(s, Compute) and s.op in _CHOOSING and is_rounded(s.body):
            return True
        if (s.op not in (None, *_CHOOSING) and s.kind is Kind.FLOAT) or any(map(is_rounded, bodies(s))):
            inexact.add(s.target)
    return False


def _is_whole(p: Program, e: Scalar) -> bool:
    """An integer of each element that may have more digits than half has."""
    if isinstance(e, Apply) and e.fn == "where" and all(isinstance(a, Lit) for a in e.args[1:]):
        return False
    return varies(e) and kind_of(p.kind_of, p.params, e) is Kind.INT


def _roundings(p: Program, e: Scalar) -> int:
    """How often torch would round: numbers known to Python are not, integers are where they meet floats."""
    total = 0
    for n, times in occurrences(e).items():
        if not isinstance(n, Apply) or not varies(n) or kind_of(p.kind_of, p.params, n) is not Kind.FLOAT:
            continue
        whole = [a for a in n.args if _is_whole(p, a)]
        total += times * (len(whole) + (0 if n.fn in _EXACT else max(1, len(n.args) - 1)))
    return total
