"""Wherever a write ends, each folder is the old one or the new one, and the next run repairs what is left."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opgen.write import swap
from opgen.write.compare import Status, Unit, compare
from opgen.write.writer import commit, exclusive

OLD = Unit("op", {"a.py": "a = 1\n", "csrc/a.cpp": "// 1\n", "gone.py": "gone = 1\n"}, "specs/op.yaml", "01", {})
NEW = Unit("op", {"a.py": "a = 2\n", "csrc/a.cpp": "// 2\n", "csrc/b.cpp": "// b\n"}, "specs/op.yaml", "02", {})
THIRD = Unit("op", {"a.py": "a = 3\n", "b.py": "b = 3\n"}, "specs/op.yaml", "03", {})
SHARED = [
    Unit("", {f"_runtime/{n}.py": f"{n} = {k}\n" for n in "ab"} | {"__init__.py": f"k = {k}\n"}) for k in range(3)
]


class Killed(BaseException):
    """Stands for the end of the process: after it, nothing more happens."""


def write(out: Path, unit: Unit) -> dict[str, Status]:
    with exclusive(out):
        changes = compare(out, unit, "1")
        commit(out, changes, folder=unit.folder, pending=unit.pending)
    return {c.path: c.status for c in changes}


def contents(folder: Path) -> dict[str, str]:
    found = (p for p in folder.rglob("*") if p.is_file() and ".opgen_cache" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_text() for p in found}


def cut(monkeypatch: pytest.MonkeyPatch, step: int) -> Callable[[], bool]:
    """Let the process end before a step that changes anything on disk; tells afterwards whether it came to that."""
    taken = 0

    def counted(f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal taken
            taken += 1
            if taken > step:
                raise Killed
            return f(*args, **options)

        return call

    for where, name in (
        (os, "rename"), (os, "replace"), (os, "link"), (shutil, "rmtree"), (Path, "write_bytes"), (Path, "unlink"),
        (swap, "_exchange"),
    ):  # fmt: skip
        monkeypatch.setattr(where, name, counted(getattr(where, name)))
    return lambda: taken > step


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("after", [NEW, THIRD])
def test_no_mixture_at_any_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: Unit, can_exchange: bool
) -> None:
    states: set[str] = set()
    for step in range(40):
        out = tmp_path / str(step)
        write(out, OLD)
        (out / "op/mine.txt").write_text("precious")
        before = contents(out / "op")
        with monkeypatch.context() as patched:
            if not can_exchange:
                patched.setattr(swap, "_exchange", lambda a, b: False)
            ended = cut(patched, step)
            with contextlib.suppress(Killed):
                write(out, NEW)
        found = contents(out / "op")
        state = (
            "old"
            if found == before
            else "new"
            if found == {**as_written(tmp_path, NEW), "mine.txt": "precious"}
            else ""
        )
        state = "away" if not found and not can_exchange else state
        assert state, (step, found)
        states.add(state)
        assert Status.EDITED not in write(out, after).values()
        assert contents(out / "op") == {**as_written(tmp_path, after), "mine.txt": "precious"}
        assert not list(out.glob(".opgen_cache/staged/*"))
        if not ended():
            break
    assert states == ({"old", "new"} if can_exchange else {"old", "away", "new"})
    assert not ended()


def as_written(folder: Path, unit: Unit) -> dict[str, str]:
    out = folder / f"whole_{unit.spec_sha256}"
    write(out, unit)
    return contents(out / "op")


def test_folders_that_operators_share_are_each_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in range(40):
        out = tmp_path / str(step)
        write(out, SHARED[0])
        with monkeypatch.context() as patched:
            ended = cut(patched, step)
            with contextlib.suppress(Killed):
                write(out, SHARED[1])
        found = contents(out)
        assert {found[f"_runtime/{n}.py"].split()[-1] for n in "ab"} in ({"0"}, {"1"})
        assert Status.EDITED not in write(out, SHARED[2]).values()
        assert contents(out / "_runtime") == {"a.py": "a = 2\n", "b.py": "b = 2\n"}
        if not ended():
            break
    assert not ended()


def test_what_somebody_writes_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, OLD)
    real = swap._swap

    def meanwhile(target: Path, scratch: Path) -> None:
        (target / "a.py").write_text("a = 'edited'\n")
        (target / "notes").mkdir()
        (target / "notes/new.txt").write_text("new")
        real(target, scratch)

    monkeypatch.setattr(swap, "_swap", meanwhile)
    write(tmp_path, NEW)
    monkeypatch.undo()
    assert (tmp_path / "op/a.py").read_text() == "a = 'edited'\n"
    assert (tmp_path / "op/notes/new.txt").read_text() == "new"
    assert write(tmp_path, NEW)["op/a.py"] is Status.EDITED


def test_links_modes_and_empty_folders_stay(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    (tmp_path / "op/empty").mkdir()
    (tmp_path / "op/link").symlink_to("a.py")
    (tmp_path / "op").chmod(0o750)
    write(tmp_path, NEW)
    assert (tmp_path / "op/empty").is_dir()
    assert os.readlink(tmp_path / "op/link") == "a.py"
    assert (tmp_path / "op").stat().st_mode & 0o777 == 0o750


def test_byte_code_of_changed_sources_goes(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    compiled = tmp_path / "op/__pycache__"
    compiled.mkdir()
    for name in ("a.cpython-311.pyc", "gone.cpython-311.pyc", "mine.cpython-311.pyc"):
        (compiled / name).touch()
    write(tmp_path, NEW)
    assert [p.name for p in compiled.iterdir()] == ["mine.cpython-311.pyc"]


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "op").write_text("mine")
    with pytest.raises(NotADirectoryError):
        write(tmp_path, NEW)
    assert (tmp_path / "op").read_text() == "mine"


def test_one_process_at_a_time_writes(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\nfrom opgen.write.writer import exclusive\n"
        "with exclusive(pathlib.Path(sys.argv[1])):\n    print('in', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        done = threading.Event()
        waiting = threading.Thread(target=lambda: (write(tmp_path, NEW), done.set()))
        waiting.start()
        assert not done.wait(0.2)
        assert not (tmp_path / "op").exists()
        other.kill()
        waiting.join(20)
    assert done.is_set()
    assert (tmp_path / "op/a.py").read_text() == "a = 2\n"
