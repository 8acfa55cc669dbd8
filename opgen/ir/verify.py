"""Legality of Programs: what every pass may rely on and must keep.

`verify` raises `IllegalProgramError` (our bug, never the user's) naming the statement. Tests run it between passes.
"""

from __future__ import annotations

from opgen.ir import text
from opgen.ir.functions import FUNCTIONS
from opgen.ir.polynomial import same_number, same_shape
from opgen.ir.program import Axis, Compute, Loop, Program, Recurrence, Scatter, Shape, statement_reads
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import BATCH, Apply, Batch, Cast, Dim, Index, Lit, Param, Read, Scalar, add, walk


class IllegalProgramError(Exception):
    """A pass made a Program that breaks the rules."""


def verify(p: Program) -> Program:
    """Check every rule; returns the program, so that a pass can end with it."""
    known = {t.name: t.shape for t in p.inputs}
    if len(known) != len(p.inputs):
        raise IllegalProgramError(f"{p.name}: an argument name is taken twice")
    scope = _Scope(p)
    for s in p.statements:
        if isinstance(s, Recurrence):
            _check_recurrence(scope, known, s)
        else:
            _check_statement(scope, known, s)
        for made in s.steps if isinstance(s, Recurrence) else (s,):
            if made.target in known:
                raise IllegalProgramError(f"{p.name}: {made.target} is assigned twice")
            known[made.target] = made.shape
    for o in p.outputs:
        if o.value not in known:
            raise IllegalProgramError(f"{p.name}: output {o.name} has no value {o.value}")
        if not same_shape(o.shape, known[o.value], scope.derived):
            raise IllegalProgramError(f"{p.name}: output {o.name} has not the shape of its value {o.value}")
        if o.like is not None and o.like not in {t.name for t in p.inputs}:
            raise IllegalProgramError(f"{p.name}: output {o.name} is like {o.like}, which is not an argument")
    if len({o.name for o in p.outputs}) != len(p.outputs):
        raise IllegalProgramError(f"{p.name}: two outputs share a name")
    return p


class _Scope:
    def __init__(self, p: Program) -> None:
        self.name = p.name
        self.params = {a.name for a in p.params} | {n for f in p.functions for n in f.params}
        self.dims = {d.name for d in p.dims} | {"..."}
        self.derived = {d.name: d.value for d in p.dims}
        self.functions = {f.name: len(f.params) for f in p.functions}


def _axis_names(loops: tuple[Loop, ...]) -> list[str]:
    return [a.name for a in loops if isinstance(a, Axis)]


def _check_recurrence(scope: _Scope, known: dict[str, Shape], s: Recurrence) -> None:
    """Steps read one another at the same place if they come earlier, and one place back."""
    where = f"{scope.name}: {text.statement(s)}"
    inside = {**known, **{step.target: step.shape for step in s.steps}}
    back = Lit(1 if s.reverse else -1)
    for k, step in enumerate(s.steps):
        if s.along not in step.axes or s.along in step.over:
            raise IllegalProgramError(f"{where}: {step.target} has not {s.along.name} as a plain axis")
        _check_statement(scope, inside, step)
        earlier = [other.target for other in s.steps[:k]]
        for r in statement_reads(step):
            made = next((other for other in s.steps if other.target == r.tensor), None)
            if made is None:
                continue
            place = r.at[made.axes.index(s.along)]
            assert not isinstance(place, Batch)
            same = place == Index(s.along.name) and r.tensor in earlier
            if not same and not same_number(place, add(Index(s.along.name), back)):
                raise IllegalProgramError(f"{where}: {r.tensor} is read at another place")


def _check_statement(scope: _Scope, known: dict[str, Shape], s: Compute | Scatter) -> None:
    where = f"{scope.name}: {text.statement(s)}"
    if isinstance(s, Compute):
        _check_op(where, s)
        bound, batch = _axis_names(s.loops), BATCH in s.loops
        scalars: tuple[Scalar, ...] = (s.body,)
    else:
        bound, batch = _axis_names(s.loops), BATCH in s.loops
        if s.op not in ("sum", "prod", "max", "min"):
            raise IllegalProgramError(f"{where}: no scatter {s.op!r}")
        pairs = zip(s.at, s.axes, strict=False)
        if len(s.at) != len(s.axes) or any(isinstance(q, Batch) != isinstance(a, Batch) for q, a in pairs):
            raise IllegalProgramError(f"{where}: position count differs from the target's rank")
        scalars = (s.body, *(q for q in s.at if not isinstance(q, Batch)))
        _check_scalar(scope, known, where, s.base, set(_axis_names(s.axes)), BATCH in s.axes)
    if len(set(bound)) != len(bound):
        raise IllegalProgramError(f"{where}: an index is bound twice")
    for e in scalars:
        _check_scalar(scope, known, where, e, set(bound), batch)
    for a in (*(s.axes), *(s.over if isinstance(s, Compute) else s.loops)):
        if isinstance(a, Axis):
            _check_scalar(scope, known, where, a.extent, set(), False)
            if any(isinstance(n, Read) for n in walk(a.extent)):
                raise IllegalProgramError(f"{where}: the extent of {a.name} depends on data")


def _check_op(where: str, s: Compute) -> None:
    if s.op is None:
        if s.over:
            raise IllegalProgramError(f"{where}: a map reduces nothing")
        return
    row = REDUCTIONS.get(s.op)
    if row is None:
        raise IllegalProgramError(f"{where}: no reduction {s.op!r}")
    inside = [a in s.axes for a in s.over]
    if not s.over or (not all(inside) if row.keeps_index else any(inside)):
        raise IllegalProgramError(f"{where}: {s.op} over the wrong indices")


def _check_scalar(scope: _Scope, known: dict[str, Shape], where: str, e: Scalar, bound: set[str], batch: bool) -> None:
    for node in walk(e):
        match node:
            case Index("..."):
                if not batch:
                    raise IllegalProgramError(f"{where}: asks for the place in the batch without having one")
            case Index(name) if name not in bound:
                raise IllegalProgramError(f"{where}: index {name} is not bound")
            case Param(name) if name not in scope.params:
                raise IllegalProgramError(f"{where}: no param {name}")
            case Dim(name) if name not in scope.dims:
                raise IllegalProgramError(f"{where}: no dim {name}")
            case Apply(fn, args):
                _check_arity(scope, where, fn, len(args))
            case Cast(_, like) if like not in known:
                raise IllegalProgramError(f"{where}: cast to the dtype of unknown {like}")
            case Read(tensor, at):
                if tensor not in known:
                    raise IllegalProgramError(f"{where}: reads {tensor} before it is there")
                if len(at) != len(known[tensor]):
                    raise IllegalProgramError(f"{where}: {tensor} is read with the wrong rank")
                for p, axis in zip(at, known[tensor], strict=True):
                    if isinstance(p, Batch) != isinstance(axis, Batch):
                        raise IllegalProgramError(f"{where}: '...' of {tensor} stands elsewhere")
                    if isinstance(p, Batch) and not batch:
                        raise IllegalProgramError(f"{where}: reads the batch of {tensor} without having one")


def _check_arity(scope: _Scope, where: str, fn: str, count: int) -> None:
    if fn in scope.functions:
        if count != scope.functions[fn]:
            raise IllegalProgramError(f"{where}: {fn} takes {scope.functions[fn]} arguments")
        return
    row = FUNCTIONS.get(fn)
    if row is None:
        raise IllegalProgramError(f"{where}: no function {fn!r}")
    least = 1 if row.variadic else len(row.args) - row.optional
    if count < least or (count > len(row.args) and not row.variadic):
        raise IllegalProgramError(f"{where}: {fn} does not take {count} arguments")
