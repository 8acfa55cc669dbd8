"""Instructions per element of the kernels of some operators, counted from their machine code, beside what they may be.

`python -m tests.cuda.budgets` prints the table; with `--write`, it becomes the committed one (`budgets.txt`). What a
device can issue while it moves a byte is 6.7 instructions (132 processors of 4 times 32 lanes at 1.7 GHz, 4.3 TB/s);
a kernel that issues at most 0.6 of that for each byte of its floor is bound by memory.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

from opgen.ir.interp import Array
from opgen.kernel.interp import Machine
from opgen.package.samples import default_value
from opgen.package.step_table import Launch
from opgen.plan.model import KernelPlan
from opgen.toolchain import cuda
from tests.cuda import emulate, sass, sass_steps
from tests.cuda.printed import printed
from tests.plain import planned
from tests.spec_files import SPECS
from tests.spec_programs import programs, shape_of

CSRC = Path(__file__).resolve().parents[2] / "templates" / "csrc"
TABLE = Path(__file__).with_name("budgets.txt")
ISSUED = 0.6 * 6.7  # instructions for each byte
_FIRST, _APART = 1 << 44, 1 << 40  # where tensors stand
_ONES = {
    "float32": b"\0\0\x80\x3f", "float64": b"\0\0\0\0\0\0\xf0\x3f", "float16": b"\0\x3c", "bfloat16": b"\x80\x3f",
    "int64": b"\1\0\0\0\0\0\0\0", "bool": b"\1",
}  # fmt: skip
HEAD = f"{'case':50} {'counted':>7} {'budget':>7}  regs  of each launch  [accesses of a thread by their bits]"
Memory = Callable[[int, int], bytes]
# Launches are told instead of run; what the device clears by itself takes no instructions.
_TOLD = """
#include "opgen_simt.h"
#undef OPGEN_LAUNCH
#include <dlfcn.h>
#include <cstdio>
#include <string>
template <typename T> void told_argument(std::string& out, const T& value) {
  while (out.size() % alignof(T) != 0) out.push_back(0);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <typename... Params, typename... Args>
void told(void (*kernel)(Params...), long grid, dim3 threads, Args... args) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(kernel), &info);
  std::string out;
  (told_argument<std::decay_t<Params>>(out, static_cast<Params>(args)), ...);
  std::FILE* file = std::fopen(std::getenv("OPGEN_TOLD"), "a");
  std::fprintf(file, "%s %ld %u %u ", info.dli_sname, grid, threads.x, threads.y);
  for (unsigned char c : out) std::fprintf(file, "%02x", c);
  std::fprintf(file, "\\n");
  std::fclose(file);
}
#define OPGEN_LAUNCH(kernel, grid, size, bytes, stream, ...) \\
  (static_cast<void>(stream), told(kernel, grid, size, __VA_ARGS__))
#define cudaMemsetAsync(data, value, bytes, stream) (static_cast<void>(data), cudaSuccess)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """An operator at some sizes. `floor`: bytes of each element of `batch` and `sizes` (but those `apart`) that have to
    be moved."""

    op: str
    kind: str
    dtype: str
    batch: tuple[int, ...]
    floor: float
    sizes: Mapping[str, int] = field(default_factory=dict)
    variant: int = 0
    apart: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        of = "x".join(map(str, (*self.batch, *self.sizes.values())))
        return f"{self.op} {self.kind} {self.dtype} {of}" + (f" ({self.variant})" if self.variant else "")

    @property
    def elements(self) -> int:
        return prod(self.batch) * prod(n for name, n in self.sizes.items() if name not in self.apart)


def _both(op: str, dtype: str, batch: tuple[int, ...], forward: float, backward: float, **sizes: int) -> list[Case]:
    return [Case(op, k, dtype, batch, b, sizes) for k, b in (("forward", forward), ("backward", backward))]


_ROWS = (8192,)
CASES = (
    *_both("silu", "bfloat16", (8192, 4096), 4, 6),
    *_both("swiglu", "bfloat16", (8192, 4096), 6, 10),
    *_both("geglu", "float16", (8192, 4096), 6, 10),
    *_both("gelu", "bfloat16", (8192, 4096), 4, 6),
    *_both("squared_relu", "bfloat16", (8192, 4096), 4, 6),
    *_both("mish", "float32", (8192, 4096), 8, 12),
    *_both("softmax", "bfloat16", _ROWS, 4, 6, N=4096),
    *_both("softmax", "bfloat16", (1024,), 4, 6, N=32768),
    *_both("softmax", "float32", (262144,), 8, 12, N=64),
    *_both("log_softmax", "bfloat16", _ROWS, 4, 6, N=4096),
    *_both("rms_norm", "bfloat16", _ROWS, 4, 6, D=4096),
    *_both("rms_norm", "float32", _ROWS, 8, 12, D=4096),
    *_both("layer_norm", "bfloat16", (32768,), 4, 6, D=1024),
    *_both("rms_norm_residual", "bfloat16", _ROWS, 8, 8, D=4096),
    *_both("cross_entropy", "bfloat16", (), 2, 4, N=8192, C=32000),
    *_both("kl_div", "float32", (4096,), 8, 12, N=8192),
    *_both("embedding", "bfloat16", (8192,), 4, 4, D=4096),
    Case("batch_norm", "forward", "bfloat16", (3136,), 4, {"N": 32, "C": 64}, variant=1),
    Case("rope", "forward", "bfloat16", (64,), 4, {"T": 4096, "D": 128, "H": 64}, apart=("H",)),
    Case("rope", "backward", "bfloat16", (64,), 6, {"T": 4096, "D": 128, "H": 64}, apart=("H",)),
)


@dataclass(frozen=True, slots=True)
class Counted:
    """What the launches of a case issue for each element, how wide the accesses to memory are, and registers."""

    case: Case
    each: tuple[float, ...]
    widths: Mapping[int, int]
    registers: int

    @property
    def total(self) -> float:
        return sum(self.each)

    @property
    def row(self) -> str:
        parts = " + ".join(f"{x:.1f}" for x in self.each)
        widths = " ".join(f"{8 * w}b:{n}" for w, n in sorted(self.widths.items()))
        budget = ISSUED * self.case.floor
        return f"{self.case.name:50} {self.total:7.1f} {budget:7.1f}  {self.registers:4}  {parts}  [{widths}]"


def nvdisasm() -> str | None:
    """The disassembler of CUDA, which the package nvidia-cuda-nvdisasm brings as well."""
    beside = [p for root in sys.path for p in Path(root or ".").glob("nvidia/cu*/bin/nvdisasm")]
    return os.environ.get("NVDISASM") or shutil.which("nvdisasm") or next((str(p) for p in beside), None)


def counted(case: Case, folder: Path) -> Counted:
    """Print, compile and count a case."""
    made = work(call_of(case), folder)
    return Counted(case, tuple(n / case.elements for n in made.issued), made.widths, made.registers)


@dataclass(frozen=True, slots=True)
class Work:
    """What each launch of a call issues in all, how wide the accesses of a thread to memory are, and registers."""

    issued: tuple[float, ...]
    widths: Mapping[int, int]
    registers: int


def work(call: Call, folder: Path) -> Work:
    """Print, compile and count a call."""
    told = launched(call, folder)
    if not told:
        return Work((), {}, 0)
    made, registers = _machine_code(folder / f"{call.op}.cu", folder, call.dtype)
    issued, widths, most = [], Counter[int](), 0
    host = plain_names([symbol for (symbol, *_), _ in told])
    for (mangled, grid, threads, arguments), memory in told:
        symbol = host[mangled]
        count, accesses = sass_steps.count(made[symbol], arguments, grid, threads, memory)
        issued.append(count)
        widths += Counter(a.bytes for a in accesses if a.name.startswith(("LDG", "STG", "RED", "ATOM")))
        most = max(most, registers[symbol])
    return Work(tuple(issued), widths, most)


@dataclass(frozen=True, slots=True)
class Call:
    """A plan, and the sizes and params of a call of it."""

    op: str
    dtype: str
    name: str
    plan: KernelPlan
    arrays: Mapping[str, Array]
    params: Mapping[str, object]


def call_of(case: Case) -> Call:
    """The call that a case is."""
    path = next(p for p in SPECS if p.stem == case.op)
    name, program, sample = next(x for x in programs(path, [case.kind]) if x[0].endswith(f"_{case.variant}"))
    params = {a.name: dict(sample.params).get(a.name, default_value(a)) for a in sample.variant.program.params}
    sizes = dict(sample.sizes) | dict(case.sizes)
    arrays = {t.name: Array(tuple(shape_of(t.shape, sizes, case.batch)), []) for t in program.inputs}
    return Call(case.op, case.dtype, name, planned(program), arrays, params)


def launched(call: Call, folder: Path) -> list[tuple[Told, Memory]]:
    """Print a call, and tell its launches instead of running them: no memory is touched, whatever the sizes."""
    source = folder / f"{call.op}.cu"
    text, (launches,) = printed(call.op, [(call.name, call.plan)])
    source.write_text(text)
    return _told(call, source, folder, launches) if launches else []


class _Sizes(Machine):
    """The numbers of a call, without its memory."""

    def empty(self, size: tuple[int, ...]) -> Array:
        return Array(size, [])


Told = tuple[str, int, tuple[int, int], bytes]


def _told(call: Call, source: Path, folder: Path, launches: Sequence[Launch]) -> list[tuple[Told, Memory]]:
    """What is launched, with what stands where."""
    (folder / "told.cu").write_text(f'{_TOLD}#include "{source.name}"\n')
    log, library = (
        folder / "told.txt",
        emulate.compile_emulated(folder / "told.cu", [CSRC], folder / "told.so", [call.dtype]),
    )
    os.environ["OPGEN_TOLD"] = str(log)
    plan, arrays = call.plan, call.arrays
    run = emulate.Emulated(library, call.op, plan, launches)
    sizes = _Sizes(plan, arrays, call.params)
    found: list[tuple[Told, Memory]] = []
    names = list(dict.fromkeys(n for launch in launches for n in launch.tensors))
    held = [emulate.element(plan.buffer(n).storage, call.dtype) for n in names]
    beside = {launch.columns for launch in launches}

    def given_to(launch: Launch) -> emulate.Call:
        given = run.call_of(launch, {}, sizes, call.dtype, 132)
        tensors = []
        for name in launch.tensors:
            k = names.index(name)
            shape = arrays[name].shape if name in arrays else sizes.size(plan.buffer(name).shape)
            tensors.append(emulate.descriptor(_FIRST + k * _APART, held[k], shape, emulate.contiguous(shape)))
        given.tensors = (ctypes.POINTER(emulate.Tensor) * len(tensors))(*map(ctypes.pointer, tensors))
        given.workspace_bytes, given.workspace = 1 << 40, _FIRST - _APART
        return given

    for launch in (x for k, x in enumerate(launches) if k not in beside):
        log.write_text("")
        given = given_to(launch)
        columns = None if launch.columns is None else given_to(launches[launch.columns])
        given.columns = None if columns is None else ctypes.addressof(columns)
        number = launch.kernel
        kernel = (emulate.Kernel * (number + 1)).in_dll(run.library, run.table)[number]
        assert kernel.run(ctypes.byref(given)) == 0, call.name
        for line in log.read_text().splitlines():
            symbol, grid, x, y, arguments = line.split()
            found.append(((symbol, int(grid), (int(x), int(y)), bytes.fromhex(arguments)), _memory(held)))
    return found


def _memory(held: Sequence[str]) -> Memory:
    def read(address: int, size: int) -> bytes:
        number = (address - _FIRST + _APART // 2) // _APART
        one = _ONES[held[number]] if 0 <= number < len(held) else _ONES["float32"]
        return (one * 16)[:size].ljust(4, b"\0")

    return read


def _machine_code(source: Path, folder: Path, dtype: str) -> tuple[dict[str, sass.Function], dict[str, int]]:
    """The functions of a file and their registers, by names that the host has for them, too."""
    compiler, disassembler = cuda.nvcc(), nvdisasm()
    assert compiler is not None
    assert disassembler is not None
    out = folder / "counted.cubin"
    line = cuda.command(compiler, source, [CSRC], out, ["sm_90"])
    line.insert(1, f"-DOPGEN_DTYPES={1 << emulate.FLOATS.index(dtype)}")
    log = subprocess.run(line, capture_output=True, text=True, check=True)
    text = subprocess.run([disassembler, "-c", str(out)], capture_output=True, text=True, check=True).stdout
    registers = cuda.usage(log.stdout + log.stderr, "sm_90")
    made = sass.functions(text)
    names = plain_names(list(made))
    return {n: made[m] for m, n in names.items()}, {n: registers.get(m, 0) for m, n in names.items()}


def plain_names(symbols: Sequence[str]) -> dict[str, str]:
    """What mangled names mean; element types have the names that the emulation gives them."""
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    lines = (
        x.replace("__nv_bfloat16", "rt::bfloat16_t").replace("__half", "rt::half_t") for x in done.stdout.splitlines()
    )
    return dict(zip(symbols, lines, strict=True))


def table(cases: Sequence[Case] = CASES, show: Callable[[str], None] = lambda _: None) -> list[str]:
    rows = [HEAD]
    show(HEAD)
    for case in cases:
        with TemporaryDirectory() as folder:
            rows.append(counted(case, Path(folder)).row)
        show(rows[-1])
    return rows


if __name__ == "__main__":
    words = [a for a in sys.argv[1:] if a != "--write"]
    chosen = [c for c in CASES if not words or any(w in c.name for w in words)]
    made = table(chosen, lambda row: print(row, flush=True))
    if "--write" in sys.argv:
        TABLE.write_text("\n".join(made) + "\n")
