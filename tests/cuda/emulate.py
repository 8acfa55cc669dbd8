"""Runs generated `.cu` files on the CPU: compiled by a C++ compiler through the SIMT emulation, called through ctypes.

In goes a kernel plan and the library of its operator, out come the results of the plan as arrays of the interpreter,
so that both can be compared. Element types, strides and memory are the real ones; numbers are Python's.
"""

from __future__ import annotations

import ctypes
import math
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import copysign, inf, isnan, prod
from pathlib import Path

from opgen.ir.evaluate import Value
from opgen.ir.interp import Array, expand_to, sum_to
from opgen.ir.storage import STORED
from opgen.kernel.interp import Machine
from opgen.kernel.reach import Reach
from opgen.package.step_table import Launch
from opgen.plan.model import KernelPlan, Result, Storage

MAX_DIMS = 12
POISON = 0xC7
BAD_INDEX = -4
ASSERTED = 710  # cudaErrorAssert
DTYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 3, "int64": 4, "bool": 5}
FLOATS = ("float32", "float64", "float16", "bfloat16")
_FORMATS = {"float32": "f", "float64": "d", "float16": "e", "bfloat16": "H", "int64": "q", "bool": "?"}
_OVERFLOW = {"float32": 3.4028235677973366e38, "float16": 65520.0}  # what rounds to infinity
_FLAGS = (
    "-x", "c++", "-std=c++17", "-O0", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off",
    "-fno-exceptions", "-fno-asynchronous-unwind-tables",
)  # fmt: skip


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("dtype", ctypes.c_int64), ("ndim", ctypes.c_int64),
        ("sizes", ctypes.c_int64 * MAX_DIMS), ("strides", ctypes.c_int64 * MAX_DIMS),
    )  # fmt: skip


class _BadIndex(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int64) for name in ("tensor", "axis", "index", "size"))


class Call(ctypes.Structure):
    """The arguments of a kernel, as it takes them."""

    _fields_ = (
        ("tensors", ctypes.POINTER(ctypes.POINTER(Tensor))), ("batch", ctypes.POINTER(ctypes.c_int64)),
        ("batch_ndim", ctypes.c_int64), ("ints", ctypes.POINTER(ctypes.c_int64)),
        ("reals", ctypes.POINTER(ctypes.c_double)), ("workspace", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_int64), ("dtype", ctypes.c_int64), ("processors", ctypes.c_int64),
        ("stream", ctypes.c_void_p), ("bad_index", ctypes.POINTER(_BadIndex)), ("columns", ctypes.c_void_p),
    )  # fmt: skip


class Kernel(ctypes.Structure):
    _fields_ = (
        ("run", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Call))),
        ("workspace", ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(Call))),
    )


def compiler() -> str | None:
    """A C++ compiler, or None where the machine has none."""
    return shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")


def compile_emulated(source: Path, include: Sequence[Path], out: Path, dtypes: Sequence[str] = FLOATS) -> Path:
    """Compile one `.cu`, for some floating dtypes, to a shared library that runs its kernels on the CPU.

    It is not optimised: with so little to compute, most of the time goes into compiling.
    """
    found = compiler()
    if found is None:
        raise FileNotFoundError("no C++ compiler: install g++ or clang++")
    chosen = f"-DOPGEN_DTYPES={sum(1 << FLOATS.index(d) for d in dtypes)}"
    line = [found, *_FLAGS, chosen, *(f"-I{path}" for path in include), str(source), "-o", str(out)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{source}: does not compile\n{done.stderr[:4000]}")
    return out


@dataclass(frozen=True, slots=True)
class Memory:
    """A tensor in memory: a dtype, sizes, strides in elements, and bytes that start with as much poison as they end."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    bytes: ctypes.Array[ctypes.c_ubyte]
    start: int

    @staticmethod
    def empty(dtype: str, shape: Sequence[int], spread: int = 1, margin: int = 0) -> Memory:
        """Poisoned memory; elements lie `spread` apart, behind `margin` elements."""
        strides, step = contiguous(shape, spread), spread * prod(max(size, 1) for size in shape)
        width = struct.calcsize(_FORMATS[dtype])
        total = (step + 2 * margin) * width + 64
        raw = (ctypes.c_ubyte * total).from_buffer(bytearray([POISON]) * total)
        aligned = -ctypes.addressof(raw) % 16
        return Memory(dtype, tuple(shape), strides, raw, aligned + margin * width)

    def _places(self) -> list[int]:
        """Where the elements start, in order."""
        width = struct.calcsize(_FORMATS[self.dtype])
        places = [self.start]
        for size, stride in zip(self.shape, self.strides, strict=True):
            steps = range(0, size * stride * width, stride * width)
            places = [p + k for p in places for k in steps]
        return places

    def fill(self, array: Array) -> None:
        pack = struct.Struct(_FORMATS[self.dtype]).pack_into
        for at, value in zip(self._places(), array.data, strict=True):
            pack(self.bytes, at, _encode(self.dtype, value))

    def read(self) -> Array:
        unpack = struct.Struct(_FORMATS[self.dtype]).unpack_from
        return Array(self.shape, [_decode(self.dtype, unpack(self.bytes, at)[0]) for at in self._places()])

    def descriptor(self) -> Tensor:
        return descriptor(ctypes.addressof(self.bytes) + self.start, self.dtype, self.shape, self.strides)


def descriptor(address: int, dtype: str, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
    """A tensor as kernels are told of it."""
    pad = (0,) * (MAX_DIMS - len(shape))
    sizes = (ctypes.c_int64 * MAX_DIMS)(*shape, *pad)
    return Tensor(address, DTYPES[dtype], len(shape), sizes, (ctypes.c_int64 * MAX_DIMS)(*strides, *pad))


def contiguous(shape: Sequence[int], step: int = 1) -> tuple[int, ...]:
    """The strides of elements that lie `step` apart in order."""
    strides: list[int] = []
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def _encode(dtype: str, value: Value) -> Value:
    match dtype:
        case "int64":
            return int(value)
        case "bool":
            return bool(value)
        case "float32" | "float16" if abs(value) >= _OVERFLOW[dtype]:
            return copysign(inf, value)
        case "bfloat16":
            (bits,) = struct.unpack("<I", struct.pack("<f", value))
            return 0x7FC0 if isnan(value) else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        case _:
            return float(value)


def _decode(dtype: str, value: Value) -> Value:
    if dtype != "bfloat16":
        return value
    (number,) = struct.unpack("<f", struct.pack("<I", int(value) << 16))
    assert isinstance(number, float)
    return number


def rounded(dtype: str, array: Array) -> Array:
    """The values as a dtype holds them."""
    memory = Memory.empty(dtype, array.shape)
    memory.fill(array)
    return memory.read()


# --- plans -----------------------------------------------------------------------------------------------------------


class Emulated:
    """A plan of an operator, run by its emulated library."""

    def __init__(self, library: Path, op: str, plan: KernelPlan, launches: Sequence[Launch]) -> None:
        self.library = ctypes.CDLL(str(library))
        self.plan, self.launches = plan, tuple(launches)
        self.table = f"{op}_cuda_steps"

    def run(
        self,
        arrays: Mapping[str, Array],
        params: Mapping[str, object] | None = None,
        dtype: str = "float64",
        spread: int = 1,
        margin: int = 0,
        processors: int = 4,
    ) -> dict[str, Array]:
        """Every result by name. Arguments lie `spread` elements apart behind `margin` others: strided, misaligned."""
        sizes = Machine(self.plan, arrays, params or {})
        memory: dict[str, Memory] = {}
        for b in self.plan.buffers:
            held = element(b.storage, dtype)
            if b.name in arrays:
                memory[b.name] = Memory.empty(held, arrays[b.name].shape, spread, margin)
                memory[b.name].fill(arrays[b.name])
            elif b.role is None:
                memory[b.name] = Memory.empty(held, sizes.size(b.shape))
        self._call(memory, sizes, dtype, processors)
        return {r.name: self._result(r, memory, arrays, dtype, sizes) for r in self.plan.results}

    def _call(self, memory: Mapping[str, Memory], sizes: Machine, dtype: str, processors: int) -> None:
        beside = {launch.columns for launch in self.launches}
        for k, launch in enumerate(self.launches):
            if k in beside:
                continue
            for r in launch.reaches:
                _compare(r, *(_whole(sizes.number(e)) for e in (r.low, r.high, r.size, r.points)))
            call = self.call_of(launch, memory, sizes, dtype, processors)
            if launch.columns is not None:
                columns = self.call_of(self.launches[launch.columns], memory, sizes, dtype, processors)
                call.columns = ctypes.addressof(columns)
            bad = self.status_of(launch.kernel, call)
            if bad is not None:
                where = f"axis {bad.axis} of {launch.tensors[bad.tensor]}, which has size {bad.size}"
                raise IndexError(f"index {bad.index} is out of range for {where}")

    def call_of(
        self, launch: Launch, memory: Mapping[str, Memory], sizes: Machine, dtype: str, processors: int
    ) -> Call:
        """The arguments of one kernel."""
        tensors = [memory[n].descriptor() if n in memory else Tensor() for n in launch.tensors]
        ints = [int(sizes.number(e)) for e in launch.ints]
        reals = [float(sizes.number(e)) for e in launch.reals]
        return Call(
            (ctypes.POINTER(Tensor) * len(tensors))(*map(ctypes.pointer, tensors)),
            (ctypes.c_int64 * max(len(sizes.batch), 1))(*sizes.batch), len(sizes.batch),
            (ctypes.c_int64 * max(len(ints), 1))(*ints), (ctypes.c_double * max(len(reals), 1))(*reals),
            None, 0, DTYPES[dtype], processors, None, ctypes.pointer(_BadIndex()),
        )  # fmt: skip

    def status_of(self, number: int, call: Call) -> _BadIndex | None:
        """Run a kernel, whose assertions are errors; a host that asks its kernels gets the position out of range."""
        kernel = (Kernel * (number + 1)).in_dll(self.library, self.table)[number]
        room = None
        if kernel.workspace:
            call.workspace_bytes = kernel.workspace(ctypes.byref(call))
            room = (ctypes.c_double * (call.workspace_bytes // 8 + 1))()
            call.workspace = ctypes.addressof(room)
        status = kernel.run(ctypes.byref(call))
        if status == ASSERTED:
            raise IndexError(f"kernel {number} stopped at an assertion")
        if status != 0:
            raise RuntimeError(f"kernel {number} returned {status}")
        return None

    def _result(
        self, r: Result, memory: Mapping[str, Memory], arrays: Mapping[str, Array], dtype: str, sizes: Machine
    ) -> Array:
        value = memory[r.buffer].read()
        full = sizes.size(r.shape)
        if value.shape != full:
            value = expand_to(value, r.shape, full)
        if r.like is not None:
            value = sum_to(value, r.shape, arrays[r.like])
        return rounded(stated(r) or element(r.storage, dtype), value)


def _whole(number: float) -> int:
    """A number of the host, where a quotient by 0 is 0."""
    return 0 if math.isnan(number) else int(number)


def _compare(r: Reach, low: int, high: int, size: int, points: int) -> None:
    """What the binding does ahead of a launch."""
    if points != 0 and not (low >= 0 and high < size):
        raise IndexError(f"index {low if low < 0 else high} is out of range for axis {r.axis} of {r.slot}")


def stated(r: Result) -> str:
    """The dtype that the spec states for a result, where kernels store it: the host packs what is quantised."""
    of_host = r.dtype in STORED and STORED[r.dtype].quantised
    return "" if of_host else r.dtype.replace("half", "float16")


def element(storage: Storage, dtype: str) -> str:
    """The dtype of a buffer's elements when the operator is called with `dtype`."""
    match storage:
        case Storage.SCALAR:
            return dtype
        case Storage.COMPUTE:
            return "float32" if dtype in ("float16", "bfloat16") else dtype
        case _:
            return storage.value
