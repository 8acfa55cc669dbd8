"""The machine that is measured on: what is said of it, how long to measure there, and what its allocator does."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping

import torch

from opgen.bench.timing import Clock, Effort
from opgen.version import __version__


def effort(threads: int, device: str, *, quick: bool = False) -> Effort:
    """How long to measure, with so many threads from now on.

    On one thread of a CPU it is by the time that the processor spends, which other programs disturb little, else by
    that on the clock, on a GPU to the end of what it was given to do.
    """
    torch.set_num_threads(threads)
    clock: Clock = time.process_time if threads == 1 else time.perf_counter
    if device == "cuda":
        clock = _finished
    return Effort(9, 0.3, clock) if quick else Effort(clock=clock)


def _finished() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def keep_memory() -> None:
    """Let the allocator of this process keep what is freed, where it can be told.

    New pages from the system may cost more than what is computed in them, and would be charged to whoever comes first.
    """
    library = ctypes.CDLL(None)
    most_mapped, least_trimmed = -4, -1  # of GNU's malloc
    if hasattr(library, "mallopt"):
        library.mallopt(most_mapped, 0)
        library.mallopt(least_trimmed, 2**31 - 1)


def about() -> Mapping[str, str]:
    """What figures depend on beside the operator."""
    return {
        "opgen": __version__,
        "torch": torch.__version__,
        "vectors": torch.backends.cpu.get_cpu_capability(),
    }
