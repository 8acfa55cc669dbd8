"""`opgen doctor`: what opgen finds on this machine, and what to do about what is missing."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import put, say
from opgen.cli.options import out_option
from opgen.version import __version__


@click.command()
@out_option
def command(out: Path) -> None:
    """Look at versions, compilers, locks and caches. Exit code 1 where operators cannot run at all."""
    from opgen.toolchain.inspect import findings

    put(f"{'opgen':<18} {__version__}")
    found = tuple(findings(out))
    for finding in found:
        put(f"{finding.what:<18} {finding.fact}", colour="yellow" if finding.advice else None)
        if finding.advice:
            say(f"help: {finding.advice}")
    if any(finding.needed for finding in found):
        raise click.exceptions.Exit(FINDINGS)
