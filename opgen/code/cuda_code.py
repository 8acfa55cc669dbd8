"""Kernel plans as CUDA C++: one `extern "C"` function per step, for `csrc/<op>.cu`.

Every function takes an `OpgenCall` (templates/csrc/opgen_abi.h) filled once per plan: all buffers of the plan in order,
its dims in order, float params in `reals`, int and bool ones in `ints` (list params element by element), the broadcast
batch shape, and a workspace. The caller allocates buffers, calls the steps in order, gives contractions and
convolutions to torch, and converts and sums the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.code.cuda_kernel import Form, device_lines, form_of, inner_loops
from opgen.code.cuda_scope import REPORT, Scope, element_type
from opgen.code.cuda_statements import is_rounded
from opgen.code.cuda_stream import lost_width, stream_lines
from opgen.code.native_elsewhere import Preamble
from opgen.code.native_layout import LIMIT, commented, function, indented, laid_out
from opgen.code.native_scope import host_scalar
from opgen.code.templates import fill
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import mul
from opgen.kernel.lanes import schedule_of
from opgen.kernel.lower import lower
from opgen.kernel.model import PLACES, Acc, Atomic, Body, Role, Store
from opgen.kernel.teams import teams
from opgen.kernel.walk import chain, inside, parts, steady
from opgen.plan.build import written
from opgen.plan.model import Kernel as KernelStep
from opgen.plan.model import KernelPlan, Library, ScatterStep, Stream
from opgen.plan.stream import sums_of

_BASE = "base"  # what runs before the last part of a kernel


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


def _step(plan: KernelPlan, step: KernelStep, name: str) -> CudaStep:
    if isinstance(step, Stream):
        scope = Scope(plan, frozenset(written(step)))
        methods = stream_lines(scope, step)
        launch = [f"return rt::map(call, step, {_count(plan, step.outer)});"]
        lines = [*_reason(step.reason), *_struct(scope, name, methods), *_run(scope, name, launch)]
        stream = CudaStep(name, tuple(laid_out(lines)), None, REPORT in scope.members)
        return _with_workspace(plan, step, stream) if sums_of(step) else stream
    k = teams(lower(plan, step), schedule_of(step))
    *first, last = parts(k.body)
    before = [_part(plan, part, f"{name}_{_BASE}") for part in first]
    order = ", repeats in any order" if isinstance(step, ScatterStep) else ""
    return _part(plan, last, name, f"{step.reason}{order}", before)


def _with_workspace(plan: KernelPlan, step: Stream, made: CudaStep) -> CudaStep:
    """A stream and the function that tells what its sums need."""
    workspace = f"{made.name}_workspace"
    width = f"const int64_t width = {lost_width(plan, step)};"
    ask = f"return {_count(plan, step.outer)} * width * static_cast<int64_t>(sizeof(double));"
    body = [_of_pointer(line) for line in (width, ask)]
    lines = ["", *function(f'extern "C" int64_t {workspace}(const OpgenCall* call)', body)]
    return replace(made, lines=(*made.lines, *laid_out(lines)), workspace=workspace)


def _part(plan: KernelPlan, part: Body, name: str, reason: str = "", before: Sequence[CudaStep] = ()) -> CudaStep:
    """One part of a kernel, to be launched behind those `before` it."""
    stored = frozenset(n.slot for n in inside(part) if isinstance(n, Store | Atomic))
    scope = Scope(plan, stored, steady=steady(part))
    outer, body = chain(part, (Role.PARALLEL,))
    form = form_of(plan, outer, body)
    methods = device_lines(scope, form, outer, body)
    points = _count(plan, outer)
    lengths = list(dict.fromkeys(_count(plan, loops) for loops in inner_loops(body) if loops))
    across = "true" if outer else "false"
    launch = [line for s in before for line in _first(s.name)]
    match form:
        case Form.FLAT:
            launch += [
                f"const int64_t points = {points};",
                "if (args.flat()) return rt::map_vectors<16 / sizeof(scalar_t)>(call, step, points);",
                "return rt::map(call, step, points);",
            ]
        case Form.MAP:
            launch.append(f"return rt::map(call, step, {points});")
        case Form.ROWS:
            longest = lengths[0]
            for other in lengths[1:]:
                longest = f"std::max<int64_t>({longest}, {other})"
            launch.append(f"return rt::rows(call, step, {points}, {longest});")
        case Form.COLUMNS:
            launch.append(f"return rt::columns<{across}>(call, step, {points}, {lengths[0]});")
    lines = [line for s in before for line in (*s.lines, "")]
    lines += [*_reason(reason), *_struct(scope, name, methods), *_run(scope, name, launch)]
    workspace = None
    if form is Form.COLUMNS:
        workspace = f"{name}_workspace"
        size = sum(_bytes(n) for n in body if isinstance(n, Acc))
        counts = f"{_of_pointer(points)}, {_of_pointer(lengths[0])}"
        ask = f"return rt::columns_workspace<{across}>(*call, {counts}, {size});"
        lines += ["", *function(f'extern "C" int64_t {workspace}(const OpgenCall* call)', [ask])]
    return CudaStep(name, tuple(laid_out(lines)), workspace, REPORT in scope.members or any(s.reports for s in before))


def _first(name: str) -> list[str]:
    """Runs another part."""
    return [f"const int status = run_{name}<scalar_t>(call);", "if (status != OPGEN_OK) return status;"]


def _bytes(a: Acc) -> int:
    """The size of an accumulator, at most."""
    return 16 if a.op in PLACES else 24 if is_rounded(a) else 8


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
