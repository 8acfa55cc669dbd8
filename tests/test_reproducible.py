"""The same specs give the same bytes: under any hash seed, in any folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ("0", "4711")


def checkout(folder: Path) -> Path:
    """A copy of all that generation reads."""
    for name in ("opgen", "templates", "specs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def build(folder: Path, seed: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "opgen", "build", "specs"]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)


def contents(folder: Path) -> dict[str, bytes]:
    out = folder / "generated"
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


@pytest.mark.slow
def test_two_hash_seeds_and_two_folders_give_identical_bytes(tmp_path: Path) -> None:
    short = checkout(tmp_path / "a")
    long = checkout(tmp_path / "another checkout" / "further down")
    for child in [build(short, SEEDS[0]), build(long, SEEDS[1])]:
        _, talk = child.communicate(timeout=600)
        assert child.returncode == 0, talk
    first, second = contents(short), contents(long)
    assert set(first) == set(second)
    assert not [name for name, data in first.items() if second[name] != data]
    committed = {p.relative_to(ROOT / "generated").as_posix() for p in (ROOT / "generated").rglob("*.json")}
    assert [n for n in first if n.endswith("manifest.json")], "nothing was generated"
    assert {n for n in committed if not n.startswith(".")} <= set(first)


def test_no_path_of_this_machine_is_generated() -> None:
    places = (str(ROOT).encode(), str(Path.home()).encode() + b"/", str(Path(sys.prefix)).encode())
    for path in (ROOT / "generated").rglob("*"):
        if path.suffix == ".so":
            continue  # compiled here, and never committed
        if path.is_file() and not any(part.startswith(("__pycache__", ".")) for part in path.parts[len(ROOT.parts) :]):
            data = path.read_bytes()
            assert not [place for place in places if len(place) > 3 and place in data], path
