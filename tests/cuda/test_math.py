"""Every function of the table, as its CUDA spelling computes it, against the interpreter."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence
from math import exp, fmod, inf, isnan, nan, nextafter

import pytest

from opgen.code.native_scope import value_type
from opgen.code.scaled import SCALED
from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.interp_functions import SCALARS
from opgen.ir.program import Kind
from tests.cuda import emulate
from tests.cuda.harness import CSRC, near, needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

# Functions of bits take no floats: tests/cuda/test_language.py has kernels of them.
BITS = ("bitand", "bitor", "bitxor", "bitnot", "philox", "uniform_of", "normal_of")
ROWS = [r for r in FUNCTIONS.values() if r.cuda.startswith("rt::") and r.name not in BITS]
TOLERANCE = {"float": 2e-6, "double": 2e-13}
NEAR = (
    "exp", "sigmoid", "silu", "tanh", "erfc", "softplus", "logsigmoid", "sqrt", "reciprocal", "tanh_of_softplus",
)  # fmt: skip
WHOLE = ("floordiv", "mod", "remainder", "fmod")
LOOSE = {"digamma": 4, "polygamma": 8, "lgamma": 4, "remainder": 50}  # cancellation near zeros; powers of small numbers


def source(c_type: str) -> str:
    lines = ['#include "opgen_rt.cuh"', f"using opmath_t = {c_type};"]
    for r in ROWS:
        args = [f"x[{i}]" for i in range(len(r.args))]
        lines.append(f'extern "C" void f_{r.name}({c_type}* y, const {c_type}* x) {{ *y = {r.cuda.format(*args)}; }}')
    half = "rt::half_t h; rt::narrow(x, &h); return h.bits;"
    brain = "rt::bfloat16_t h; rt::narrow(x, &h); return h.bits;"
    lines.append(f'extern "C" unsigned to_half(float x) {{ {half} }}')
    lines.append(f'extern "C" unsigned to_bfloat16(float x) {{ {brain} }}')
    for kind, rank in (("small", 1), ("large", 2)):
        divided = f"return rt::Divider<{rank}>(size).quotient(n);"
        lines.append(f'extern "C" int64_t quotient_{kind}(int64_t n, int64_t size) {{ {divided} }}')
    for fn in ("floordiv", "mod"):
        divided = f"return rt::{fn}(n, rt::Divisor(size));"
        lines.append(f'extern "C" int64_t {fn}_by(int64_t n, int64_t size) {{ {divided} }}')
    for fn in WHOLE:
        lines.append(f'extern "C" int64_t whole_{fn}(int64_t x, int64_t y) {{ return rt::{fn}(x, y); }}')
    lines.append('extern "C" float from_half(unsigned bits) { return rt::widen(rt::half_t{uint16_t(bits)}); }')
    for name, stored in (("float", "float"), ("half", "rt::half_t"), ("brain", "rt::bfloat16_t")):
        lines.append(f'extern "C" float div_{name}(float x, float y) {{ return rt::Near<{stored}>::div(x, y); }}')
        lines.append(f'extern "C" float pow_{name}(float x, float y) {{ return rt::Near<{stored}>::pow(x, y); }}')
        for f in NEAR:
            lines.append(f'extern "C" float {f}_{name}(float x) {{ return rt::Near<{stored}>::{f}(x); }}')
        for f in SCALED:
            call_of = f"rt::Near<{stored}>::{f}(x, scale)"
            lines.append(f'extern "C" float scaled_{f}_{name}(float x, float scale) {{ return {call_of}; }}')
    return "\n".join(lines)


@pytest.fixture(scope="module", params=["float", "double"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ctypes.CDLL]:
    folder = tmp_path_factory.mktemp("functions")
    file = folder / "functions.cu"
    file.write_text(source(request.param))
    return request.param, ctypes.CDLL(str(emulate.compile_emulated(file, [CSRC], folder / "functions.so")))


def call(library: tuple[str, ctypes.CDLL], row: ScalarFunction, xs: Sequence[float]) -> float:
    number = ctypes.c_float if library[0] == "float" else ctypes.c_double
    y = number()
    getattr(library[1], f"f_{row.name}")(ctypes.byref(y), (number * 4)(*xs))
    return y.value


def draw(row: ScalarFunction, rng: random.Random) -> list[float]:
    low, high = (max(min(x, 30.0), -30.0) for x in row.domain)
    xs = [rng.uniform(low, high) for _ in row.args]
    if row.name == "polygamma":
        return [float(rng.randrange(4)), abs(xs[1]) + 0.2]
    return [x * rng.choice((1, 1, 1e-6)) if low < 0 else x for x in xs]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_function(library: tuple[str, ctypes.CDLL], row: ScalarFunction) -> None:
    rng = random.Random(row.name)
    for _ in range(12):
        xs = [ctypes.c_float(x).value for x in draw(row, rng)]
        given: list[float] = [int(xs[0]), xs[1]] if row.name == "polygamma" else xs
        want = float(SCALARS[row.name](*given))
        got = call(library, row, xs)
        assert near(got, want, TOLERANCE[library[0]] * LOOSE.get(row.name, 1)), (xs, got, want)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles(library: tuple[str, ctypes.CDLL], name: str) -> None:
    row = FUNCTIONS[name]
    for x in (ctypes.c_float(v).value for v in (1e3, 39999.5, 1e6, -3e9, 1e15, 2.0**90, -1.5e38, 355.0, 0.0)):
        assert near(call(library, row, [x]), float(SCALARS[name](x)), TOLERANCE[library[0]] * 20), x
    assert isnan(call(library, row, [inf]))
    if library[0] == "double":
        assert near(call(library, row, [1e300]), float(SCALARS[name](1e300)), 1e-12)


def test_edges(library: tuple[str, ctypes.CDLL]) -> None:
    def f(name: str, *xs: float) -> float:
        return call(library, FUNCTIONS[name], xs)

    assert f("logaddexp", -inf, -inf) == -inf
    assert f("logaddexp", inf, -inf) == inf
    assert f("softplus", 100.0) == 100.0
    assert f("sigmoid", -1000.0) == 0.0
    assert f("erfinv", 1.0) == inf
    assert f("lgamma", 0.0) == inf
    assert f("xlogy", 0.0, 0.0) == 0.0
    assert isnan(f("max", nan, 1.0))
    assert isnan(f("min", 1.0, nan))
    assert isnan(f("relu", nan))
    assert f("round", 2.5) == 2.0
    assert f("remainder", -1.0, 3.0) == 2.0


def test_sixteen_bit_conversions(library: tuple[str, ctypes.CDLL]) -> None:
    lib = library[1]
    for f in (lib.to_half, lib.to_bfloat16):
        f.argtypes = [ctypes.c_float]
    lib.from_half.restype = ctypes.c_float
    rng = random.Random(0)
    values = [0.0, -0.0, 1.0, 65504.0, 65519.0, 65520.0, 1e9, inf, -inf, 6e-5]
    values += [2.0**-24, 2.0**-25, nextafter(2.0**-25, 1)]
    values += [rng.uniform(-1, 1) * 2.0 ** rng.randrange(-26, 17) for _ in range(300)]
    for x in (ctypes.c_float(v).value for v in values):
        for dtype, f in (("float16", lib.to_half), ("bfloat16", lib.to_bfloat16)):
            memory = emulate.Memory.empty(dtype, ())
            memory.fill(emulate.Array((), [x]))
            want = int.from_bytes(bytes(memory.bytes)[memory.start : memory.start + 2], "little")
            assert f(x) == want, (dtype, x)
        bits = lib.to_half(x)
        assert lib.to_half(lib.from_half(bits)) == bits
    assert isnan(lib.from_half(lib.to_half(nan)))


@pytest.mark.parametrize(("kind", "bits"), [("small", 31), ("large", 63)])
def test_division_by_a_number_of_the_call(library: tuple[str, ctypes.CDLL], kind: str, bits: int) -> None:
    f = getattr(library[1], f"quotient_{kind}")
    f.argtypes, f.restype = [ctypes.c_int64] * 2, ctypes.c_int64
    rng = random.Random(0)
    last = 2**bits - 1
    sizes = [1, 2, 3, 7, 64, 4096, 4097, last // 2, last // 2 + 1, last, *(rng.randrange(1, last) for _ in range(50))]
    for size in (*sizes, *(1 << rng.randrange(bits) for _ in range(10))):
        for n in (0, 1, size - 1, size, last // size * size - 1, last, *(rng.randrange(last) for _ in range(20))):
            assert n < 0 or f(n, size) == n // size, (n, size)


def test_any_number_divided_by_one_of_the_call(library: tuple[str, ctypes.CDLL]) -> None:
    found = [getattr(library[1], name) for name in ("floordiv_by", "mod_by")]
    for f in found:
        f.argtypes, f.restype = [ctypes.c_int64] * 2, ctypes.c_int64
    rng = random.Random(0)
    ends = (1, 2, 3, 7, 64, 2**31 - 1, 2**31, 2**31 + 1, 2**40, 2**63 - 1)
    sizes = (*ends, *(rng.randrange(1, 2**40) for _ in range(20)))
    for size in (*sizes, *(-s for s in sizes)):
        for n in (0, 1, *ends, *(rng.randrange(2 ** rng.randrange(1, 63)) for _ in range(20))):
            for x in (n, -n):
                assert [f(x, size) for f in found] == [x // size, x % size], (x, size)
    assert [f(x, 0) for f in found for x in (5, -5, 2**40)] == [0] * 6


def test_quotients_and_rests_of_whole_numbers(library: tuple[str, ctypes.CDLL]) -> None:
    found = [getattr(library[1], f"whole_{name}") for name in WHOLE]
    for f in found:
        f.argtypes, f.restype = [ctypes.c_int64] * 2, ctypes.c_int64
    for x in (0, 5, -5, 2**40 + 1):
        for y in (1, 3, -3, 7):
            assert [f(x, y) for f in found] == [x // y, x % y, x % y, int(fmod(x, y))]
        assert [f(x, 0) for f in found] == [0] * 4


SMALL, LARGE = 1e-40, 3e38
ENDS = {
    "sigmoid": [0, 1], "tanh": [-1, 1], "erfc": [2, 0], "logsigmoid": [-inf, 0], "reciprocal": [0, 0],
    "tanh_of_softplus": [0, 1],
}  # fmt: skip


@pytest.mark.parametrize("name", ["float", "half", "brain"])
def test_quotients_without_branches(library: tuple[str, ctypes.CDLL], name: str) -> None:
    f = getattr(library[1], f"div_{name}")
    f.argtypes, f.restype = [ctypes.c_float] * 2, ctypes.c_float
    rng = random.Random(0)
    special = [(1.0, 3.0), (SMALL, SMALL), (LARGE, LARGE), (-LARGE, 2.0), (1.0, LARGE), (SMALL, 1.0), (1e-30, 1e-38)]
    pairs = [(rng.gauss(0, 1) * 2.0 ** rng.randrange(-60, 60), rng.gauss(0, 1)) for _ in range(500)]
    for x, y in ((ctypes.c_float(a).value, ctypes.c_float(b).value) for a, b in (*special, *pairs)):
        assert abs(f(x, y) - x / y) <= (6.1e-8 if name == "float" else 3e-7) * abs(x / y) + 3e-45, (x, y)
    assert [f(1, 0.0), f(-1, 0.0), f(0, 5), f(5, inf), f(inf, 5), f(-inf, SMALL)] == [inf, -inf, 0, 0, inf, -inf]
    assert all(isnan(f(*p)) for p in ((0, 0), (inf, inf), (nan, 1), (1, nan)))


@pytest.mark.parametrize("name", ["float", "half", "brain"])
def test_powers_of_what_is_stored(library: tuple[str, ctypes.CDLL], name: str) -> None:
    f = getattr(library[1], f"pow_{name}")
    f.argtypes, f.restype = [ctypes.c_float] * 2, ctypes.c_float
    rng = random.Random(0)
    pairs = [(2.0 ** rng.uniform(-10, 10), rng.uniform(-6, 6)) for _ in range(300)]
    for x, y in ((ctypes.c_float(a).value, ctypes.c_float(b).value) for a, b in pairs):
        assert abs(f(x, y) - x**y) <= 2e-5 * x**y, (x, y)
    assert [f(-2, 3), f(-2, 4), f(-2, -1), f(-1, inf), f(1, nan), f(nan, 0), f(0, 0)] == [-8, 16, -0.5, 1, 1, 1, 1]
    assert [f(0.0, 2.5), f(0.0, -1), f(-0.0, -3), f(-0.0, -2), f(-0.0, 0.5)] == [0, inf, -inf, inf, 0]
    assert [f(inf, 0.5), f(inf, -1), f(-inf, 3), f(-inf, 0.5), f(2, inf), f(0.5, inf)] == [inf, 0, -inf, inf, inf, 0]
    assert all(map(isnan, (f(-2, 0.5), f(nan, 2), f(2, nan), f(-nan, 1))))


@pytest.mark.parametrize("row", NEAR)
@pytest.mark.parametrize("name", ["float", "half", "brain"])
def test_functions_of_what_is_stored(library: tuple[str, ctypes.CDLL], name: str, row: str) -> None:
    f = getattr(library[1], f"{row}_{name}")
    f.argtypes, f.restype = [ctypes.c_float], ctypes.c_float
    tolerance = 1e-6 if name == "float" else 6e-4 if row == "erfc" else 2e-5
    for x in (ctypes.c_float(k / 7).value for k in range(-560, 560)):
        if row == "erfc" and name == "half" and x > 4.2:
            assert 0 <= f(x) < 2.0**-25, x
        elif row not in ("sqrt", "reciprocal") or x > 0:
            want = exact(row, x)
            assert abs(f(x) - want) <= tolerance * max(abs(x) / 8, 1) * abs(want) + 1e-38, x
    assert [f(-inf), f(inf)] == ENDS.get(row, [0, inf]) or row == "sqrt"
    assert isnan(f(nan))


@pytest.mark.parametrize("row", SCALED)
@pytest.mark.parametrize("name", ["float", "half", "brain"])
def test_a_scale_is_a_factor_of_the_argument(library: tuple[str, ctypes.CDLL], name: str, row: str) -> None:
    f = getattr(library[1], f"scaled_{row}_{name}")
    f.argtypes, f.restype = [ctypes.c_float] * 2, ctypes.c_float
    tolerance = 1e-6 if name == "float" else 6e-4 if row == "erfc" else 2e-5
    for scale in (-0.75, 0.0625, 16.0):
        for x in (k / 4 / abs(scale) for k in range(-15, 16)):
            want = exact(row, scale * x)
            assert abs(f(x, scale) - want) <= tolerance * want, (x, scale)
        least, most = sorted((f(-inf, scale), f(inf, scale)))
        assert [least, most] == [0, 2 if row == "erfc" else inf]
        assert isnan(f(nan, scale))


def exact(row: str, x: float) -> float:
    if row == "tanh_of_softplus":
        e = exp(-abs(x))
        return (e * e + 2 * e) / (e * e + 2 * e + 2) if x < 0 else (1 + 2 * e) / (1 + 2 * e + 2 * e * e)
    return float(SCALARS[row](x))


def test_value_types_are_those_of_the_kernels() -> None:
    kinds = {Kind.FLOAT: "opmath_t", Kind.INT: "int64_t", Kind.BOOL: "bool"}
    assert {k: value_type(k) for k in kinds} == kinds
    assert [k for k in Kind if k not in kinds] == [Kind.COMPLEX], "split into two floats before anything is planned"
