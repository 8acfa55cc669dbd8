"""Several processes of one script, each of which has to end well."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest
import torch.distributed as dist

SECONDS = 120  # a hang must not last
needs_gloo = pytest.mark.skipif(
    not (dist.is_available() and dist.is_gloo_available()), reason="not applicable: this torch has no gloo"
)


def together(script: Path, world: int, folder: Path, *arguments: str, seconds: int = SECONDS) -> None:
    """Run a script once for every rank, with that as its first argument; what is in `folder` can be imported."""
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    logs = [folder / f"{rank}.log" for rank in range(world)]
    with ExitStack() as stack:
        running = []
        for rank, log in enumerate(logs):
            command = [sys.executable, str(script), str(rank), *arguments]
            out = stack.enter_context(log.open("w"))
            running.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment))
            stack.callback(running[-1].wait)
            stack.callback(running[-1].kill)
        end = time.monotonic() + seconds
        codes = [process.wait(max(end - time.monotonic(), 0.1)) for process in running]
    assert not any(codes), "\n".join(log.read_text()[-3000:] for log in logs)


def leave() -> NoReturn:
    """End a process of several that has nothing left to do.

    Caches of DTensor keep a group's threads alive behind `destroy_process_group`. One of them may still let go of the
    tensors of the last collective, and where Python itself ends at that moment, the process is aborted. So Python does
    not take itself apart here.
    """
    dist.barrier()  # nobody leaves while another one still talks to it
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)
