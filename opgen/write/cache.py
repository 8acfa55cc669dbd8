"""Tell without generating anything that a spec's output is up to date.

The output is a function of the spec's bytes, its name, the options, opgen's own sources and templates, and the
libraries they use: their hash is the key. A spec is up to date when the key of its last build equals today's and every
file that build left has still the recorded bytes. This module must stay cheap to import: it is all that an up-to-date
build runs.

The keys are kept in the user's cache and not in the committed manifests, or every change of opgen's sources would
touch every manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from opgen.write.compare import read_manifest
from opgen.write.manifest import sha256
from opgen.write.paths import MANIFEST, OutsideError, inside
from opgen.write.user_cache import cache_folder

_LIBRARY = re.compile(r"(jinja2|markupsafe|mpmath|pydantic|pydantic_core|pyyaml|sympy)-.*\.dist-info", re.IGNORECASE)


@cache
def generator_fingerprint() -> str:
    """A hash of everything but the spec that generated text depends on."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for root in (package, package / "_templates", package.parent / "templates"):
        for path in sorted(_sources(root)):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    for name in sorted(_libraries()):
        digest.update(f"{name}\0".encode())
    digest.update(repr(sys.version_info[:3]).encode())
    return digest.hexdigest()


def _sources(root: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(root):
        inner[:] = [n for n in inner if n != "__pycache__" and not n.startswith(".")]
        for name in names:
            if not name.endswith((".pyc", ".so")):
                yield Path(folder, name)


def _libraries() -> Iterator[str]:
    for entry in sys.path:
        with suppress(OSError):
            yield from (name for name in os.listdir(entry or ".") if _LIBRARY.fullmatch(name))


def build_key(label: str, spec: bytes, options: Mapping[str, str]) -> str:
    parts = [generator_fingerprint(), label, sha256(spec), json.dumps(dict(options), sort_keys=True)]
    return sha256("\0".join(parts).encode())


def is_fresh(out: Path, spec: Path, key: str) -> str | None:
    """The operator whose files are up to date, or None where they may not be."""
    try:
        record = json.loads((records(out) / _record(out, spec)).read_bytes())
        fresh = record["key"] == key and all(
            _intact(out, folder, digest) for folder, digest in record["manifests"].items()
        )
        return str(record["op"]) if fresh else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def remember(out: Path, spec: Path, key: str, op: str) -> None:
    """Note that the files of `op` are up to date; a folder that cannot be written to only costs time later."""
    with suppress(OSError, OutsideError):
        folders = ("", op)
        manifests = {f: sha256(inside(out, f"{f}/{MANIFEST}" if f else MANIFEST).read_bytes()) for f in folders}
        record = {"key": key, "manifests": manifests, "op": op, "spec": os.path.relpath(spec, out)}
        text = json.dumps(record, indent=2) + "\n"
        path = records(out) / _record(out, spec)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(text)
        os.replace(temporary, path)


def origins(out: Path, op: str) -> Iterator[Path]:
    """The specs, as far as they are remembered, that an operator was last generated from on this machine."""
    for path in sorted(records(out).glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(path.read_bytes())
            if record["op"] == op:
                yield Path(os.path.abspath(out / record["spec"]))


def records(out: Path) -> Path:
    """The folder of the records of an output folder."""
    return cache_folder() / "outputs" / sha256(os.fsencode(os.path.realpath(out)))[:20]


def _record(out: Path, spec: Path) -> str:
    """The name of a spec's record."""
    return f"{spec.stem}-{sha256(os.fsencode(os.path.relpath(spec, out)))[:8]}.json"


def _intact(out: Path, folder: str, digest: str) -> bool:
    path = inside(out, f"{folder}/{MANIFEST}" if folder else MANIFEST)
    manifest = read_manifest(out, folder)
    if manifest is None or sha256(path.read_bytes()) != digest:
        return False
    root = out / folder
    return all(sha256(inside(root, name).read_bytes()) == recorded for name, recorded in manifest.files.items())
