"""The binding of an operator to torch: one C++ function per variant and direction, for `csrc/<op>.cpp`.

In go derived programs with the order of arguments and results that the dispatcher op has; out come functions on the
classes of `opgen_host.h` that check arguments, allocate, run the steps of the plan and give torch what it computes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from opgen.code.cpp_layout import block, laid_out, under
from opgen.code.layout import quoted
from opgen.code.native_layout import LIMIT
from opgen.code.printer import NATIVE, Leaf, Printer, Text
from opgen.code.signature import params_of
from opgen.ir.names import Names
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Axis, Chosen, Given, Kind, Program, Role
from opgen.ir.ranges import divisors
from opgen.ir.scalar import BATCH, Batch, Dim, Lit, Param, Scalar, walk
from opgen.kernel.reach import Reach
from opgen.package.cpp_library import LibrarySteps, element
from opgen.package.cpp_signature import NUMBERS, SECOND_ORDER, Direction, head, may_miss, own_argument, schema
from opgen.package.cpp_variants import Printed, printed
from opgen.package.cpp_wanted import Wanted
from opgen.package.cpp_zeros import Zeros
from opgen.package.shapes import carriers
from opgen.package.step_table import Launch, StepTable
from opgen.plan.build import written
from opgen.plan.few_rows import FewRows, few_rows
from opgen.plan.kernels import instead, kernels_of
from opgen.plan.model import (
    Buffer,
    Kernel,
    KernelPlan,
    Library,
    Nest,
    Result,
    Step,
    Storage,
)

_ATOM = NATIVE.atom
_POSITIONAL = ("argmax", "argmin")


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A registered kernel: its schema, C++ of its variants and of what chooses one, and the plan of each program."""

    name: str
    schema: str
    definitions: tuple[tuple[str, ...], ...]
    plans: tuple[KernelPlan, ...]


def host_function(operator: Operator, d: Direction, table: StepTable) -> HostFunction:
    """Lay out one direction; its kernels go into the operator's table of steps."""
    operator = replace(operator, params=params_of(operator, (p for _, p in d.programs)))
    name = f"{operator.name}_{d.which}"
    chosen, plans = printed(operator, d)
    several, definitions, recording = len(chosen) > 1, list[tuple[str, ...]](), set[int]()
    for p in chosen:
        variant, program = d.programs[p.number]
        wanted = Wanted(operator, d, program, p.plan)
        launches = table.add(p.plan, f"{d.which}_{p.number}" if several else d.which, wanted.apart())
        code = _VariantCode(operator, d, program, p.plan, f"{name}_{p.number}" if several else name, launches, wanted)
        definitions.append((*(_conditions(variant, p.missing) if several else ()), *laid_out(code.lines())))
        if wanted.asks_recorded:
            recording.add(p.number)
    if several:
        definitions.append(tuple(laid_out(_choice(operator, d, name, chosen, recording))))
    stated = schema(operator, d, name, recorded=bool(recording))
    return HostFunction(name, stated, tuple(definitions), plans)


def _conditions(v: Variant, missing: Collection[str]) -> list[str]:
    texts = []
    for c in v.conditions:
        match c:
            case Given(name) if name in missing:
                pass
            case Given(name, present):
                texts.append(f"{name} {'given' if present else 'not given'}")
            case Chosen(name, value):
                texts.append(f"{name} is {str(value).lower() if isinstance(value, bool) else value}")
    return [f"// {', '.join(texts)}"] if texts else []


# --- variants ---------------------------------------------------------------------------------------------------------


def _choice(
    operator: Operator, d: Direction, name: str, chosen: Sequence[Printed], recording: Collection[int]
) -> list[str]:
    """The function that picks the variant from what was given; `recording` are those that ask what it is for."""
    arguments = [*d.tensors, *(a.name for a in operator.params)]
    if d.mask:
        arguments.append(own_argument(operator, d, "mask"))
    lines: list[str] = []
    for p in chosen:
        given = [*arguments, own_argument(operator, d, "recorded")] if p.number in recording else arguments
        result = f"return {name}_{p.number}({', '.join(given)});"
        short = len(p.test) + len(result) < LIMIT - len("  if () ")
        tested = [f"if ({p.test}) {result}"] if short else block(f"if ({p.test}) {{", [result])
        lines += tested if p.test else [result]
    return block(head(operator, d, name, recorded=bool(recording)), lines)


def _is_computed(size: Scalar | Batch) -> bool:
    """Is an entry of a shape an expression of dims and params?"""
    return not isinstance(size, Batch | Dim | Lit)


# --- one variant -----------------------------------------------------------------------------------------------------


class _VariantCode:
    """The body of one variant."""

    def __init__(
        self,
        operator: Operator,
        d: Direction,
        program: Program,
        plan: KernelPlan,
        name: str,
        launches: Sequence[Launch],
        wanted: Wanted,
    ) -> None:
        self.operator, self.d = operator, d
        self.program, self.plan = program, plan
        self.name = name
        self.launches, self.wanted = launches, wanted
        self.dims = [x.name for x in plan.dims]
        self.arguments = [b for b in plan.arguments if b.name in d.tensors]
        self.printer = Printer(NATIVE, self._leaf)
        self.library = LibrarySteps(operator.name, plan, self.printer)
        self.carriers = carriers(program)
        self.kept = {o.name for o in program.outputs if o.kept}
        self.values = {o.name: o.value for o in program.outputs}
        self.by_torch = {r for s in plan.steps if isinstance(s, Library) for r in written(s)}
        self.apart = wanted.apart()
        self.zeros = Zeros(operator, d, plan, lambda b: ", ".join(map(self._entry, b.shape)))
        self.writers: dict[str, list[Launch]] = {}
        self.few: dict[str, FewRows] = {}  # by the buffer that is added to
        for planned, launch in zip(kernels_of(plan), launches, strict=True):
            step = planned.kernel
            few = few_rows(plan, step) if written(step) == launch.tensors[:1] else None
            if few is not None and all(e == few.rows or few.rows not in walk(e) for e in launch.ints):
                self.few[launch.tensors[0]] = few
            for buffer in written(step):
                self.writers.setdefault(buffer, []).append(launch)

    def _order(self) -> list[Buffer]:
        return [*self.plan.arguments, *(b for b in self.plan.buffers if b.role is None)]

    def lines(self) -> list[str]:
        used = {p.name for p in self.plan.params}
        op = self.operator.name
        body = [f'opgen::Call call("{op}", OPGEN_CHOOSE_STEPS({op}), {len(self.dims)});']
        body += [self._argument(b) for b in self.plan.arguments]
        body += self._precision()
        body.append("call.begin();")
        body += [
            f"call.set_size({self.dims.index(d.name)}, {self.printer(d.value)});"
            for d in self.plan.dims
            if d.value is not None
        ]
        body += self._expected()
        body.append("call.hold();")
        body += [
            f"call.items({a.name}, {a.length});"
            for a in self.operator.params
            if a.name in used and a.length is not None
        ]
        body += self._steps()
        body += self._return()
        return block(head(self.operator, self.d, self.name, recorded=self.wanted.asks_recorded), body)

    def _argument(self, b: Buffer) -> str:
        method = "cotangent" if b.role in (Role.COTANGENT, Role.TANGENT) else "input"
        given = b.name if b.name in self.d.tensors else "Optional()"
        if b.name not in self.d.tensors:
            method = "unused"
        entries = ", ".join("opgen::computed" if _is_computed(s) else self._entry(s) for s in b.shape)
        missing = f", {b.missing}" if method == "input" and b.missing is not None else ""
        return f'call.{method}("{b.name}", {given}, {element(b.storage)}, {{{entries}}}{missing});'

    def _precision(self) -> list[str]:
        """Where the dtype of the operator comes from, if kernels read nothing that has it."""
        if not any(b.storage is Storage.COMPUTE for b in self.arguments):
            return []
        if any(b.storage is Storage.SCALAR for b in self.arguments):
            return []
        floats = [t.name for t in self.operator.inputs if t.kind is Kind.FLOAT and t.name in self.d.tensors]
        return [f"call.like({n});" for n in floats]

    def _expected(self) -> list[str]:
        """The sizes of arguments that are computed from dims, and who has to have all batch dims."""
        lines: list[str] = []
        for i, b in ((i, b) for i, b in enumerate(self.plan.arguments) if b.name in self.d.tensors):
            computed = [(k, s) for k, s in enumerate(b.shape) if not isinstance(s, Batch) and _is_computed(s)]
            lines += [f"call.expect({i}, {k}, {self.printer(size)});" for k, size in computed]
            if self.d.which == "forward" and self.operator.has_whole_batch(b.name):
                lines.append(f"call.expect_batch({i});")
        return lines

    def _entry(self, size: Scalar | Batch) -> str:
        match size:
            case Batch():
                return "opgen::batch"
            case Dim(name) if name in self.dims:
                return f'opgen::dim({self.dims.index(name)}, "{name}")'
            case _:
                return f"opgen::fixed({self.printer(size)})"

    def _leaf(self, e: Leaf) -> Text:
        match e:
            case Dim("..."):
                return Text("call.batch_count()", _ATOM, Kind.INT)
            case Dim(name):
                return Text(f"call.size({self.dims.index(name)})", _ATOM, Kind.INT)
            case Param(name) if name in self.plan.numbers:
                return self.printer.text(self.plan.numbers[name])
            case Param(name, item):
                a = next(a for a in self.operator.params if a.name == name)
                empty = f"{NUMBERS[a.type]}{{}}" if item is None else "{}"
                text = name + (f".value_or({empty})" if may_miss(a) else "")
                kind = Kind.FLOAT if a.type == "float" else Kind.INT
                return Text(text if item is None else f"{text}[{item}]", _ATOM, kind)
            case _:
                raise AssertionError(f"{self.plan.name}: {e} in a size")

    # --- steps -------------------------------------------------------------------------------------------------------

    def _steps(self) -> list[str]:
        lines = [*self._memory(), *self.zeros.lines()]
        launches = enumerate(self.launches)
        beside = {launch.columns for launch in self.launches}
        compared: set[tuple[str, tuple[str, ...]]] = set()
        for step in self.plan.steps:
            condition = self._runs(step)
            if isinstance(step, Library):
                own = self._in_place(step, next(launches)[1]) if instead(step) else []
                lines += self.library.lines(step, condition, own)
                continue
            number, launch = next(launches)
            if number in beside:
                continue
            lines += self._checks(step, condition if self.d.mask else "")
            if launch.columns is not None:
                lines += self._run_both(launch, condition, launch.columns)
                continue
            reached = dict.fromkeys(self._reach(r) for r in launch.reaches)
            compare = [lines for lines in reached if (condition, lines) not in compared]
            compared.update((condition, lines) for lines in compare)
            new = [line for lines in compare for line in lines]
            run = self._run(launch)
            lines += block(f"if ({condition}) {{", [*new, run]) if condition and new else new
            lines += [] if condition and new else under(condition, run)
        return lines

    def _runs(self, step: Step) -> str:
        """The condition that a step runs; empty: always."""
        return self.zeros.runs(step, self.wanted.any_of(step.results))

    def _in_place(self, step: Library, launch: Launch) -> list[str]:
        """The kernel that runs in place of what is handed on, for a head that says when."""
        (buffer,) = map(self.plan.buffer, written(step))
        entries = ", ".join(self._entry(s) for s in buffer.shape)
        given = f"call.empty({element(buffer.storage)}, {{{entries}}})"
        reached = [line for r in launch.reaches for line in self._reach(r)]
        return [f'call.set("{buffer.name}", {given});', *reached, self._run(launch)]

    def _run_both(self, rows: Launch, wanted: str, columns: int) -> list[str]:
        """Two launches that a device may make one of, each with the condition that it is wanted."""
        pairs = ((wanted, rows), (self._runs(kernels_of(self.plan)[columns].kernel), self.launches[columns]))
        given = [f"{{{', '.join([condition or 'true', *self._given(launch)])}}}" for condition, launch in pairs]
        return [f"call.run_both({', '.join(given)});"]

    def _run(self, launch: Launch) -> str:
        few = self.few.get(launch.tensors[0]) if launch.tensors else None
        if few is None:
            return f"call.run({', '.join(self._given(launch))});"
        table = ", ".join(self._entry(s) for s in self.plan.buffer(launch.tensors[0]).shape)
        numbers = [b.name for b in self._order()].index(few.numbers)
        rows = launch.ints.index(few.rows) if few.rows in launch.ints else -1
        return f"call.add_rows({{true, {', '.join(self._given(launch))}}}, {{{table}}}, {numbers}, {rows});"

    def _given(self, launch: Launch) -> list[str]:
        """The number of a kernel, and its arguments."""
        numbers = {b.name: str(k) for k, b in enumerate(self._order())}
        groups = [
            [numbers[t] for t in launch.tensors],
            [*map(self.printer, launch.ints)],
            [*map(self._real, launch.reals)],
        ]
        while not groups[-1]:
            groups.pop()
        listed = [f"{{{', '.join(g)}}}" for g in groups]
        return [str(launch.kernel), *listed]

    def _real(self, e: Scalar) -> str:
        """A number as a double; a size is none."""
        text = self.printer.text(e)
        whole = text.kind is Kind.INT and not text.text.isdecimal()
        return f"static_cast<double>({text.text})" if whole else text.text

    def _reach(self, r: Reach) -> tuple[str, ...]:
        """The comparison of the ends of a position with the axis of a tensor, which has no quotient by 0 in it.

        A long end has a line of its own.
        """
        number = [b.name for b in self._order()].index(r.slot)
        size, low, high, points = map(self.printer, (r.size, r.low, r.high, r.points))
        divided = [f"call.divisor({self.printer(e)}, {points});" for e in divisors(self.program, (r.low, r.high))]
        line = f"call.reach({number}, {r.axis}, {size}, {low}, {high}, {points});"
        if len(line) < LIMIT - 4 or len(high) < LIMIT // 2:
            return (*divided, line)
        short = f"call.reach({number}, {r.axis}, {size}, {low}, last, {points});"
        return (*divided, *block("{", [f"const int64_t last = {high};", short]))

    def _checks(self, step: Kernel, condition: str) -> list[str]:
        """The position of an extreme needs something to stand on."""
        if not isinstance(step, Nest):
            return []
        found = dict.fromkeys(
            f'call.some("{f.op}", "{a.name}", {self.printer(a.extent)});'
            for p in step.passes
            for f in p.folds
            for a in p.loops
            if f.op in _POSITIONAL and isinstance(a, Axis) and not isinstance(a.extent, Lit)
        )
        return [f"if ({condition}) {line}" if condition else line for line in found]

    def _memory(self) -> list[str]:
        """Every buffer that a kernel fills; those that torch fills get their place."""
        given = {name for s in self.plan.steps if isinstance(s, Library) for name in written(s)}
        lines = []
        for b in self._order():
            if b.role is not None:
                continue
            if b.name in given or b.name in self.few:
                lines.append(f'call.reserve("{b.name}");')
                continue
            entries = ", ".join(self._entry(s) for s in b.shape)
            condition, stored = self.wanted.used(b.name), self._stored(b.name)
            more = "" if not condition else f", {condition}"
            if stored != condition:
                more = f", {condition or 'true'}, {stored or 'true'}"
            method = "allocate_stored" if b.name in self.writers[b.name][0].spare else "allocate"
            lines.append(f'call.{method}("{b.name}", {element(b.storage)}, {{{entries}}}{more});')
        return lines

    def _stored(self, buffer: str) -> str:
        """The condition that a buffer is needed where its step runs: others may want other results of that."""
        alone = buffer in self.apart and buffer in self.writers[buffer][0].stored
        return self.wanted.result(buffer) if alone else self.wanted.used(buffer)

    def _return(self) -> list[str]:
        by_name = {self.wanted.origin[r.name] if self.d.which == SECOND_ORDER else r.name: r for r in self.plan.results}
        values = [self._result(by_name.get(n)) for n in self.d.results]
        whole = f"return {values[0]};" if len(values) == 1 else f"return {{{', '.join(values)}}};"
        if len(values) == 1 or len(whole) < 100:
            return [whole]
        taken = Names(
            (*self.d.tensors, *(a.name for a in self.operator.params), own_argument(self.operator, self.d, "mask"))
        )
        names = [taken.fresh(n) for n in self.d.results]
        lines = [f"const Tensor {n} = {v};" for n, v in zip(names, values, strict=True) if v != "Tensor()"]
        shown = [v if v == "Tensor()" else n for n, v in zip(names, values, strict=True)]
        return [*lines, f"return {{{', '.join(shown)}}};"]

    def _result(self, r: Result | None) -> str:
        if r is None:
            return "Tensor()"
        arguments = [f'"{r.buffer}"', f"Element::{r.dtype}" if r.dtype else element(r.storage)]
        if r.like is not None:
            batch_at = next(k for k, s in enumerate(r.shape) if isinstance(s, Batch))
            arguments += [str(batch_at), f'"{r.like}"']
        makers, form = self._makers(r), "result"
        if makers is not None and (r.name in self.kept or r.buffer in self.by_torch):
            form = "kept" if r.name in self.kept else "whole_result"
            batch_at = next(k for k, s in enumerate(r.shape) if isinstance(s, Batch))
            arguments += [str(batch_at), str(len(r.shape) - 1)]
            arguments += [f"{{{', '.join(map(quoted, makers))}}}"] if form == "kept" else []
        text = f"call.{form}({', '.join(arguments)})"
        own = self.wanted.any_of((r.name,))
        return f"{own} ? {text} : Tensor()" if own and own != self.wanted.used(r.buffer) else text

    def _makers(self, r: Result) -> tuple[str, ...] | None:
        """The arguments that have all batch dims of a result between them; None where it may have every one."""
        value = self.values.get(r.name)
        found = self.carriers[value] if value is not None and BATCH in r.shape and r.like is None else None
        return None if found == tuple(t.name for t in self.program.inputs if BATCH in t.shape) else found
