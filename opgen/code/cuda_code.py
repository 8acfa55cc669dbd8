"""The CUDA kernel of a step, for `csrc/<op>.cu`: a struct of views and numbers with device functions.

What the host does with it is data: which argument of a call (templates/csrc/opgen_abi.h) each member is, and how many
points there are. The launchers that read it are in the runtime (templates/csrc/opgen_launch.cuh). A kernel of several
parts has a struct for each, launched one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from opgen.code.cuda_kernel import Form, device_lines, form_of, inner_loops
from opgen.code.cuda_rows import is_arithmetic, is_light, is_passed_once
from opgen.code.cuda_scope import Scope
from opgen.code.cuda_stream import stream_lines
from opgen.code.native_elsewhere import Preamble
from opgen.code.native_layout import LIMIT, commented, indented, laid_out
from opgen.code.native_scope import mentions
from opgen.code.printer import NEAR
from opgen.code.templates import fill
from opgen.ir.polynomial import Monomial
from opgen.ir.program import Loop
from opgen.ir.scalar import ZERO, Batch, Lit
from opgen.kernel.across import joining
from opgen.kernel.formal import Formal
from opgen.kernel.idle import spared
from opgen.kernel.kept import kept
from opgen.kernel.model import Atomic, Body, Join, Role, Store
from opgen.kernel.teams import teams, without_batch
from opgen.kernel.walk import chain, inside, parts
from opgen.plan.build import written
from opgen.plan.model import Kernel as Step
from opgen.plan.model import ScatterStep, Stream
from opgen.plan.stream import sums_of

_ASIDE = 10  # columns around an entry of the table
_BASE = "base"  # what runs before the last part of a kernel
_ROWS = "rows"  # what runs instead of a map where its rows join sums
_ALONE = "alone"  # what runs instead of a kernel where the batch is empty


_NEVER = "{nullptr, nullptr},"


@dataclass(frozen=True, slots=True)
class CudaKernel:
    """The structs of one kernel, in the order in which they are launched; `lines` define them. None: it never runs.

    `choice`: of two structs the call takes one; `columns`: the struct of a kernel whose folds rows may join, and `rows`
    that of these rows, where it is another one; `zeros`: the tensors that are filled with zeros first.
    """

    structs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    choice: bool = False
    columns: str = ""
    rows: str = ""
    zeros: tuple[int, ...] = ()


_RUNTIME, _ACROSS = "opgen_launch.cuh", "opgen_across.cuh"
_SIMT = "opgen_simt.h"  # the header that lets a host compiler have them


@dataclass(frozen=True, slots=True)
class CudaFile:
    """What `op.cu.j2` lays out."""

    op: str
    kernels: tuple[CudaKernel, ...]
    before: Preamble = field(default_factory=Preamble)


def file_text(view: CudaFile) -> str:
    """`csrc/<op>.cu`."""
    return fill(
        "op.cu.j2",
        op=view.op,
        title=commented(
            f"CUDA kernels of {view.op}. Compiles with nvcc, or with g++ -x c++ to run on the CPU ({_SIMT})."
        ),
        runtime=_ACROSS if any(k.columns for k in view.kernels) else _RUNTIME,
        includes=view.before.includes,
        elsewhere=view.before.definitions,
        kernels=tuple(k.lines for k in view.kernels if k.lines),
        table=_table(view.kernels),
    )


def _table(kernels: Sequence[CudaKernel]) -> list[str]:
    """The table of kernels; that of an operator that torch computes as a whole has an entry that is never run."""
    groups: list[list[str]] = [[]]  # rows with comments below one another
    for number, k in enumerate(kernels):
        *first, last = _entry(k)
        if first:
            groups += [first, []]
        groups[-1].append(f"{last}//{number}")
    return [row for g in groups for row in _aligned(g)] or [_NEVER]


def _aligned(rows: Sequence[str]) -> list[str]:
    parts = [row.partition("//") for row in rows]
    width = max((len(code) for code, _, _ in parts), default=0)
    return [f"{code:{width}}  // {number}" if number else code for code, _, number in parts]


def _entry(k: CudaKernel) -> list[str]:
    if not k.structs:
        return [_NEVER]
    kind = "either" if k.choice else "across" if k.columns else "onto_zeros" if k.zeros else "kernel"
    head = f"rt::{kind}<{''.join(f'{number}, ' for number in k.zeros)}"
    structs = [*k.structs, *filter(None, (k.columns, k.rows))]
    short = f"{head}{', '.join(structs)}>(),"
    if len(short) + _ASIDE <= LIMIT:
        return [short]
    rows = [f"{head}{structs[0]},"]
    for name in structs[1:]:
        end = f"{name}>()," if name is structs[-1] else f"{name},"
        if len(rows[-1]) + len(end) + _ASIDE <= LIMIT:
            rows[-1] += f" {end}"
        else:
            rows.append(" " * len(head) + end)
    return rows


def cuda_kernel(formal: Formal, step: Step, name: str, joins: Sequence[Join] = ()) -> CudaKernel:
    """The structs of a step; `joins`: what its rows may join for another kernel."""
    if isinstance(step, Stream):
        scope = Scope(formal, frozenset(written(step)))
        methods = stream_lines(scope, step)
        launch = _launch("Map", _count(formal, step.outer), [_count(formal, (w.over,)) for w in sums_of(step)])
        streamed = [*_reason(step.reason), *_struct(scope, name, launch, methods)]
        return CudaKernel((_struct_name(name),), tuple(laid_out(streamed)))
    *first, last = zip(
        parts(spared(kept(teams(formal.kernel, formal.schedule), Role.TEAM)).body), formal.flat, strict=True
    )
    lines: list[str] = []
    structs: list[str] = []
    zeros: tuple[int, ...] = ()
    for part, flat in first:
        slot = _zeroed(part) if flat else None
        if slot is not None:
            zeros = (formal.number(slot),)
            continue
        lines += [*_part(formal, part, flat, f"{name}_{_BASE}"), ""]
        structs.append(_struct_name(f"{name}_{_BASE}"))
    order = ", repeats in any order" if isinstance(step, ScatterStep) else ""
    part, flat = last
    rows = joining(part, joins, formal.slots) if joins else part
    points = form_of(chain(part, (Role.PARALLEL,))[1], flat) in (Form.MAP, Form.FLAT)
    own = (part, flat, name) if points else (rows, flat, name, joins)
    lines += [*_reason(f"{step.reason}{order}"), *_part(formal, *own)]
    structs.append(_struct_name(name))
    if joins and points:
        lines += ["", *_reason("the same in rows"), *_part(formal, rows, False, f"{name}_{_ROWS}", joins)]
        return CudaKernel(tuple(structs), tuple(laid_out(lines)), rows=_struct_name(f"{name}_{_ROWS}"))
    other = without_batch(formal.kernel, formal.schedule)
    if other is not formal.schedule:
        name = f"{name}_{_ALONE}"
        lines += ["", *_reason("the same where the batch is empty: another loop is the fastest then")]
        lines += _part(formal, spared(teams(formal.kernel, other)).body, last[1], name)
        return CudaKernel((*structs, _struct_name(name)), tuple(laid_out(lines)), choice=True)
    return CudaKernel(tuple(structs), tuple(laid_out(lines)), zeros=zeros)


def _zeroed(part: Body) -> str | None:
    """The tensor that a part fills with zeros and does nothing else."""
    match chain(part, (Role.PARALLEL,))[1]:
        case (Store(slot, _, value),) if value == ZERO:
            return slot
        case _:
            return None


def _struct_name(name: str) -> str:
    return f"Step_{name}"


def _part(formal: Formal, part: Body, flat: bool, name: str, joins: Sequence[Join] = ()) -> list[str]:
    """One part of a kernel."""
    stored = frozenset(n.slot for n in inside(part) if isinstance(n, Store | Atomic))
    scope = Scope(formal, stored)
    outer, body = chain(part, (Role.PARALLEL,))
    if joins:
        scope.rows.sums = tuple(j.acc for j in joins)
    form = form_of(body, flat)
    assert form is Form.FLAT or not formal.spare, f"{name}: nothing guards {formal.spare}"
    methods = device_lines(scope, form, outer, body)
    lengths = dict.fromkeys(_count(formal, loops) for loops in inner_loops(body) if loops)
    lanes: list[str] = []
    if form in (Form.MAP, Form.COLUMNS) and scope.rows.dims:
        lanes.append(_count(formal, outer[-1:]))
        parts_ = dict.fromkeys(_product(formal, m, c) for m, c in scope.rows.parts.items())
        lanes += [f"{{{', '.join(parts_)}}}"] if parts_ else []
    if form is Form.ROWS:
        flags = [is_light(scope, body), is_passed_once(body), bool(joins), bool(joins) and is_arithmetic(body)]
        lanes += [str(flag).lower() for flag in flags[: 1 + max((k for k, f in enumerate(flags) if f), default=-1)]]
    launcher = "Lines" if form is Form.MAP and lanes else _launcher(form, outer)
    launch = _launch(launcher, _count(formal, outer), tuple(lengths), lanes, nested=bool(scope.rows.nests))
    return _struct(scope, name, launch, methods)


def _launcher(form: Form, outer: Sequence[Loop]) -> str:
    match form:
        case Form.MAP:
            return "Map"
        case Form.FLAT:
            return "Flat<sizeof(scalar_t)>"
        case Form.ROWS:
            return "Rows"
        case Form.COLUMNS:
            return f"Columns<{'true' if outer else 'false'}>"
        case Form.WHOLE:
            return "Whole<sizeof(scalar_t)>"


def _launch(
    launcher: str, points: str, more: Sequence[str], lanes: Sequence[str] = (), *, nested: bool = False
) -> list[str]:
    """How points are given to threads: how many, then the lengths of loops at a point, or the room that it needs.

    `lanes`: how many points are neighbours, where a thread may take several, and what else has to be whole vectors; of
    rows, whether they are light; `nested`: these are those of several loops.
    """
    listed = ", ".join(more)
    if launcher in ("Map", "Rows"):
        launcher += f"<{len(more)}{', true' if nested else ''}>"
    given = [points]
    given += [listed if launcher.startswith(("Columns", "Whole")) else f"{{{listed}}}"] if more else []
    given += lanes
    braces = ("{{", "}}") if launcher.startswith(("Flat", "Whole")) else ("{", "}")  # that of the class behind it
    head = f"static constexpr rt::{launcher} launch = {braces[0]}"
    alone = any(text.startswith("{") for text in given) and len(f"  {head}{', '.join(given)}{braces[1]};") > LIMIT
    if alone and not given[-1].startswith("{"):
        return [head, f"    {', '.join(given)}{braces[1]};"]
    lines = [head + given[0]]
    for text in given[1:]:
        end = f"{braces[1]};" if text is given[-1] else ","
        if not alone and len(f"  {lines[-1]}, {text}{end}") <= LIMIT:
            lines[-1] += f", {text}"
        else:
            lines[-1] += ","
            lines.append(" " * len(head) + text)
    return [*lines[:-1], f"{lines[-1]}{braces[1]};"]


def _declared(type_: str, names: Sequence[str]) -> list[str]:
    """Members of one type."""
    rows = [f"{type_} {names[0]}"]
    for name in names[1:]:
        rows[-1] += ","
        if len(rows[-1]) + len(name) + 4 <= LIMIT:
            rows[-1] += f" {name}"
        else:
            rows.append(f"    {name}")
    return [*rows[:-1], f"{rows[-1]};"]


def _count(formal: Formal, loops: Sequence[Loop]) -> str:
    """How many points some loops have: a product of integers of the call, of the elements of the batch, of numbers."""
    return f"rt::count({', '.join(_size(formal, a) for a in loops)})"


def _size(formal: Formal, loop: Loop) -> str:
    if isinstance(loop, Batch):
        return "rt::elements()"
    extent = loop.extent
    return str(extent.value) if isinstance(extent, Lit) else f"rt::integer({formal.ints.index(extent)})"


def _product(formal: Formal, factors: Monomial, number: int) -> str:
    """A term of a distance."""
    parts = [str(abs(number))] if abs(number) != 1 else []
    return f"rt::count({', '.join([*parts, *(f'rt::integer({formal.ints.index(e)})' for e in factors)])})"


def _reason(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in commented(f"// {line}")]


def _struct(scope: Scope, name: str, launch: Sequence[str], methods: Sequence[str]) -> list[str]:
    members = scope.fields()
    fields = f"static constexpr auto fields = rt::fields({', '.join(m.field for m in members)});"
    types = dict.fromkeys(m.type for m in members)
    declared = [line for t in types for line in _declared(t, [m.name for m in members if m.type == t])]
    near = [f"using {NEAR} = rt::Near<scalar_t>;"] if mentions(NEAR, methods) else []
    body = ["using opmath_t = rt::math_t<scalar_t>;", *near, *launch, fields, *declared, "", *methods]
    return ["template <typename scalar_t, int rank>", f"struct {_struct_name(name)} {{", *indented(body), "};"]
