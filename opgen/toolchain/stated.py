"""What a project states of its kernels, for as long as they are compiled: instruction sets and compute capabilities.

The environment has the last word, so that one machine or one run can have it otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from opgen.toolchain.compiler import toolchain
from opgen.toolchain.cuda_toolchain import ARCHITECTURES
from opgen.write.settings import Settings

_ISA = "OPGEN_ISA"


@contextmanager
def stated(settings: Settings) -> Iterator[None]:
    """Compile for what a project states, where the environment does not say otherwise."""
    given = {_ISA: ",".join(settings.isa), ARCHITECTURES: ";".join(settings.cuda)}
    ours = {name: value for name, value in given.items() if value and not os.environ.get(name)}
    if not ours:
        yield
        return
    os.environ.update(ours)
    toolchain.cache_clear()
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
        toolchain.cache_clear()
