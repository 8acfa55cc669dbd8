"""What of a folder of generated operators is shipped, and whether it is fit for that.

In: the output folder. Out: the files that run, by their names in it: generated Python and manifests, without tests and
sources in C++ and CUDA, and the libraries that were compiled for them. Only what opgen has put there is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.diagnostics.suggest import counted
from opgen.package.exports import STUB
from opgen.project import build
from opgen.write.cache import origins
from opgen.write.compare import read_manifest
from opgen.write.manifest import Manifest
from opgen.write.paths import MANIFEST
from opgen.write.settings import Settings, command

_FEW = 3


def operators(out: Path) -> tuple[str, ...]:
    """The operators in a folder."""
    return tuple(sorted(path.parent.name for path in out.glob(f"*/{MANIFEST}")))


def left_out(op: str) -> tuple[str, ...]:
    """The folders and files that only those need who have the sources; `op` is "" for what all operators share."""
    return (f"{op}/csrc/", f"{op}/test_{op}.py") if op else ("csrc/", "_testing/")


def files(out: Path, ops: Sequence[str]) -> dict[str, Path]:
    """Where the files lie that run, and what type checkers read, by their names in the output folder."""
    stubs = [STUB] if (out / STUB).is_file() else []
    names = [name for op in ("", *ops) for name in _recorded(out, op) if not name.startswith(left_out(op))]
    return {name: out / name for name in (*stubs, *names)}


def unfit(out: Path, ops: Sequence[str], settings: Settings) -> tuple[Diagnostic, ...]:
    """Why a folder cannot be shipped: files are missing, or they are not what the project's specs give now."""
    missing = [name for op in ("", *ops) for name in _recorded(out, op) if not (out / name).is_file()]
    if missing:
        hint = f"{command('build', out=out)} writes them anew"
        return (Diagnostic("OPG511", _told(out, missing, "missing"), None, hints=(hint,)),)
    specs = _specs(out, ops, settings)
    if not specs:  # as in what was unpacked from a source distribution without them
        return ()
    namespaces = (m.options.get("namespace") for op in ops if (m := read_manifest(out, op)) is not None)
    result = build(specs, out, check=True, namespace=next(namespaces, None))
    errors = tuple(d for d in result.diagnostics if d.severity is Severity.ERROR)
    if errors or not result.drift:
        return errors
    paths = [os.path.relpath(path) for path in specs]
    hint = f"{command('build', *(paths if len(paths) <= _FEW else ()), out=out)} brings it up to date"
    message = _told(out, [change.path for change in result.drift], "not as the specs give them")
    return (Diagnostic("OPG511", message, None, hints=(hint,)),)


def _specs(out: Path, ops: Sequence[str], settings: Settings) -> list[Path]:
    """The specs of a folder, as far as they are there: those that the project states, or what it was made from."""
    if settings.specs and settings.out is not None and os.path.abspath(settings.out) == os.path.abspath(out):
        return [path for path in settings.specs if path.exists()]
    found: dict[Path, None] = {}
    for op in ops:
        manifest = read_manifest(out, op) or Manifest("")
        label = [settings.root / manifest.spec] if settings.root is not None and manifest.spec else []
        spec = next((path for path in (*origins(out, op), *label) if path.is_file()), None)
        if spec is not None:
            found.setdefault(spec)
    return list(found)


def _recorded(out: Path, op: str) -> list[str]:
    """The generated files of an operator, by their names in the output folder; a manifest lists all but itself."""
    manifest = read_manifest(out, op) or Manifest("")
    return sorted(f"{op}/{name}" if op else name for name in (*manifest.files, MANIFEST))


def _told(out: Path, names: Sequence[str], what: str) -> str:
    """How many files of a folder are so, and the first of them."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return f"{counted(len(names), 'file')} in {out} {what}: {', '.join(names[:_FEW])}{more}"
