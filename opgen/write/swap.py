"""Give a folder new contents in one step: whoever looks finds all of the old ones or all of the new ones.

The new version is put together beside the old one, from hard links to what stays and from new files, and takes its
place by exchanging the two names. Where the system cannot exchange, the old one is renamed away first; `recover` puts
it back should the run end there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

Contents = Mapping[str, bytes | None]
_Identity = tuple[int, int, int]
_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def replace_folder(target: Path, scratch: Path, contents: Contents) -> None:
    """Write and remove files of a folder.

    `contents` maps names in the folder to new bytes, or to None for a file that goes; all other files stay.
    `scratch` is a folder on the same file system, which nobody else uses.
    """
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(target))
    try:
        seen = _assemble(target, _made(scratch / "new"), contents)
        _swap(target, scratch)
        for name in _files(scratch / "old"):
            if _identity(scratch / "old" / name) != seen.get(name):  # written by somebody else in the meantime
                os.replace(scratch / "old" / name, _made(target / name))
    finally:
        recover(target, scratch)


def _swap(target: Path, scratch: Path) -> None:
    """Let the new version take the place of the old one, which goes to `scratch`; a version without files is none."""
    new, old = scratch / "new", scratch / "old"
    if not new.exists():
        if target.exists():
            os.rename(target, old)
    elif not target.exists():
        os.rename(new, target)
    elif _exchange(new, target):
        os.rename(new, old)
    else:
        os.rename(target, old)
        os.rename(new, target)


def recover(target: Path, scratch: Path) -> None:
    """Clear away what `replace_folder` needed, after a run that was cut short too."""
    if not target.exists() and (scratch / "old").exists() and (scratch / "new").exists():
        os.rename(scratch / "old", target)
    shutil.rmtree(scratch, ignore_errors=True)


def _assemble(old: Path, new: Path, contents: Contents) -> dict[str, _Identity]:
    """Put the new version together; what is told is the old one's files as they were then."""
    seen = {name: _identity(old / name) for name in _files(old)}
    for name in seen:
        if name not in contents and not _compiled_from(name, contents):
            _link(old / name, _made(new / name))
    for name, data in contents.items():
        if data is not None:
            _made(new / name).write_bytes(data)
    for folder, inner, names in os.walk(old):
        twin = new / Path(folder).relative_to(old)
        if not inner and not names:
            twin.mkdir(parents=True, exist_ok=True)
        if twin.is_dir():
            shutil.copymode(folder, twin)
    return seen


def _files(folder: Path) -> Iterator[str]:
    """All files and links below a folder, by name."""
    for where, inner, names in os.walk(folder):
        links = [n for n in inner if Path(where, n).is_symlink()]
        for name in (*names, *links):
            yield Path(where, name).relative_to(folder).as_posix()


def _compiled_from(name: str, contents: Contents) -> bool:
    """Whether a file is the byte code of a source that changes."""
    folder, _, file = name.rpartition("__pycache__/")
    return bool(file) and folder + file.split(".")[0] + ".py" in contents


def _identity(path: Path) -> _Identity:
    found = path.lstat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _exchange(a: Path, b: Path) -> bool:
    """Let two folders change names in one step; False where the system cannot."""
    try:
        libc = ctypes.CDLL(None)
        if sys.platform == "darwin":
            done = libc.renamex_np(os.fsencode(a), os.fsencode(b), _EXCHANGE)
        else:
            done = libc.renameat2(_HERE, os.fsencode(a), _HERE, os.fsencode(b), _EXCHANGE)
    except (AttributeError, OSError):
        return False
    return bool(done == 0)
