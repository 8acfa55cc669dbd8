"""Carry out changes so that a reader finds the old folder or the new one, and a run cut short can be repeated.

One process at a time writes into an output folder, and first clears away what a killed one left. The files that all
operators share lie in several folders, each replaced in one step, with the manifest last; a journal of what is about
to be written lies in the cache folder meanwhile, by which the next run knows the new files for ours. That folder is in
the output folder, whose file system and users it shares, and only as long as somebody writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from opgen.write.compare import Change, Status
from opgen.write.lock import locked
from opgen.write.manifest import sha256
from opgen.write.paths import CACHE, LOCK, OutsideError, inside
from opgen.write.swap import recover, replace_folder

CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of opgen's; it is safe to delete.\n"
_STAGED = "staged"
_PENDING = "pending"


@contextmanager
def exclusive(out: Path) -> Iterator[None]:
    """Be the only process that writes into an output folder. The lock dies with its process."""
    lock = inside(out, f"{CACHE}/{LOCK}")
    with locked(lock):
        _mark(lock.parent)
        for scratch in sorted(inside(out, f"{CACHE}/{_STAGED}/*").parent.glob("*")):
            recover(out / scratch.name, scratch)
        try:
            yield
        finally:
            _leave(lock)


def _mark(cache: Path) -> None:
    """Let backup tools and git pass by."""
    (cache / "CACHEDIR.TAG").write_text(CACHE_TAG)
    (cache / ".gitignore").write_text("*\n")


def _leave(lock: Path) -> None:
    """Remove the cache folder, unless it has what the next run needs; the lock goes last, with which others come in."""
    cache = lock.parent
    with suppress(OSError):
        for record in cache.glob("*.json"):  # that earlier versions kept there
            record.unlink()
        for folder in (cache / _STAGED, cache / _PENDING):
            if folder.exists():
                folder.rmdir()
        for name in ("CACHEDIR.TAG", ".gitignore"):
            (cache / name).unlink(missing_ok=True)
        lock.unlink(missing_ok=True)
        cache.rmdir()


def clear_away(out: Path) -> None:
    """Remove what a run that was killed left behind, where nothing has to be written."""
    if any((out / CACHE / _STAGED).glob("*")):
        with suppress(OSError, OutsideError), exclusive(out):
            pass


def commit(out: Path, changes: Sequence[Change], *, folder: str, pending: str, force: bool = False) -> None:
    """Write, replace and remove what the changes say; hand edits only with `force`. To be called in `exclusive`."""
    allowed = {Status.CREATED, Status.UPDATED, Status.REMOVED} | ({Status.EDITED} if force else set())
    chosen = [c for c in changes if c.status in allowed]
    if not chosen:
        return
    journal = inside(out, pending)
    _write(journal, json.dumps(_hashes(folder, chosen), sort_keys=True).encode())
    folders: dict[str, dict[str, bytes | None]] = {}
    for change in chosen:
        inside(out, change.path)
        top, _, name = change.path.partition("/")
        folders.setdefault(top if name else "", {})[name or top] = _bytes(change)
    files = folders.pop("", {})
    for top, contents in folders.items():
        replace_folder(out / top, out / CACHE / _STAGED / top, contents)
    for name, data in files.items():
        if data is None:
            (out / name).unlink(missing_ok=True)
        else:
            _put(data, out / CACHE / "file.tmp", out / name)
    journal.unlink(missing_ok=True)


def _hashes(folder: str, changes: Sequence[Change]) -> dict[str, str]:
    texts = {c.path.removeprefix(f"{folder}/"): data for c in changes if (data := _bytes(c)) is not None}
    return {name: sha256(data) for name, data in texts.items()}


def _bytes(change: Change) -> bytes | None:
    return None if change.after is None else change.after.encode()


def replace_file(target: Path, data: bytes) -> None:
    """Write a file of its own, so that a reader finds the old text or the new one."""
    _put(data, target.with_name(f".{target.name}.{os.getpid()}.tmp"), target)


def _put(data: bytes, temporary: Path, target: Path) -> None:
    try:
        _write(temporary, data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
