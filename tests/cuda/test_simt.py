"""The emulation finds what a GPU would leave undefined: each fault is planted once, and the healthy kernel passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cuda import emulate
from tests.cuda.harness import CSRC, needs_compiler

pytestmark = needs_compiler

KERNELS = r"""
#include "opgen_rt.cuh"

__global__ void healthy(float* out) {
  OPGEN_SHARED(float, cells, 64);
  cells[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = cells[63 - threadIdx.x];
}

__global__ void no_barrier(float* out) {
  OPGEN_SHARED(float, cells, 64);
  cells[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = cells[63 - threadIdx.x];
}

__global__ void early_return(float* out) {
  if (threadIdx.x == 5) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void divergent(float* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

__global__ void lane_gone(float* out) {
  if (threadIdx.x == 40) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}

__global__ void outside_mask(float* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = __shfl_xor_sync(0xffu, 1.0f, 16);
}

__global__ void waits_for_ever(float* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
  } else {
    __syncthreads();
  }
}

__global__ void folds(float* out) {
  rt::Sum<float> sum;
  sum.add(static_cast<float>(threadIdx.x));
  rt::join<rt::Block>(&sum);
  rt::ArgMax<float> most;
  most.add(threadIdx.x % 7 == 6 ? 1.0f : 0.0f, threadIdx.x);
  rt::join<rt::Lanes<8>>(&most);
  out[threadIdx.x] = threadIdx.x < 32 ? sum.value : static_cast<float>(most.value);
}

#define RUN(name)                                          \
  extern "C" int run_##name(float* out) {                  \
    OPGEN_LAUNCH(name, 1, 64, 0, nullptr, out);            \
    return rt::launched();                                 \
  }
RUN(healthy) RUN(no_barrier) RUN(early_return) RUN(divergent) RUN(lane_gone) RUN(outside_mask) RUN(waits_for_ever)
RUN(folds)
"""

CALL = """
import ctypes, sys
out = (ctypes.c_float * 64)()
assert getattr(ctypes.CDLL(sys.argv[1]), "run_" + sys.argv[2])(out) == 0
print(*(int(x) if abs(x) < 1e4 else "poison" for x in out))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simt")
    source = folder / "kernels.cu"
    source.write_text(KERNELS)
    return emulate.compile_emulated(source, [CSRC], folder / "kernels.so")


def launch(library: Path, kernel: str, seed: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CALL, str(library), kernel],
        capture_output=True,
        text=True,
        env={"OPGEN_SIMT_SEED": str(seed)},
        timeout=60,
        check=False,
    )


def test_a_healthy_kernel_runs(library: Path) -> None:
    for seed in range(4):
        assert launch(library, "healthy", seed).stdout.split() == [str(63 - i) for i in range(64)]


def test_a_missing_barrier_shows_as_poison(library: Path) -> None:
    wrong = [launch(library, "no_barrier", seed).stdout for seed in range(3)]
    assert all("poison" in text for text in wrong)
    assert len(set(wrong)) > 1, "the order of threads depends on the seed"


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("early_return", "__syncthreads not reached by all threads: some have returned"),
        ("divergent", "divergent __syncthreads"),
        ("lane_gone", "warp operation waits for a lane that has returned"),
        ("outside_mask", "shuffle from a lane that does not take part"),
        ("waits_for_ever", "deadlock"),
    ],
)
def test_a_planted_fault_is_reported(library: Path, kernel: str, message: str) -> None:
    done = launch(library, kernel)
    assert done.returncode != 0
    assert message in done.stderr
    assert "kernels.cu:" in done.stderr


def test_folds_of_blocks_and_parts_of_warps(library: Path) -> None:
    out = launch(library, "folds", 3).stdout.split()
    assert out[:32] == ["2016"] * 32
    first = {base: next((i for i in range(base, base + 8) if i % 7 == 6), base) for base in range(32, 64, 8)}
    assert out[32:] == [str(first[i // 8 * 8]) for i in range(32, 64)]
