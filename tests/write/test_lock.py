"""Locks: one holder at a time, free when the holder ends, and never on a file that was removed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from opgen.write.lock import locked, unless_held
from opgen.write.writer import exclusive

HOLD = (
    "import sys, pathlib\nfrom opgen.write.lock import locked\n"
    "with locked(pathlib.Path(sys.argv[1])):\n    print('in', flush=True)\n    sys.stdin.read()\n"
)


def test_the_lock_dies_with_the_process_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "folder/lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with unless_held(path) as free:
            assert not free
        other.kill()
        other.wait()
    with unless_held(path) as free:
        assert free
    with locked(path):
        pass


def test_who_waits_for_a_lock_that_is_removed_gets_the_one_that_counts(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    got = threading.Event()
    with ExitStack() as new:
        with locked(path):
            waiting = threading.Thread(target=_take, args=(path, got))
            waiting.start()
            assert not got.wait(0.1)
            path.unlink()
            new.enter_context(locked(path))
        assert not got.wait(0.1)
    waiting.join(20)
    assert got.is_set()


def test_nobody_gets_a_lock_while_it_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with unless_held(path) as free:
        assert free
    assert not path.exists()
    path.touch()
    got = threading.Event()
    with unless_held(path):
        waiting = threading.Thread(target=_take, args=(path, got))
        waiting.start()
        assert not got.wait(0.1)
    waiting.join(20)
    assert got.is_set()


def _take(path: Path, got: threading.Event) -> None:
    with locked(path):
        got.set()


def test_writers_take_turns_and_leave_nothing(tmp_path: Path) -> None:
    """The folder of the lock is removed by each that leaves, while others come in."""
    inside: list[int] = []
    most: list[int] = []

    def write(number: int) -> None:
        for _ in range(50):
            with exclusive(tmp_path):
                inside.append(number)
                (tmp_path / ".opgen_cache/staged/op").mkdir(parents=True)
                most.append(len(inside))
                (tmp_path / ".opgen_cache/staged/op").rmdir()
                inside.remove(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert most == [1] * 200
    assert not list(tmp_path.iterdir())


def test_a_folder_that_goes_while_it_is_made_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves removes the folder after it was found to exist and before it is seen to be a folder."""
    made: list[str] = []
    make = os.mkdir

    def late(path: str, mode: int = 0o777) -> None:
        made.append(str(path))
        if len(made) < 3:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        make(path, mode)

    monkeypatch.setattr(os, "mkdir", late)
    with locked(tmp_path / "folder/lock"):
        assert len(made) == 3


def test_what_is_no_folder_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    with pytest.raises(FileExistsError), locked(tmp_path / "folder/lock"):
        pass
