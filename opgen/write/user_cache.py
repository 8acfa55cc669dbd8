"""The user's folder, for all projects, where compiled libraries, loaded operators and records of builds are kept.

Nothing of it lies in a project, where version control and wheels would pick it up. A library is found by the hash of
all that it is made from, and the lock of its build lies beside it; so projects share the folder without knowing of one
another.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "OPGEN_CACHE_DIR"


def cache_folder() -> Path:
    """`OPGEN_CACHE_DIR`, or where the system wants the caches of a user's programs to be."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(os.path.abspath(given)) if given else _of_user(sys.platform) / "opgen"


def _of_user(system: str) -> Path:
    home = Path(os.path.expanduser("~"))
    if system == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if system == "darwin":
        return home / "Library" / "Caches"
    stated = os.environ.get("XDG_CACHE_HOME", "")
    return Path(stated) if os.path.isabs(stated) else home / ".cache"
