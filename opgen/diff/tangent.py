"""Forward mode: a Program in, the Program of its tangents out.

Each statement is followed by the one for its tangent. A program with an overridden gradient is different: what is
stated is the transpose of its derivative, so the tangent is the transpose of that, which exists as a program where the
stated gradient is linear in the cotangents.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from opgen.diff.adjoint import adjoint, differentiable_inputs, varied
from opgen.diff.algebra import product, total
from opgen.diff.contribution import activity
from opgen.diff.laziness import Laziness
from opgen.diff.partials import partials, value_reads
from opgen.diff.recurrence import dependent, plain
from opgen.diff.rules import WEIGHTS, Change
from opgen.diff.scan_rules import INDEX_RULES
from opgen.diff.scatter_rules import SCATTER_WEIGHTS
from opgen.diff.structure import Builder, close, loops_of
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import (
    Compute,
    Kind,
    Output,
    Program,
    Recurrence,
    Role,
    Scatter,
    Statement,
    Tensor,
    names,
    statement_reads,
)
from opgen.ir.ranges import in_range
from opgen.ir.rewrite import retarget
from opgen.ir.scalar import ONE, ZERO, Apply, Batch, Cast, Index, Read, Scalar, where


class NoForwardModeError(Exception):
    """The stated gradient of a program is not linear in the cotangents, so it is no transpose of anything."""


def tangent(p: Program, wrt: tuple[str, ...] | None = None) -> Program:
    """The program of `tangent_<output>` given `tangent_<input>` of each input in `wrt`."""
    sources = differentiable_inputs(p) if wrt is None else wrt
    if p.override.inputs:
        return _transposed(p, sources)
    walk = _Walk(p, sources)
    for s in p.statements:
        walk.step(s)
    outputs = tuple(walk.result(o) for o in p.outputs if o.differentiable and o.kind is Kind.FLOAT)
    return close(p, f"{p.name}_tangent", (*walk.arguments, *p.inputs), walk.statements, outputs)


class _Walk:
    def __init__(self, p: Program, sources: tuple[str, ...]) -> None:
        self.program = p
        self.names = Names(names(p), first=1)
        self.builder = Builder(self.names)
        self.varied = varied(p, sources)
        self.laziness = Laziness.of(p)
        self.tangents: dict[str, str] = {}
        self.arguments: list[Tensor] = []
        for t in p.inputs:
            if t.name in sources:
                self.tangents[t.name] = self.names.fresh(f"tangent_{t.name}")
                role = Role.TANGENT
                tangent = Tensor(self.tangents[t.name], t.shape, Kind.FLOAT, role, of=t.name, dtype=t.dtype)
                self.arguments.append(tangent)

    @property
    def statements(self) -> list[Statement]:
        return self.builder.statements

    def step(self, s: Statement) -> None:
        self.statements.append(s)
        if isinstance(s, Recurrence):
            self.along(s)
            return
        if s.target not in self.varied:
            return
        match s:
            case Compute():
                self.compute(s)
            case Scatter():
                body, base = self.change(s, s.body), self.change(s, s.base)
                if body == ZERO and base == ZERO:
                    return
                of_body, of_base = SCATTER_WEIGHTS[s.op](self.builder, s)
                name = self.tangents[s.target] = self.names.fresh(f"tangent_{s.target}")
                self.statements.append(replace(s, target=name, body=of_body(body), base=of_base(base), op="sum"))
            case _:
                assert_never(s)

    def along(self, s: Recurrence) -> None:
        """The tangent of a recurrence is one in the same direction."""
        steps = [c for c in s.steps if c.target in self.varied]
        if not steps:
            return
        self.tangents.update({c.target: f"#{c.target}" for c in steps})
        final: dict[str, str] = {}
        with self.builder.step() as emitted:
            for c in steps:
                before = self.tangents[c.target]
                self.compute(c)
                if self.tangents[c.target] == before:
                    self.tangents[c.target] = self.builder.emit(f"tangent_{c.target}", c.axes, ZERO).tensor
                final[before] = self.tangents[c.target]
                self.tangents[c.target] = before
        made = [retarget(t, final) for t in emitted]
        self.tangents.update({c.target: final[f"#{c.target}"] for c in steps})
        inside = dependent(made, tuple(final.values()))
        self.statements.extend(t for t in made if t.target not in inside)
        group = plain(t for t in made if t.target in inside)
        self.statements.append(Recurrence(s.along, tuple(group), s.reverse))

    def change(self, s: Compute | Scatter, body: Scalar) -> Scalar:
        """The total differential of a body of a statement."""
        accesses = tuple(r for r in value_reads(body) if r.tensor in self.tangents)
        found = zip(accesses, partials(body, accesses, self.program.functions), strict=True)
        kept = ((r, self.laziness.kept(d, d, r)) for r, d in found if d != ZERO)
        return total(product(self.where_read(s, body, r), d, self.moved(r)) for r, d in kept)

    def where_read(self, s: Compute | Scatter, body: Scalar, r: Read) -> Scalar:
        """A factor that keeps the access from positions that the body does not look at."""
        if all(isinstance(p, Index | Batch) for p in r.at) and in_range(self.program, s, r):
            return ONE
        return where(activity(body, r), ONE, ZERO)

    def moved(self, r: Read) -> Read:
        return Read(self.tangents[r.tensor], r.at, _no_fill(r))

    def compute(self, s: Compute) -> None:
        change = self.change(s, s.body)
        if change == ZERO:
            return
        base = f"tangent_{s.target}"
        if s.op is None:
            made = self.builder.emit(base, s.axes, change)
        elif s.op in INDEX_RULES:
            inner = change
            if not (isinstance(change, Read) and change.at == positions(s.loops)):
                inner = self.builder.emit(f"{base}_body", s.loops, change)
            assert isinstance(inner, Read)
            made = self.builder.emit(base, s.axes, INDEX_RULES[s.op].forth(self.builder, s, Change(inner)))
        elif s.op in ("sum", "mean"):
            made = self.builder.emit(base, s.axes, change, s.op, s.over)
        else:
            if len(loops_of(change, s.loops)) < len(s.loops) and not isinstance(change, Read):
                change = self.builder.emit(f"{base}_body", loops_of(change, s.loops), change)
            weighted = WEIGHTS[s.op](self.builder, s)(change)
            made = self.builder.emit(base, s.axes, weighted, "sum", s.over)
        self.tangents[s.target] = made.tensor

    def result(self, o: Output) -> Output:
        name = self.tangents.get(o.value)
        if name is None:
            made = self.program.tensor(o.value)
            axes = made.axes if isinstance(made, Compute | Scatter) else ()
            name = self.builder.emit(f"tangent_{o.value}", axes, ZERO).tensor
        return Output(f"tangent_{o.name}", name, o.shape, like=o.like, of=o.name, kept=o.kept, dtype=o.dtype)


def _no_fill(r: Read) -> Scalar | None:
    """Outside the range the value is a constant, so its tangent is 0 there."""
    return None if r.fill is None else ZERO


def _transposed(p: Program, sources: tuple[str, ...]) -> Program:
    backward = adjoint(p, sources)
    cotangents = tuple(t.name for t in backward.inputs if t.role is Role.COTANGENT)
    if not _vanishes(backward, cotangents):
        raise NoForwardModeError(f"{p.name}: the stated gradient is not 0 where the cotangent is")
    transposed = adjoint(backward, cotangents)
    mine = {o.name: o.of for o in backward.outputs}
    read = {r.tensor for s in transposed.statements for r in statement_reads(s)}
    if any(name in read for name in cotangents):
        raise NoForwardModeError(f"{p.name}: the stated gradient does not scale with the cotangent")
    taken = Names(names(transposed), first=1)
    renaming = {t.name: taken.fresh(f"tangent_{mine[t.of]}") for t in transposed.inputs if t.of in mine}
    inputs = tuple(
        replace(t, name=renaming[t.name], role=Role.TANGENT, of=mine[t.of]) if t.name in renaming else t
        for t in transposed.inputs
        if t.name not in cotangents
    )
    origin = {t.name: t.of for t in backward.inputs}
    outputs = tuple(replace(o, name=f"tangent_{origin[o.of]}", like=None, of=origin[o.of]) for o in transposed.outputs)
    statements = tuple(retarget(s, renaming) for s in transposed.statements)
    return close(
        transposed,
        f"{p.name}_tangent",
        inputs,
        statements,
        tuple(replace(o, value=renaming.get(o.value, o.value)) for o in outputs),
    )


def _vanishes(p: Program, sources: tuple[str, ...]) -> bool:
    """Is every output of a program 0 where its sources are, whatever else it is given?"""
    zeros = set(sources)
    for s in p.statements:
        if isinstance(s, Recurrence):  # each step is 0 if those before it are
            before = {*zeros, *s.targets}
            if all(c.op in _ADDING and _is_zero(c.body, before) for c in s.steps):
                zeros = before
        elif s.op in _ADDING and _is_zero(s.body, zeros) and (isinstance(s, Compute) or _is_zero(s.base, zeros)):
            zeros.add(s.target)
    return all(o.value in zeros for o in p.outputs)


_ADDING = (None, "sum", "mean", "cumsum")


def _is_zero(e: Scalar, zeros: Collection[str]) -> bool:
    match e:
        case Read(tensor, _, fill):
            return tensor in zeros and (fill is None or _is_zero(fill, zeros))
        case Apply("add" | "sub" | "neg" | "real" | "imag" | "conj", args) | Apply("where", (_, *args)):
            return all(_is_zero(a, zeros) for a in args)
        case Apply("mul", args):
            return any(_is_zero(a, zeros) for a in args)
        case Apply("div", (a, _)) | Cast(a):
            return _is_zero(a, zeros)
        case _:
            return e == ZERO
