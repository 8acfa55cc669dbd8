"""`opgen build`: generate operators, or say what differs from what is there."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import Patience, Progress, put, say, show_diagnostics, verdict
from opgen.cli.options import default_specs, format_option, jobs_of, namespace_option, out_option, talk_of
from opgen.diagnostics.model import Diagnostic, UserError
from opgen.diagnostics.suggest import counted
from opgen.project import BuildResult, build
from opgen.write.compare import Status
from opgen.write.diff import unified
from opgen.write.settings import command as command_line
from opgen.write.settings import importable

_COLOURS = {
    Status.CREATED: "green",
    Status.UPDATED: "yellow",
    Status.REMOVED: "red",
    Status.EDITED: "red",
    Status.OVERWRITTEN: "red",
    Status.FOREIGN: "red",
    Status.UNCHANGED: None,
}
_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


EXAMPLES = """\b
Examples:
  opgen build                        the specs of this project
  opgen build specs/grn.yaml specs/norms
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
@click.option("--watch", is_flag=True, help="Go on: build again whenever a spec changes, until interrupted.")
@talk_of("Name every file, unchanged ones too.")
@format_option
def command(
    paths: tuple[Path, ...],
    out: Path,
    check: bool,
    diff: bool,
    force: bool,
    namespace: str | None,
    jobs: int | None,
    watch: bool,
    quiet: bool,
    verbose: bool,
    form: str,
) -> None:
    """Generate the operators of spec files, or of all specs in folders (default: the folder specs)."""
    if diff and form != "text":
        raise click.UsageError("--diff and --format both write to stdout")
    if watch and (check or diff or form != "text"):
        raise click.UsageError("--watch builds and talks to a person: without --check, --diff and --format")
    chosen = paths or default_specs("build")
    if (fit := importable(out)) != out:
        message = f"'{out}' cannot be the output folder: Python imports no package of that name as this one"
        hint = f"write {shlex.join(['--out', str(fit)])}"
        raise UserError((Diagnostic("OPG508", message, None, hints=(hint,)),))

    def once() -> int:
        return _build(
            chosen, out, check=check, diff=diff, force=force, namespace=namespace, jobs=jobs, quiet=quiet,
            verbose=verbose, form=form,
        )  # fmt: skip

    if watch:
        _watch(chosen, once, quiet=quiet)
    elif code := once():
        raise click.exceptions.Exit(code)


def _watch(paths: Sequence[Path], once: Callable[[], int], *, quiet: bool) -> None:
    """Build, and again after each change of the specs; what is wrong with them is told and does not end it."""
    from opgen.cli.watch import changes

    for changed in changes(paths):
        if changed and not quiet:
            say(f"changed: {', '.join(map(str, changed))}")
        once()
        if not quiet:
            say("watching; Ctrl-C ends it")


def _build(
    chosen: Sequence[Path],
    out: Path,
    *,
    check: bool,
    diff: bool,
    force: bool,
    namespace: str | None,
    jobs: int | None,
    quiet: bool,
    verbose: bool,
    form: str,
) -> int:
    """Build once and say so; the exit code."""
    progress, patience = Progress(quiet=quiet), Patience(quiet=quiet)
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
        progress.close()
        patience.close()
    if diff:
        _print_diffs(result)
    elif check or not quiet:
        _print_changes(result, say if form != "text" else put, files=verbose or check, verbose=verbose)
    show_diagnostics(result.diagnostics, form)
    if not quiet:
        _summary(result, dry=check or diff)
    failed = result.failed or ((check or diff) and result.drift)
    return verdict(result.diagnostics) or FINDINGS if failed else 0


def _print_changes(result: BuildResult, tell: Callable[..., None], *, files: bool, verbose: bool) -> None:
    """A line for each operator and what happened to it, or for each of its `files`."""
    found: dict[tuple[str, Status], list[str]] = {}
    for change in result.changes:
        folder = change.path.partition("/")[0]
        alone = files or change.status in (Status.EDITED, Status.OVERWRITTEN, Status.FOREIGN)
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
        say(f"{count} in {result.out} {'is' if len(result.ops) == 1 else 'are'} built; what has errors is not")
    else:
        say(f"{count} in {result.out}; next: {command_line('test', *result.ops[:3], out=result.out)}")
