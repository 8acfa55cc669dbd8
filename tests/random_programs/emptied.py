"""Random programs where a dim of the call is empty: what has no value is refused, and not read as something else."""

from __future__ import annotations

from typing import Any

import torch

from opgen.ir.interp import Array, Machine, run
from opgen.ir.program import Tensor
from opgen.torch.functions import torch_function
from tests.random_programs.calls import Checked, same
from tests.random_programs.printed import ROUNDED, WIDER, passed, tensor
from tests.random_programs.sizes import resized, told
from tests.torch.cases import result_names
from tests.torch.execute import function, source


def check_emptied(done: Checked) -> None:
    """Plain torch has a value for no call that the interpreter has none for, and no other one."""
    calls = done.of_stage("forward")
    programs = [(c.variant, c.program) for c in calls]
    f = torch_function("f", programs, done.operator, masked=False)
    compute = function(f)
    for c in calls:
        for dim in told(c.program):
            given = {n: (_emptied(a, t, dim), t) for n, (a, t) in passed(c, calls).items()}
            tensors = {n: tensor(a, t.kind, torch.float64) for n, (a, t) in given.items()}
            every: dict[str, Any] = {**dict.fromkeys(f.arguments), **tensors, **c.params}
            got: Any = None
            divided: ZeroDivisionError | None = None
            try:
                got = compute(*(every[n] for n in f.arguments))
            except ZeroDivisionError as e:
                divided = e
            except (IndexError, RuntimeError):
                # torch refuses more: also what stands at a place of an empty tensor
                done.confirmed["emptied: refused"] += 1
                continue
            whole = {t.name: given[t.name][0] for t in c.program.inputs}
            try:
                want = run(c.program, whole, c.params)
            except ZeroDivisionError:
                continue  # of a position by a size, found ahead of loops that are empty
            except IndexError as e:
                if divided is None:
                    raise AssertionError(f"no {dim}: torch has {got}, where {e}\n{source(f)}") from e
                continue
            batch = Machine(c.program, whole, c.params).batch
            if divided is not None and (0 in batch or all(0 in a.shape for a in want.values())):
                done.confirmed["emptied: refused"] += 1  # of a position by a size, in a loop of no batch
                continue
            assert divided is None, f"no {dim}: torch has no value, for {divided}\n{source(f)}"
            if any(n < 0 for a in want.values() for n in a.shape):
                continue  # the operator refuses such sizes
            names = result_names(programs)
            found = dict(zip(names, got if isinstance(got, tuple) else (got,), strict=True))
            held = {o.name: found[o.name] for o in c.program.outputs if not o.of}
            arrays = {n: Array(tuple(v.shape), v.double().flatten().tolist()) for n, v in held.items()}
            rounded = any(o.dtype in WIDER for o in c.program.outputs)
            same(f"torch without {dim}", arrays, {n: want[n] for n in arrays}, ROUNDED if rounded else 1e-7)
            done.confirmed["emptied: equal"] += 1


def _emptied(a: Array, t: Tensor, dim: str) -> Array:
    shape = resized(a.shape, t, dim, 0)
    return a if shape == a.shape else Array(shape, [])
