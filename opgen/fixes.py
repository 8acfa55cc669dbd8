"""Apply the exact replacements that diagnostics name: the function behind `opgen lint --fix`.

In: spec files, and what finds mistakes in them. Out: the files with what is certain mended, comments and layout as they
were, and a `Fix` for each replacement. Replacements are kept where the spec parses with them and their mistakes are
gone; what they bring to light is mended in turn, until nothing is certain any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opgen import pipeline
from opgen.diagnostics.model import Bag, Diagnostic, Edit
from opgen.pipeline import Artefacts, SpecFile
from opgen.project import specs_of
from opgen.write.writer import replace_file

Finder = Callable[[SpecFile], Artefacts]
_ROUNDS = 20
_YAML = ("OPG101", "OPG102", "OPG103", "OPG106")  # the file itself cannot be read as it is meant


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement that was made: where it stood when it was found, what went and what came."""

    path: Path
    line: int
    column: int
    code: str
    before: str
    after: str


def fix(paths: Sequence[Path], find: Finder) -> tuple[tuple[Fix, ...], tuple[Diagnostic, ...]]:
    """Mend the specs of files and folders in place, each in one step, and say what could not be written.

    `find` takes a spec as far as its program and tells of every mistake in it.
    """
    bag, made = Bag(), list[Fix]()
    for path in specs_of(paths, Bag()):
        file = pipeline.read(path, Bag())
        if file is None:
            continue
        mended, fixes = _mended(file, find)
        try:
            if fixes and _put(file, mended.data):
                made += fixes
        except OSError as e:
            bag.error("OPG506", f"cannot write {e.filename or path}: {e.strerror or e}", None)
    return tuple(made), bag.items


def _put(file: SpecFile, data: bytes) -> bool:
    """Write a spec, unless somebody did meanwhile; links stay links, and the mode stays."""
    target = file.path.resolve()
    if target.read_bytes() != file.data:
        return False
    mode = target.stat().st_mode
    replace_file(target, data)
    target.chmod(mode)
    return True


def _mended(file: SpecFile, find: Finder) -> tuple[SpecFile, list[Fix]]:
    """A spec in which nothing that is certain is left to mend."""
    made: list[Fix] = []
    seen = {file.data}
    found = find(file)
    for _ in range(_ROUNDS):
        step = next(_steps(file, found, find), None)
        if step is None or step[0].data in seen:
            break
        made += [_told(file.path, d, edit) for d, edit in step[2]]
        file, found = step[0], step[1]
        seen.add(file.data)
    return file, made


Certain = list[tuple[Diagnostic, Edit]]


def _steps(file: SpecFile, found: Artefacts, find: Finder) -> Iterator[tuple[SpecFile, Artefacts, Certain]]:
    """The spec with all replacements at once, or with each by itself, if that is an improvement."""
    certain = _certain(found.diagnostics)
    for chosen in (certain, *([one] for one in certain if len(certain) > 1)):
        if not chosen:
            return
        after = replace(file, data=_edited(file.data, [edit for _, edit in chosen]))
        made = find(after)
        if _is_better(found, made, chosen):
            yield after, made, chosen


def _certain(found: Sequence[Diagnostic]) -> Certain:
    """Mistakes with their exact replacements, in order; of two that meet, the first."""
    exact = {(edit.span.start, edit.span.end, edit.text): (d, edit) for d in found if (edit := d.edit) is not None}
    chosen: Certain = []
    for d, edit in (exact[key] for key in sorted(exact)):
        if not chosen or edit.span.start >= chosen[-1][1].span.end:
            chosen.append((d, edit))
    return chosen


def _is_better(before: Artefacts, after: Artefacts, chosen: Certain) -> bool:
    """Whether the mistakes are gone from where they were, and the spec is understood at least as far as before."""
    shift = 0
    gone: list[tuple[int, int, str, str]] = []
    for d, edit in chosen:
        start = edit.span.start + shift
        gone.append((start, start + len(edit.text), d.code, d.message))
        shift += len(edit.text) - (edit.span.end - edit.span.start)
    still = any(
        d.span is not None and d.span.start < end and start < d.span.end and (d.code, d.message) == (code, message)
        for start, end, code, message in gone
        for d in after.diagnostics
    )
    return not still and _understood(after) >= _understood(before)


def _understood(made: Artefacts) -> tuple[int, bool, bool]:
    unread = sum(d.code in _YAML for d in made.diagnostics)
    return -unread, made.spec is not None, made.operator is not None


def _edited(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The file with replacements in order; they count characters of its text, with one for each line end."""
    text = data.decode()
    line_end = "\r\n" if "\r\n" in text else "\n"
    places = [k for k, c in enumerate(text) if c != "\n" or text[max(k - 1, 0)] != "\r"]
    places = [*places[text.startswith("\ufeff") :], len(text)]
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : places[edit.span.start]], edit.text.replace("\n", line_end)]
        at = places[edit.span.end]
    return "".join((*parts, text[at:])).encode()


def _told(path: Path, d: Diagnostic, edit: Edit) -> Fix:
    return Fix(path, *edit.span.source.line_col(edit.span.start), d.code, edit.span.text, edit.text)
