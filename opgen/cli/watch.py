"""Which specs changed since the last look: what `opgen build --watch` waits for.

Files are read, not only their dates: an editor that saves the same text changes nothing. What is being written is
waited for, so that a file that is replaced is not taken for one that is gone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from opgen.diagnostics.model import Bag
from opgen.project import specs_of

INTERVAL = 0.3  # seconds between two looks


def wait() -> None:
    """Let some time pass."""
    time.sleep(INTERVAL)


def changes(paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Nothing at first, then the specs that changed, came or went, each time after they have come to rest."""
    known = _read(paths)
    yield ()
    while True:
        wait()
        found = _read(paths)
        while found != known:
            wait()
            later = _read(paths)
            if later == found:
                changed = tuple(p for p in sorted({*known, *found}) if known.get(p) != found.get(p))
                known = found
                yield changed
                break
            found = later


def _read(paths: Sequence[Path]) -> dict[Path, bytes]:
    """What the specs hold, shortened; none of one that cannot be read."""
    found: dict[Path, bytes] = {}
    for path in specs_of(paths, Bag()):
        try:
            found[path] = hashlib.sha256(path.read_bytes()).digest()
        except OSError:
            continue
    return found
