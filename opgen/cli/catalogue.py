"""`opgen catalogue`: one Markdown page that shows what each operator is, its derivative and what it saves."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import put, say, show_diagnostics, verdict
from opgen.cli.options import default_specs
from opgen.report.catalogue import catalogue

EXAMPLES = """\b
Examples:
  opgen catalogue specs              writes docs/catalogue.md
  opgen catalogue specs --check      exit code 1 where the page is not as the specs give it
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("docs/catalogue.md"),
    show_default=True,
    help="The page.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the page is not what the specs give.")
def command(paths: tuple[Path, ...], out: Path, check: bool) -> None:
    """Describe the operators of spec files, or of all specs in folders (default: the folder specs)."""
    result = catalogue(paths or default_specs("catalogue"), out, check=check)
    show_diagnostics(result.diagnostics)
    if result.failed:
        raise click.exceptions.Exit(verdict(result.diagnostics))
    if not result.changed:
        say(f"{out} is up to date")
    elif check:
        put(f"differs   {out}", colour="yellow")
        raise click.exceptions.Exit(FINDINGS)
    else:
        put(f"written   {out}", colour="green")
