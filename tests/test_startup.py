"""What a command imports decides how long it takes to start; times are measured elsewhere, imports are tested here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"jinja2", "mpmath", "numpy", "pydantic", "sympy", "torch", "yaml"}
SCRIPT = """
import json, sys
from opgen.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({name.split(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def imports_of(*arguments: str) -> set[str]:
    """The packages that a successful command line imports."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--version",),
        *(
            (name, "--help")
            for name in ("build", "clean", "doctor", "lint", "list", "new", "package", "report", "schema", "show")
        ),
        ("explain", "OPG204"),
        ("clean", "--out", "none"),
        ("doctor", "--out", "none"),
    ],
)
def test_help_is_light(arguments: tuple[str, ...]) -> None:
    assert not imports_of(*arguments) & HEAVY


def test_generation_is_free_of_torch_and_the_next_run_of_everything(tmp_path: Path) -> None:
    command = ("build", "specs/linear.yaml", "--out", str(tmp_path / "generated"))
    first = imports_of(*command)
    assert {"jinja2", "pydantic", "yaml"} <= first
    assert not first & {"torch", "numpy"}
    assert not imports_of(*command) & HEAVY
    assert not imports_of(*command, "--check") & HEAVY


def test_importing_opgen_is_free() -> None:
    script = "import sys; import opgen; print(*sorted(m.split('.')[0] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not set(done.stdout.split()) & {*HEAVY, "click"}
