"""`opgen list`: every operator with its spec, whether it is built and compiled, and what runs of it on which device."""

from __future__ import annotations

import json
from pathlib import Path

import click

from opgen.cli.console import put, say
from opgen.cli.options import out_option
from opgen.diagnostics.suggest import counted
from opgen.write.settings import settings_here

EXAMPLES = """\b
Examples:
  opgen list                         the operators of this project
  opgen list --format json | jq '.[] | select(.stale != "") | .op'
"""


@click.command(epilog=EXAMPLES)
@click.argument("specs", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@out_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(specs: tuple[Path, ...], out: Path, form: str) -> None:
    """List the generated operators, and those of specs (default: those of the project) that are not generated."""
    from opgen.pipeline import likely_path
    from opgen.toolchain.inventory import inventory

    for path in specs:
        if not path.exists():
            raise click.UsageError("; ".join((f"there is no file or folder {path}", *likely_path(path))))
    found = inventory(out, specs or settings_here().specs or tuple(p for p in (Path("specs"),) if p.is_dir()))
    if form == "json":
        put(json.dumps([known.record for known in found], indent=2))
        return
    rows: list[tuple[str, ...]] = [("operator", "spec", "built", "compiled", "on cpu", "on cuda")]
    for known in found:
        built = "no" if not known.built else f"stale: {known.stale}" if known.stale else "yes"
        rows.append(
            (known.op, known.spec, built, known.compiled, *(known.backend.get(d, "-") for d in ("cpu", "cuda")))
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        put(line, colour="yellow" if "stale" in line and number else None)
    stale = sum(bool(known.stale) or not known.built for known in found)
    say(counted(len(found), "operator") + (f", {stale} to be built: opgen build" if stale else ""))
