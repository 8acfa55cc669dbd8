"""Kernel plans as CUDA C++: one `extern "C"` function per step, for `csrc/<op>.cu`.

Every function takes an `OpgenCall` (templates/csrc/opgen_abi.h) filled once per plan: all buffers of the plan in order,
its dims in order, float params in `reals`, int and bool ones in `ints` (list params element by element), the broadcast
batch shape, and a workspace. The caller allocates buffers, calls the steps in order, gives contractions and
convolutions to torch, and converts and sums the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from opgen.code.cuda_body import (
    Form,
    column_lines,
    decoded,
    form_of,
    is_flat,
    is_rounded,
    let_lines,
    map_lines,
    point_function,
    row_lines,
)
from opgen.code.cuda_scope import REPORT, Scope, element_type
from opgen.code.cuda_sequence import sequence_lines
from opgen.code.cuda_stream import lost_width, stream_lines
from opgen.code.long_values import hoisted
from opgen.code.native_elsewhere import Preamble
from opgen.code.native_layout import LIMIT, commented, function, indented, laid_out
from opgen.code.native_scope import host_scalar, value_type
from opgen.code.templates import fill
from opgen.ir.errors import UnplannableError
from opgen.ir.point import positions
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import mul
from opgen.plan.build import written
from opgen.plan.model import (
    Chain,
    Fold,
    Kernel,
    KernelPlan,
    Library,
    Nest,
    Pass,
    ScatterStep,
    Schedule,
    Storage,
    Store,
    Stream,
)
from opgen.plan.stream import sums_of

_LONG_CELL = 40  # a place with a longer text gets a line of its own


@dataclass(frozen=True, slots=True)
class CudaStep:
    """One exported function: `lines` define it; `workspace` names the one that tells its workspace, if any.

    `reports`: whether it checks positions read from data.
    """

    name: str
    lines: tuple[str, ...]
    workspace: str | None = None
    reports: bool = False


@dataclass(frozen=True, slots=True)
class CudaPlan:
    """The steps of one plan, with a comment on what stands where in a call."""

    name: str
    comment: tuple[str, ...]
    steps: tuple[CudaStep, ...]


@dataclass(frozen=True, slots=True)
class CudaFile:
    """What `op.cu.j2` lays out."""

    op: str
    plans: tuple[CudaPlan, ...]
    table: tuple[str, ...]
    before: Preamble = field(default_factory=Preamble)


def table_rows(steps: Sequence[CudaStep]) -> tuple[str, ...]:
    """The entries of a table of steps; an operator that torch computes as a whole has one that is never run."""
    rows = tuple(line for i, s in enumerate(steps) for line in _row(i, s))
    return rows or ("{nullptr, nullptr, 0},",)


def _row(number: int, step: CudaStep) -> list[str]:
    rest = f"{step.workspace or 'nullptr'}, {int(step.reports)}}},"
    one = f"{{{step.name}, {rest}"
    return [f"// {number}", *([one] if len(one) + 4 <= LIMIT else [f"{{{step.name},", f" {rest}"])]


def cuda_plan(op: str, name: str, plan: KernelPlan) -> CudaPlan:
    """The functions of one plan; what torch computes has none."""
    steps = tuple(_step(plan, s, f"{op}_{name}_{s.name}") for s in plan.steps if not isinstance(s, Library))
    return CudaPlan(name, tuple(_comment(plan)), steps)


def file_text(view: CudaFile) -> str:
    """`csrc/<op>.cu`."""
    before = view.before
    return fill(
        "op.cu.j2",
        op=view.op,
        includes=before.includes,
        elsewhere=before.definitions,
        plans=view.plans,
        table=view.table,
    )


def _comment(plan: KernelPlan) -> list[str]:
    def row(title: str, names: Sequence[str]) -> list[str]:
        return [f"// {title}: {', '.join(names)}"] if names else []

    reals = [p.name for p in plan.params if p.type == "float"]
    ints = [p.name for p in plan.params if p.type in ("int", "bool")]
    lines = row("tensors", [b.name for b in plan.buffers]) + row("dims", [d.name for d in plan.dims])
    return [part for line in lines + row("reals", reals) + row("ints", ints) for part in commented(line)]


# --- steps -----------------------------------------------------------------------------------------------------------


def _step(plan: KernelPlan, step: Kernel, name: str) -> CudaStep:
    match step:
        case Nest():
            return _nest(plan, step, name)
        case ScatterStep():
            return _scatter(plan, step, name)
        case Chain():
            scope = Scope(plan, frozenset(step.own))
            return _by_thread(plan, step, name, sequence_lines(scope, step), scope)
        case Stream():
            scope = Scope(plan, frozenset(written(step)))
            made = _by_thread(plan, step, name, stream_lines(scope, step), scope)
            return _with_workspace(plan, step, made) if sums_of(step) else made
        case _:
            assert_never(step)


def _with_workspace(plan: KernelPlan, step: Stream, made: CudaStep) -> CudaStep:
    """A stream and the function that tells what its sums need."""
    workspace = f"{made.name}_workspace"
    width = f"const int64_t width = {lost_width(plan, step)};"
    ask = f"return {_count(plan, step.outer)} * width * static_cast<int64_t>(sizeof(double));"
    body = [_of_pointer(line) for line in (width, ask)]
    lines = ["", *function(f'extern "C" int64_t {workspace}(const OpgenCall* call)', body)]
    return replace(made, lines=(*made.lines, *laid_out(lines)), workspace=workspace)


def _nest(plan: KernelPlan, nest: Nest, name: str) -> CudaStep:
    form = form_of(nest)
    written = frozenset(s.buffer for p in nest.passes for s in p.stores)
    scope = Scope(plan, written)
    methods = {Form.MAP: map_lines, Form.ROWS: row_lines, Form.COLUMNS: column_lines}[form](scope, nest)
    points = _count(plan, nest.outer)
    lengths = list(dict.fromkeys(_count(plan, p.loops) for p in nest.passes if p.loops))
    lines = [*_reason(nest.reason), *_struct(scope, name, methods)]
    match form:
        case Form.MAP if is_flat(plan, nest):
            launch = [
                f"const int64_t points = {points};",
                "if (args.flat()) return rt::map_vectors<16 / sizeof(scalar_t)>(call, step, points);",
                "return rt::map(call, step, points);",
            ]
        case Form.MAP:
            launch = [f"return rt::map(call, step, {points});"]
        case Form.ROWS:
            longest = lengths[0]
            for other in lengths[1:]:
                longest = f"std::max<int64_t>({longest}, {other})"
            launch = [f"return rt::rows(call, step, {points}, {longest});"]
        case Form.COLUMNS:
            across = "true" if nest.schedule is Schedule.COLUMN else "false"
            launch = [f"return rt::columns<{across}>(call, step, {points}, {lengths[0]});"]
    lines += _run(scope, name, launch)
    workspace = None
    if form is Form.COLUMNS:
        workspace = f"{name}_workspace"
        size = sum(_bytes(f) for p in nest.passes for f in p.folds)
        counts = f"{_of_pointer(points)}, {_of_pointer(lengths[0])}"
        ask = f"return rt::columns_workspace<{across}>(*call, {counts}, {size});"
        lines += ["", *function(f'extern "C" int64_t {workspace}(const OpgenCall* call)', [ask])]
    return CudaStep(name, tuple(laid_out(lines)), workspace, REPORT in scope.members)


def _bytes(f: Fold) -> int:
    """The size of an accumulator, at most."""
    return 16 if f.op.startswith("arg") else 24 if is_rounded(f) else 8


def _of_pointer(text: str) -> str:
    return text.replace("call.", "call->").replace("(call)", "(*call)")


def _reason(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in commented(f"// {line}")]


def _count(plan: KernelPlan, loops: Sequence[Loop]) -> str:
    """How many points some loops have, in host code."""
    axes = [a.extent for a in loops if isinstance(a, Axis)]
    parts = ["rt::batch_count(call)"] if len(axes) < len(loops) else []
    if axes:
        parts.append(host_scalar(plan, mul(*axes)))
    return " * ".join(f"({p})" if " + " in p or " - " in p else p for p in parts) or "1"


def _struct(scope: Scope, name: str, methods: Sequence[str]) -> list[str]:
    fields = [f"{m.type} {m.name};" for m in _members(scope)]
    head = ["using opmath_t = rt::math_t<scalar_t>;", "", *fields, *([""] if fields else [])]
    return ["template <typename scalar_t>", f"struct Step_{name} {{", *indented([*head, *methods]), "};", ""]


def _members(scope: Scope) -> list[_Field]:
    views = []
    for i, (buffer, *_) in enumerate(scope.slots()):
        const = "" if buffer in scope.written else "const "
        element = f"{const}{element_type(scope.plan.buffer(buffer).storage)}"
        views.append(_Field(f"rt::Tensor<{element}>", scope.buffers[buffer], f"args.template tensor<{element}>({i})"))
    return views + [_Field(m.type, m.name, m.value) for m in scope.members.values()]


@dataclass(frozen=True, slots=True)
class _Field:
    type: str
    name: str
    value: str


def _run(scope: Scope, name: str, launch: Sequence[str]) -> list[str]:
    """The host function: reads the call, fills in the struct, launches."""
    slots = [(f"{{{number}, {rank}, {at}}},", name) for name, number, rank, at in scope.slots()]
    width = max((len(slot) for slot, _ in slots), default=0)
    body = [
        "using opmath_t = rt::math_t<scalar_t>;" if _uses_opmath(scope) else "",
        "static constexpr rt::Slot slots[] = {",
        *(f"    {slot:<{width}}  // {name}" for slot, name in slots),
        "};",
        "const rt::Arguments args(call, slots);",
        "if (args.status() != OPGEN_OK) return args.status();",
        f"Step_{name}<scalar_t> step;",
        *(f"step.{f.name} = {f.value};" for f in _members(scope)),
        *launch,
    ]
    return [
        "template <typename scalar_t>",
        *function(f"int run_{name}(const OpgenCall& call)", [line for line in body if line]),
        "",
        *function(f'extern "C" int {name}(const OpgenCall* call)', _exported(scope, name)),
    ]


def _exported(scope: Scope, name: str) -> list[str]:
    if REPORT not in scope.members:
        return [f"return OPGEN_DISPATCH(call->dtype, scalar_t, run_{name}<scalar_t>(*call));"]
    inner = f"return OPGEN_DISPATCH(call.dtype, scalar_t, run_{name}<scalar_t>(call));"
    return ["return rt::reporting(*call, [](const OpgenCall& call) {", f"  {inner}", "});"]


def _uses_opmath(scope: Scope) -> bool:
    return any("opmath_t" in f.value for f in _members(scope))


# --- scatter ---------------------------------------------------------------------------------------------------------


def _scatter(plan: KernelPlan, step: ScatterStep, name: str) -> CudaStep:
    """Two kernels: the base everywhere, then the points with atomics."""
    fill = Nest(
        "fill",
        step.axes,
        (Pass((), step.base_lets, (), (Store(step.out, positions(step.axes), step.base),)),),
        Schedule.MAP,
    )
    base = _nest(plan, fill, f"{name}_base")
    buffer = plan.buffer(step.out)
    if buffer.storage not in (Storage.COMPUTE, Storage.INT64):
        raise UnplannableError(f"{step.out}: a scatter of conditions")
    scope = Scope(plan, frozenset({step.out}))
    before = scope.enter(step.loops)
    lets = let_lines(scope, step.lets)
    cell = f"{scope.tensor(step.out)}.at({scope.positions(step.at, step.out, checked=not step.padded)})"
    inside = scope.inside(step.at, step.out) if step.padded else ""
    dropped = [f"if (!({inside})) return;"] if inside else []
    type_ = value_type(buffer.kind)
    placed: list[str] = []
    if len(cell) > _LONG_CELL:
        name_of_cell = scope.fresh("cell")
        placed, cell = [f"{type_}* const {name_of_cell} = {cell};"], name_of_cell
    parts, value = hoisted(scope, step.value, len(f"rt::atomic_{step.op}({cell}, );"))
    text = value.text if value_type(value.kind) == type_ else f"static_cast<{type_}>({value.text})"
    body = decoded(
        scope, step.loops, "point", [*lets, *dropped, *placed, *parts, f"rt::atomic_{step.op}({cell}, {text});"]
    )
    scope.leave(before, step.loops)
    methods = point_function(body)
    reason = f"{step.reason}, repeats in any order"
    lines = [*base.lines, "", *_reason(reason), *_struct(scope, name, methods)]
    launch = [
        f"const int status = run_{name}_base<scalar_t>(call);",
        "if (status != OPGEN_OK) return status;",
        f"return rt::map(call, step, {_count(plan, step.loops)});",
    ]
    reports = base.reports or REPORT in scope.members
    return CudaStep(name, tuple(laid_out([*lines, *_run(scope, name, launch)])), None, reports)


def _by_thread(plan: KernelPlan, step: Chain | Stream, name: str, methods: Sequence[str], scope: Scope) -> CudaStep:
    """A thread for every outer point."""
    lines = [*_reason(step.reason), *_struct(scope, name, methods)]
    launch = [f"return rt::map(call, step, {_count(plan, step.outer)});"]
    return CudaStep(name, tuple(laid_out([*lines, *_run(scope, name, launch)])), None, REPORT in scope.members)
