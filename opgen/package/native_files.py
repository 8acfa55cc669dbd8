"""The native sources of an operator: a C++ binding, CPU kernels and CUDA kernels, and the headers they all share.

In goes the surface of an operator with the order in which its dispatcher ops take their arguments; out come paths and
texts. All of them print the same plans. An operator that has no plan gets a note that says why instead. Second order
has sources of its own, for the CPU, where a project asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.code import templates
from opgen.ir.errors import UnplannableError
from opgen.package.cpp_code import cpp_files
from opgen.package.cpp_signature import SECOND_ORDER, Direction
from opgen.package.notes import NO_CUDA_KERNELS, NO_KERNELS, SECOND, SOURCES
from opgen.package.view import Surface, formula_text, formula_view
from opgen.package.view_ops import may_be_absent, second_returns
from opgen.plan.speed import Choice

_SHARED = (".h", ".cuh", ".cpp")


@dataclass(frozen=True, slots=True)
class NativeFiles:
    """Paths and texts of the sources of an operator, and when a CPU is faster without them."""

    files: tuple[tuple[str, str], ...]
    choice: Choice = field(default_factory=lambda: Choice({}, {}))


def native_files(s: Surface, saved: Sequence[str], header: str, *, second_order: bool = False) -> NativeFiles:
    """The sources of an operator, of `second_order` too if asked; `saved` is what backward takes beside cotangents."""
    if s.operator.elsewhere is not None:
        return _without(header, f"{s.name} is computed by {s.operator.elsewhere.forward.path}")
    if not s.inputs:
        return _without(header, f"{s.name} takes no tensor that would tell where to compute")
    found = directions(s, saved)
    try:
        cpp = cpp_files(s.operator, found, s.namespace, formula_text(s.operator))
    except UnplannableError as e:
        return _without(header, str(e))
    comment = header.replace("#", "//")
    files = (
        (f"{SOURCES}/{s.name}.cpp", f"{comment}\n{cpp.binding}"),
        (f"{SOURCES}/{s.name}_kernels.cpp", f"{comment}\n{cpp.kernels}"),
        (f"{SOURCES}/{s.name}.cu", f"{comment}\n{cpp.cuda}")
        if cpp.cuda
        else (NO_CUDA_KERNELS, f"{header}\n{cpp.no_cuda}\n"),
    )
    again = second(s, saved) if second_order else None
    if again is None:
        return NativeFiles(files, cpp.choice)
    try:
        more = cpp_files(s.operator, (again,), s.namespace, formula_text(s.operator))
    except UnplannableError:  # torch computes it
        return NativeFiles(files, cpp.choice)
    texts = {f"{s.name}.cpp": more.binding, f"{s.name}_kernels.cpp": more.kernels}
    own = tuple((f"{SECOND}/{name}", f"{comment}\n{text}") for name, text in texts.items())
    return NativeFiles((*files, *own), replace(cpp.choice, in_torch={**cpp.choice.in_torch, **more.choice.in_torch}))


def _without(header: str, reason: str) -> NativeFiles:
    return NativeFiles(((NO_KERNELS, f"{header}\n{reason}\n"),))


def directions(s: Surface, saved: Sequence[str]) -> tuple[Direction, ...]:
    """What the forward and the backward op take and give."""
    results = (*s.output_names, *s.residuals)
    forward = Direction("forward", tuple(s.programs("forward")), s.inputs, results, optional=_optional(s, s.inputs))
    if not s.active:
        return (forward,)
    cotangents = tuple(f"grad_{n}" for n in s.active)
    gradients = tuple(f"grad_{n}" for n in s.wrt)
    tensors, programs = (*cotangents, *saved), tuple(s.programs("backward"))
    return forward, Direction("backward", programs, tensors, gradients, s.inputs, _optional(s, saved))


def second(s: Surface, saved: Sequence[str]) -> Direction | None:
    """What a kernel of second order takes and gives: cotangents of gradients first; None where there is none."""
    formula = formula_view(s, SECOND_ORDER, "")
    if formula is None or s.operator.elsewhere is not None:
        return None
    cotangents = tuple(f"grad_grad_{n}" for n in s.wrt)
    tensors = (*cotangents, *(f"grad_{n}" for n in s.active), *saved)
    optional = tuple(t for t in tensors if t in formula.optional or t in cotangents)
    lacking = tuple(f"grad_grad_{n}" for n in s.wrt if not may_be_absent(s, n))
    programs = tuple(s.programs(SECOND_ORDER))
    return Direction(SECOND_ORDER, programs, tensors, second_returns(s), formula.mask, optional, lacking)


def _optional(s: Surface, tensors: Sequence[str]) -> tuple[str, ...]:
    return tuple(t for t in tensors if may_be_absent(s, t))


def shared_sources() -> tuple[tuple[str, str], ...]:
    """The headers that the sources of all operators include, and what is compiled once for all of them."""
    names = [n for n in templates.names("csrc") if n.endswith(_SHARED)]
    return tuple((name, templates.verbatim(name)) for name in names)
