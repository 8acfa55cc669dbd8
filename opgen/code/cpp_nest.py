"""One nest of a kernel plan as a C++ function for the CPU.

Three forms share all building blocks: `map` (runs of outer points), `row` (outer points one by one, runs along the
inner loops, folds kept per lane) and `columns` (runs of outer points, inner points one by one, folds kept per point).
Where the plan cannot know which of the last two meets memory better, both are written and the strides decide.
"""

from __future__ import annotations

import re

from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import Access, CpuScope, numeric_indices
from opgen.code.cuda_scope import value_type
from opgen.code.long_values import hoisted
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Batch, Read, Scalar, walk
from opgen.plan.model import Fold, KernelPlan, Let, Nest, Pass, Schedule, Store

_FOLDS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min", "any": "Any", "all": "All"}
_BEST = {"argmax": "rt::Best<true>", "argmin": "rt::Best<false>"}


def indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else line for line in lines]


class NestCode:
    """Lays out the body of one kernel."""

    def __init__(self, plan: KernelPlan, nest: Nest) -> None:
        self.nest = nest
        self.scope = CpuScope(plan)
        self.scope.collect(nest)
        self.fixed = numeric_indices(self.scope, nest)
        self.loops: dict[tuple[Loop, ...], str] = {}
        self.outer_locals: set[str] = set()

    def lines(self) -> list[str]:
        """The statements of the function."""
        forms = self._forms()
        bodies = [getattr(self, f"_{form}")() for form in forms]
        declared = self._declarations()
        if len(bodies) == 1:
            return [*declared, *bodies[0], "return rt::status(host);"]
        row = block("if (call.batch_ndim == 0) {", bodies[0], "} else {")
        return [*declared, *row, *indented(bodies[1]), "}", "return rt::status(host);"]

    def _forms(self) -> list[str]:
        match self.nest.schedule:
            case Schedule.MAP:
                return ["map"]
            case Schedule.ROW:
                return ["row"]
            case Schedule.WHOLE:
                return ["whole"]
            case Schedule.COLUMN:
                return ["row", "columns"] if self._batch_last() else ["columns"]

    def _batch_last(self) -> bool:
        """Whether the folds read along the batch, which may be empty."""
        return isinstance(self.nest.outer[-1], Batch) and len(self.nest.outer) > 1

    def _declarations(self) -> list[str]:
        scope = self.scope
        loops = scope.loops("outer", self.nest.outer, self.fixed)
        for inner, name in self.loops.items():
            loops += scope.loops(name, inner, self.fixed)
        tensors = list(scope.tensors())
        return [*scope.numbers.values(), *tensors, *loops]

    def _inner(self, loops: tuple[Loop, ...]) -> str:
        if loops not in self.loops:
            label = "_".join("batch" if isinstance(a, Batch) else a.name for a in loops)
            self.loops[loops] = self.scope.fresh(f"over_{label}")
        return self.loops[loops]

    def _work(self) -> str:
        inner = [self._inner(p.loops) for p in self.nest.passes if p.loops]
        counts = {name: inner.count(name) for name in inner}
        return " + ".join(f"{n} * {name}.count" if n > 1 else f"{name}.count" for name, n in counts.items()) or "1"

    # --- forms -------------------------------------------------------------------------------------------------------

    def _map(self) -> list[str]:
        self.scope.locals.clear()
        self.scope.stand(self.nest.outer, "run")
        self._number(self.nest.outer, "outer", "run", lane=True)
        body = self._point_runs(self.nest.passes[0], "run", "run")
        runs = block("outer.runs<rt::block>(begin, end, nullptr, [&](const auto& run) {", body, "});")
        return self._parallel("1", runs)

    def _row(self) -> list[str]:
        self.scope.locals.clear()
        body: list[str] = []
        for p in self.nest.passes:
            body += self._row_pass(p) if p.loops else self._row_point(p)
        runs = block("outer.runs<1>(begin, end, nullptr, [&](const auto& row) {", body, "});")
        return self._parallel(self._work(), runs)

    def _columns(self) -> list[str]:
        self.scope.locals.clear()
        body: list[str] = []
        for p in self.nest.passes:
            body += self._column_pass(p) if p.loops else self._column_point(p)
        runs = block("outer.runs<rt::block>(begin, end, nullptr, [&](const auto& columns) {", body, "});")
        return self._parallel(self._work(), runs)

    def _whole(self) -> list[str]:
        """One outer point: chunks of the inner loop fold apart, then together in order."""
        self.scope.locals.clear()
        lines: list[str] = []
        for p in self.nest.passes:
            if p.loops:
                lines += self._chunked(p)
            else:
                lines += self._row_point(p, where="rt::origin")
        return lines

    def _parallel(self, work: str, body: list[str]) -> list[str]:
        return block(f"rt::parallel(host, outer.count, {work}, [&](int64_t begin, int64_t end) {{", body, "});")

    # --- rows --------------------------------------------------------------------------------------------------------

    def _row_point(self, p: Pass, where: str = "row") -> list[str]:
        """A pass without loops: numbers."""
        scope = self.scope
        scope.stand((), where)
        self._number(self.nest.outer, "outer", where, lane=False)
        lines = [line for let in p.lets for line in self._let(let)]
        for s in p.stores:
            head = f"rt::store({scope.tensor(s.buffer)}, {where}.at[{self._written(s).number}], "
            parts, value = hoisted(scope, s.value, len(f"{head});"))
            lines += [*parts, f"{head}{value.text});"]
        return lines

    def _values_at(self, expressions: tuple[Scalar, ...], where: str) -> list[str]:
        """Plain accesses that have one value at this place, as constants; each once. One point reads directly."""
        lines: list[str] = []
        if not self.scope.lanes:
            return lines
        for access in self._accesses(expressions):
            if access.plain and not access.moves_with(self.scope.lanes) and access.name not in self.outer_locals:
                self.outer_locals.add(access.name)
                tensor = self.scope.tensor(access.buffer)
                lines.append(f"const auto {access.name} = rt::load({tensor}, {where}.at[{access.number}]);")
        return lines

    def _row_pass(self, p: Pass, base: str = "row") -> list[str]:
        inner = self._inner(p.loops)
        folds = [f"{self._fold_type(f)} {self._fold_name(f)};" for f in p.folds]
        run = self._row_run(p, inner)
        run += self._sums(p, "ran(run.size)")
        runs = block(f"{inner}.runs<rt::block>(0, {inner}.count, {base}.at, [&](const auto& run) {{", run, "});")
        return [*folds, *runs, *self._fold_values(p)]

    def _sums(self, p: Pass, call: str) -> list[str]:
        """A call for every fold of a pass that is a sum of floats: these are kept in blocks."""
        return [f"{self._fold_name(f)}.{call};" for f in p.folds if f.op == "sum" and f.kind is Kind.FLOAT]

    def _row_run(self, p: Pass, inner: str) -> list[str]:
        """What a run of a row does: gather, then fold and store lane by lane."""
        scope = self.scope
        saved = set(self.outer_locals)
        scope.stand(p.loops, "run")
        self._number(self.nest.outer, "outer", "row", lane=False)
        self._number(p.loops, inner, "run", lane=True)
        sources = self._sources(p, "run", "run")
        body = self._body(p, "lane")
        self.outer_locals = saved
        i = " i" if any(re.search(r"\bi\b", line) for line in body) else ""
        if p.folds:
            head = f"rt::lanes<rt::lane_count>(run.size, [&](int64_t{i}, int lane) {{"
        else:
            head = f"rt::each(run.size, [&](int64_t{i}) {{"
        return [*sources, *block(head, body, "});")]

    def _chunked(self, p: Pass) -> list[str]:
        inner = self._inner(p.loops)
        members = [f"{self._fold_type(f)} {self._fold_name(f)};" for f in p.folds]
        merges = [f"{self._fold_name(f)}.merge(other.{self._fold_name(f)});" for f in p.folds]
        part = block("struct Part {", [*members, *block("void merge(const Part& other) {", merges)], "};")
        folds = [f"auto& {self._fold_name(f)} = part.{self._fold_name(f)};" for f in p.folds]
        run = [*self._row_run(p, inner), *self._sums(p, "ran(run.size)")]
        runs = block(f"{inner}.runs<rt::block>(begin, end, nullptr, [&](const auto& run) {{", run, "});")
        call = f"rt::chunked(host, {inner}.count, total, [&](int64_t begin, int64_t end, Part& part) {{"
        return [*part, "Part total;", *block(call, [*folds, *runs], "});"), *self._fold_values(p, "total.")]

    # --- columns -----------------------------------------------------------------------------------------------------

    def _column_point(self, p: Pass) -> list[str]:
        """A pass without loops: an array for every let."""
        self.scope.stand(self.nest.outer, "columns")
        self._number(self.nest.outer, "outer", "columns", lane=True)
        return self._point_runs(p, "columns", "columns", array=True)

    def _column_pass(self, p: Pass) -> list[str]:
        scope, inner = self.scope, self._inner(p.loops)
        scope.stand(self.nest.outer, "point", "columns")
        saved = set(self.outer_locals)
        folds = [f"{self._fold_type(f, 'rt::block')} {self._fold_name(f)};" for f in p.folds]
        self._number(self.nest.outer, "outer", "columns", lane=True)
        self._number(p.loops, inner, "point", lane=False)
        sources = self._sources(p, "point", "columns")
        body = self._body(p, "i")
        self.outer_locals = saved
        each = block("rt::each(columns.size, [&](int64_t i) {", body, "});")
        point = " point" if any(re.search(r"\bpoint\b", line) for line in (*sources, *body)) else ""
        head = f"{inner}.runs<1>(0, {inner}.count, columns.at, [&](const auto&{point}) {{"
        runs = block(head, [*sources, *each, *self._sums(p, "ran(columns.size)")], "});")
        for f in p.folds:
            self.scope.locals[f.name] = (f"{self._fold_name(f)}[i]", f.kind)
        return [*folds, *runs, *self._sums(p, "finish()")]

    # --- parts -------------------------------------------------------------------------------------------------------

    def _point_runs(self, p: Pass, at: str, step: str, *, array: bool = False) -> list[str]:
        """The lets and stores of a pass without loops, over a run of outer points."""
        scope = self.scope
        sources = self._sources(p, at, step)
        lines: list[str] = []
        arrays: list[str] = []
        for let in p.lets:
            if array:
                name = scope.fresh(let.name)
                arrays.append(f"{value_type(let.kind)} {name}[rt::block];")
                parts, value = hoisted(scope, let.value, len(f"{name}[i] = ;"))
                lines += [*parts, f"{name}[i] = {value.text};"]
                scope.locals[let.name] = (f"{name}[i]", let.kind)
            else:
                lines += self._let(let)
        lines += [line for s in p.stores for line in self._store(s)]
        return [*sources, *arrays, *block(f"rt::each({step}.size, [&](int64_t i) {{", lines, "});")]

    def _sources(self, p: Pass, at: str, step: str) -> list[str]:
        """Runs of everything a pass reads and writes; what does not move along the run is one number."""
        expressions = tuple([x.value for x in p.lets] + [f.value for f in p.folds] + [s.value for s in p.stores])
        scope = self.scope
        lines = self._values_at(expressions, at)
        for a in self._accesses(expressions):
            if a.plain and a.moves_with(scope.lanes) and a.name:
                lines.append(self._run_of("Source", a, at, step))
        lines += [self._run_of("Sink", self._written(s), at, step) for s in p.stores]
        return lines

    def _run_of(self, kind: str, a: Access, at: str, step: str) -> str:
        type_ = value_type(self.scope.plan.buffer(a.buffer).kind)
        tensor, n = self.scope.tensor(a.buffer), a.number
        const = "const " if kind == "Source" else ""
        return f"{const}rt::{kind}<{type_}> {a.name}({tensor}, {at}.at[{n}], {step}.step[{n}], {step}.size);"

    def _accesses(self, expressions: tuple[Scalar, ...]) -> list[Access]:
        found: dict[int, Access] = {}
        local = self._local_names()
        for e in expressions:
            for r in walk(e):
                if isinstance(r, Read) and r.tensor not in local:
                    access = self.scope.find(r.tensor, r.at)
                    assert access is not None
                    if r.fill is None:
                        found[access.number] = access
        return [found[k] for k in sorted(found)]

    def _local_names(self) -> set[str]:
        return {x.name for p in self.nest.passes for x in p.named}

    def _written(self, s: Store) -> Access:
        access = self.scope.find(s.buffer, s.at, write=True)
        assert access is not None
        return access

    def _number(self, loops: tuple[Loop, ...], name: str, where: str, *, lane: bool) -> None:
        """How the indices that are used as numbers are spelled."""
        number = 0
        for a in loops:
            if isinstance(a, Axis) and a.name in self.fixed:
                self.scope.indices[a.name] = f"{name}.index({where}, {number}, {'i' if lane else '0'})"
                number += 1

    def _body(self, p: Pass, lane: str) -> list[str]:
        """What happens at a point of a pass."""
        lines = [line for let in p.lets for line in self._let(let)]
        lines += [line for f in p.folds for line in self._add(f, p, lane)]
        return lines + [line for s in p.stores for line in self._store(s)]

    def _let(self, let: Let) -> list[str]:
        head = f"const {value_type(let.kind)} {let.name} = "
        parts, value = hoisted(self.scope, let.value, len(head) + 4)
        name = self.scope.fresh(let.name)
        self.scope.locals[let.name] = (name, let.kind)
        return [*parts, f"const {value_type(let.kind)} {name} = {value.text};"]

    def _store(self, s: Store) -> list[str]:
        head = f"{self._written(s).name}.set(i, "
        parts, value = hoisted(self.scope, s.value, len(f"{head});"))
        return [*parts, f"{head}{value.text});"]

    def _fold_name(self, f: Fold) -> str:
        return f"{f.name}_fold"

    def _fold_type(self, f: Fold, lanes: str = "") -> str:
        more = f", {lanes}" if lanes else ""
        if f.op in _BEST:
            kind = self._kind(f.value)
            return f"rt::Arg<{_BEST[f.op]}, {value_type(kind)}{more}>"
        return f"rt::Fold<rt::{_FOLDS[f.op]}, {value_type(f.kind)}{more}>"

    def _kind(self, e: Scalar) -> Kind:
        """The kind of a folded value; its text is thrown away."""
        lets = {x.name: x.kind for p in self.nest.passes for x in p.named}
        kept = dict(self.scope.locals)
        self.scope.locals.update({n: (n, k) for n, k in lets.items() if n not in self.scope.locals})
        indices = dict(self.scope.indices)
        self.scope.indices.update({a: a for a in self.fixed})
        kind = self.scope.printer.text(e).kind
        self.scope.locals, self.scope.indices = kept, indices
        return Kind.INT if kind is Kind.BOOL else kind

    def _add(self, f: Fold, p: Pass, lane: str) -> list[str]:
        head, tail = f"{self._fold_name(f)}.add({lane}, ", ");"
        if f.op in _BEST:
            (loop,) = p.loops
            assert isinstance(loop, Axis)
            tail = f", {self.scope.indices[loop.name]});"
        parts, value = hoisted(self.scope, f.value, len(head) + len(tail))
        return [*parts, f"{head}{value.text}{tail}"]

    def _fold_values(self, p: Pass, owner: str = "") -> list[str]:
        lines = []
        for f in p.folds:
            name = self.scope.fresh(f.name)
            lines.append(f"const {value_type(f.kind)} {name} = {owner}{self._fold_name(f)}.value();")
            self.scope.locals[f.name] = (name, f.kind)
        return lines
