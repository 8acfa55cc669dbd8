"""The page that `opgen catalogue` writes: every operator of some specs, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opgen import pipeline
from opgen.diagnostics.model import Bag, Diagnostic, Severity
from opgen.package.catalogue import Described, page
from opgen.pipeline import Stage
from opgen.project import PathLike, specs_of
from opgen.write.writer import replace_file


@dataclass(frozen=True, slots=True)
class PageResult:
    """What `catalogue` did, or with `check` would do."""

    changed: bool
    diagnostics: tuple[Diagnostic, ...]

    @property
    def failed(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


def catalogue(paths: Sequence[PathLike], out: PathLike, *, check: bool = False) -> PageResult:
    """Write the page that describes the operators of specs and folders of specs; with a mistake in one, nothing.

    `check` writes nothing either.
    """
    bag = Bag()
    found: list[Described] = []
    for path in specs_of([Path(p) for p in paths], bag):
        file = pipeline.read(path, bag)
        made = pipeline.run(file, Stage.DERIVED) if file else pipeline.Artefacts()
        for diagnostic in made.diagnostics:
            bag.add(diagnostic)
        if file and made.operator is not None and made.derived:
            found.append(Described(made.operator, file.label, made.derived))
    target = Path(out)
    try:
        text = page(found)
        changed = not bag.has_errors and (not target.is_file() or target.read_bytes() != text.encode())
        if changed and not check:
            replace_file(target, text.encode())
    except OSError as e:
        bag.error("OPG506", f"cannot write {e.filename or target}: {e.strerror or e}", None)
        changed = False
    return PageResult(changed, bag.items)
