"""Where the sources of an operator's kernels lie in its folder, and the files that say why it has none."""

from __future__ import annotations

SOURCES = "csrc"
SECOND = "csrc/second"  # of second order, where a project asks for them
NO_KERNELS = "no_kernels.txt"
NO_CUDA_KERNELS = "no_cuda_kernels.txt"  # where there are kernels for the CPU
