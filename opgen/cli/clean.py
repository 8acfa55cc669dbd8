"""`opgen clean`: remove caches and compiled libraries, and never a source."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.console import put, say
from opgen.cli.options import out_option


@click.command()
@out_option
def command(out: Path) -> None:
    """Remove caches and compiled libraries; generated sources stay, and builds that are under way."""
    from opgen.native.inspect import clean

    count = 0
    for path in clean(out):
        put(f"removed   {path}")
        count += 1
    say(f"{count} removed" if count else "nothing to remove")
