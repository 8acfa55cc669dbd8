"""The pages that `opgen report` writes: one for each operator, and an index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opgen import pipeline
from opgen.diagnostics.crash import crash
from opgen.diagnostics.model import Bag, Diagnostic, Severity
from opgen.pipeline import SpecFile, Stage
from opgen.project import specs_of
from opgen.report.bars import Measured, measured
from opgen.report.page import Subject, index, page
from opgen.write.writer import replace_file

_BACK_ENDS = ("cpp", "form", "torch")


@dataclass(frozen=True, slots=True)
class ReportResult:
    """The pages that were written, and every diagnostic of the run."""

    pages: tuple[Path, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def failed(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


@dataclass(slots=True)
class _Pages:
    found: dict[str, str] = field(default_factory=dict)  # by operator
    summaries: dict[str, str] = field(default_factory=dict)


def report(
    paths: Sequence[Path],
    to: Path,
    accuracy: Path | None = None,
    benchmarks: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ReportResult:
    """Write the pages of the operators of specs and folders of specs into a folder.

    `accuracy` is a file as `tests/accuracy` writes it, `benchmarks` one as `opgen bench --format json` does. A mistake
    in a spec leaves its page as it was.
    """
    bag = Bag()
    files = (pipeline.read(path, bag) for path in specs_of(paths, bag))
    return _written(
        (file for file in files if file), to, _measured(accuracy, bag), _timed(benchmarks, bag), bag, progress
    )


def report_of(file: SpecFile, to: Path) -> ReportResult:
    """Write the page of a spec that was read already, and an index of this one."""
    return _written((file,), to, {}, {}, Bag())


def _written(
    files: Iterable[SpecFile],
    to: Path,
    errors: Mapping[str, list[tuple[str, ...]]],
    times: Mapping[str, list[Measured]],
    bag: Bag,
    progress: Callable[[str], None] = lambda _: None,
) -> ReportResult:
    made = _Pages()
    for file in files:
        progress(file.path.stem)
        subject = _subject(file, errors, times, bag)
        if subject is None:
            continue
        try:
            made.found[subject.operator.name] = page(subject)
        except Exception as e:
            bag.add(crash(e, f"{file.path} could not be reported", subject.spec))
            continue
        made.summaries[subject.operator.name] = subject.operator.docs.summary
    written: list[Path] = []
    try:
        for name, text in (*made.found.items(), ("index", index([*made.summaries.items()]))):
            if made.found:
                target = to / f"{name}.html"
                to.mkdir(parents=True, exist_ok=True)
                replace_file(target, text.encode())
                written.append(target)
    except OSError as e:
        bag.error("OPG506", f"cannot write {e.filename or to}: {e.strerror or e}", None)
    return ReportResult(tuple(written), bag.items)


def _subject(
    file: SpecFile, errors: Mapping[str, list[tuple[str, ...]]], times: Mapping[str, list[Measured]], bag: Bag
) -> Subject | None:
    made = pipeline.run(file, Stage.FILES)
    for diagnostic in made.diagnostics:
        bag.add(diagnostic)
    if made.operator is None or made.derived is None or made.files is None:
        return None
    files, name = {f.path: f.text for f in made.files}, made.operator.name
    text = file.data.decode("utf-8-sig")
    return Subject(made.operator, made.derived, file.label, text, files, errors.get(name, ()), times.get(name, ()))


def _measured(path: Path | None, bag: Bag) -> dict[str, list[tuple[str, ...]]]:
    """The rows of a file of measured errors, by operator."""
    if path is None:
        return {}
    found: dict[str, list[tuple[str, ...]]] = {}
    try:
        for row in json.loads(path.read_text(encoding="utf-8")):
            errors = (f"{row[b]['ulp']:.3g}" if row.get(b) else "—" for b in _BACK_ENDS)
            found.setdefault(str(row["name"]), []).append((str(row["of"]), *errors))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as e:
        bag.error("OPG501", f"cannot read '{path}': {e}", None)
    return found


def _timed(path: Path | None, bag: Bag) -> dict[str, list[Measured]]:
    """The rows of a file of measured times, by operator."""
    if path is None:
        return {}
    found: dict[str, list[Measured]] = {}
    try:
        for row in measured(json.loads(path.read_text(encoding="utf-8"))["rows"]):
            found.setdefault(row.op, []).append(row)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as e:
        bag.error("OPG501", f"cannot read '{path}': {e}", None)
    return found
