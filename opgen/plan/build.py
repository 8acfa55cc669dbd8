"""From a Program to its kernel plan.

    expand composite reductions → split contractions → choose what is stored and what is recomputed
    → group statements into nests → buffers and results

A pure function; the plan depends on nothing but the Program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from opgen.ir.program import Axis, Compute, Function, Kind, Output, Program, Role, Scatter, Statement
from opgen.ir.scalar import BATCH, Apply, Batch, Index, Param, Read, Scalar, rebuild, substitute, transform, walk
from opgen.plan.contract import bias_of, contract, operand, split
from opgen.plan.expand import Names, axis_names, expand, positions
from opgen.plan.group import Grouping, Item, Single, targets
from opgen.plan.model import Buffer, Contract, KernelPlan, Nest, Result, ScatterStep, Step, Storage
from opgen.plan.nest import Surroundings, nest, scatter_values
from opgen.plan.values import resolve

_CHEAP = frozenset("add sub mul neg eq ne lt le gt ge and or not where min max abs square relu detach".split())
_DEAR = 8  # a value at least this costly is stored rather than computed once per point of a wider loop
_DEPTH = 16  # maps written into each other at most this deep, so that expressions stay readable and shallow


def build(p: Program) -> KernelPlan:
    """Plan the kernels of a program."""
    return _Planner(p).plan()


def _cost(e: Scalar) -> int:
    total = 0
    for n in walk(e):
        if isinstance(n, Apply):
            total += 1 if n.fn in _CHEAP else 3 if n.fn in ("div", "sqrt", "rsqrt", "reciprocal") else 8
    return total


class _Planner:
    def __init__(self, p: Program) -> None:
        self.p = p
        taken = [*(t.name for t in p.inputs), *(a.name for a in p.params), *(d.name for d in p.dims)]
        taken += [*(s.target for s in p.statements), *(o.name for o in p.outputs)]
        self.names = Names(tuple(taken))
        self.arguments = {t.name for t in p.inputs}

    def plan(self) -> KernelPlan:
        statements = tuple(_inline_functions(s, self.p.functions) for s in self.p.statements)
        statements, outputs = self._distinct_outputs(statements)
        statements = expand(statements, self.names)
        statements, products, operands = self._contractions(statements)
        statements, biases = self._biases(statements, products, {o.value for o in outputs})
        results = {o.value for o in outputs}
        kept = self._kept(statements, results, operands)
        maps = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None and s.target not in kept}
        items = self._grouped(statements, kept | results, products, maps)
        return self._assemble(items, statements, outputs, maps, biases)

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

    def _contractions(self, statements: tuple[Statement, ...]) -> tuple[tuple[Statement, ...], set[str], set[str]]:
        out: list[Statement] = []
        products: set[str] = set()
        operands: set[str] = set()
        for s in statements:
            found = split(s, self.names) if isinstance(s, Compute) else None
            if found is None:
                out.append(s)
            else:
                out.extend(found.statements)
                products.update(found.products)
                operands.update(found.operands)
        return tuple(out), products, operands

    def _biases(
        self, statements: tuple[Statement, ...], products: set[str], results: set[str]
    ) -> tuple[tuple[Statement, ...], dict[str, Read]]:
        """Let a matrix product add the bias itself where that is all its only reader does."""
        by_name = {s.target: s for s in statements}
        readers: dict[str, list[Statement]] = {}
        for s in statements:
            for r in {r.tensor: r for e in _scalars(s) for r in walk(e) if isinstance(r, Read)}:
                readers.setdefault(r, []).append(s)
        biases: dict[str, Read] = {}
        drop: dict[str, str] = {}
        for name in [s.target for s in statements if s.target in products]:
            product, users = by_name[name], readers.get(name, [])
            if len(users) != 1 or name in results or not isinstance(product, Compute):
                continue
            bias = bias_of(users[0], product)
            if bias is not None and bias.tensor in self.arguments and _linear(contract(product, ""), bias):
                drop[users[0].target] = name
                biases[users[0].target] = bias
        out = []
        for s in statements:
            if s.target in drop.values():
                continue
            if s.target in drop:
                product = by_name[drop[s.target]]
                assert isinstance(product, Compute) and isinstance(s, Compute)
                renamed = {a.name: Index(b.name) for a, b in zip(product.axes, s.axes, strict=True) if
                           isinstance(a, Axis) and isinstance(b, Axis)}
                body = transform(product.body, lambda e, m=renamed: m.get(e.name, e) if isinstance(e, Index) else e)
                out.append(replace(product, target=s.target, axes=s.axes, body=body))
                products.add(s.target)
            else:
                out.append(s)
        products -= set(drop.values())
        return tuple(out), biases

    # --- choices -------------------------------------------------------------------------------------------------

    def _kept(self, statements: tuple[Statement, ...], results: set[str], operands: set[str]) -> set[str]:
        """The maps that are computed once under their own name; the others are written in place by their readers."""
        maps = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None}
        depth: dict[str, int] = {}
        deep: set[str] = set()
        for s in statements:
            if s.target in maps:
                own = 1 + max((depth.get(n.tensor, 0) for n in walk(maps[s.target].body) if isinstance(n, Read)), default=0)
                depth[s.target] = 0 if own > _DEPTH else own
                if own > _DEPTH:
                    deep.add(s.target)
        kept: set[str] = set()
        spread: set[str] = set()  # maps that some reader evaluates at more points than they have
        padded: set[str] = set()
        read: set[str] = set()
        for s in reversed(statements):
            m = s.target
            if m in maps and (
                m in operands
                or m in deep
                or m in padded
                or (m in spread and _cost(maps[m].body) >= _DEAR)
                or (m in results and m in read and _cost(maps[m].body) >= _DEAR)
            ):
                kept.add(m)
            loops = {"..." if isinstance(a, Batch) else a.name for a in s.loops} if isinstance(s, Compute) else {
                "..." if isinstance(a, Batch) else a.name for a in s.loops
            }
            inherits = m in spread and m not in kept
            for e in _scalars(s):
                for r in (n for n in walk(e) if isinstance(n, Read) and n.tensor in maps):
                    used = {n.name for p in r.at if not isinstance(p, Batch) for n in walk(p) if isinstance(n, Index)}
                    used |= {"..."} if BATCH in r.at else set()
                    read.add(r.tensor)
                    if inherits or loops - used:
                        spread.add(r.tensor)
                    if r.fill is not None:
                        padded.add(r.tensor)
        return kept

    def _grouped(
        self, statements: tuple[Statement, ...], kept: set[str], products: set[str], maps: dict[str, Compute]
    ) -> list[Item]:
        grouping = Grouping()
        for s in statements:
            if isinstance(s, Compute) and s.op is None and s.target not in kept:
                continue
            found: dict[Read, None] = {}
            seen: set[Read] = set()
            for e in _scalars(s):
                resolve(e, maps, found, seen)
            if isinstance(s, Scatter) or s.target in products:
                grouping.alone(s, tuple(found))
            else:
                grouping.place(s, tuple(found))
        return grouping.items

    # --- the plan ------------------------------------------------------------------------------------------------

    def _assemble(
        self,
        items: list[Item],
        statements: tuple[Statement, ...],
        outputs: tuple[Output, ...],
        maps: dict[str, Compute],
        biases: dict[str, Read],
    ) -> KernelPlan:
        by_name = {s.target: s for s in statements}
        stored = self._stored(items, outputs)
        reread = _reread(items)
        storage = self._storages(items, by_name, stored, outputs, reread)
        kinds = {t.name: t.kind for t in self.p.inputs} | {s.target: s.kind for s in statements}
        taken = [t.name for t in self.p.inputs] + [a.name for a in self.p.params] + [d.name for d in self.p.dims]
        axes = [n for s in statements for n in axis_names(s.loops)]
        names = Names((*taken, *sorted(stored), *axes))
        around = Surroundings(self.p, maps, kinds, frozenset(stored), names)
        steps = [self._step(item, around, biases) for item in items]
        shapes = {s.target: s.shape for s in statements}
        buffers = [*(_argument(t) for t in self.p.inputs)]
        buffers += [Buffer(n, shapes[n], storage[n]) for item in items for n in targets(item) if n in stored]
        results = tuple(
            Result(o.name, o.value, o.shape, self._result_storage(o), o.like if BATCH in o.shape else None)
            for o in outputs
        )
        return KernelPlan(
            self.p.name, tuple(buffers), self.p.params, self.p.dims, _with_results(steps, results), results
        )

    def _stored(self, items: list[Item], outputs: tuple[Output, ...]) -> set[str]:
        """Statements whose values leave their step."""
        stored = {o.value for o in outputs}
        home = {t: k for k, item in enumerate(items) for t in targets(item)}
        for k, item in enumerate(items):
            reads = item.reads if isinstance(item, Single) else tuple(r for m in item.members for r in m.reads)
            stored |= {r.tensor for r in reads if home.get(r.tensor, k) != k}
            if isinstance(item, Single):
                stored.add(item.statement.target)
            else:
                stored |= {m.statement.target for m in item.members if m.statement.op is None and m.inner}
        return stored

    def _storages(
        self,
        items: list[Item],
        by_name: dict[str, Statement],
        stored: set[str],
        outputs: tuple[Output, ...],
        reread: set[str],
    ) -> dict[str, Storage]:
        wanted = {o.value: self._result_storage(o) for o in outputs}
        storage = {t.name: _argument(t).storage for t in self.p.inputs}
        for item in items:
            for name in targets(item):
                kind = by_name[name].kind
                if kind is Kind.INT:
                    storage[name] = Storage.INT64
                elif kind is Kind.BOOL:
                    storage[name] = Storage.BOOL
                elif isinstance(item, Single) and isinstance(item.statement, Compute):
                    same = {storage[r.tensor] for r in item.reads}
                    storage[name] = Storage.SCALAR if same == {Storage.SCALAR} else Storage.COMPUTE
                elif name in reread or isinstance(item, Single):
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
                return Storage.COMPUTE if o.of and o.of == o.value else Storage.SCALAR
            case _:
                assert_never(o.kind)

    def _step(self, item: Item, around: Surroundings, biases: dict[str, Read]) -> Step:
        if not isinstance(item, Single):
            return nest(item, around)
        s = item.statement
        if isinstance(s, Scatter):
            lets, value, at = scatter_values(around, s.body, s.at)
            free = tuple(a for a in s.loops if (a if isinstance(a, Batch) else Index(a.name)) in s.at)
            reason = "accumulates into the places that its positions name, in a fixed order"
            return ScatterStep(s.target, s.target, s.axes, s.base, s.loops, at, s.op, lets, value, free, (), reason)
        step = contract(s, "a matrix product: left to the BLAS of torch")
        bias = biases.get(s.target)
        return step if bias is None else replace(step, bias=operand(bias))


def _argument(t: object) -> Buffer:
    from opgen.ir.program import Tensor

    assert isinstance(t, Tensor)
    match t.kind:
        case Kind.INT:
            storage = Storage.INT64
        case Kind.BOOL:
            storage = Storage.BOOL
        case Kind.FLOAT:
            storage = Storage.COMPUTE if t.role is Role.SAVED else Storage.SCALAR
        case _:
            assert_never(t.kind)
    return Buffer(t.name, t.shape, storage, t.role, t.role in (Role.COTANGENT, Role.TANGENT))


def _scalars(s: Statement) -> tuple[Scalar, ...]:
    match s:
        case Compute():
            return (s.body,)
        case Scatter():
            return (s.body, s.base, *(p for p in s.at if not isinstance(p, Batch)))
        case _:
            assert_never(s)


def _inline_functions(s: Statement, functions: tuple[Function, ...]) -> Statement:
    """Write the spec's own scalar functions out."""
    if not functions:
        return s
    table = {f.name: f for f in functions}

    def inline(e: Scalar) -> Scalar:
        own = table.get(e.fn) if isinstance(e, Apply) else None
        if own is None or not isinstance(e, Apply):
            return rebuild(e, inline)
        bound: dict[Scalar, Scalar] = {Param(n): inline(a) for n, a in zip(own.params, e.args, strict=True)}
        return substitute(inline(own.value), bound)

    if isinstance(s, Compute):
        return replace(s, body=inline(s.body))
    at = tuple(p if isinstance(p, Batch) else inline(p) for p in s.at)
    return replace(s, body=inline(s.body), base=inline(s.base), at=at)


def _linear(c: Contract, bias: Read) -> bool:
    """Whether a product is rows times a matrix, so that torch's linear computes it with the bias."""
    last = c.out.labels[-1]
    return not c.batch and len(c.k) == 1 and (c.n == (last,) or c.m == (last,)) and len(bias.at) == 1


def _reread(items: list[Item]) -> set[str]:
    """Stored values that a later step reads."""
    found: set[str] = set()
    for item in items:
        own = set(targets(item))
        reads = item.reads if isinstance(item, Single) else tuple(r for m in item.members for r in m.reads)
        found |= {r.tensor for r in reads if r.tensor not in own}
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
        case ScatterStep():
            return (step.out,)
        case _:
            assert_never(step)


def step_scalars(step: Nest | ScatterStep) -> tuple[Scalar, ...]:
    """Every expression of a step."""
    if isinstance(step, ScatterStep):
        at = tuple(p for p in step.at if not isinstance(p, Batch))
        return (step.base, *(x.value for x in step.lets), step.value, *at)
    return tuple(
        e
        for p in step.passes
        for e in (*(x.value for x in p.lets), *(f.value for f in p.folds), *(s.value for s in p.stores))
    )


def reads_of(step: Step) -> tuple[str, ...]:
    """The buffers a step reads, in order of appearance (locals of a nest among them)."""
    if isinstance(step, Contract):
        return tuple(o.buffer for o in (step.a, step.b, step.bias) if o is not None)
    return tuple(dict.fromkeys(n.tensor for e in step_scalars(step) for n in walk(e) if isinstance(n, Read)))
