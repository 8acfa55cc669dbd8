"""Printed kernels, run on the CPU through the emulation, compute what the interpreter computes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest

from opgen.ir.interp import Array
from tests.cuda import programs
from tests.cuda.harness import TOLERANCE, Emulation, needs_compiler
from tests.random_programs.calls import check
from tests.random_programs.found import cases

pytestmark = [pytest.mark.thorough, needs_compiler]
Make = Callable[..., Emulation]


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_pointwise(emulation: Make, dtype: str) -> None:
    made = emulation("pointwise", programs.pointwise(), [dtype])
    for a, b in (((37,), (37,)), ((5, 1, 7), (4, 7)), ((), (3,)), ((0, 4), (4,)), ((2, 1, 1), (1, 3, 1)), ((1,), ())):
        made.check({"a": a, "b": b}, dtype, {"scale": 0.5})
    made.check({"a": (3, 5), "b": (3, 5)}, dtype, {"scale": 0.5}, spread=2)
    made.check({"a": (35,), "b": (35,)}, dtype, {"scale": 0.5}, margin=1)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_rows_of_any_length(emulation: Make, dtype: str) -> None:
    made = emulation("softmax", programs.softmax(), [dtype])
    for shape in ((3, 1), (2, 5, 8), (9,), (6, 33), (0, 4), (2, 2051)):
        made.check({"x": shape}, dtype)
    made.check({"x": (2, 3, 21)}, dtype, spread=3, margin=1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rows_held_in_registers(emulation: Make, dtype: str) -> None:
    made = emulation("held", programs.softmax(), [dtype])
    for shape in ((3, 8), (19, 64), (2, 5, 128), (2, 136), (3, 1032), (1, 4096), (0, 8), (2, 0)):
        made.check({"x": shape}, dtype)
    made.check({"x": (3, 64)}, dtype, margin=1)
    made.check({"x": (3, 64)}, dtype, margin=16 // {"float32": 4, "bfloat16": 2}[dtype])


def test_what_a_row_hands_on_is_held_though_no_sum_of_it_is_made(emulation: Make) -> None:
    (made,) = check(cases()["a value of a row that only others of it are made of"]).of_stage("forward")
    held = emulation("handed_on", made.program, ["float32"])
    for length in (3, 16, 64):
        held.check({"y": (2, length)}, "float32")


@pytest.mark.parametrize(("dtype", "most"), [("float32", 4096), ("bfloat16", 8192)])
def test_rows_that_are_too_long_to_be_held(emulation: Make, dtype: str, most: int) -> None:
    made = emulation("long", programs.softmax(), [dtype])
    for length in (most + 8, 2 * most, 2 * most + 2056):
        made.check({"x": (2, length)}, dtype)


@pytest.mark.parametrize("length", [40, 4104, 4105])
def test_a_missing_row_is_zeros(emulation: Make, length: int) -> None:
    made = emulation("moved", programs.moved(), ["float32"])
    made.check({"x": (2, length), "g": (2, length)}, "float32")
    x = Array((1, length), [float(k % 7) for k in range(length)])
    assert made.emulated.run({"x": x}, {}, "float32")["y"].data == x.data


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_halves_are_cases_of_whole_vectors_or_of_points(emulation: Make, dtype: str) -> None:
    made = emulation("halves", programs.halves(), [dtype])
    for d, h in ((32, 16), (48, 16), (64, 16), (32, 12), (32, 5), (11, 5), (16, 8)):
        made.check({"x": (3, 5, d), "c": (h,)}, dtype)
    made.check({"x": (40, 64), "c": (24,)}, dtype, margin=1)


def test_contraction_with_the_batch_inside(emulation: Make) -> None:
    made = emulation("affine", programs.affine(), ["float64", "bfloat16"])
    for dtype in ("float64", "bfloat16"):
        made.check({"x": (7, 2, 3), "w": (5, 7), "c": (5,)}, dtype)
        made.check({"x": (7,), "w": (1, 7), "c": (1,)}, dtype, spread=2)
    made.check({"x": (0, 2), "w": (3, 0), "c": (3,)})
    made.check({"x": (4, 0), "w": (3, 4), "c": (3,)})


def test_every_reduction(emulation: Make) -> None:
    made = emulation("reductions", programs.reductions())
    for shape in ((4, 3, 37), (1, 1), (300, 5), (2, 700), (40, 3, 5)):
        made.check({"x": shape, "g": shape}, params={"limit": 0.5})
    made.check({"x": (6, 1, 9), "g": (5, 9)}, params={"limit": -9.0}, spread=2, margin=3)


def test_everything_is_folded_in_vectors_and_what_is_left_of_them(emulation: Make) -> None:
    made = emulation("reductions", programs.reductions(), ["float32"])
    for shape in ((5, 7), (1, 3), (90, 1111)):
        made.check({"x": shape, "g": shape}, "float32", params={"limit": 0.5})
    made.check({"x": (9, 7), "g": (9, 7)}, "float32", params={"limit": 0.5}, margin=1)


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_threads(emulation: Make, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("OPGEN_SIMT_SEED", str(seed))
    made = emulation("reductions", programs.reductions())
    made.check({"x": (70, 41), "g": (70, 41)}, params={"limit": 0.0})


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_gather_and_scatter(emulation: Make, dtype: str) -> None:
    made = emulation("lookup", programs.lookup(), [dtype])
    shapes = {"double": (3, 5), "ids": (4, 2), "int": (4, 2, 5)}
    made.check(shapes, dtype, {"skip": 1, "start": 2})
    made.check(shapes, dtype, {"skip": -1, "start": 0}, spread=2)
    made.check({"double": (3, 5), "ids": (0,), "int": (0, 5)}, dtype, {"skip": 1, "start": 2})


def test_a_scatter_of_halves_adds_in_float32(emulation: Make) -> None:
    made = emulation("lookup", programs.lookup(), ["float16"])
    rows = 3000  # ones in half precision add up to 2048 at most
    arrays = {"double": Array((1, 1), [1.0]), "ids": Array((rows,), [0] * rows), "int": Array((rows, 1), [1.0] * rows)}
    assert made.emulated.run(arrays, {"skip": 1, "start": 0}, "float16")["spread"].data == [rows]


def test_a_position_out_of_range_stops_the_kernel(emulation: Make) -> None:
    made = emulation("bad", programs.lookup())
    shapes = {"double": (3, 5), "ids": (4,), "int": (4, 5)}
    arrays = {name: Array(shape, [1.0] * prod(shape)) for name, shape in shapes.items()}
    for bad, size in ((3, 3), (-1, 3), (0, 0)):
        arrays["ids"] = Array((4,), [0, 2, bad, 1])
        arrays["double"] = Array((size, 5), [1.0] * size * 5)
        with pytest.raises(IndexError, match="stopped at an assertion"):
            made.emulated.run(arrays, {"skip": 1, "start": 0})
    arrays["ids"], arrays["double"] = Array((4,), [0, 2, 1, 1]), Array((3, 5), [1.0] * 15)
    made.emulated.run(arrays, {"skip": 1, "start": 0})
