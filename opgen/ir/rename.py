"""The same operator with other names for tensors and params: everywhere, in formulas, surfaces and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opgen.ir.declared import Domain, Module, StatedCase
from opgen.ir.names import Names
from opgen.ir.operator import Operator
from opgen.ir.program import (
    Argument,
    Axis,
    Compute,
    Condition,
    DimSource,
    Function,
    Loop,
    Output,
    Override,
    Program,
    Recurrence,
    Scatter,
    Shape,
    Statement,
    Tensor,
)
from opgen.ir.scalar import Apply, Batch, Cast, Const, Dim, Index, Lit, Param, Position, Read, Scalar, transform

_SCALAR = (Apply, Cast, Const, Dim, Index, Lit, Param, Read)


def renamed_operator(operator: Operator, inside: Mapping[str, str]) -> Operator:
    """`inside` has the new name of every tensor and param that gets one."""
    r, save = _Renaming(inside), operator.flags.save
    return replace(
        operator,
        inputs=tuple(map(r.tensor, operator.inputs)),
        optional=tuple(map(r.name, operator.optional)),
        params=tuple(map(r.argument, operator.params)),
        outputs=tuple(map(r.name, operator.outputs)),
        variants=tuple(
            replace(v, conditions=tuple(map(r.condition, v.conditions)), program=r.program(v.program))
            for v in operator.variants
        ),
        pairs=tuple(replace(p, name=r.name(p.name), real=r.name(p.real), imag=r.name(p.imag)) for p in operator.pairs),
        fills=tuple(replace(f, name=r.name(f.name)) for f in operator.fills),
        neutral=tuple(replace(f, name=r.name(f.name)) for f in operator.neutral),
        seeds=tuple(map(r.name, operator.seeds)),
        unbroadcast=tuple(map(r.name, operator.unbroadcast)),
        spelled=tuple((new, old) for old, new in inside.items()),
        flags=replace(operator.flags, save=None if save is None else tuple(map(r.name, save))),
        inplace=r.name(operator.inplace),
        domains=tuple(map(r.domain, operator.domains)),
        multiples=tuple(replace(m, by=r.scalar(m.by)) for m in operator.multiples),
        module=r.module(operator.module),
        tests=replace(operator.tests, cases=tuple(map(r.case, operator.tests.cases))),
    )


class _Renaming:
    def __init__(self, inside: Mapping[str, str]) -> None:
        self.inside = inside

    def name(self, name: str) -> str:
        return self.inside.get(name, name)

    def tensor(self, t: Tensor) -> Tensor:
        return replace(t, name=self.name(t.name), shape=self.shape(t.shape), of=self.name(t.of))

    def argument(self, a: Argument) -> Argument:
        default = self.scalar(a.default) if isinstance(a.default, _SCALAR) else a.default
        tells = None if a.tells is None else self.condition(a.tells)
        return replace(a, name=self.name(a.name), default=default, tells=tells)

    def domain(self, d: Domain) -> Domain:
        return replace(d, name=self.name(d.name), holds=self.scalar(d.holds))

    def module(self, m: Module) -> Module:
        def arguments(given: tuple[tuple[str | None, Scalar], ...]) -> tuple[tuple[str | None, Scalar], ...]:
            return tuple((keyword, self.scalar(e)) for keyword, e in given)

        made = ((s, replace(s.initialiser, arguments=arguments(s.initialiser.arguments))) for s in m.states)
        return replace(
            m,
            states=tuple(replace(s, input=self.name(s.input), initialiser=i) for s, i in made),
            updates=tuple((self.name(b), self.name(o)) for b, o in m.updates),
            training=self.name(m.training),
        )

    def case(self, c: StatedCase) -> StatedCase:
        params = tuple((self.name(n), v) for n, v in c.params)
        return replace(c, params=params, inputs=tuple((self.name(n), v) for n, v in c.inputs))

    def condition(self, c: Condition) -> Condition:
        return replace(c, name=self.name(c.name))

    def output(self, o: Output) -> Output:
        like = None if o.like is None else self.name(o.like)
        return replace(
            o,
            name=self.name(o.name),
            value=self.name(o.value),
            shape=self.shape(o.shape),
            like=like,
            of=self.name(o.of),
        )

    def program(self, p: Program) -> Program:
        override = _Gradients(self.inside).override(p.override)
        return replace(
            p,
            inputs=tuple(map(self.tensor, p.inputs)),
            params=tuple(map(self.argument, p.params)),
            dims=tuple(map(self.dim, p.dims)),
            statements=tuple(map(self.statement, p.statements)),
            outputs=tuple(map(self.output, p.outputs)),
            functions=tuple(map(self.function, p.functions)),
            override=override,
        )

    def function(self, f: Function) -> Function:
        """Params are visible in a function, unless an argument of its own hides them."""
        own = Names(self.inside.values())
        arguments = {a: own.fresh(self.inside[a]) if a in self.inside else a for a in f.params}
        r = _Renaming({**self.inside, **arguments})
        value = None if f.value is None else r.scalar(f.value)
        return replace(f, params=tuple(arguments.values()), value=value, partials=tuple(map(r.scalar, f.partials)))

    def dim(self, d: DimSource) -> DimSource:
        tensor = None if d.tensor is None else self.name(d.tensor)
        return replace(d, tensor=tensor, value=None if d.value is None else self.scalar(d.value))

    def shape(self, shape: Shape) -> Shape:
        return tuple(s if isinstance(s, Batch) else self.scalar(s) for s in shape)

    def loops(self, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        return tuple(self.axis(a) if isinstance(a, Axis) else a for a in loops)

    def axis(self, a: Axis) -> Axis:
        return replace(a, extent=self.scalar(a.extent))

    def statement(self, s: Statement) -> Statement:
        match s:
            case Compute():
                return self.compute(s)
            case Scatter():
                return replace(
                    s,
                    target=self.name(s.target),
                    axes=self.loops(s.axes),
                    loops=self.loops(s.loops),
                    at=tuple(map(self.position, s.at)),
                    body=self.scalar(s.body),
                    base=self.scalar(s.base),
                )
            case Recurrence():
                return replace(s, along=self.axis(s.along), steps=tuple(map(self.compute, s.steps)))

    def compute(self, s: Compute) -> Compute:
        axes, over = self.loops(s.axes), self.loops(s.over)
        return replace(s, target=self.name(s.target), axes=axes, body=self.scalar(s.body), over=over)

    def position(self, p: Position) -> Position:
        return p if isinstance(p, Batch) else self.scalar(p)

    def scalar(self, e: Scalar) -> Scalar:
        return transform(e, self._leaf)

    def _leaf(self, e: Scalar) -> Scalar:
        match e:
            case Read(tensor):
                return replace(e, tensor=self.name(tensor))
            case Cast(_, like):
                return replace(e, like=self.name(like))
            case Param(name):
                return replace(e, name=self.name(name))
            case _:
                return e


class _Gradients(_Renaming):
    """The renaming inside a `backward` block."""

    def name(self, name: str) -> str:
        rest = name.removeprefix("grad_")
        return f"grad_{self.inside[rest]}" if rest != name and rest in self.inside else super().name(name)

    def override(self, o: Override) -> Override:
        return Override(
            tuple(self.inside.get(n, n) for n in o.inputs),
            tuple(map(self.statement, o.statements)),
            tuple(map(self.shape, o.shapes)),
        )
