"""From a Program to its kernel plan.

    expand composite reductions → find convolutions → split contractions → leave out what params turn off
    → choose what is stored and what is recomputed
    → group statements into nests → buffers and results

A pure function; the plan depends on nothing but the Program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from opgen.ir.errors import UnplannableError
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import (
    Axis,
    Compute,
    Kind,
    Output,
    Program,
    Recurrence,
    Role,
    Scatter,
    Statement,
    Tensor,
    definitions,
)
from opgen.ir.ranges import sizes_of
from opgen.ir.scalar import BATCH, Batch, Read, Scalar, reads
from opgen.opt.convolution import Convolution, Known, convolution
from opgen.opt.expand import axis_names, expand
from opgen.opt.functions import inline_functions
from opgen.opt.ranges import Ranges
from opgen.opt.streams import Streamed, streamed
from opgen.plan.asked import asked
from opgen.plan.bias import fuse
from opgen.plan.contract import contract, operand, split
from opgen.plan.convolve import convolve
from opgen.plan.flow import Flow
from opgen.plan.group import Group, Item, Single, grouped, needed, reads_of_item, targets
from opgen.plan.keep import kept_maps
from opgen.plan.model import (
    Buffer,
    Chain,
    Contract,
    Convolve,
    Kernel,
    KernelPlan,
    Nest,
    Result,
    ScatterStep,
    Sort,
    Step,
    Storage,
    Stream,
)
from opgen.plan.nest import Surroundings, nest, scatter_values
from opgen.plan.numbers import numbered
from opgen.plan.operands import operands, products
from opgen.plan.parts import shared
from opgen.plan.picked import picked
from opgen.plan.sequence import sequence, task_scalars
from opgen.plan.sort import sort
from opgen.plan.stream import point_scalars, stores_of, stream, sums_of, sweep_scalars
from opgen.plan.summed import summed
from opgen.plan.tails import calm


def build(p: Program, results: Sequence[str] = ()) -> KernelPlan:
    """Plan the kernels of a program; `UnplannableError` where it has a statement that kernels have no form for.

    `results`: the outputs of the operator, which are kept for backward in their own dtype.
    Functions of the spec are written out, except those that a library of C++ or CUDA computes.
    """
    return numbered(_Planner(p, results).plan())


@dataclass(frozen=True, slots=True)
class _Given:
    """What torch computes: what matrix products add, and the forms of convolutions, by name."""

    biases: Mapping[str, Read]
    convolutions: Mapping[str, Convolution]


BACK_ENDS = ("cpp", "cuda")  # a name in one of them keeps a function a call


class _Planner:
    def __init__(self, p: Program, results: Sequence[str]) -> None:
        self.results = results
        self.p = p = inline_functions(p, lambda f: f.spelling(*BACK_ENDS) is None)
        taken = [*(t.name for t in p.inputs), *(a.name for a in p.params), *(d.name for d in p.dims)]
        taken += [*(s.target for s in definitions(p)), *(o.name for o in p.outputs)]
        self.names = Names(tuple(taken))
        self.arguments = {t.name: t.shape for t in p.inputs}

    def plan(self) -> KernelPlan:
        statements, outputs = self._distinct_outputs(self.p.statements)
        ranges = Ranges.of(self.p, {**self.arguments, **{n: s.shape for n, s in _by_name(statements).items()}})
        statements = shared(summed(statements, ranges, self.names), self.names)
        statements = expand(statements, self.names, replace(self.p, statements=statements))
        statements, picks = picked(statements, self._integers(statements), self.names)
        found = streamed(self.p, statements, self.names)
        convolved = self._convolutions(found.statements, found.uses)
        statements, products, operands = self._contractions(found.statements, {*found.uses, *convolved})
        sorts = {s.target: s for s in statements if isinstance(s, Compute) and s.op == "argsort"}
        operands |= found.reads | {r.tensor for c in convolved.values() for r in c.reads.values()}
        operands |= {r.tensor for s in sorts.values() for r in reads(s.body)}
        results = {o.value for o in outputs}
        statements = asked(statements, results | found.reads | {*found.uses, *convolved} | products | operands)
        floats = {t.name: t.shape for t in self.p.inputs if t.kind is Kind.FLOAT and t.role is Role.INPUT}
        statements, biases = fuse(statements, products, convolved, results | found.reads, floats)
        bodies = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None}
        statements = tuple(s if s.target in found.uses else calm(s, bodies) for s in statements)
        known = {n: s.shape for n, s in _by_name(statements).items()}
        ranges = Ranges.of(self.p, {**self.arguments, **known})
        ordinary = tuple(s for s in statements if s.target not in found.uses)
        kept = kept_maps(ordinary, results, operands, ranges) | picks
        maps = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None and s.target not in kept}
        stored = {o.value for o in outputs if o.value in maps}
        alone = products | {*convolved, *sorts}
        items = needed(grouped(statements, kept | results, alone, maps, found, stored, picks, self.names), results)
        return self._assemble(items, statements, outputs, maps, _Given(biases, convolved), found)

    def _integers(self, statements: tuple[Statement, ...]) -> frozenset[str]:
        """Params and tensors of integers."""
        tensors = {t.name for t in self.p.inputs if t.kind is Kind.INT}
        tensors |= {n for n, s in _by_name(statements).items() if s.kind is Kind.INT}
        return frozenset(tensors | {a.name for a in self.p.params if a.type == "int"})

    # --- rewriting -----------------------------------------------------------------------------------------------

    def _distinct_outputs(self, statements: tuple[Statement, ...]) -> tuple[tuple[Statement, ...], tuple[Output, ...]]:
        """Give every output a statement of its own: an argument, or a value returned twice, is copied."""
        out, outputs, used = list(statements), [], set()
        for o in self.p.outputs:
            if o.value in self.arguments or o.value in used:
                name = self.names.fresh(f"{o.value}_copy")
                source = self.p.shape_of(o.value)
                axes = tuple(s if isinstance(s, Batch) else Axis(f"i{k}", s) for k, s in enumerate(source))
                out.append(Compute(name, axes, Read(o.value, positions(axes)), kind=o.kind))
                outputs.append(replace(o, value=name))
            else:
                used.add(o.value)
                outputs.append(o)
        return tuple(out), tuple(outputs)

    def _convolutions(self, statements: tuple[Statement, ...], uses: Collection[str]) -> dict[str, Convolution]:
        """The statements that are convolutions, by name."""
        known = Known.of(self.p, statements)
        candidates = (s for s in statements if isinstance(s, Compute) and s.target not in uses)
        found = ((s.target, convolution(s, known)) for s in candidates)
        return {name: c for name, c in found if c is not None}

    def _contractions(
        self, statements: tuple[Statement, ...], uses: Collection[str]
    ) -> tuple[tuple[Statement, ...], set[str], set[str]]:
        out: list[Statement] = []
        products: set[str] = set()
        operands: set[str] = set()
        shapes = {**self.arguments, **{n: s.shape for n, s in _by_name(statements).items()}}
        for s in statements:
            found = split(s, self.names, shapes) if isinstance(s, Compute) and s.target not in uses else None
            if found is None:
                out.append(s)
            else:
                out.extend(found.statements)
                products.update(found.products)
                operands.update(found.operands)
        return tuple(out), products, operands

    # --- the plan ------------------------------------------------------------------------------------------------

    def _assemble(
        self,
        items: list[Item],
        statements: tuple[Statement, ...],
        outputs: tuple[Output, ...],
        maps: dict[str, Compute],
        given: _Given,
        streams: Streamed,
    ) -> KernelPlan:
        by_name = _by_name(statements)
        stored = self._stored(items, outputs)
        reread = _reread(items)
        storage = self._storages(items, by_name, stored, outputs, reread)
        kinds = {t.name: t.kind for t in self.p.inputs} | {n: s.kind for n, s in by_name.items()}
        taken = [t.name for t in self.p.inputs] + [a.name for a in self.p.params] + [d.name for d in self.p.dims]
        axes = [n for s in by_name.values() for n in axis_names(s.axes + s.loops)]
        names = Names((*taken, *sorted(stored), *axes))
        shapes = {n: s.shape for n, s in by_name.items()}
        ranges = Ranges.of(self.p, {**self.arguments, **shapes})
        around = Surroundings(self.p, maps, kinds, frozenset(stored), names, ranges, {**self.arguments, **shapes})
        steps = [self._step(item, around, given, streams) for item in items]
        buffers = [_argument(t, self.results) for t in self.p.inputs]
        buffers += [Buffer(n, shapes[n], storage[n]) for item in items for n in targets(item) if n in stored]
        results = tuple(
            Result(o.name, o.value, o.shape, self._result_storage(o), o.like if BATCH in o.shape else None, o.dtype)
            for o in outputs
        )
        return KernelPlan(
            self.p.name, tuple(buffers), self.p.params, self.p.dims, _with_results(steps, results), results,
            sizes_of(self.p), self.p.functions,
        )  # fmt: skip

    def _stored(self, items: list[Item], outputs: tuple[Output, ...]) -> set[str]:
        """Statements whose values leave their step."""
        stored = {o.value for o in outputs}
        home = {t: k for k, item in enumerate(items) for t in targets(item)}
        for k, item in enumerate(items):
            stored |= {r.tensor for r in reads_of_item(item) if home.get(r.tensor, k) != k}
            if isinstance(item, Single):
                stored.update(targets(item))
            elif isinstance(item, Flow):
                stored |= {m.statement.target for m in item.members if m.wide}
            else:
                stored |= {m.statement.target for m in item.members if m.statement.op is None and m.inner}
        return stored

    def _storages(
        self,
        items: list[Item],
        by_name: dict[str, Compute | Scatter],
        stored: set[str],
        outputs: tuple[Output, ...],
        reread: set[str],
    ) -> dict[str, Storage]:
        wanted = {o.value: self._result_storage(o) for o in outputs}
        stated = {o.value: Storage.COMPUTE for o in outputs if o.dtype}  # rounded once, to what the spec states
        wanted |= stated
        storage = {t.name: _argument(t, self.results).storage for t in self.p.inputs}
        own = {*stated, *(t.name for t in self.p.inputs if t.dtype or t.kind is not Kind.FLOAT)}
        own |= {n for n, s in by_name.items() if s.kind is not Kind.FLOAT}
        multiplied = products(items, own)
        narrow = operands(items, multiplied, {n for n, s in wanted.items() if s is Storage.SCALAR}) - own
        for item in items:
            for name in targets(item):
                kind = by_name[name].kind
                if kind is Kind.INT:
                    storage[name] = Storage.INT64
                elif kind is Kind.BOOL:
                    storage[name] = Storage.BOOL
                elif isinstance(item, Single) and isinstance(item.statement, Compute):
                    storage[name] = Storage.SCALAR if name in multiplied else Storage.COMPUTE
                elif name in narrow:
                    storage[name] = Storage.SCALAR
                elif name in reread or not isinstance(item, Group):
                    storage[name] = Storage.COMPUTE
                else:
                    storage[name] = wanted.get(name, Storage.COMPUTE)
        return storage

    def _result_storage(self, o: Output) -> Storage:
        match o.kind:
            case Kind.INT:
                return Storage.INT64
            case Kind.BOOL:
                return Storage.BOOL
            case Kind.FLOAT:
                return Storage.COMPUTE if o.dtype or (o.of and o.of == o.value) else Storage.SCALAR
            case Kind.COMPLEX:
                raise AssertionError(f"{o.name}: programs are real")
            case _:
                assert_never(o.kind)

    def _step(self, item: Item, around: Surroundings, given: _Given, streams: Streamed) -> Step:
        if isinstance(item, Group):
            return nest(item, around)
        if isinstance(item, Flow):
            return stream(item, streams.dots, around)
        s = item.statement
        if isinstance(s, Scatter):
            return _scatter(s, around)
        if isinstance(s, Recurrence):
            return sequence(s, around)
        if isinstance(s, Compute) and s.op == "argsort":
            return sort(s, around.names)
        form, bias = given.convolutions.get(s.target), given.biases.get(s.target)
        if form is not None:
            return convolve(s, item.reads, form, bias, around)
        step = contract(s, "a matrix product: left to the BLAS of torch")
        return step if bias is None else replace(step, bias=operand(bias))


def _scatter(s: Scatter, around: Surroundings) -> ScatterStep:
    if s.kind is Kind.BOOL:
        raise UnplannableError(f"{s.target}: a scatter of conditions")
    lets, value, at = scatter_values(around, s.loops, s.body, s.at)
    base_lets, base, _ = scatter_values(around, s.axes, s.base, ())
    free = tuple(a for a in s.loops if positions((a,))[0] in s.at)
    reason = "accumulates into the places that its positions name"
    return ScatterStep(
        s.target, s.target, s.axes, base_lets, base, s.loops, at, s.op, lets, value, free, s.padded, (), reason
    )


def _by_name(statements: tuple[Statement, ...]) -> dict[str, Compute | Scatter]:
    """What defines a tensor; the steps of recurrences are among them."""
    parts = (s.steps if isinstance(s, Recurrence) else (s,) for s in statements)
    return {part.target: part for some in parts for part in some}


def _argument(t: Tensor, results: Sequence[str]) -> Buffer:
    match t.kind:
        case Kind.INT:
            storage = Storage.INT64
        case Kind.BOOL:
            storage = Storage.BOOL
        case Kind.FLOAT:
            residual = t.role is Role.SAVED and t.name not in results and t.of not in results
            storage = Storage.COMPUTE if residual or t.dtype else Storage.SCALAR
        case Kind.COMPLEX:
            raise AssertionError(f"{t.name}: programs are real")
        case _:
            assert_never(t.kind)
    return Buffer(t.name, t.shape, storage, t.role, 0 if t.role in (Role.COTANGENT, Role.TANGENT) else None)


def _reread(items: list[Item]) -> set[str]:
    """Stored values that a later step reads."""
    found: set[str] = set()
    for item in items:
        own = set(targets(item))
        found |= {r.tensor for r in reads_of_item(item) if r.tensor not in own}
    return found


def _with_results(steps: list[Step], results: tuple[Result, ...]) -> tuple[Step, ...]:
    """Note on every step which results need it."""
    needs: dict[str, set[str]] = {}
    for r in results:
        needs.setdefault(r.buffer, set()).add(r.name)
    out: list[Step] = []
    for step in reversed(steps):
        wanted = {name for t in written(step) for name in needs.get(t, ())}
        out.append(replace(step, results=tuple(r.name for r in results if r.name in wanted)))
        for t in reads_of(step):
            needs.setdefault(t, set()).update(wanted)
    return tuple(reversed(out))


def written(step: Step) -> tuple[str, ...]:
    """The buffers a step fills."""
    match step:
        case Nest():
            return tuple(dict.fromkeys(s.buffer for p in step.passes for s in p.stores))
        case Contract():
            return (step.out.buffer,)
        case Convolve() | Sort():
            return written(step.nest)
        case ScatterStep():
            return (step.out,)
        case Chain():
            return step.own
        case Stream():
            return (*(s.buffer for s in stores_of(step)), *(w.buffer for w in sums_of(step)))
        case _:
            assert_never(step)


def step_scalars(step: Kernel) -> tuple[Scalar, ...]:
    """Every expression of a step."""
    if isinstance(step, ScatterStep):
        at = tuple(p for p in step.at if not isinstance(p, Batch))
        return (*(x.value for x in step.base_lets), step.base, *(x.value for x in step.lets), step.value, *at)
    if isinstance(step, Chain):
        return tuple(e for t in step.tasks for e in task_scalars(t))
    if isinstance(step, Stream):
        swept = tuple(e for s in step.sweeps for e in sweep_scalars(s))
        return swept + tuple(e for p in step.points for e in point_scalars(p))
    return tuple(
        e
        for p in step.passes
        for e in (*(x.value for x in p.lets), *(f.value for f in p.folds), *(s.value for s in p.stores))
    )


def reads_of(step: Step) -> tuple[str, ...]:
    """The buffers a step reads, in order of appearance (locals of a nest among them)."""
    if isinstance(step, Contract):
        return tuple(o.buffer for o in (step.a, step.b, step.bias) if o is not None)
    if isinstance(step, Convolve | Sort):
        return reads_of(step.nest)
    return tuple(dict.fromkeys(r.tensor for e in step_scalars(step) for r in reads(e)))
