"""`opgen clean`: remove caches and compiled libraries, and never a source."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.console import put, say
from opgen.cli.options import out_option

EXAMPLES = """\b
Examples:
  opgen clean                        the libraries of this project
  opgen clean --all                  the cache of all projects, too
"""


@click.command(epilog=EXAMPLES)
@out_option
@click.option("--all", "everything", is_flag=True, help="Empty the cache, which all projects share, too.")
def command(out: Path, everything: bool) -> None:
    """Remove compiled libraries and what the cache has of them; generated sources stay, and builds under way."""
    from opgen.toolchain.inspect import clean

    count = 0
    for path in clean(out, everything=everything):
        put(f"removed   {path}")
        count += 1
    say(f"{count} removed" if count else "nothing to remove")
