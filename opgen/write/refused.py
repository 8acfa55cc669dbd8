"""What a build says about files that it leaves alone."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from opgen.diagnostics.model import Diagnostic
from opgen.write.compare import Change
from opgen.write.diff import shortened, unified
from opgen.write.settings import command

_DIFFS, _DIFF_LINES = 3, 24  # of files edited by hand: so many diffs are shown, and so much of each


def edited(out: Path, changes: Sequence[Change], build: Sequence[str]) -> Iterator[Diagnostic]:
    """A message for each file that was edited by hand; `build`: the command that found it."""
    again, whole = (command(*build, option, out=out) for option in ("--force", "--diff"))
    for number, change in enumerate(changes):
        gone = change.after is None
        lines = _DIFF_LINES if number < _DIFFS else 0
        yield Diagnostic(
            "OPG503",
            f"{out / change.path} was edited by hand{', and is to be generated no more' if gone else ''}",
            None,
            notes=() if gone else (shortened(unified(change, str(out)), lines, whole),),
            hints=(
                f"keep the edit by moving it into {'a' if gone else 'the'} spec, or copy the file elsewhere",
                f"{again} {'removes' if gone else 'overwrites'} it",
            ),
        )


def foreign_files(out: Path, changes: Sequence[Change]) -> Iterator[Diagnostic]:
    """A message for each file of somebody else that stands where one is to be generated."""
    own = (out / "ops").as_posix()
    for change in changes:
        file = out / change.path
        yield Diagnostic(
            "OPG503",
            f"{file} was not made by opgen, and is not overwritten",
            None,
            hints=(
                f'give operators a folder of their own: `out = "{own}"` in [tool.opgen], or --out {shlex.quote(own)}',
                f"or move {file} elsewhere, if nothing needs it there",
            ),
        )
