"""`where` made safe for torch, which evaluates both branches.

In goes a Program, out comes an equal one in which a branch does no harm where it is not taken: positions of accesses
that could be out of range there, and arguments of functions with a singularity, are replaced by harmless ones. Then
nothing is read out of range, and no NaN comes back through autograd. Conditions that guard something get a statement
of their own. The operands of `and` and `or` guard the later ones in the same way.

A condition on sizes and params alone is decided in Python, which is lazy; but what stands in its branches may be
computed on a line of its own before, so there too positions, divisors and arguments of functions of numbers are made
harmless: Python raises where torch has nan.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

from opgen.diff.conditions import conjuncts
from opgen.ir.names import Names
from opgen.ir.point import in_bounds, read_of
from opgen.ir.polynomial import Polynomial
from opgen.ir.program import (
    Axis,
    Compute,
    Kind,
    Loop,
    Plain,
    Program,
    Recurrence,
    Scatter,
    Shape,
    Statement,
    definitions,
)
from opgen.ir.ranges import Facts, derived_sizes, facts_of, inside, nonnegative_where, sizes_of, within
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Dim,
    Index,
    Lit,
    Param,
    Read,
    Scalar,
    both,
    call,
    children,
    reads,
    rebuild,
    walk,
    where,
)
from opgen.opt.convolution import convolutions
from opgen.torch.harmless import SAFE, harmless
from opgen.torch.positions import is_number
from opgen.torch.rewrite import mapped, names_beside, statement, varies


def lazy(p: Program, around: tuple[Scalar, ...] = ()) -> Program:
    """Every `where` made safe; what is read out of range by a padded access is a number.

    `around`: extents of a loop that the statements are in, which are not 0 there.
    """
    fresh, out = names_beside(p), list[Statement]()
    dims, counts, whole_calls = derived_sizes(p), sizes_of(p), convolutions(p)
    tensors = {t.name: (t.shape, t.kind) for t in p.inputs} | {s.target: (s.shape, s.kind) for s in definitions(p)}
    functions = harmless(p.functions)
    for s in p.statements:
        if isinstance(s, Recurrence) or s.target in whole_calls:  # a program of its own, or a call, when printed
            out.append(s)
            continue
        facts = facts_of(s.loops, dims, counts, positive=around)
        guarded = _guarded(s, facts) if isinstance(s, Scatter) else s
        work = _Lazy(guarded, tensors, facts, facts_of((), dims, counts, positive=around), fresh, functions)
        rewritten = mapped(guarded, lambda e, work=work: work.safe(e, None))  # type: ignore[misc]
        out.extend((*work.before, rewritten))
    return replace(p, statements=tuple(out))


def _guarded(s: Scatter, facts: Facts) -> Scatter:
    """Where a guarded body adds nothing its position may be anywhere: it is dropped there, or becomes 0."""
    if s.padded or s.op != "sum":
        return s
    if not (isinstance(s.body, Apply) and s.body.fn == "where" and s.body.args[2] == ZERO):
        return s
    condition = s.body.args[0]
    if not within(s.at, s.shape, facts) and within(s.at, s.shape, facts, nonnegative_where(condition)):
        return replace(s, padded=True)

    def at(q: Scalar | Batch) -> Scalar | Batch:
        done = isinstance(q, Apply) and q.fn == "where" and q.args[0] == condition
        return q if done or isinstance(q, Batch) or not varies(q) else where(condition, q, ZERO)

    return replace(s, at=tuple(at(q) for q in s.at))


@dataclass(slots=True)
class _Lazy:
    """One statement, and those made in front of it. A guard is the condition under which a part is needed."""

    statement: Plain
    tensors: dict[str, tuple[Shape, Kind]]
    facts: Facts
    sizes: Facts  # what is known without the loops, which may be empty
    fresh: Names
    functions: dict[str, tuple[Scalar, ...]]  # those of the spec that may do harm, with arguments where they do none
    before: list[Compute] = field(default_factory=list)
    known: dict[tuple[Scalar, bool], tuple[Polynomial, ...]] = field(default_factory=dict)
    made: dict[tuple[Scalar, Scalar | None], Scalar] = field(default_factory=dict)
    hazards: dict[Scalar, bool] = field(default_factory=dict)
    sized: dict[Scalar, bool] = field(default_factory=dict)  # whether a size stands in a condition

    def safe(self, e: Scalar, guard: Scalar | None) -> Scalar:
        """What needs no guard, or has one already, in place of an expression that is needed under a guard."""
        found = self.made.get((e, guard))
        if found is None:
            found = self.made[e, guard] = self._safe(e, guard)
        return found

    def _safe(self, e: Scalar, guard: Scalar | None) -> Scalar:
        match e:
            case Apply("where"):
                return self._where(e, guard)
            case Apply("and" | "or"):
                return self._logic(e, guard)
            case Read():
                return self._read(e, guard)
        e = rebuild(e, lambda a: self.safe(a, guard))
        if not isinstance(e, Apply):
            return e
        if e.fn in ("floordiv", "mod") and _may_be_zero(e.args[1]) and (guard is not None or any(reads(e.args[0]))):
            return Apply(e.fn, (e.args[0], where(call("ne", e.args[1], ZERO), e.args[1], ONE)))
        if guard is not None and not varies(e):
            guard = _decided(guard)
        if guard is not None and e.fn in self.functions and varies(guard) and varies(e):
            own = (where(guard, a, at) for a, at in zip(e.args, self.functions[e.fn], strict=False))
            return Apply(e.fn, (*own, *e.args[len(self.functions[e.fn]) :]))
        if guard is None or not (varies(guard) and _singular(e) if varies(e) else _raises(e)):
            return e
        i, harmless = SAFE[e.fn]
        return Apply(e.fn, (*e.args[:i], where(guard, e.args[i], harmless), *e.args[i + 1 :]))

    def _where(self, e: Apply, guard: Scalar | None) -> Scalar:
        condition = self.safe(e.args[0], guard)
        a, b = e.args[1:]
        if self._hazardous(a) or self._hazardous(b):
            condition = self._named(condition)
        a = self.safe(a, condition if guard is None else both(guard, condition))
        no = call("not", condition)
        b = self.safe(b, no if guard is None else both(guard, no))
        return where(condition, a, b)

    def _logic(self, e: Apply, guard: Scalar | None) -> Scalar:
        done: list[Scalar] = []
        for a in e.args:
            hazardous = self._hazardous(a)
            if not done or not (hazardous or any(isinstance(n, Read) and self._at_number(n) for n in walk(a))):
                done.append(self.safe(a, guard))
                continue
            so_far = done[0] if len(done) == 1 else Apply(e.fn, tuple(done))
            if hazardous:
                so_far = self._named(so_far)
                done = [so_far]
            needed = so_far if e.fn == "and" else call("not", so_far)
            done.append(self.safe(a, needed if guard is None else both(guard, needed)))
        return Apply(e.fn, tuple(done))

    def _read(self, e: Read, guard: Scalar | None) -> Scalar:
        shape, kind = self.tensors[e.tensor]
        at = tuple(q if isinstance(q, Batch) else self.safe(q, guard) for q in e.at)
        if e.fill is not None:
            if is_number(e.fill):
                return replace(e, at=at)
            filled = replace(e, at=at, fill=Lit(False) if kind is Kind.BOOL else ZERO)
            condition = self._named(self.safe(in_bounds(e, shape), guard))
            outside = call("not", condition)
            return where(condition, filled, self.safe(e.fill, outside if guard is None else both(guard, outside)))
        zero = Lit(False) if kind is Kind.BOOL else ZERO
        alone = self._alone(e, shape)
        if alone and within(e.at, shape, self.facts):
            return replace(e, at=at, fill=zero)
        stays = not any(varies(q) and self._may_leave(q, n) for q, n in zip(e.at, shape, strict=True))
        if guard is not None and varies(guard) and stays and (self._at_number(e) or (alone and self._leaves(e))):
            return replace(e, at=at, fill=zero, wanted=self._mask(guard))
        if alone and not stays:
            asked = self._mask(guard) if guard is not None and varies(guard) and self._leaves(e) else self._anything()
            return self._read(self._row(e, shape, kind, asked), guard)
        if guard is None and not alone:
            return replace(e, at=at, wanted=self._anything() if self._told_alone(e) else None)
        if guard is not None and self._implied(e, shape, guard):
            return replace(e, at=at, fill=zero)
        decided = None if guard is None else _decided(guard) if alone else guard
        if alone or (decided is not None and not varies(decided) and self._beyond(e, decided)):
            conditions = [c for c in (decided, self._anything() if alone else None) if c is not None]
            return replace(e, at=at, fill=zero, wanted=reduce(both, conditions) if conditions else None)
        assert guard is not None
        leaves = [self._may_leave(p, n) for p, n in zip(e.at, shape, strict=True)]
        empty = any(x and self._may_be_empty(n) for x, n in zip(leaves, shape, strict=True))
        there = self._anything() if empty and self._told_alone(e) else None
        guard = guard if there is None else both(there, guard)
        guard = self._named(guard) if empty else guard
        at = tuple(where(guard, q, ZERO) if x else q for q, x in zip(at, leaves, strict=True))  # type: ignore[arg-type]
        return replace(e, at=at, wanted=guard if empty else None)

    def _may_be_empty(self, extent: Scalar | Batch) -> bool:
        return not isinstance(extent, Batch) and not inside(ZERO, extent, self.sizes)

    def _alone(self, e: Read, shape: Shape) -> bool:
        """Does an access at one place stay inside for no other reason than that its statement runs over something?

        It is taken out of the loops, which may be empty.
        """
        none = replace(self.facts, positive=self.sizes.positive)
        pairs = [
            (q, n) for q, n in zip(e.at, shape, strict=True) if not isinstance(q, Batch) and not isinstance(n, Batch)
        ]
        fixed = [(q, n) for q, n in pairs if not varies(q)]
        return any(inside(q, n, self.facts) and not inside(q, n, none) for q, n in fixed)

    def _told_alone(self, e: Read) -> bool:
        """Is a place told by such an access, which may have read nothing?"""
        read = (r for q in e.at if not isinstance(q, Batch) for r in reads(q))
        return any(r.fill is None and self._alone(r, self.tensors[r.tensor][0]) for r in read)

    def _row(self, e: Read, shape: Shape, kind: Kind, asked: Scalar | None) -> Read:
        """An access to what a tensor has at the positions that are numbers, which gets a statement of its own.

        Those that are none may leave the tensor for reasons of their own. `asked`: whether the numbers are to be there.
        """
        loops: list[Loop] = []
        at: list[Scalar | Batch] = []
        for k, (q, n) in enumerate(zip(e.at, shape, strict=True)):
            if isinstance(q, Batch):
                loops.append(q)
                at.append(q)
            elif varies(q):
                assert not isinstance(n, Batch)
                loops.append(Axis(f"i{k}", n))
                at.append(Index(f"i{k}"))
            else:
                at.append(q)
        zero = Lit(False) if kind is Kind.BOOL else ZERO
        body = Read(e.tensor, tuple(at), zero, asked)
        made = next((t for t in self.before if t.body == body), None)
        if made is None:
            made = Compute(self.fresh.fresh(f"{e.tensor}_row"), tuple(loops), body, kind=kind)
            self.before.append(made)
            self.tensors[made.target] = made.shape, kind
        kept = (q for q in e.at if isinstance(q, Batch) or varies(q))
        return Read(made.target, tuple(kept))

    def _anything(self) -> Scalar | None:
        """The condition that a statement runs over something, as far as sizes tell."""
        extents = [a.extent for a in self.statement.loops if isinstance(a, Axis) and self._may_be_empty(a.extent)]
        return reduce(both, (call("ne", n, ZERO) for n in dict.fromkeys(extents))) if extents else None

    def _leaves(self, e: Read) -> bool:
        """May a position that is the same at all elements leave the tensor, such as one at a step of a recurrence?"""
        shape, _ = self.tensors[e.tensor]
        return any(
            not isinstance(q, Batch) and not varies(q) and self._may_leave(q, n)
            for q, n in zip(e.at, shape, strict=True)
        )

    def _may_leave(self, position: Scalar | Batch, extent: Scalar | Batch) -> bool:
        if isinstance(position, Batch | Lit) or isinstance(extent, Batch):
            return False
        return not inside(position, extent, self.facts)

    def _implied(self, e: Read, shape: Shape, guard: Scalar) -> bool:
        """Does the guard keep an access in range that could leave it, so that what is outside does not matter?"""
        if within(e.at, shape, self.facts):
            return False
        known = self._nonnegative(guard)
        return bool(known) and within(e.at, shape, self.facts, known)

    def _nonnegative(self, condition: Scalar, *, holds: bool = True) -> tuple[Polynomial, ...]:
        """What is not negative where a condition holds, or does not; those with a statement of their own are opened."""
        key = (condition, holds)
        if key not in self.known:
            named = next((t.body for t in self.before if read_of(t) == condition), None)
            self.known[key] = self._in_parts(condition if named is None else named, holds)
        return self.known[key]

    def _in_parts(self, condition: Scalar, holds: bool) -> tuple[Polynomial, ...]:
        match condition:
            case Apply("and" | "or" as fn, args) if (fn == "and") is holds:
                return tuple(dict.fromkeys(p for a in args for p in self._nonnegative(a, holds=holds)))
            case Apply("not", (a,)):
                return self._nonnegative(a, holds=not holds)
            case _:
                return nonnegative_where(condition if holds else call("not", condition))

    def _beyond(self, e: Read, guard: Scalar) -> bool:
        """Does a condition on sizes keep a position in range that is made of sizes and literals?"""
        return self._about_sizes(guard) and self._at_number(e)

    def _at_number(self, e: Read) -> bool:
        """Is a position of sizes and literals there that may leave the tensor?"""
        pairs = zip(e.at, self.tensors[e.tensor][0], strict=True)
        return any(
            not isinstance(q, Batch)
            and not isinstance(n, Batch)
            and all(isinstance(part, Lit | Apply) or self._is_size(part) for part in walk(q))
            and not inside(q, n, self.facts)
            for q, n in pairs
        )

    def _is_size(self, e: Scalar) -> bool:
        """Is it a dim, or a param that is an extent somewhere?"""
        return isinstance(e, Dim) or (isinstance(e, Param) and e in self.facts.nonnegative)

    def _about_sizes(self, condition: Scalar) -> bool:
        """Does a size stand in a condition, or in one that has a statement of its own?"""
        found = self.sized.get(condition)
        if found is None:
            bodies = {t.target: t.body for t in self.before}
            nodes = list(walk(condition))
            found = any(map(self._is_size, nodes)) or any(
                self._about_sizes(bodies[n.tensor]) for n in nodes if isinstance(n, Read) and n.tensor in bodies
            )
            self.sized[condition] = found
        return found

    def _hazardous(self, e: Scalar) -> bool:
        """Would evaluating it where it is not wanted do harm?"""
        found = self.hazards.get(e)
        if found is None:
            found = self.hazards[e] = self._harms(e) or any(map(self._hazardous, children(e)))
        return found

    def _harms(self, e: Scalar) -> bool:
        if isinstance(e, Read):
            pairs = zip(e.at, self.tensors[e.tensor][0], strict=True)
            return e.fill is None and (self._at_number(e) or any(self._may_leave(q, x) for q, x in pairs))
        return isinstance(e, Apply) and (_singular(e) or (e.fn in self.functions and varies(e)))

    def _named(self, e: Scalar) -> Scalar:
        """The condition as an access to a statement of its own, unless it is one already or a number."""
        return e if isinstance(e, Read) or not varies(e) else self._mask(e)

    def _mask(self, e: Scalar) -> Read:
        """A condition as an access to a statement of its own, which has it at every element."""
        made = next((t for t in self.before if e in (t.body, read_of(t))), None)
        if made is None:
            made = statement(self.fresh.fresh("mask"), e, self.statement, Kind.BOOL)
            self.before.append(made)
        return read_of(made)


def _decided(guard: Scalar) -> Scalar | None:
    """What of a guard is decided in Python."""
    known = tuple(c for c in conjuncts(guard) if not varies(c))
    return None if not known else known[0] if len(known) == 1 else Apply("and", known)


def _may_be_zero(divisor: Scalar) -> bool:
    """Whether torch refuses to divide by a number where that is 0: what is read stands there for no element, too."""
    return not varies(divisor) and not isinstance(divisor, Lit)


def _raises(e: Apply) -> bool:
    """May Python have no value for a number, where torch has nan or an infinity?"""
    return e.fn in SAFE and any(isinstance(n, Param) for n in walk(e.args[SAFE[e.fn][0]]))


def _singular(e: Apply) -> bool:
    if e.fn not in SAFE or not varies(e.args[SAFE[e.fn][0]]):
        return False
    n = e.args[1] if e.fn == "pow" else None
    return not (isinstance(n, Lit) and isinstance(n.value, int) and n.value >= 0)
