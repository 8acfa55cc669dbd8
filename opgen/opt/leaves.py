"""What a gradient is taken to be a function of: its inputs, or fewer bytes that say all it needs of them.

A softmax says all that its own gradient needs, and so does a condition where an element was clamped, or the difference
of which an error is the square. Such tensors, the *leaves*, are kept in place of inputs, and the gradient of the
gradient is taken with respect to them: a gradient that reaches an output goes on through the operator, one that reaches
a sum of inputs through the sum (`opgen.opt.affine`), and a condition or a slope (`opgen.opt.slopes`) has none. Leaves
can be inputs, outputs, slopes, and conditions, integers and sums of inputs inside bodies; all else that backward keeps
is recomputed from them where backward is differentiated.

In go the program and its gradient, out come the leaves and both programs with what they were parts of bodies stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.diff.structure import alone, close
from opgen.ir.functions import row
from opgen.ir.growth import Growth
from opgen.ir.lazy import is_lazy
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import (
    Compute,
    Kind,
    Loop,
    Program,
    Recurrence,
    Role,
    Scatter,
    Statement,
    Tensor,
    definitions,
    names,
    parts,
    statement_reads,
    statement_scalars,
    targets,
)
from opgen.ir.ranges import in_range
from opgen.ir.scalar import ZERO, Apply, Batch, Lit, Read, Scalar, children, neg, reads, rebuild
from opgen.opt.affine import is_sum, ordered
from opgen.opt.cse import canonical
from opgen.opt.hints import Hints
from opgen.opt.mincut import Value, minimum_cut
from opgen.opt.slopes import constants, is_slope, varying
from opgen.opt.weigh import (
    again,
    asks_what_is_given,
    compared,
    counted,
    independent,
    is_copy,
    is_dear,
    read_outside,
    rounded,
)

_ALIVE, _MADE, _UNFIT = 16, 17, 32  # what a byte costs: of what is alive anyway, of a new leaf, of what is none


@dataclass(frozen=True, slots=True)
class Leaves:
    """`names` are what the gradient is a function of; those that are no inputs are statements of `gradient`.

    Sums of inputs are statements of the `primal` program too where it computes them.
    """

    names: tuple[str, ...]
    primal: Program
    gradient: Program

    def source(self) -> Program:
        """The gradient from its leaves alone."""
        g = self.gradient
        made = {s.target: s for s in definitions(g)}
        constant = constants(g)
        smooth = {n for n, s in made.items() if not all(varying(e) <= constant for e in statement_scalars(s))}
        saved = [
            Tensor(n, s.shape, s.kind, Role.SAVED, differentiable=s.kind is Kind.FLOAT and n in smooth, of=n)
            for n, s in made.items()
            if n in self.names
        ]
        inputs = [
            t if t.role is Role.COTANGENT or t.name in self.names else replace(t, differentiable=False)
            for t in g.inputs
        ]
        statements = [s for s in g.statements if not any(t in self.names for t in targets(s))]
        return close(g, g.name, [*inputs, *saved], statements, g.outputs)


def leaves(primal: Program, gradient: Program, taken: Sequence[str] = ()) -> Leaves | None:
    """The lightest leaves, or None where inputs are as good; new names are not among those `taken`."""
    found = _Values(primal, gradient)
    inputs = {t.name for t in gradient.inputs if t.role is not Role.COTANGENT}
    chosen = found.lightest()
    if chosen is None or all(n in inputs for n in chosen):
        return None
    atoms = {key: a for key, a in found.atoms.items() if a.name in chosen}
    fresh = Names((*taken, *names(primal), *names(gradient), *(d.name for d in primal.dims)))
    shown = {a.name: fresh.fresh(_wish(a.statement)) for a in atoms.values()}
    sums = {key: a for key, a in atoms.items() if a.statement.kind is Kind.FLOAT}
    stated = replace(primal, statements=found.stated(primal, sums, shown))
    after = replace(gradient, statements=found.stated(gradient, atoms, shown))
    return Leaves(tuple(shown.get(n, n) for n in chosen), stated, after)


@dataclass(slots=True)
class _Atom:
    """A condition or a sum of inputs inside bodies. `safe`: it can be computed at all of its points."""

    name: str
    statement: Compute
    needs: tuple[str, ...]
    safe: bool = False


@dataclass
class _Values:
    """The values of a gradient that no cotangent enters, and what the rest wants of them."""

    primal: Program
    gradient: Program
    atoms: dict[Compute | Scatter, _Atom] = field(default_factory=dict)
    values: list[tuple[Statement, Compute | Scatter, tuple[str, ...]]] = field(default_factory=list)
    wanted: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        g = self.gradient
        self.hints = Hints.of(self.primal)
        stated = self.primal.override.inputs  # a sum would have to be led through a gradient that is not its own
        self.summed = () if stated else tuple(t.name for t in g.inputs if _is_value(t))
        early = independent(g)
        self.early = {t.name for t in g.inputs if t.role is not Role.COTANGENT} | {s.target for s in parts(early)}
        self.order = dict.fromkeys(t.name for t in g.inputs if t.role is not Role.COTANGENT)
        for whole in g.statements:
            together = read_outside(whole) if isinstance(whole, Recurrence) else None
            for s in parts((whole,)):
                if s.target in self.early:
                    self.values.append((whole, s, self.needs(s) if together is None else together))
                    self.order[s.target] = None
                else:
                    self.want(whole, s)
        self.wanted.update((o.value, None) for o in g.outputs if o.value in self.early)

    def needs(self, s: Compute | Scatter) -> tuple[str, ...]:
        """What a statement that no cotangent enters is computed from."""
        found: dict[str, None] = {}
        for e, loops in _bodies(s):
            found.update(dict.fromkeys(self.inside(e, s, loops, guarded=False)))
        return tuple(found)

    def inside(self, e: Scalar, s: Compute | Scatter, loops: tuple[Loop, ...], *, guarded: bool) -> tuple[str, ...]:
        """What an expression that no cotangent enters is computed from: tensors, and possible leaves in it."""
        made = self.part(e, loops)
        if made is not None and made.kind is Kind.FLOAT and (s.op is not None or e is not s.body):
            return (self.atom(made, tuple(r.tensor for r in reads(e)), loops, guarded=guarded),)
        found: dict[str, None] = {e.tensor: None} if isinstance(e, Read) else {}
        for c, lazy in _operands(e):
            found.update(dict.fromkeys(self.inside(c, s, loops, guarded=guarded or lazy)))
        return tuple(found) if made is None else (self.atom(made, tuple(found), loops, guarded=guarded),)

    def part(self, e: Scalar, loops: tuple[Loop, ...]) -> Compute | None:
        """An expression as a statement of its own, if that can be a leaf; of a sum perhaps its negative."""
        if _is_condition(e):
            return alone(e, loops, Kind.BOOL)
        return alone(ordered(e, self.summed)[0], loops, Kind.FLOAT) if is_sum(e, self.summed) else None

    def atom(self, made: Compute, needs: tuple[str, ...], loops: tuple[Loop, ...], *, guarded: bool) -> str:
        """A possible leaf; `guarded`: a condition stands around it. Loops that it is taken out of are one, as well."""
        atom = self.atoms.setdefault(canonical(made), _Atom(f"#{len(self.atoms)}", made, needs))
        self.order.setdefault(atom.name)
        inside = [r for r in statement_reads(made) if r.fill is None]
        guarded = guarded or any(a not in made.loops and not _is_there(a) for a in loops)
        atom.safe = atom.safe or not guarded or all(in_range(self.gradient, made, r) for r in inside)
        return atom.name

    def want(self, whole: Statement, s: Compute | Scatter) -> None:
        guarded = isinstance(whole, Recurrence)
        for e, loops in _bodies(s):
            self.seek(e, s, loops, guarded=guarded)

    def seek(self, e: Scalar, s: Compute | Scatter, loops: tuple[Loop, ...], *, guarded: bool) -> None:
        """Note the largest parts of an expression that no cotangent enters."""
        if all(t in self.early for t in _tensors(e)) and not asks_what_is_given(e):
            self.wanted.update(dict.fromkeys(self.inside(e, s, loops, guarded=guarded)))
            return
        for c, lazy in _operands(e):
            self.seek(c, s, loops, guarded=guarded or lazy)

    def lightest(self) -> tuple[str, ...] | None:
        """What backward keeps if reductions are not done again, and what all else can be recomputed from."""
        first = minimum_cut(self.cut(None))
        fit = self.fit()
        kept = tuple(n for n in first if n in fit)
        if any(isinstance(w, Recurrence) and len(w.steps) > 1 for w, *_ in self.values):
            return None
        second = minimum_cut(self.cut(kept))
        return tuple(n for n in self.order if n in kept or n in second)

    def fit(self) -> dict[str, int]:
        """What can be a leaf, and what it weighs."""
        p, g = self.primal, self.gradient
        out = {t.name: _ALIVE * self.hints.weight(t.shape, t.kind) for t in g.inputs if t.role is not Role.COTANGENT}
        inputs = [t for t in g.inputs if t.role is not Role.COTANGENT]
        named = {o.value for o in p.outputs if o.value == o.name}
        smooth = {o.value for o in p.outputs if o.differentiable} if not p.override.inputs else set()
        exact, own = compared(g), {s.target for s in definitions(p)}
        less = rounded(p) | {o.name for o in p.outputs if o.name != o.value}
        given = {o.value for o in g.outputs}
        for whole, s, _ in self.values:
            if (s.target in given and s.target not in own) or s.target in less:  # a gradient has a name of its own
                continue
            if s.kind is not Kind.FLOAT:
                out[s.target] = (_ALIVE if s.target in named else _MADE) * self.hints.weight(s.shape, s.kind)
            elif s.target in named & smooth and (s.target not in exact or is_copy(whole, inputs)):
                out[s.target] = _ALIVE * self.hints.weight(s.shape, s.kind)
            elif isinstance(s, Compute) and s.op is None and s.target not in exact and self.made(s.body):
                out[s.target] = _MADE * self.hints.weight(s.shape, s.kind)
        out |= {
            a.name: _MADE * self.hints.weight(a.statement.shape, a.statement.kind)
            for a in self.atoms.values()
            if a.safe
        }
        return out

    def made(self, e: Scalar) -> bool:
        """Whether an expression can be kept in place of what it is computed from."""
        return is_sum(e, self.summed) or is_slope(e, constants(self.gradient))

    def cut(self, kept: Sequence[str] | None) -> list[Value]:
        """The values to cut through: for backward itself, or for leaves, where what backward keeps comes for free."""
        g, fit = self.gradient, self.fit()
        growth = Growth.of(self.primal)
        exact, given = compared(g), {o.value for o in g.outputs}
        own = {s.target for s in definitions(self.primal)}
        found: dict[str, Value] = {}

        def cost(name: str, unfit: int | None) -> int | None:
            return fit.get(name, unfit) if kept is None else 0 if name in kept else fit.get(name)

        for t in g.inputs:
            if t.role is not Role.COTANGENT:
                found[t.name] = Value(t.name, (), cost(t.name, None), recomputable=False, wanted=t.name in self.wanted)
        for whole, s, needs in self.values:
            fixed = s.target in exact or (s.target in given and s.target not in own)
            free = kept is not None or fixed or not is_dear(whole) or again(whole, growth) or self.counts(s)
            unfit = None if fixed else _UNFIT * self.hints.weight(s.shape, s.kind)
            found[s.target] = Value(s.target, needs, cost(s.target, unfit), free, s.target in self.wanted)
        for a in self.atoms.values():
            found[a.name] = Value(a.name, a.needs, cost(a.name, None), recomputable=True, wanted=a.name in self.wanted)
        return [found[n] for n in self.order]

    def counts(self, s: Compute | Scatter) -> bool:
        """Whether a statement counts conditions that can be leaves."""
        found = counted(s)
        return bool(found) and all(isinstance(c, Read) or _is_condition(c) for c in found)

    def stated(
        self, p: Program, atoms: Mapping[Compute | Scatter, _Atom], shown: Mapping[str, str]
    ) -> tuple[Statement, ...]:
        """The statements of a program with chosen parts of bodies as statements of their own."""
        done: list[Statement] = []
        made: dict[str, None] = {}

        def swap(e: Scalar, loops: tuple[Loop, ...]) -> Scalar:
            alone = self.part(e, loops)
            if alone is not None and (p is self.gradient or alone.body in (e, neg(e))):  # else it is rounded otherwise
                atom = atoms.get(canonical(alone))
                if atom is not None:
                    name = shown[atom.name]
                    if name not in made:
                        made[name] = None
                        done.append(replace(alone, target=name))
                    read = Read(name, positions(alone.axes))
                    return neg(read) if alone.kind is Kind.FLOAT and ordered(e, self.summed)[1] else read
            return rebuild(e, lambda c: swap(c, loops))

        for s in p.statements:
            match s:
                case Compute():
                    changed: Statement = replace(s, body=swap(s.body, s.loops))
                case Scatter():
                    at = tuple(q if isinstance(q, Batch) else swap(q, s.loops) for q in s.at)
                    changed = replace(s, body=swap(s.body, s.loops), base=swap(s.base, s.axes), at=at)
                case Recurrence():
                    steps = tuple(replace(c, body=swap(c.body, c.loops)) for c in s.steps)
                    changed = replace(s, steps=steps)
            done.append(changed)
        return tuple(done)


def _is_there(a: Loop) -> bool:
    """Whether a loop surely has a point."""
    return not isinstance(a, Batch) and isinstance(a.extent, Lit) and a.extent != ZERO


def _bodies(s: Compute | Scatter) -> list[tuple[Scalar, tuple[Loop, ...]]]:
    """The expressions of a statement, each with the loops that it stands in."""
    if isinstance(s, Compute):
        return [(s.body, s.loops)]
    inner = [(e, s.loops) for e in (s.body, *(q for q in s.at if not isinstance(q, Batch)))]
    return [*inner, (s.base, s.axes)]


def _operands(e: Scalar) -> list[tuple[Scalar, bool]]:
    """The operands of an expression, and whether each is only looked at under a condition."""
    lazy = is_lazy(e)
    return [(c, lazy and k > 0) for k, c in enumerate(children(e))]


def _tensors(e: Scalar) -> tuple[str, ...]:
    return tuple(r.tensor for r in reads(e))


def _is_condition(e: Scalar) -> bool:
    return isinstance(e, Apply) and row(e.fn).result == "bool" and bool(reads(e)) and not asks_what_is_given(e)


def _is_value(t: Tensor) -> bool:
    return t.role is not Role.COTANGENT and t.kind is Kind.FLOAT


def _wish(part: Compute) -> str:
    """What a leaf out of a body is to be called."""
    if part.kind is Kind.BOOL:
        return "condition"
    return "difference" if isinstance(part.body, Apply) and part.body.fn == "sub" else "total"
