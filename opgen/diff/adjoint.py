"""Reverse mode: a Program in, the Program of its gradients out.

The statements are walked backwards. Each one turns the cotangent of its target into contributions to what it reads; a
tensor's contributions are added up when its own statement is reached. Everything is recomputed from the primal inputs:
what is worth keeping is decided later, by `opgen.opt.save`. Work is linear in the length of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from opgen.diff.algebra import product, total
from opgen.diff.contribution import Contribution, Selection, renamed, renamed_contribution, transpose
from opgen.diff.fractions import Fraction, fraction
from opgen.diff.laziness import GIVEN, Laziness
from opgen.diff.partials import partials, value_reads
from opgen.diff.recurrence import Group, reached_steps
from opgen.diff.rules import WEIGHTS, Change
from opgen.diff.scan_rules import INDEX_RULES
from opgen.diff.scatter_rules import SCATTER_WEIGHTS, at_base, at_body
from opgen.diff.sizes import Sizes
from opgen.diff.structure import Builder, close, loops_of, shape_axes
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.polynomial import same_shape
from opgen.ir.program import (
    Argument,
    Compute,
    Kind,
    Loop,
    Output,
    Program,
    Recurrence,
    Role,
    Scatter,
    Shape,
    Statement,
    Tensor,
    bodies,
    definitions,
    names,
    parts,
    targets,
)
from opgen.ir.rewrite import renamed as renamed_tensors
from opgen.ir.scalar import BATCH, ZERO, Param, Read, Scalar, div, neg, sub

_LONG = 28  # characters; names of names of names would fill lines


def adjoint(
    p: Program, wrt: tuple[str, ...] | None = None, *, states_hits: bool = False, asks_given: bool = False
) -> Program:
    """The program of `grad_<input>` for each input in `wrt`, given `grad_<output>` of each differentiable output.

    `states_hits`: where a window has its extreme is a statement of its own. `asks_given`: where a slope may be infinite
    or nan, a param tells the outputs that nobody uses.
    """
    sources = differentiable_inputs(p) if wrt is None else wrt
    sweep = _Sweep(p, sources, states_hits, asks_given)
    for s in reversed(p.statements):
        sweep.step(s)
    outputs = tuple(sweep.result(x) for x in sources)
    candidates = (*sweep.cotangents, *p.inputs)
    if asks_given:
        count = len(sweep.cotangents)
        p = replace(p, params=(*p.params, Argument(GIVEN, "bool", length=count, default=(True,) * count)))
    made = close(p, f"{p.name}_backward", candidates, (*p.statements, *sweep.statements()), outputs)
    # what is stated may read nothing at all; a gradient of the gradient then still has something to be of
    return made if made.inputs or not outputs else replace(made, inputs=tuple(sweep.cotangents))


def differentiable_inputs(p: Program) -> tuple[str, ...]:
    return tuple(t.name for t in p.inputs if t.differentiable and t.kind is Kind.FLOAT)


def varied(p: Program, sources: Sequence[str]) -> dict[str, None]:
    """The float tensors whose value depends on the sources."""
    found = dict.fromkeys(sources)
    for s in p.statements:
        if isinstance(s, Recurrence):
            known = -1
            while known != len(found):  # steps read those behind them, one place back
                known = len(found)
                found.update((c.target, None) for c in s.steps if _depends(c, (c.body,), found))
            continue
        if _depends(s, bodies(s), found):
            found[s.target] = None
    return found


def _depends(s: Compute | Scatter, scalars: Sequence[Scalar], found: dict[str, None]) -> bool:
    return s.kind is Kind.FLOAT and any(r.tensor in found for e in scalars for r in value_reads(e))


@dataclass
class _Sweep:
    """The state of the walk: what each tensor's cotangent has collected so far."""

    program: Program
    sources: tuple[str, ...]
    states_hits: bool
    asks_given: bool
    cotangents: list[Tensor] = field(default_factory=list)
    collected: dict[str, list[Contribution]] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    indexed: int = 0  # of how many statements of the derivative the shapes are known
    selections: dict[str, Selection] = field(default_factory=dict)
    restated: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        p = self.program
        self.names = Names(names(p), first=1)
        self.builder = Builder(self.names, states_hits=self.states_hits)
        self.sizes = Sizes.of(p)
        self.laziness = Laziness.of(p)
        self.shapes = {t.name: t.shape for t in p.inputs} | {s.target: s.shape for s in definitions(p)}
        self.derived = tuple(x for x in self.sources if x not in p.override.inputs)
        self.varied = varied(p, self.derived)
        several = sum(o.differentiable and o.kind is Kind.FLOAT for o in p.outputs) > 1
        for o in p.outputs:
            self.seed(o, asks=self.asks_given and several)

    def seed(self, o: Output, *, asks: bool) -> None:
        """The cotangent of an output is an argument, and the first contribution to the tensor behind it."""
        if not o.differentiable or o.kind is not Kind.FLOAT:
            return
        cotangent = self.names.fresh(f"grad_{o.name}")
        self.cotangents.append(Tensor(cotangent, o.shape, Kind.FLOAT, Role.COTANGENT, of=o.name, dtype=o.dtype))
        self.shapes[cotangent] = o.shape
        if o.value not in self.varied:
            return
        axes = self.axes_of(o.value)
        if asks:
            self.laziness.guards[cotangent] = axes, Param(GIVEN, len(self.cotangents) - 1)
        self.contribute(o.value, Contribution(Compute("", axes, Read(cotangent, positions(axes)))))

    def axes_of(self, tensor: str) -> tuple[Loop, ...]:
        """Index names for a tensor: those its contributions use, else its statement's, else its dims'."""
        if tensor in self.collected:
            return self.collected[tensor][0].statement.axes
        made = self.program.tensor(tensor)
        if isinstance(made, Compute | Scatter):
            return made.axes
        return shape_axes(self.shapes[tensor], Names((), first=1), [None] * len(self.shapes[tensor]))

    def contribute(self, tensor: str, c: Contribution) -> None:
        self.collected.setdefault(tensor, []).append(c)

    # --- one statement -----------------------------------------------------------------------------------------------

    def step(self, s: Statement) -> None:
        if isinstance(s, Recurrence):
            self.back(s)
            return
        if s.target not in self.varied or s.target not in self.collected:
            return
        gradient = self.gather(s.target, s.axes)
        match s:
            case Compute():
                found = fraction(self.program, s)
                if found is not None:
                    self.divide(s, found, gradient)
                else:
                    self.through(s, s.loops, s.body, self.body_cotangent(s, gradient))
            case Scatter():
                of_body, of_base = SCATTER_WEIGHTS[s.op](self.builder, s)
                self.through(s, s.axes, s.base, of_base(gradient))
                self.through(s, s.loops, s.body, of_body(at_body(s, gradient.tensor, ZERO)))
            case _:
                assert_never(s)

    def divide(self, s: Compute, f: Fraction, gradient: Read) -> None:
        """Through a fraction and its total at once."""
        result = Read(s.target, positions(s.axes))
        dot = f.dot(self.names.fresh(f"dot_{s.target}"), s, product(gradient, result))
        self.builder.statements.append(dot)
        self.laziness.note(dot)
        total, rest = Read(f.total.target, f.at), sub(gradient, Read(dot.target, f.at))
        exponent = f.exponent(self.program)
        if exponent is None:
            self.through(s, s.axes, f.part, div(rest, total))
        else:
            self.through(s, s.axes, exponent, product(result, rest))
        share = div(at_base(f.total, dot.target), at_base(f.total, f.total.target))
        self.through(f.total, f.total.axes, f.total.base, neg(share))

    def back(self, s: Recurrence) -> None:
        """The gradient of a recurrence is one in the other direction; what it reads from outside comes after it."""
        reached = reached_steps(s, [t for t in s.targets if t in self.collected and t in self.varied], self.varied)
        group = Group(self.builder, s, {c.target: self.names.fresh(f"grad_{c.target}") for c in reached})
        for c in reached:
            if c.target in self.collected:
                group.outside[c.target] = self.gather(c.target, c.axes)
        self.laziness.share(list(group.outside.values()), [(group.names[c.target], c.axes) for c in reached])
        sent: list[tuple[Compute, Read, Scalar]] = []
        for c in reached:
            with group.helpers(c.target):
                cotangent = self.body_cotangent(c, Read(group.names[c.target], positions(c.axes)))
                shares = self.shares(c, c.loops, c.body, cotangent)
            for r, value in shares:
                if r.tensor not in group.names:
                    sent.append((c, r, value))
                elif r.tensor in s.targets:
                    made = transpose(c.target, r, self.shapes, c.loops, value, c.body, self.sizes, forced=True)
                    group.inside.setdefault(r.tensor, []).append(made)
        self.builder.statements.append(group.recurrence(reached))
        for c, r, value in sent:
            made = transpose(c.target, r, self.shapes, c.loops, value, c.body, self.sizes)
            self.contribute(r.tensor, made)

    def gather(self, tensor: str, axes: tuple[Loop, ...]) -> Read:
        """Add up what a tensor's cotangent has collected; a single plain access needs no statement."""
        items = self.collected.pop(tensor)
        if len(items) > 1:
            whole = total([self.term(tensor, c, axes) for c in items])
            return self.append(Contribution(Compute("", axes, whole)), f"grad_{tensor}", axes)
        only = renamed_contribution(items[0], axes)
        same = self.repeated(only.statement)
        if same is not None:
            return same
        made = self.append(only, f"grad_{tensor}", axes)
        if only.selection is not None:
            self.selections[made.tensor] = only.selection
        return made

    def repeated(self, s: Statement) -> Read | None:
        """The access that a statement only repeats, if that tensor runs as far as the statement does."""
        if not isinstance(s, Compute) or s.op is not None or not isinstance(s.body, Read):
            return None
        if s.body.at != positions(s.axes):
            return None
        return s.body if same_shape(s.shape, self.shape_of(s.body.tensor), self.sizes.dims) else None

    def shape_of(self, tensor: str) -> Shape:
        """The shape of any tensor that has been made so far."""
        if tensor not in self.shapes:
            made = parts(self.builder.statements[self.indexed :])
            self.shapes.update((s.target, s.shape) for s in made)
            self.indexed = len(self.builder.statements)
        return self.shapes[tensor]

    def append(self, c: Contribution, base: str, axes: tuple[Loop, ...]) -> Read:
        name = self.names.fresh(base)
        made = replace(c.statement, target=name)
        self.builder.statements.append(made)
        self.laziness.note(made)
        return Read(name, positions(axes))

    def term(self, tensor: str, c: Contribution, axes: tuple[Loop, ...]) -> Scalar:
        """One of several contributions: a map stands in the sum itself."""
        if isinstance(c.statement, Compute) and c.statement.op is None:
            return renamed(c.statement, axes).body
        name = f"grad_{tensor}_{c.statement.target}"
        return self.append(c, name if len(name) <= _LONG else f"grad_{tensor}_part", axes)

    def body_cotangent(self, s: Compute, gradient: Read) -> Scalar:
        if s.op is None:
            return gradient
        if s.op in INDEX_RULES:
            change = Change(gradient, self.selections.get(gradient.tensor))
            made = INDEX_RULES[s.op].back(self.builder, s, change)
        else:
            made = WEIGHTS[s.op](self.builder, s)(gradient)
        return self.laziness.kept(made, gradient, made, s.over)

    def through(self, s: Compute | Scatter, loops: tuple[Loop, ...], body: Scalar, cotangent: Scalar) -> None:
        """Send the cotangent of a body, given over `loops`, to every varied tensor that the body reads."""
        for r, value in self.shares(s, loops, body, cotangent):
            made = transpose(s.target, r, self.shapes, loops, value, body, self.sizes)
            self.contribute(r.tensor, made)

    def shares(
        self, s: Compute | Scatter, loops: tuple[Loop, ...], body: Scalar, cotangent: Scalar
    ) -> list[tuple[Read, Scalar]]:
        """What every varied access of a body gets, over the loops."""
        accesses = tuple(r for r in value_reads(body) if r.tensor in self.varied)
        found = [(r, d) for r, d in zip(accesses, partials(body, accesses, self.program.functions), strict=True)]
        found = [(r, d) for r, d in found if d != ZERO]
        cotangent = self.laziness.kept(cotangent, cotangent, cotangent)
        if len(found) > 1 and not isinstance(cotangent, Read):
            own = loops_of(cotangent, loops)
            cotangent = self.append(Contribution(Compute("", own, cotangent)), f"grad_{s.target}_body", own)
        return [(r, self.laziness.weighted(cotangent, d)) for r, d in found]

    # --- results -----------------------------------------------------------------------------------------------------

    def result(self, x: str) -> Output:
        shape = self.shapes[x]
        like = x if BATCH in shape else None
        if x in self.program.override.inputs:
            value = self.overridden(x, shape)
        elif x in self.collected:
            value = self.gather(x, self.axes_of(x)).tensor
        else:
            value = self.builder.emit(f"grad_{x}", self.axes_of(x), ZERO).tensor
        kept = any(t.name == x and t.role is Role.SAVED for t in self.program.inputs)  # an output has a cotangent too
        dtype = next(t.dtype for t in self.program.inputs if t.name == x)
        return Output(f"grad_saved_{x}" if kept else f"grad_{x}", value, shape, like=like, of=x, dtype=dtype)

    def overridden(self, x: str, shape: Shape) -> str:
        """The stated gradient, summed over a batch that the input has not, or repeated over one that it lacks."""
        self.state_override()
        override = self.program.override
        stated = parts(override.statements)[self.stated_position(x)]
        name = self.restated[stated.target]
        axes = stated.axes
        wanted = tuple(a for a in axes if a != BATCH)
        if BATCH in axes and BATCH not in shape:
            return self.builder.emit(f"grad_{x}", wanted, Read(name, positions(axes)), "sum", (BATCH,)).tensor
        if BATCH in shape and BATCH not in axes:
            before = shape.index(BATCH)
            full = (*axes[:before], BATCH, *axes[before:])
            return self.builder.emit(f"grad_{x}", full, Read(name, positions(axes))).tensor
        return name

    def stated_position(self, x: str) -> int:
        made = [s.target for s in parts(self.program.override.statements)]
        return len(made) - 1 - made[::-1].index(f"grad_{x}")

    def state_override(self) -> None:
        """Copy the statements of the `backward:` block in, once, under names that are free here."""
        if self.restated:
            return
        for o in self.program.outputs:
            for t in self.cotangents:
                if t.of == o.name:
                    self.restated[f"grad_{o.name}"] = t.name
        for s in self.program.override.statements:
            self.restated.update({t: self.names.fresh(t) for t in targets(s)})
            self.builder.statements.append(renamed_tensors(s, self.restated))

    def statements(self) -> tuple[Statement, ...]:
        return tuple(self.builder.statements)
