"""Products of matrices as libraries of operators have them: `python -m tests.native.matrices FOLDER`.

Every operand ends where the memory that can be read ends, so that a read beyond it ends the process.
"""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from opgen.code.templates import root
from opgen.toolchain.compiler import toolchain

CALL = """
#include "opgen_matrices.h"

using opgen::Matrix;
using opgen::ScalarType;

// Strides of a, b and the result in turn, three each.
extern "C" __attribute__((visibility("default"))) bool multiplied(
    int type, const int64_t* sizes, void* a, void* b, void* to, const int64_t* strides, const void* bias) {
  constexpr ScalarType types[] = {ScalarType::Float, ScalarType::Double, ScalarType::Half, ScalarType::BFloat16};
  const auto matrix = [&](void* data, int at) {
    return Matrix{data, strides[3 * at], strides[3 * at + 1], strides[3 * at + 2]};
  };
  return opgen::multiplied({types[type], sizes[0], sizes[1], sizes[2], sizes[3], matrix(a, 0), matrix(b, 1),
                            matrix(to, 2), bias});
}
"""
TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SIZES = (
    (1, 4, 4, 1), (1, 12, 32, 16), (1, 13, 33, 17), (3, 5, 7, 3), (1, 70, 9, 300), (1, 6, 130, 35), (2, 40, 65, 64),
    (1, 25, 600, 20), (1, 150, 4, 129),
)  # fmt: skip


def compiled(folder: Path) -> ctypes.CDLL:
    """The function by its own name."""
    tools, headers = toolchain(), root() / "csrc"
    source, library = folder / "call.cpp", folder / "call.so"
    source.write_text(CALL)
    for line in tools.commands([headers / "opgen_matrices.cpp", source], [headers], folder, library):
        subprocess.run(line, check=True)
    return ctypes.CDLL(str(library))


def guarded(tensor: Tensor) -> Tensor:
    """The same strides and elements, in memory behind which nothing can be read."""
    room = tensor.untyped_storage().nbytes()
    whole = -(-room // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, whole + mmap.PAGESIZE)
    memory.write(bytes(whole - room) + ctypes.string_at(tensor.data_ptr(), room))
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + whole), ctypes.c_size_t(mmap.PAGESIZE), 0) != 0:
        raise OSError("memory cannot be kept from being read")
    flat = torch.frombuffer(memory, dtype=tensor.dtype, count=room // tensor.element_size(), offset=whole - room)
    return flat.as_strided(tensor.shape, tensor.stride())


@dataclass(frozen=True)
class Case:
    """A product: whether each of its tensors lies by columns, how much apart lines are, and whether there is a bias."""

    dtype: torch.dtype
    sizes: tuple[int, int, int, int]
    turned: tuple[bool, bool, bool]
    apart: int
    bias: bool

    def operands(self) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        batches, rows, columns, inner = self.sizes
        torch.manual_seed(0)
        made = [
            self._laid(torch.randn(shape), turned)
            for shape, turned in zip(
                ((batches, rows, inner), (batches, inner, columns), (batches, rows, columns)), self.turned, strict=True
            )
        ]
        length = rows if self.turned[2] else columns
        return made[0], made[1], made[2], guarded(torch.randn(length).to(self.dtype)) if self.bias else None

    def _laid(self, values: Tensor, turned: bool) -> Tensor:
        matrix = values.mT if turned else values
        wide = torch.zeros(*matrix.shape[:-1], matrix.shape[-1] + self.apart, dtype=self.dtype)
        wide[..., : matrix.shape[-1]] = matrix
        cut = wide.flatten()[: wide.numel() - self.apart].clone()
        laid = guarded(cut).as_strided(matrix.shape, wide.stride())
        return laid.mT if turned else laid


def run(library: ctypes.CDLL, dtype: torch.dtype, a: Tensor, b: Tensor, to: Tensor, bias: Tensor | None) -> bool:
    sizes = (ctypes.c_int64 * 4)(a.shape[0], a.shape[1], b.shape[2], a.shape[2])
    strides = (ctypes.c_int64 * 9)(*(s for t in (a, b, to) for s in t.stride()))
    data = [ctypes.c_void_p(t.data_ptr()) for t in (a, b, to)]
    last = None if bias is None else ctypes.c_void_p(bias.data_ptr())
    library.multiplied.restype = ctypes.c_bool
    return bool(library.multiplied(TYPES.index(dtype), sizes, *data, strides, last))


def cases() -> Iterator[Case]:
    either = (False, True)
    for dtype, sizes, *turned in product(TYPES, SIZES, either, either, either):
        yield Case(dtype, sizes, (turned[0], turned[1], turned[2]), apart=0, bias=turned[0])
    for dtype in TYPES:
        yield Case(dtype, (2, 30, 41, 50), (False, True, False), apart=3, bias=True)
        yield Case(dtype, (1, 17, 300, 2100), (False, False, False), apart=1, bias=False)
        yield Case(dtype, (1, 14, 40, 4100), (True, False, True), apart=0, bias=True)


def differences(library: ctypes.CDLL) -> Iterator[str]:
    """What is further off than sums of rounded products can be, and what changes with the number of threads."""
    for case in cases():
        a, b, to, bias = case.operands()
        if not run(library, case.dtype, a, b, to, bias):
            if not (case.dtype is torch.bfloat16 and case.sizes[3] > 4096):
                yield f"{case}: not done"
            continue
        first = to.clone()
        along = torch.zeros(1, 1) if bias is None else bias.double().unsqueeze(1 if case.turned[2] else 0)
        true = a.double() @ b.double() + along
        size = a.double().abs() @ b.double().abs() + along.abs()
        summed = torch.finfo(torch.float64 if case.dtype is torch.float64 else torch.float32).eps
        limit = torch.finfo(case.dtype).eps / 2 * true.abs() * 1.01 + 8 * summed * case.sizes[3] ** 0.5 * size
        if not bool(((first.double() - true).abs() <= limit).all()):
            yield f"{case}: off by {float((first.double() - true).abs().max())}"
        for threads in (2, 3):
            torch.set_num_threads(threads)
            run(library, case.dtype, a, b, to, bias)
            if not torch.equal(to, first):
                yield f"{case}: other bits with {threads} threads"
        torch.set_num_threads(1)


def main(folder: Path) -> int:
    library = compiled(folder)
    a, b, to, _ = Case(torch.float32, SIZES[1], (False, False, False), 0, bias=False).operands()
    if not run(library, torch.float32, a, b, to, None):
        print("left to torch")
        return 0
    torch.set_num_threads(1)
    found = list(differences(library))
    print("\n".join(found) or "all well")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
