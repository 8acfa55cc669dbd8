"""`opgen doctor`: what opgen finds on this machine, and what to do about what is missing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import put, say
from opgen.cli.options import out_option
from opgen.version import __version__

EXAMPLES = """\b
Examples:
  opgen doctor                       for a person
  opgen doctor --format json         for a program, or to go with a question
"""


@click.command(epilog=EXAMPLES)
@out_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(out: Path, form: str) -> None:
    """Look at versions, compilers, locks and caches. Exit code 1 where operators cannot run at all."""
    from opgen.toolchain.inspect import findings

    found = tuple(findings(out))
    if form == "json":
        from opgen.toolchain.inventory import inventory

        operators = [known.record for known in inventory(out)]
        facts = [asdict(finding) for finding in found]
        put(json.dumps({"opgen": __version__, "findings": facts, "operators": operators}, indent=2))
    else:
        put(f"{'opgen':<18} {__version__}")
        for finding in found:
            put(f"{finding.what:<18} {finding.fact}", colour="yellow" if finding.advice else None)
            if finding.advice:
                say(f"help: {finding.advice}")
    if any(finding.needed for finding in found):
        raise click.exceptions.Exit(FINDINGS)
