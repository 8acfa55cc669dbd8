"""The CPU kernels of many operators in one library, compiled as they ship, and their torch forms, as functions.

In go derived operators, out come callables from float32 arrays to float32 arrays: the value, and every gradient for a
cotangent of ones, by way of what forward saves for backward.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from opgen.code.templates import root
from opgen.ir.interp import Array
from opgen.ir.program import Program
from opgen.package.step_table import Launch, StepTable
from opgen.plan.build import build
from opgen.plan.model import KernelPlan
from opgen.toolchain.compiler import toolchain
from opgen.torch.functions import torch_function
from tests.accuracy.operators import Case
from tests.native.cpu import Compiled, kernels_text
from tests.torch.execute import function

Floats = np.ndarray[Any, np.dtype[np.float32]]
Arrays = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Results:
    """What came out at every point: the value, and the gradient of each input in order."""

    value: Floats
    slopes: tuple[Floats, ...]


class _Kernels(Compiled):
    """One plan in a library of many."""

    def __init__(self, library: ctypes.CDLL, isa: str, plan: KernelPlan, launches: tuple[Launch, ...]) -> None:
        self.library, self.plan, self.launches, self.table = library, plan, launches, f"op_steps_{isa}"


class Library:
    """The forward and backward kernels of all cases, for one instruction set."""

    def __init__(self, cases: Sequence[Case], folder: Path, isa: str | None = None) -> None:
        table = StepTable("op")
        plans: dict[str, list[tuple[KernelPlan, tuple[Launch, ...]]]] = {}
        for c in cases:
            for p in (c.derived.forward, c.derived.backward):
                if p is not None:
                    plan = build(p)
                    plans.setdefault(c.name, []).append((plan, table.add(plan, c.name)))
        isa = isa or toolchain().sets[-1]
        made = _compiled(table, folder, isa)
        self.programs = {name: [_Kernels(made, isa, *found) for found in pair] for name, pair in plans.items()}

    def implementation(self) -> dict[str, Callable[[Case, Arrays], Results | None]]:
        """What the table calls these kernels."""
        return {"cpp": self.run}

    def run(self, c: Case, arrays: Arrays) -> Results:
        inputs = {k: Array((len(v),), v.tolist()) for k, v in arrays.items()}
        forward, *backward = self.programs[c.name]
        given = {k: v for k, v in inputs.items() if any(t.name == k for t in c.derived.forward.inputs)}
        results = forward.run(given, c.params, "float32")
        value = np.array(results[c.derived.primal.outputs[0].name].data, np.float32)
        if not backward:
            return Results(value, ())
        p = c.derived.backward
        assert p is not None
        ones = Array((len(value),), [1.0] * len(value))
        known = {**inputs, **results}
        gradients = backward[0].run({t.name: known.get(t.name, ones) for t in p.inputs}, c.params, "float32")
        return Results(value, tuple(_gradient(p, gradients, n, len(value)) for n in c.inputs))


def _gradient(p: Program, found: Mapping[str, Any], name: str, size: int) -> Floats:
    """The gradient of an input; zero where it has none."""
    output = next((o.name for o in p.outputs if o.of == name), None)
    if output is None:
        return np.zeros(size, np.float32)
    return np.broadcast_to(np.array(getattr(found[output], "data", found[output]), np.float32), (size,))


def _compiled(table: StepTable, folder: Path, isa: str) -> ctypes.CDLL:
    source = folder / "op_kernels.cpp"
    source.write_text(kernels_text(table))
    made, tools = folder / "op_kernels.o", toolchain()
    for line in (
        [*tools.kernels(source, [root() / "csrc"], made, isa), "-fvisibility=default"],
        [tools.compiler, "-shared", str(made), "-o", str(folder / "op.so")],
    ):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(folder / "op.so"))


def torch_form(c: Case, arrays: Arrays) -> Results:
    """What the generated Python computes."""
    d = c.derived
    given: dict[str, Any] = {k: torch.from_numpy(v) for k, v in arrays.items()}
    forward = torch_function("forward", [(d.variant, d.forward)], c.operator)
    results = _call(forward, {**given, **c.params})
    names = [o.name for o in d.forward.outputs]
    known = {**given, **c.params, **dict(zip(names, results, strict=True))}
    value = known[d.primal.outputs[0].name].numpy()
    if d.backward is None:
        return Results(value, ())
    backward = torch_function("backward", [(d.variant, d.backward)], c.operator)
    ones = torch.ones(len(value))
    found = _call(backward, {t.name: known.get(t.name, ones) for t in d.backward.inputs} | dict(c.params))
    gradients = {o.name: g.numpy() for o, g in zip(d.backward.outputs, found, strict=True)}
    return Results(value, tuple(_gradient(d.backward, gradients, n, len(value)) for n in c.inputs))


def _call(f: Any, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    found = function(f)(*(arguments[n] for n in f.arguments))
    return found if isinstance(found, tuple) else (found,)
