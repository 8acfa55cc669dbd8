"""Sums across rows beside these rows: the same results as apart, however rows are given to teams."""

from __future__ import annotations

import ctypes
import random
from dataclasses import replace
from pathlib import Path

import pytest

from opgen.ir.interp import Array, run
from opgen.kernel.interp import Machine
from opgen.package.samples import default_value
from tests.cuda import emulate
from tests.cuda.harness import CSRC, TOLERANCE, near, needs_compiler, sample
from tests.cuda.printed import printed
from tests.cuda.test_binding import bound_in, output
from tests.plain import planned
from tests.spec_files import SPECS
from tests.spec_programs import programs, shape_of

pytestmark = [pytest.mark.thorough, needs_compiler]

DTYPES = ("float32", "bfloat16")
SHAPES = ((1, 8), (2100, 8), (70, 32), (3, 136), (5, 264), (5, 7), (0, 64), (3, 0))
LONG = ((2, 4104), (2, 8192))  # in blocks of 512, with two and with four vectors for each thread
CALLED = """
import torch
from generated.rms_norm import rms_norm

def backward(*given):
    found = torch.ops.generated_native.rms_norm_backward(*given)
    return [None if t is None else t.float() for t in found]

for dtype in (torch.float32, torch.bfloat16, torch.float64):
    for shape in ((40, 64), (3, 5, 32), (9, 7), (0, 8)):
        x, g = (torch.randn(shape).to(dtype) for _ in range(2))
        w = torch.randn(shape[-1:]).to(dtype)
        wide = torch.float64 if dtype is torch.float64 else torch.float32
        rstd = x.to(wide).square().mean(-1).add(1e-6).rsqrt()
        given = g, x, w, rstd, 1e-6
        both = backward(*given, [True, True])
        alone = [backward(*given, [k == 0, k == 1])[k] for k in range(2)]
        assert backward(*given, [True, False])[1] is None and backward(*given, [False, True])[0] is None
        for a, b in zip(both, alone):
            torch.testing.assert_close(a, b, rtol=2e-2 if dtype is torch.bfloat16 else 1e-5, atol=1e-5)
        assert all(torch.equal(a, b) for a, b in zip(both, backward(*given, [True, True])))
        print(dtype, shape)
"""


@pytest.mark.parametrize("op", ["rms_norm", "layer_norm", "rms_norm_residual", "linear_activation", "modrelu"])
def test_rows_that_join_sums_compute_what_kernels_apart_do(op: str, tmp_path: Path) -> None:
    path = next(p for p in SPECS if p.stem == op)
    name, program, given = next(x for x in programs(path, ["backward"]) if x[0].endswith("_0"))
    plan = planned(program)
    text, (launches,) = printed(op, [(name, plan)])
    (tmp_path / f"{op}.cu").write_text(text)
    library = emulate.compile_emulated(tmp_path / f"{op}.cu", [CSRC], tmp_path / f"{op}.so", DTYPES)
    own = emulate.Emulated(library, op, plan, launches)
    apart = emulate.Emulated(library, op, plan, [replace(launch, columns=None) for launch in launches])
    params = {a.name: dict(given.params).get(a.name, default_value(a)) for a in given.variant.program.params}
    params |= {a.name: [True] * a.length for a in program.params if a.name not in params and a.length}
    rng = random.Random(op)
    assert [launch for launch in launches if launch.columns is not None]
    for dtype in DTYPES:
        for rows, size in (*SHAPES, *(LONG if (op, dtype) == ("rms_norm", "bfloat16") else ())):
            arrays = {
                t.name: emulate.rounded(
                    emulate.element(plan.buffer(t.name).storage, dtype),
                    sample(shape_of(t.shape, dict(given.sizes) | {"D": size, "N": size}, (rows,)), t.kind, rng),
                )
                for t in program.inputs
            }
            want = run(program, arrays, params)
            for runs in (own, apart):
                found = runs.run(arrays, params, dtype, processors=1)
                for key, value in found.items():
                    pairs = zip(value.data, want[key].data, strict=True)
                    assert all(near(a, b, 4 * TOLERANCE[dtype]) for a, b in pairs), (dtype, rows, size, key)


def test_sums_of_teams_have_a_place_of_their_own(tmp_path: Path) -> None:
    """What a call asks for tells whether its rows join: 70 rows in teams of 8 threads, 16 in each of 4 blocks."""
    path = next(p for p in SPECS if p.stem == "rms_norm")
    name, program, _ = next(x for x in programs(path, ["backward"]) if x[0].endswith("_0"))
    plan = planned(program)
    text, (launches,) = printed("rms_norm", [(name, plan)])
    (tmp_path / "rms_norm.cu").write_text(text)
    library = emulate.compile_emulated(tmp_path / "rms_norm.cu", [CSRC], tmp_path / "rms_norm.so", DTYPES)
    own = emulate.Emulated(library, "rms_norm", plan, launches)
    arrays = {t.name: Array(tuple(shape_of(t.shape, {"D": 64}, (70,))), []) for t in program.inputs}
    sizes = Machine(plan, arrays, {"eps": 0.0})
    rows, columns = (own.call_of(launch, {}, sizes, "bfloat16", 1) for launch in launches)
    table = (emulate.Kernel * 2).in_dll(own.library, own.table)
    assert table[0].workspace(ctypes.byref(rows)) == 0
    rows.columns = ctypes.addressof(columns)
    assert table[0].workspace(ctypes.byref(rows)) == 4 * 16 * 64 * ctypes.sizeof(ctypes.c_float)


def test_a_binding_asks_for_both_or_for_each_alone(tmp_path: Path) -> None:
    bound_in(tmp_path, "rms_norm")
    assert len(output(CALLED, tmp_path).splitlines()) == 12
