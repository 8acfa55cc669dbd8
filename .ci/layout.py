"""What formatters and linters say of generated files and templates, which tell those of a project to keep off.

Python: ruff, with the settings of this project, on copies without the lines that keep it off. C++, CUDA: clang-format.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from opgen.package.files import DIRECTIVES

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = (".cpp", ".cu", ".cuh", ".h")


def is_off(path: Path) -> bool:
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", str(path)], capture_output=True, check=False)
    return done.returncode != 0


def python() -> int:
    """The exit code of ruff on the generated Python files."""
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        shutil.copy(ROOT / "pyproject.toml", place)
        for path in sorted((ROOT / "generated").rglob("*.py")):
            copy = place / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            copy.write_text("".join(line for line in lines if line.rstrip() not in DIRECTIVES), encoding="utf-8")
        commands = (["ruff", "check", "."], ["ruff", "format", "--check", "."])
        return max(subprocess.run(command, cwd=place, check=False).returncode for command in commands)


def native() -> int:
    found = [p for folder in ("generated", "templates") for p in sorted((ROOT / folder).rglob("*"))]
    files = [p for p in found if p.suffix in ENDINGS]
    with ThreadPoolExecutor() as pool:
        off = {str(p.relative_to(ROOT)) for p, bad in zip(files, pool.map(is_off, files), strict=True) if bad}
    for name in sorted(off):
        print(f"not laid out as clang-format would: {name}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(max(python(), native()))
