"""Workflows run what is there, a release is what its tag says, and hooks name commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from opgen.cli import run
from opgen.version import __version__

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / ".ci/release.py"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def test_there_are_workflows() -> None:
    assert {"ci", "release"} <= {path.stem for path in WORKFLOWS}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_runs_what_is_there(path: Path) -> None:
    for step in steps(path):
        for word in shlex.split(step.get("run", "")):
            assert not word.startswith(".ci/") or (ROOT / word).is_file(), word
        assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step.get("uses", "a/b@v1"))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ".pre-commit-hooks.yaml"], ids=lambda p: p.stem)
def test_commands_and_options_of_opgen_exist(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = yaml.safe_load(path.read_text())
    lines = [hook["entry"] for hook in found] if isinstance(found, list) else [s.get("run", "") for s in steps(path)]
    for line in re.split(r"&&|\n", "\n".join(lines)):
        if not line.strip().startswith("opgen "):
            continue
        _, command, *words = shlex.split(line)
        assert run([command, "--help"]) == 0
        told = capsys.readouterr().out
        assert all(word.partition("=")[0] in told for word in words if word.startswith("--"))


def release(root: Path, tag: str) -> subprocess.CompletedProcess[str]:
    script = root / ".ci/release.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_bytes(SCRIPT.read_bytes())
    return subprocess.run([sys.executable, str(script), tag], capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "opgen").mkdir()
    (tmp_path / "opgen/version.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\n## Unreleased\n\n- Later.\n\n## 1.2.0 (2030-01-02)\n\n- New.\n- Faster.\n\n## 1.1.0\n\n- Old.\n"
    )
    return tmp_path


def test_notes_are_the_section_of_the_version(project: Path) -> None:
    done = release(project, "v1.2.0")
    assert (done.returncode, done.stdout) == (0, "- New.\n- Faster.\n")


@pytest.mark.parametrize("tag", ["1.2.0", "v1.2", "v1.2.0rc1", "v1.1.0"])
def test_another_tag_is_refused(project: Path, tag: str) -> None:
    done = release(project, tag)
    assert done.returncode == 1
    assert "opgen/version.py says 1.2.0" in done.stderr
    assert done.stdout == ""


def test_a_version_without_notes_is_refused(project: Path) -> None:
    (project / "opgen/version.py").write_text('__version__ = "1.3.0"\n')
    done = release(project, "v1.3.0")
    assert done.returncode == 1
    assert "nothing under `## 1.3.0`" in done.stderr


def test_the_pattern_finds_the_version_of_opgen() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "v0"], capture_output=True, text=True, check=False)
    assert f"opgen/version.py says {__version__}" in done.stderr
