"""Generated operators train on several processes as on one: tensor parallelism, FSDP2, and both together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from opgen import build

pytestmark = pytest.mark.thorough

SCRIPT = Path(__file__).with_name("training.py")
SPECS = Path(__file__).parents[2] / "specs"
SECONDS = 120  # a hang must not last


def trained(world: int, folder: Path) -> list[dict[str, Any]]:
    """What each of several processes found."""
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    logs = [folder / f"{rank}.log" for rank in range(world)]
    with ExitStack() as stack:
        running = []
        for rank, log in enumerate(logs):
            command = [sys.executable, str(SCRIPT), str(rank), str(world), str(folder)]
            out = stack.enter_context(log.open("w"))
            running.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment))
            stack.callback(running[-1].wait)
            stack.callback(running[-1].kill)
        end = time.monotonic() + SECONDS
        codes = [process.wait(max(end - time.monotonic(), 0.1)) for process in running]
    assert not any(codes), "\n".join(log.read_text()[-3000:] for log in logs)
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(world)]


@pytest.mark.skipif(
    not (dist.is_available() and dist.is_gloo_available()), reason="not applicable: this torch has no gloo"
)
@pytest.mark.parametrize("world", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_several_processes_train_as_one(world: int, tmp_path: Path) -> None:
    for name in ("linear", "rms_norm", "swiglu"):
        assert not build(SPECS / f"{name}.yaml", tmp_path / "built").failed
    for found in trained(world, tmp_path):
        losses, parameters = found.pop("alone")
        assert len(set(losses)) == len(losses)  # something was learnt
        assert found.keys() == ({"tensor parallel", "fully sharded"} if world == 2 else {"fully sharded"})
        for same, others in found.values():
            torch.testing.assert_close(torch.tensor(same), torch.tensor(losses), rtol=1e-6, atol=1e-7)
            for name, values in parameters.items():
                torch.testing.assert_close(torch.tensor(others[name]), torch.tensor(values), rtol=1e-6, atol=1e-7)
