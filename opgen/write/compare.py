"""Compare one rendered folder with what is on disk; the result says what writing it would change, and touches nothing.

In: a `Unit` (all files of one generated folder, as text) and the output folder. Out: one `Change` for each file. A
file that was ours, with content that is neither new nor recorded, is `EDITED`: somebody's work, never overwritten
unasked. One that never was is `FOREIGN`, and not overwritten at all.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from opgen.write.manifest import Manifest, is_of_another, loads, sha256
from opgen.write.paths import CACHE, MANIFEST, inside

_MARKED = 500  # characters


class Status(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    EDITED = "edited by hand"
    OVERWRITTEN = "overwritten"  # although it was edited by hand
    FOREIGN = "not generated"


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file. `path` is relative to the output folder; None stands for no file."""

    path: str
    status: Status
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Unit:
    """All generated files of one folder (`""` is the output folder itself), with names relative to it.

    `records` are files that follow from what else lies there, and are nobody's to edit: no manifest has them.
    """

    folder: str
    files: Mapping[str, str]
    spec: str = ""
    spec_sha256: str = ""
    options: Mapping[str, str] | None = None
    records: Mapping[str, str] = field(default_factory=dict)

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def pending(self) -> str:
        """The journal of a write in progress: with it, a run that was cut short does not look like a hand edit."""
        return f"{CACHE}/pending/{self.folder or 'shared'}.json"

    def manifest(self, version: str) -> Manifest:
        hashes = {name: sha256(text.encode()) for name, text in self.files.items()}
        return Manifest(version, self.spec, self.spec_sha256, self.options or {}, hashes)


def compare(out: Path, unit: Unit, version: str) -> tuple[Change, ...]:
    """The changes that would bring the folder of `unit` up to date, the manifest's last."""
    recorded = read_manifest(out, unit.folder)
    owned = _owned(out, unit, recorded)
    unknown = () if recorded is None and inside(out, unit.path(MANIFEST)).exists() else None  # in a damaged manifest
    changes = [
        _change(out, unit.path(name), text, owned.get(name, unknown)) for name, text in sorted(unit.files.items())
    ]
    gone = sorted(name for name in owned if name not in unit.files)
    changes += [c for name in gone if (c := _change(out, unit.path(name), None, owned[name])) is not None]
    return (*(c for c in changes if c is not None), _manifest_change(out, unit, version, recorded))


def done(change: Change) -> Change:
    """A change once it is made: nothing of a hand edit is left."""
    if change.status is not Status.EDITED:
        return change
    return replace(change, status=Status.REMOVED if change.after is None else Status.OVERWRITTEN)


def record_changes(out: Path, unit: Unit) -> tuple[Change, ...]:
    """The changes that bring the records of a folder up to date, without asking."""
    return tuple(_record_change(out, unit.path(name), text) for name, text in sorted(unit.records.items()))


def _record_change(out: Path, path: str, after: str) -> Change:
    before = _text(inside(out, path))
    status = Status.CREATED if before is None else Status.UNCHANGED if before == after else Status.UPDATED
    if status is Status.UPDATED and not _is_marked(before or ""):
        status = Status.FOREIGN
    return Change(path, status, before, after)


def removal(out: Path, folder: str) -> tuple[Change, ...]:
    """The changes that remove a generated folder whose spec is gone."""
    recorded = read_manifest(out, folder)
    if recorded is None:
        return ()
    names = sorted(recorded.files)
    found = [_change(out, f"{folder}/{name}", None, (recorded.files[name],)) for name in names]
    manifest = inside(out, f"{folder}/{MANIFEST}")
    last = Change(f"{folder}/{MANIFEST}", Status.REMOVED, _text(manifest), None)
    return (*(c for c in found if c is not None), last)


def read_manifest(out: Path, folder: str) -> Manifest | None:
    text = _text(inside(out, f"{folder}/{MANIFEST}" if folder else MANIFEST))
    return None if text is None else loads(text)


def _owned(out: Path, unit: Unit, recorded: Manifest | None) -> dict[str, tuple[str, ...]]:
    """For each name, the hashes of the contents that are known to be ours."""
    owned: dict[str, tuple[str, ...]] = {}
    for table in (recorded.files if recorded else {}, _journal(out, unit)):
        for name, digest in table.items():
            if name != MANIFEST:
                owned[name] = (*owned.get(name, ()), digest)
    return owned


def _journal(out: Path, unit: Unit) -> dict[str, str]:
    text = _text(inside(out, unit.pending))
    try:
        raw = json.loads(text or "{}")
    except ValueError:
        return {}
    return {k: v for k, v in raw.items() if isinstance(v, str)} if isinstance(raw, dict) else {}


def _change(out: Path, path: str, after: str | None, owned: tuple[str, ...] | None) -> Change | None:
    """What becomes of a file; `owned`: the hashes of what is ours there, None where nothing ever was."""
    target = inside(out, path)
    data = _bytes(target)
    if data is None:
        return None if after is None else Change(path, Status.CREATED, None, after)
    before = data.decode(errors="replace")
    plain = data.replace(b"\r\n", b"\n")  # as a checkout on Windows has it
    if after is not None and plain == after.encode():
        return Change(path, Status.UNCHANGED, before, after)
    if sha256(plain) not in (owned or ()) and not (after is not None and _laid_out_anew(path, before, after)):
        status = Status.FOREIGN if owned is None and not _is_marked(before) else Status.EDITED
        return Change(path, status, before, after)
    return Change(path, Status.REMOVED if after is None else Status.UPDATED, before, after)


def _is_marked(text: str) -> bool:
    """Whether a file says at its beginning that it is generated, as all do that have a place for it."""
    return "@generated by opgen" in text[:_MARKED]


def _laid_out_anew(path: str, before: str, after: str) -> bool:
    """Whether a file of Python differs from the generated one as a formatter leaves it: the same code and comments."""
    if not path.endswith(".py"):
        return False
    try:
        same = ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
        return same and sorted(_comments(before)) == sorted(_comments(after))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return False


def _comments(text: str) -> Iterator[str]:
    return (t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT)


def _manifest_change(out: Path, unit: Unit, version: str, recorded: Manifest | None) -> Change:
    """A manifest is a record, not anyone's work: it is brought up to date without asking."""
    path = unit.path(MANIFEST)
    new = unit.manifest(version)
    before, after = _text(inside(out, path)), new.dumps()
    if before is None:
        return Change(path, Status.CREATED, None, after)
    if recorded is None and is_of_another(before):
        return Change(path, Status.FOREIGN, before, after)
    same = recorded is not None and recorded.differs_only_in_version(new) and before == recorded.dumps()
    return Change(path, Status.UNCHANGED if same else Status.UPDATED, before, after)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _text(path: Path) -> str | None:
    data = _bytes(path)
    return None if data is None else data.decode(errors="replace")
