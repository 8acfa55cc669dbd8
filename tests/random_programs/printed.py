"""Printed torch code of random programs, run and compared with the interpreter."""

from __future__ import annotations

from typing import Any

import torch

from opgen.ir.interp import Array
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Given, Kind, Program, Role, Tensor
from opgen.ir.scalar import BATCH
from opgen.torch.functions import torch_function
from tests.random_programs.calls import Call, Checked, same
from tests.torch.cases import result_names, to_tensor
from tests.torch.execute import function, source

STAGES = ("forward", "backward", "unused", "tangent", "second", "backward_tangent", "through_sums")
OF_RESIDUALS = ("tangent", "through_sums")
EXACT = (torch.float64, 1e-7)
SINGLE = (torch.float32, 2e-3)
WIDER = ("half", "bfloat16", "float32")  # what they store is rounded, and not in a program
ROUNDED = 1e-2
# What turns a last bit into another result.
UNSTEADY = (
    "floor", "ceil", "round", "trunc", "frac", "sign", "fmod", "remainder", "heaviside", "argmax", "argmin", "argsort",
    ">", "int(", "copysign", "max", "min", "relu", "abs", "clamp", "<", "median", "quantile", "kth", "sort", "int8",
    "int16", "int32", "int64", "float8",
)  # fmt: skip


def check_torch(done: Checked) -> None:
    """Every stage of every variant in float64; forward and backward in float32 too, where that is no lottery."""
    formulas = done.case.text.partition("forward:")[2]
    steady = not any(u in formulas for u in UNSTEADY)
    for stage in STAGES:
        calls = done.of_stage(stage)
        if calls:
            made = [(c.variant, c.program) for c in done.of_stage("forward")] if stage in OF_RESIDUALS else []
            _check(done.operator, calls, stage, made, steady=steady)


def _check(
    operator: Operator, calls: list[Call], stage: str, forward: list[tuple[Variant, Program]], *, steady: bool
) -> None:
    programs = [(c.variant, c.program) for c in calls]
    f = torch_function("f", programs, operator, masked=stage in ("backward", "unused", "second"), forward=forward)
    run = function(f, operator)
    for c in calls:
        for dtype, tolerance in (EXACT, SINGLE) if steady and stage in ("forward", "backward") else (EXACT,):
            tensors = {n: tensor(a, t.kind, dtype) for n, (a, t) in passed(c, calls).items()}
            every: dict[str, Any] = {**dict.fromkeys(f.arguments), **tensors, **c.params}
            if f.mask:
                absent = [g.name for g in c.variant.conditions if isinstance(g, Given) and not g.present]
                every[f.mask_name] = tuple(name not in absent for name in f.mask)
            try:
                actual = run(*(every[n] for n in f.arguments))
            except Exception as e:
                raise AssertionError(f"torch {stage}: {e}\n{source(f)}") from e
            actual = actual if isinstance(actual, tuple) else (actual,)
            named = dict(zip(result_names(programs), actual, strict=True))
            found, rounded = {}, False
            for o in c.program.outputs:
                value = named[o.name]
                assert value is not None, f"{o.name} is missing:\n{source(f)}"
                dtypes = {Kind.FLOAT: dtype, Kind.INT: torch.int64, Kind.BOOL: torch.bool}
                own_dtype = dtypes[o.kind] if not o.dtype else getattr(torch, o.dtype)
                assert value.dtype is own_dtype, f"{stage}: {o.name} is {value.dtype}\n{source(f)}"
                rounded = rounded or (o.dtype in WIDER)
                value = value.double() if value.is_floating_point() else value
                shape = c.expected[o.name].shape
                if o.of and o.like is None:  # a residual may be left unexpanded
                    own, before = tuple(value.shape), o.shape.index(BATCH) if BATCH in o.shape else 0
                    value = value.reshape((*own[:before], *[1] * (len(shape) - len(own)), *own[before:])).expand(shape)
                found[o.name] = Array(tuple(value.shape), value.flatten().tolist())
            # what is kept of rows without elements, no gradient asks for: a softmax has no greatest value then
            nothing = {o.name for o in c.program.outputs if o.kept and any(0 in t.shape for t in tensors.values())}
            wanted = {n: a for n, a in c.expected.items() if n not in nothing}
            try:
                same(f"torch {stage} in {dtype}", found, wanted, ROUNDED if rounded else tolerance)
            except AssertionError as e:
                raise AssertionError(f"{e}\n{source(f)}") from e


def passed(c: Call, calls: list[Call]) -> dict[str, tuple[Array, Tensor]]:
    """What the operator would pass: also what only other variants read, as far as it is there in this one."""
    declared = {t.name: t for other in calls for t in (*other.program.inputs, *other.variant.program.inputs)}
    absent = [g.name for g in c.variant.conditions if isinstance(g, Given) and not g.present]
    found = {}
    for t in (t for t in declared.values() if t.role is not Role.SAVED or t.name in c.arrays):
        name = t.name
        while name not in c.known and (above := _origin(name, declared)) != name:
            name = above
        held = c.arrays.get(t.name) or c.known.get(name)
        if held is not None and t.name not in absent and t.of not in absent:
            found[t.name] = (held, t)
    return found


def _origin(name: str, declared: dict[str, Tensor]) -> str:
    """What a cotangent or tangent is of. No variant of a stage may read the cotangent that a tangent is of."""
    return declared[name].of if name in declared else name.removeprefix("grad_")


def tensor(a: Array, kind: Kind, dtype: torch.dtype) -> torch.Tensor:
    t = to_tensor(a, kind)
    return t.to(dtype) if kind is Kind.FLOAT else t
