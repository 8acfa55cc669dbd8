"""A sequence as a C++ function for the CPU: runs of independent sequences side by side, places one after the other.

Within a place every task is plain loops; what a task stores is read back from memory by those after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import CpuScope
from opgen.code.cuda_scope import mentions, value_type
from opgen.code.long_values import Scope, hoisted
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Position, Read, walk
from opgen.plan.model import Chain, Fold, KernelPlan, Let, Task
from opgen.plan.sequence import Running, running, task_scalars

_FOLDS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "any": "Any", "all": "All"}
_BEST = {"argmax": "rt::Best<true>", "argmin": "rt::Best<false>"}


def sequence_lines(plan: KernelPlan, step: Chain) -> list[str]:
    """The statements of the function."""
    return _Code(plan, step).lines()


class _Code:
    def __init__(self, plan: KernelPlan, step: Chain) -> None:
        self.step = step
        self.scope = CpuScope(plan)
        self.scope.chain = step
        self.scope.runs = step.outer
        self.outer = step.outer
        self.carried: list[str] = []  # declarations of running values
        self._collect()

    def _collect(self) -> None:
        scope = self.scope
        for t in self.step.tasks:
            scope.around = (*self.outer, self.step.along, *t.loops, *t.over)
            for e in task_scalars(t):
                for r in walk(e):
                    if isinstance(r, Read) and (r.at or r.tensor in self._buffers()):
                        scope.access(r.tensor, r.at, write=False)
            scope.access(t.store.buffer, t.store.at, write=True)

    def _buffers(self) -> set[str]:
        return {b.name for b in self.scope.plan.buffers}

    def lines(self) -> list[str]:
        scope, along = self.scope, self.step.along
        scope.stand(self.outer, "run")
        number = 0
        for a in self.outer:
            if isinstance(a, Axis):
                scope.indices[a.name] = f"outer.index(run, {number}, i)"
                number += 1
        scope.current = scope.stepper = "run"
        name = scope.indices[along.name] = scope.fresh(along.name)
        size = scope.print(along.extent)
        body = [line for t in self.step.tasks for line in self._task(t)]
        head = f"for (int64_t {name} = 0; {name} < {size}; ++{name}) {{"
        if self.step.reverse:
            head = f"for (int64_t {name} = {size} - 1; {name} >= 0; --{name}) {{"
        places = [*self.carried, *block(head, body)]
        runs = block("outer.runs<rt::block>(begin, end, nullptr, [&](const auto& run) {", places, "});")
        work = scope.print(along.extent)
        whole = block(f"rt::parallel(host, outer.count, {work}, [&](int64_t begin, int64_t end) {{", runs, "});")
        return [*self._declarations(), *whole, "return rt::status(host);"]

    def _declarations(self) -> list[str]:
        fixed = frozenset(a.name for a in self.outer if isinstance(a, Axis))
        loops = self.scope.loops("outer", self.outer, fixed)
        return [*self.scope.numbers.values(), *self.scope.tensors(), *loops]

    # --- tasks -------------------------------------------------------------------------------------------------------

    def _task(self, t: Task) -> list[str]:
        scope = self.scope
        scope.around = (*self.outer, self.step.along, *t.loops, *t.over)
        scope.locals.clear()
        heads = self._heads(t.loops)
        body = [line for x in t.lets for line in self._let(x)]
        if t.fold is not None:
            body += self._folded(t, t.fold)
        target = scope.tensor(t.store.buffer)
        head = f"rt::store({target}, {self._at(t.store.buffer, t.store.at)}, "
        run = running(self.step, t) if scope.plan.buffer(t.store.buffer).kind is Kind.FLOAT else None
        if run is None:
            parts, value = hoisted(scope, t.store.value, len(f"{head});"))
            body += [*parts, f"{head}{value.text});"]
        else:
            carried = scope.fresh(f"{target}_running")
            self.carried.append(f"double {carried}[rt::block];")
            body += [*running_lines(scope, run, f"{carried}[i]"), f"{head}{carried}[i]);"]
        lines = _nested(heads, body)
        index = "int64_t i" if mentions("i", lines) else "int64_t"
        return block(f"rt::each(run.size, [&]({index}) {{", lines, "});")

    def _heads(self, loops: Iterable[Loop]) -> list[str]:
        heads = []
        for a in loops:
            assert isinstance(a, Axis)
            name = self.scope.indices[a.name] = self.scope.fresh(a.name)
            heads.append(f"for (int64_t {name} = 0; {name} < {self.scope.print(a.extent)}; ++{name}) {{")
        return heads

    def _folded(self, t: Task, f: Fold) -> list[str]:
        scope = self.scope
        heads = self._heads(t.over)
        fold = scope.fresh(f"{f.name}_fold")
        body = [line for x in t.inner for line in self._let(x)]
        tail = ");"
        kind = f.kind
        if f.op in _BEST:
            (loop,) = t.over
            assert isinstance(loop, Axis)
            tail = f", {scope.indices[loop.name]});"
            kind = scope.printer.text(f.value).kind
            kind = Kind.INT if kind is Kind.BOOL else kind
        parts, value = hoisted(scope, f.value, len(f"{fold}.add(0, {tail}"))
        body += [*parts, f"{fold}.add(0, {value.text}{tail}"]
        body += [f"{fold}.ran(1);"] if f.op == "sum" and f.kind is Kind.FLOAT else []
        type_ = f"Arg<{_BEST[f.op]}" if f.op in _BEST else f"Fold<rt::{_FOLDS[f.op]}"
        name = scope.fresh(f.name)
        scope.locals[f.name] = (name, f.kind)
        made = [f"rt::{type_}, {value_type(kind)}, 1> {fold};", *_nested(heads, body)]
        return [*made, f"const {value_type(f.kind)} {name} = {fold}.value();"]

    def _let(self, x: Let) -> list[str]:
        scope = self.scope
        parts, value = hoisted(scope, x.value, len(f"const {value_type(x.kind)} {x.name} = ") + 4)
        name = scope.fresh(x.name)
        scope.locals[x.name] = (name, x.kind)
        return [*parts, f"const {value_type(x.kind)} {name} = {value.text};"]

    def _at(self, buffer: str, at: tuple[Position, ...]) -> str:
        access = self.scope.find(buffer, at, write=True)
        assert access is not None
        moved = (self.scope.moved(buffer, k, p) for k, p in self.scope.computed(at).items())
        return self.scope.offset(access) + "".join(moved)


def running_lines(scope: Scope, run: Running, carried: str) -> list[str]:
    """Takes a running value to the next place."""
    tests, first = hoisted(scope, run.first, len("if () {"))
    begun, start = hoisted(scope, run.start, len(f"  {carried} = ;"))
    parts, rest = hoisted(scope, run.rest, len(f"{carried} += ;"))
    reset = block(f"if ({first.text}) {{", [*begun, f"{carried} = {start.text};"])
    return [*tests, *reset, *parts, f"{carried} {'+' if run.op == 'add' else '*'}= {rest.text};"]


def _nested(heads: list[str], body: list[str]) -> list[str]:
    for head in reversed(heads):
        body = block(head, body)
    return body
