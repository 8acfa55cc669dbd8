"""Carry out changes so that a reader finds the old folder or the new one, and a run cut short can be repeated.

All new contents are first written to temporary siblings, then renamed into place one after the other, with the
manifest last. A journal of what is about to be written lies in the cache folder meanwhile: should the run be cut
short, the next one knows the new files for ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from opgen.write.compare import Change, Status
from opgen.write.manifest import sha256
from opgen.write.paths import CACHE, inside

CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of opgen's; it is safe to delete.\n"


def commit(out: Path, changes: Sequence[Change], *, folder: str, pending: str, force: bool = False) -> None:
    """Write, replace and remove what the changes say; hand edits only with `force`."""
    allowed = {Status.CREATED, Status.UPDATED, Status.REMOVED} | ({Status.EDITED} if force else set())
    writes = [c for c in changes if c.status in allowed and c.after is not None]
    removes = [c for c in changes if c.status in allowed and c.after is None]
    if not writes and not removes:
        return
    journal = inside(out, pending)
    names = {c.path.removeprefix(f"{folder}/"): sha256((c.after or "").encode()) for c in writes}
    cache_folder(out)
    _write(journal, json.dumps(names, sort_keys=True))
    staged = _stage(out, writes)
    try:
        for temporary, target in staged:
            os.replace(temporary, target)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
    for change in removes:
        _remove(out, change.path)
    journal.unlink(missing_ok=True)


def replace_file(target: Path, text: str) -> None:
    """Write a file of its own, so that a reader finds the old text or the new one."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        _write(temporary, text)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def cache_folder(out: Path) -> Path:
    """The cache folder, marked as one for backup tools and ignored by git."""
    cache = out / CACHE
    if not (cache / ".gitignore").exists():
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "CACHEDIR.TAG").write_text(CACHE_TAG)
        (cache / ".gitignore").write_text("*\n")
    return cache


def _stage(out: Path, writes: Sequence[Change]) -> list[tuple[Path, Path]]:
    staged: list[tuple[Path, Path]] = []
    try:
        for change in writes:
            target = inside(out, change.path)
            temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
            staged.append((temporary, target))
            _write(temporary, change.after or "")
    except BaseException:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        raise
    return staged


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _remove(out: Path, relative: str) -> None:
    """Remove a file, and the folders that are empty without it."""
    target = inside(out, relative)
    target.unlink(missing_ok=True)
    folder = target.parent
    while folder != out and folder.is_relative_to(out):
        left = [p for p in folder.iterdir() if p.name != "__pycache__"]
        if left:
            return
        for compiled in folder.glob("__pycache__/*.pyc"):
            compiled.unlink(missing_ok=True)
        with suppress(OSError):
            (folder / "__pycache__").rmdir()
        with suppress(OSError):
            folder.rmdir()
        folder = folder.parent
