"""Locks between processes: a file that one process at a time holds, and that is free again when its holder ends.

The file itself means nothing and may be removed at any time; a lock on a removed file is no lock and is taken anew.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock, once everybody else has let go of it; its folder is made where it is missing."""
    while True:
        _make_folder(path.parent)
        try:
            handle = path.open("w")
        except FileNotFoundError:
            if path.is_symlink():
                raise
            continue  # its holder has just removed the folder
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_at(path, handle.fileno()):
                yield
                return


@contextmanager
def unless_held(path: Path) -> Iterator[bool]:
    """Whether nobody holds a lock; where that is so, nobody gets it meanwhile. Nothing is written."""
    if not path.is_file():
        yield True
        return
    with path.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        yield free


def _make_folder(path: Path) -> None:
    """Make a folder that others may make and remove meanwhile: one that is gone again when it is looked at is none."""
    while True:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            if os.path.lexists(path) and not path.is_dir():
                raise
        else:
            return


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
