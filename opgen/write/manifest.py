"""The manifest of one generated folder: what it was made from, and the hash of every file put there.

It is written last, so that it also marks a folder as complete, and it decides ownership: a file whose bytes have the
hash recorded here is ours to overwrite or remove; any other content was put there by somebody else. There is one for
each operator (merges of two branches do not meet in one file) and one for the files all operators share. It holds
nothing that differs between machines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

SCHEMA = 1


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Manifest:
    """`files` maps names inside the folder to hashes. The shared folder has no spec."""

    version: str
    spec: str = ""
    spec_sha256: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def dumps(self) -> str:
        made_from = {"spec": self.spec, "spec_sha256": self.spec_sha256} if self.spec else {}
        content = {
            "schema": SCHEMA,
            "opgen": self.version,
            **made_from,
            "options": dict(sorted(self.options.items())),
            "files": dict(sorted(self.files.items())),
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

    def differs_only_in_version(self, other: Manifest) -> bool:
        return replace(self, version="") == replace(other, version="")


def loads(text: str) -> Manifest | None:
    """The manifest in a text; None where it is damaged or of another schema (its files then have no known owner)."""
    try:
        raw = json.loads(text)
    except ValueError:
        return None
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        return None
    names = _table({key: raw.get(key, "") for key in ("opgen", "spec", "spec_sha256")})
    options, files = _table(raw.get("options")), _table(raw.get("files"))
    if names is None or options is None or files is None:
        return None
    return Manifest(names["opgen"], names["spec"], names["spec_sha256"], options, files)


def is_of_another(text: str) -> bool:
    """Whether a file with the name of a manifest is one of another program."""
    try:
        raw = json.loads(text)
    except ValueError:
        return False
    return isinstance(raw, dict) and bool(raw) and "schema" not in raw and "opgen" not in raw


def _table(value: object) -> dict[str, str] | None:
    """A mapping of strings to strings, or None for anything else."""
    fits = isinstance(value, dict) and all(isinstance(k, str) and isinstance(v, str) for k, v in value.items())
    return dict(value) if fits and isinstance(value, dict) else None
