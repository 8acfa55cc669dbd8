"""`opgen lint`: mistakes in specs, and what looks like one, without writing anything."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import say, show_diagnostics, verdict
from opgen.cli.options import default_specs, format_option
from opgen.project import lint

EXAMPLES = """\b
Examples:
  opgen lint                         the specs of this project
  opgen lint specs/linear.yaml --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@format_option
def command(paths: tuple[Path, ...], form: str) -> None:
    """Look for mistakes, unused names and missing callables in spec files, or in folders of them (default: specs)."""
    from opgen.verify.callables import not_found

    found = lint(paths or default_specs("lint"), not_found)
    show_diagnostics(found, form)
    if found:
        raise click.exceptions.Exit(verdict(found) or FINDINGS)
    say("no findings")
