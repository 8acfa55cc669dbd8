"""The files that say why an operator has no kernels, in the folder of the operator."""

from __future__ import annotations

NO_KERNELS = "no_kernels.txt"
NO_CUDA_KERNELS = "no_cuda_kernels.txt"  # where there are kernels for the CPU
