"""The line that docs/output.md names makes a shell complete commands, options and operators."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/output.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Completion\n")[2].partition("\n## ")[0]
ASK = """
COMP_WORDS=({words}) COMP_CWORD={last} COMPREPLY=()
_opgen_completion opgen
echo "${{COMPREPLY[*]}}"
"""


@pytest.fixture
def around(tmp_path: Path) -> dict[str, str]:
    """A folder with two operators, and an environment whose `opgen` is this one."""
    for op in ("soft_gate", "soft_sign", "wave"):
        (tmp_path / f"generated/{op}").mkdir(parents=True)
        (tmp_path / f"generated/{op}/manifest.json").touch()
    program = tmp_path / "bin/opgen"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m opgen "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_with_the_line_that_is_named(tmp_path: Path, around: dict[str, str]) -> None:
    (line,) = re.findall(r"```sh\n(.*)\n```", SECTION)
    asked = {"opgen bu": {"build"}, "opgen lint --fi": {"--fix"}, "opgen test soft": {"soft_gate", "soft_sign"}}
    text = line + "".join(ASK.format(words=words, last=len(words.split()) - 1) for words in asked)
    done = subprocess.run(["bash", "-c", text], cwd=tmp_path, env=around, capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert [set(answer.split()) for answer in answers] == [*asked.values()], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_what_is_said_of_other_shells_gives_a_script(tmp_path: Path, around: dict[str, str], shell: str) -> None:
    assert f"{shell}_source" in SECTION
    asking = {**around, "_OPGEN_COMPLETE": f"{shell}_source"}
    done = subprocess.run(["opgen"], cwd=tmp_path, env=asking, capture_output=True, text=True, check=True)
    assert "_OPGEN_COMPLETE" in done.stdout
