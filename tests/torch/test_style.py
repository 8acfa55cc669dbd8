"""Printed torch code, once fitted to the width, needs no formatter and no linter has anything to say about it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opgen.code.names import RUNTIME
from opgen.code.python_layout import fitted
from opgen.torch.functions import TorchFunction, torch_function
from tests.spec_files import SPECS
from tests.torch.test_specs import STAGES, derived

pytestmark = pytest.mark.thorough


def _function(f: TorchFunction) -> str:
    body = "\n".join(f"    {line}" for line in (*f.lines, f"return {', '.join(f.returns)}"))
    arguments = "".join(f"    {a},\n" for a in f.arguments)
    return f"def {f.name}(\n{arguments}):\n{body}\n"


def test_ruff_agrees(tmp_path: Path) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("no ruff")
    found = []
    for path in SPECS:
        operator, variants = derived(path)
        for stage in STAGES:
            programs = [(d.variant, getattr(d, stage)) for d in variants]
            if all(p is not None for _, p in programs):
                found.append(torch_function(f"{path.stem}_{stage}", programs, operator, masked="second" in stage))
    helpers = [h for h in RUNTIME if any(h in f.helpers for f in found)]
    imports = "".join(f"    {h},\n" for h in helpers)
    head = f"import math\n\nimport torch\n\nfrom .functions import (\n{imports})\n\n\n"
    file = tmp_path / "functions.py"
    file.write_text(fitted(head + "\n\n".join(map(_function, found))), encoding="utf-8")
    for command in (["check"], ["format", "--check", "--diff"]):
        options = ["--isolated", "--no-cache", "--line-length", "120"]
        done = subprocess.run([ruff, *command, *options, str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
