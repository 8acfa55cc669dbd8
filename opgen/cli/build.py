"""`opgen build`: generate operators, or say what differs from what is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import Patience, Progress, put, say, show_diagnostics, verdict
from opgen.cli.options import default_specs, format_option, jobs_of, namespace_option, out_option
from opgen.diagnostics.suggest import counted
from opgen.project import BuildResult, build
from opgen.write.compare import Status
from opgen.write.diff import unified
from opgen.write.paths import command as command_line

_COLOURS = {
    Status.CREATED: "green",
    Status.UPDATED: "yellow",
    Status.REMOVED: "red",
    Status.EDITED: "red",
    Status.UNCHANGED: None,
}
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


EXAMPLES = """\b
Examples:
  opgen build                        the specs of this project
  opgen build specs/linear.yaml specs/norms
  opgen build --check --format github
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@out_option
@click.option("--check", is_flag=True, help="Write nothing; exit 1 and name the files that differ.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option("--force", is_flag=True, help="Overwrite files that were edited by hand.")
@namespace_option
@jobs_of("processes")
@click.option("-v", "--verbose", is_flag=True, help="Name every file, unchanged ones too.")
@format_option
def command(
    paths: tuple[Path, ...],
    out: Path,
    check: bool,
    diff: bool,
    force: bool,
    namespace: str | None,
    jobs: int | None,
    verbose: bool,
    form: str,
) -> None:
    """Generate the operators of spec files, or of all specs in folders (default: the folder specs)."""
    if diff and form != "text":
        raise click.UsageError("--diff and --format both write to stdout")
    progress, patience = Progress(), Patience()
    chosen = paths or default_specs("build")
    try:
        result = build(
            chosen,
            out,
            check=check or diff,
            force=force,
            namespace=namespace,
            jobs=jobs or os.cpu_count() or 1,
            progress=progress,
            doing=patience,
        )
    finally:
        patience.close()
        progress.close()
    if diff:
        _print_diffs(result)
    else:
        _print_changes(result, say if form != "text" else put, files=verbose or check, verbose=verbose)
    show_diagnostics(result.diagnostics, form)
    _summary(result, dry=check or diff)
    if result.failed or ((check or diff) and result.drift):
        raise click.exceptions.Exit(verdict(result.diagnostics) or FINDINGS)


def _print_changes(result: BuildResult, tell: Callable[..., None], *, files: bool, verbose: bool) -> None:
    """A line for each operator and what happened to it, or for each of its `files`."""
    found: dict[tuple[str, Status], list[str]] = {}
    for change in result.changes:
        folder = change.path.partition("/")[0]
        alone = files or change.status is Status.EDITED
        place = change.path if alone else folder if folder in result.ops or change.status is Status.REMOVED else ""
        found.setdefault((place, change.status), []).append(change.path)
    for (place, status), paths in found.items():
        if verbose or status is not Status.UNCHANGED:
            many = "" if [place] == paths else f" ({counted(len(paths), 'file')}{'' if place else ' that all share'})"
            tell(f"{status:<9} {result.out / place}{many}", colour=_COLOURS[status])


def _print_diffs(result: BuildResult) -> None:
    for change in result.drift:
        for line in unified(change, str(result.out)).splitlines():
            put(line, colour=_DIFF_COLOURS.get(line[:1]))


def _summary(result: BuildResult, *, dry: bool) -> None:
    if result.failed and not result.ops:
        return
    count = counted(len(result.ops), "operator")
    if not result.drift:
        say(f"{count} up to date in {result.out}")
    elif dry:
        say(f"{len(result.drift)} file{'s differ' if len(result.drift) > 1 else ' differs'} from what the specs give")
    elif result.failed:
        say(f"{count} in {result.out} all the same")
    else:
        say(f"{count} in {result.out}; next: {command_line('test', *result.ops[:3], out=result.out)}")
