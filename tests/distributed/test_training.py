"""Generated operators train on several processes as on one: tensor parallelism, FSDP2, and both together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from opgen import build
from tests.distributed.processes import needs_gloo, together

pytestmark = pytest.mark.thorough

SCRIPT = Path(__file__).with_name("training.py")
SPECS = Path(__file__).parents[2] / "specs"


def trained(world: int, folder: Path) -> list[dict[str, Any]]:
    """What each of several processes found."""
    together(SCRIPT, world, folder, str(world), str(folder))
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(world)]


@needs_gloo
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
