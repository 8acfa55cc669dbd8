"""A scatter as a C++ function for the CPU: the base is stored first, then every point adds to its place.

Loops that separate places (`free`) run in parallel and along memory; the others run in order within them, so repeats
combine in a fixed order without atomics.
"""

from __future__ import annotations

from opgen.code.cpp_layout import block
from opgen.code.cpp_nest import NestCode
from opgen.code.cuda_scope import mentions
from opgen.code.long_values import hoisted
from opgen.ir.scalar import Batch
from opgen.plan.model import KernelPlan, Nest, Pass, ScatterStep, Schedule, Store

_COMBINE = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min"}


def scatter_lines(base: list[str], plan: KernelPlan, step: ScatterStep) -> list[str]:
    """The function body: `base` (the kernel that stores the base value) without its return, then the accumulation."""
    rest = tuple(a for a in step.loops if a not in step.free)
    nest = Nest(
        step.name,
        step.free,
        (Pass(rest, step.lets, (), (Store(step.out, step.at, step.value),)),),
        Schedule.COLUMN,
    )
    body = _Accumulation(plan, nest, step).lines()
    return [*block("{", base[:-1]), *body]


class _Accumulation(NestCode):
    def __init__(self, plan: KernelPlan, nest: Nest, step: ScatterStep) -> None:
        super().__init__(plan, nest)
        self.step = step

    def lines(self) -> list[str]:
        (p,) = self.nest.passes
        scope = self.scope
        scope.stand(self.nest.outer, "point", "columns")
        inner = self._inner(p.loops)
        self._number(self.nest.outer, "outer", "columns", lane=True)
        self._number(p.loops, inner, "point", lane=False)
        sources = self._reads(p) if scope.lanes else []
        lets = [line for x in p.lets for line in self._let(x)]
        add = self._combine(p.stores[0])
        each_body = [*lets, *add]
        index = "int64_t i" if mentions("i", each_body) else "int64_t"
        each = block(f"rt::each_in_order(columns.size, [&]({index}) {{", each_body, "});")
        head = f"{inner}.runs<1>(0, {inner}.count, columns.at, [&](const auto& point) {{"
        runs = block(head, [*sources, *each], "});")
        columns = block("outer.runs<rt::block>(begin, end, nullptr, [&](const auto& columns) {", runs, "});")
        body = self._parallel(f"{inner}.count", columns)
        return [*self._declarations(), *body, "return rt::status(host);"]

    def _reads(self, p: Pass) -> list[str]:
        return self._sources(Pass(p.loops, p.lets, (), ()), "point", "columns") + self._value_sources(p)

    def _value_sources(self, p: Pass) -> list[str]:
        places = tuple(q for q in p.stores[0].at if not isinstance(q, Batch))
        expressions = (p.stores[0].value, *places)
        done = {a.number for a in self._accesses(tuple(x.value for x in p.lets))}
        lines = []
        for a in self._accesses(expressions):
            if a.number in done or not a.plain:
                continue
            if a.moves_with(self.scope.lanes):
                lines.append(self._run_of("Source", a, "point", "columns"))
            elif a.name not in self.outer_locals:
                self.outer_locals.add(a.name)
                tensor = self.scope.tensor(a.buffer)
                lines.append(f"const auto {a.name} = rt::load({tensor}, point.at[{a.number}]);")
        return lines

    def _combine(self, s: Store) -> list[str]:
        scope, access = self.scope, self._written(s)
        computed = scope.computed(s.at)
        offset = scope.offset(access)
        guards = []
        for k, q in enumerate(s.at):
            if isinstance(q, Batch):
                continue
            if k in computed:
                offset += scope.moved(s.buffer, k, q)
            if scope.doubtful(s.buffer, k, q):
                guards.append(scope.guard(s.buffer, k, q, reports=not self.step.padded))
        lines = [f"if (!{' || !'.join(guards)}) return;"] if guards else []
        target = scope.tensor(s.buffer)
        head = f"rt::accumulate<rt::{_COMBINE[self.step.op]}>({target}, {offset}, "
        parts, value = hoisted(scope, s.value, len(f"{head});"))
        return [*lines, *parts, f"{head}{value.text});"]
